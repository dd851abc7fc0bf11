package batch_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/musterkube/muster/pkg/batch"
)

func TestSetDefaults(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		given batchv1.JobSpec
		check func(*testing.T, *batchv1.JobSpec)
	}{
		"a Job that says nothing runs one pod to completion": {
			check: func(t *testing.T, spec *batchv1.JobSpec) {
				assert.Equal(t, int32(1), *spec.Completions)
				assert.Equal(t, int32(1), *spec.Parallelism)
				assert.Equal(t, int32(6), *spec.BackoffLimit)
				assert.Equal(t, batchv1.NonIndexedCompletion, *spec.CompletionMode)
				assert.Equal(t, batchv1.TerminatingOrFailed, *spec.PodReplacementPolicy)
				assert.False(t, *spec.Suspend)
				assert.False(t, *spec.ManualSelector)
			},
		},
		"a Job with parallelism alone is a work queue: completions stay unset": {
			given: batchv1.JobSpec{Parallelism: new(int32(3))},
			check: func(t *testing.T, spec *batchv1.JobSpec) {
				assert.Nil(t, spec.Completions)
				assert.Equal(t, int32(3), *spec.Parallelism)
			},
		},
		"a Job with completions alone runs one pod at a time": {
			given: batchv1.JobSpec{Completions: new(int32(4))},
			check: func(t *testing.T, spec *batchv1.JobSpec) { assert.Equal(t, int32(1), *spec.Parallelism) },
		},
		"failures are not limited as a whole when they are limited per index": {
			given: batchv1.JobSpec{BackoffLimitPerIndex: new(int32(1))},
			check: func(t *testing.T, spec *batchv1.JobSpec) { assert.Equal(t, int32(math.MaxInt32), *spec.BackoffLimit) },
		},
		"a pod failure policy, even an empty one, waits for pods to fail": {
			given: batchv1.JobSpec{PodFailurePolicy: &batchv1.PodFailurePolicy{}},
			check: func(t *testing.T, spec *batchv1.JobSpec) { assert.Equal(t, batchv1.Failed, *spec.PodReplacementPolicy) },
		},
		"a pod condition in a failure policy is looked for with status True": {
			given: batchv1.JobSpec{PodFailurePolicy: &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{
				{OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: "A"}, {Type: "B", Status: corev1.ConditionFalse}}},
			}}},
			check: func(t *testing.T, spec *batchv1.JobSpec) {
				patterns := spec.PodFailurePolicy.Rules[0].OnPodConditions
				assert.Equal(t, corev1.ConditionTrue, patterns[0].Status)
				assert.Equal(t, corev1.ConditionFalse, patterns[1].Status)
			},
		},
		"a template gets the defaults of its pods, but not those of pods alone": {
			check: func(t *testing.T, spec *batchv1.JobSpec) {
				assert.Equal(t, corev1.RestartPolicyAlways, spec.Template.Spec.RestartPolicy)
				assert.Equal(t, int64(30), *spec.Template.Spec.TerminationGracePeriodSeconds)
				assert.Nil(t, spec.Template.Spec.EnableServiceLinks)
			},
		},
		"what is set stays": {
			given: batchv1.JobSpec{BackoffLimit: new(int32(0)), Suspend: new(true), ManualSelector: new(true)},
			check: func(t *testing.T, spec *batchv1.JobSpec) {
				assert.Equal(t, int32(0), *spec.BackoffLimit)
				assert.True(t, *spec.Suspend)
				assert.True(t, *spec.ManualSelector)
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			job := &batchv1.Job{Spec: tc.given}
			batch.SetDefaults(job)
			tc.check(t, &job.Spec)
			again := job.DeepCopy()
			batch.SetDefaults(again)
			require.Empty(t, cmp.Diff(job, again), "defaults must not build on each other (-want +got)")
		})
	}
}

func TestJobWithoutLabelsTakesThoseOfItsTemplate(t *testing.T) {
	t.Parallel()
	job := &batchv1.Job{}
	job.Name, job.UID = "j", "u"
	job.Spec.Template.Labels = map[string]string{"app": "x"}
	batch.SetDefaults(job)
	require.Equal(t, map[string]string{"app": "x"}, job.Labels)
	batch.PrepareForCreate(job)
	assert.Equal(t, job.Spec.Template.Labels, job.Labels, "generated labels show on the Job as well")

	own := &batchv1.Job{}
	own.Labels = map[string]string{"own": "y"}
	own.Spec.Template.Labels = map[string]string{"app": "x"}
	batch.SetDefaults(own)
	assert.Equal(t, map[string]string{"own": "y"}, own.Labels)
}
