package batch_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/musterkube/muster/pkg/batch"
	"github.com/musterkube/muster/pkg/features"
)

func TestPrepareForCreateGeneratesSelectorAndLabels(t *testing.T) {
	t.Parallel()
	generated := map[string]string{
		"job-name": "j", "controller-uid": "u", batchv1.JobNameLabel: "j", batchv1.ControllerUidLabel: "u",
	}
	cases := map[string]struct {
		given        func(*batchv1.Job)
		wantLabels   map[string]string
		wantSelector *metav1.LabelSelector
	}{
		"the template carries name and UID, the selector asks for the UID": {
			given:        func(*batchv1.Job) {},
			wantLabels:   generated,
			wantSelector: &metav1.LabelSelector{MatchLabels: map[string]string{batchv1.ControllerUidLabel: "u"}},
		},
		"a label that the user set stays, for validation to refuse": {
			given: func(job *batchv1.Job) { job.Spec.Template.Labels = map[string]string{"job-name": "other"} },
			wantLabels: map[string]string{
				"job-name": "other", "controller-uid": "u", batchv1.JobNameLabel: "j", batchv1.ControllerUidLabel: "u",
			},
			wantSelector: &metav1.LabelSelector{MatchLabels: map[string]string{batchv1.ControllerUidLabel: "u"}},
		},
		"a manual selector is left alone": {
			given: func(job *batchv1.Job) {
				job.Spec.ManualSelector = new(true)
				job.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}
				job.Spec.Template.Labels = map[string]string{"a": "b"}
			},
			wantLabels:   map[string]string{"a": "b"},
			wantSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			job := makeJob(tc.given)
			assert.Equal(t, tc.wantLabels, job.Spec.Template.Labels)
			assert.Equal(t, tc.wantSelector, job.Spec.Selector)
		})
	}
}

func TestPrepareForCreateWipesTheStatus(t *testing.T) {
	t.Parallel()
	job := makeJob(func(job *batchv1.Job) { job.Status.Active, job.Generation = 3, 9 })
	assert.Equal(t, batchv1.JobStatus{}, job.Status)
	assert.Equal(t, int64(1), job.Generation)
}

func TestPrepareForUpdateKeepsTheStatusAndCountsGenerations(t *testing.T) {
	t.Parallel()
	job, old := update(t, func(job *batchv1.Job) { job.Status.Active = 2 }, func(job *batchv1.Job) {
		job.Status.Active = 7
		job.Labels = map[string]string{"new": "label"}
		job.Generation = 42
	})
	batch.PrepareForUpdate(job, old)
	assert.Equal(t, int32(2), job.Status.Active)
	assert.Equal(t, int64(1), job.Generation, "labels do not count")

	job.Spec.Parallelism = new(int32(5))
	batch.PrepareForUpdate(job, old)
	assert.Equal(t, int64(2), job.Generation)
}

func TestPrepareForStatusUpdateKeepsTheSpecAlone(t *testing.T) {
	t.Parallel()
	job, old := update(t, nil, func(job *batchv1.Job) {
		job.Spec.Parallelism = new(int32(5))
		job.Annotations = map[string]string{"a": "b"}
		job.Status.Active = 1
	})
	batch.PrepareForStatusUpdate(job, old)
	assert.Equal(t, int32(1), *job.Spec.Parallelism)
	assert.Equal(t, map[string]string{"a": "b"}, job.Annotations)
	assert.Equal(t, int32(1), job.Status.Active)
}

func TestSchedulingGroupNeedsItsGate(t *testing.T) {
	t.Parallel()
	off := features.Gates{}.With(features.GenericWorkload, false)
	grouped := func(job *batchv1.Job) {
		job.Spec.Template.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: new("Not A Name")}
	}
	job := makeJob(grouped)
	require.NotEmpty(t, batch.Validate(job, batch.Options{}))
	require.Empty(t, batch.Validate(job, batch.Options{Gates: off}), "what a server drops is not held against the Job")

	batch.DropDisabledFields(job, nil, features.Gates{})
	require.NotNil(t, job.Spec.Template.Spec.SchedulingGroup)
	batch.DropDisabledFields(job, makeJob(grouped), off)
	require.NotNil(t, job.Spec.Template.Spec.SchedulingGroup, "the stored Job has one")
	batch.DropDisabledFields(job, makeJob(), off)
	require.Nil(t, job.Spec.Template.Spec.SchedulingGroup)
}
