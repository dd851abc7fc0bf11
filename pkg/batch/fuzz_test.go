package batch_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"

	"github.com/musterkube/muster/pkg/batch"
	"github.com/musterkube/muster/pkg/features"
)

// FuzzJob judges any Job that JSON can spell, and any change of one into another: nothing panics, defaults do not build
// on each other, validation changes nothing and answers the same each time, and a Job that is valid may be replaced by
// itself, its status as well.
func FuzzJob(f *testing.F) {
	for _, seed := range generatedJobs(f) {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, text, otherText []byte) {
		job, other := &batchv1.Job{}, &batchv1.Job{}
		if json.Unmarshal(text, job) != nil || json.Unmarshal(otherText, other) != nil {
			t.Skip("no Job")
		}
		for _, job := range []*batchv1.Job{job, other} {
			batch.SetDefaults(job)
			again := job.DeepCopy()
			batch.SetDefaults(again)
			require.Empty(t, cmp.Diff(job, again))
		}
		judgeChange(t, other, job)

		batch.DropDisabledFields(job, nil, features.Gates{})
		batch.PrepareForCreate(job)
		before := job.DeepCopy()
		errs := batch.Validate(job, batch.Options{})
		require.Equal(t, lines(errs), lines(batch.Validate(job, batch.Options{})))
		batch.Warnings(job)
		require.Empty(t, cmp.Diff(before, job, cmpopts.EquateEmpty()))
		if len(errs) == 0 {
			job.ResourceVersion = "5"
			require.Empty(t, lines(batch.ValidateUpdate(job, job, batch.Options{})))
			require.Empty(t, lines(batch.ValidateStatusUpdate(job, job)))
		}
	})
}

// judgeChange puts a Job in the place of another. What comes of it does not matter as long as it comes twice.
func judgeChange(t *testing.T, changed, old *batchv1.Job) {
	t.Helper()
	update, status := changed.DeepCopy(), changed.DeepCopy()
	batch.PrepareForUpdate(update, old)
	batch.PrepareForStatusUpdate(status, old)
	before := old.DeepCopy()
	errs := lines(batch.ValidateUpdate(update, old, batch.Options{}))
	require.Equal(t, errs, lines(batch.ValidateUpdate(update, old, batch.Options{})))
	errs = lines(batch.ValidateStatusUpdate(status, old))
	require.Equal(t, errs, lines(batch.ValidateStatusUpdate(status, old)))
	batch.UpdateWarnings(update, old)
	require.Empty(t, cmp.Diff(before, old, cmpopts.EquateEmpty()))
}

// generatedJobs returns some of the generated Jobs, each with one to take its place.
func generatedJobs(f *testing.F) [][2][]byte {
	f.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "generated.json"))
	require.NoError(f, err)
	var cases []generatedCase
	require.NoError(f, json.Unmarshal(text, &cases))
	var jobs [][2][]byte
	for i, c := range cases {
		switch {
		case i%8 != 0:
		case c.Op == "create":
			jobs = append(jobs, [2][]byte{c.New, c.New})
		default:
			jobs = append(jobs, [2][]byte{c.Old, mergePatch(f, c.Old, c.Patch)})
		}
	}
	return jobs
}
