package batch_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/musterkube/muster/pkg/batch"
)

func TestFinished(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		conditions []batchv1.JobCondition
		want       batchv1.JobConditionType
	}{
		"a Job without conditions has not":  {},
		"a complete Job has":                {conditions: conditions(batchv1.JobSuccessCriteriaMet, batchv1.JobComplete), want: batchv1.JobComplete},
		"a failed Job has":                  {conditions: conditions(batchv1.JobFailureTarget, batchv1.JobFailed), want: batchv1.JobFailed},
		"an announced end is not yet one":   {conditions: conditions(batchv1.JobFailureTarget)},
		"a condition that is False is none": {conditions: []batchv1.JobCondition{condition(batchv1.JobComplete, isFalse)}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, finished := batch.Finished(&batchv1.Job{Status: batchv1.JobStatus{Conditions: tc.conditions}})
			assert.Equal(t, tc.want, got)
			assert.Equal(t, tc.want != "", finished)
		})
	}
}

func TestFinishTime(t *testing.T) {
	t.Parallel()
	job := makeJob()
	_, err := batch.FinishTime(job)
	require.ErrorIs(t, err, batch.ErrNotFinished)
	job.Status.Conditions = conditions(batchv1.JobFailed)
	_, err = batch.FinishTime(job)
	require.EqualError(t, err, "reading the finish time of job ns/j: condition Failed has no transition time")
	job.Status.Conditions[0].LastTransitionTime = *at(11)
	finish, err := batch.FinishTime(job)
	require.NoError(t, err)
	assert.Equal(t, at(11).Time, finish)
}

func TestSetCondition(t *testing.T) {
	t.Parallel()
	job := makeJob()
	suspended := batch.NewCondition(batchv1.JobSuspended, corev1.ConditionTrue, batch.ReasonSuspended, "m", noon)
	resumed := batch.NewCondition(batchv1.JobSuspended, corev1.ConditionFalse, batch.ReasonResumed, "m", noon)
	assert.False(t, batch.SetCondition(job, resumed), "nothing becomes False from nothing")
	assert.True(t, batch.SetCondition(job, suspended))
	later := suspended
	later.LastTransitionTime.Time = noon.Add(time.Hour)
	assert.False(t, batch.SetCondition(job, later), "time alone is no change")
	assert.Equal(t, noon, batch.Condition(job, batchv1.JobSuspended).LastTransitionTime.Time)
	assert.True(t, batch.SetCondition(job, resumed))
	assert.Len(t, job.Status.Conditions, 1)
	assert.Nil(t, batch.Condition(job, batchv1.JobComplete))
}

func TestManagedBy(t *testing.T) {
	t.Parallel()
	job := &batchv1.Job{}
	assert.True(t, batch.ManagedByBuiltIn(job))
	assert.True(t, batch.ManagedByOther(job, "example.com/mine"))
	job.Spec.ManagedBy = new(batchv1.JobControllerName)
	assert.True(t, batch.ManagedByBuiltIn(job))
	job.Spec.ManagedBy = new("example.com/mine")
	assert.False(t, batch.ManagedByBuiltIn(job))
	assert.False(t, batch.ManagedByOther(job, "example.com/mine"))
	assert.True(t, batch.ManagedByOther(job, batchv1.JobControllerName))
	assert.Equal(t, "example.com/mine", batch.ManagedBy(job))
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	assert.Empty(t, batch.Warnings(makeJob()))
	job := makeJob(indexed(100_001), func(job *batchv1.Job) {
		job.Name = "with.dots"
		job.Spec.Template.Spec.TerminationGracePeriodSeconds = new(int64(-1))
	})
	warnings := batch.Warnings(job)
	require.Len(t, warnings, 3)
	assert.Contains(t, warnings[0], "metadata.name: this is used in Pod names and hostnames")
	assert.Contains(t, warnings[1], "spec: In Indexed Jobs with a number of completions higher than 10^5")
	assert.Equal(t, "spec.template.spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1", warnings[2])

	assert.Empty(t, batch.UpdateWarnings(job, job), "nothing has changed")
	changed := job.DeepCopy()
	changed.Generation++
	assert.Equal(t, warnings[1:], batch.UpdateWarnings(changed, job))
}
