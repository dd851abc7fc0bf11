package builder_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/musterkube/muster/pkg/builder"
)

// gangJob returns a Job that is eligible for a gang of four.
func gangJob() *batchv1.Job {
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: "my-job", Namespace: "ns", UID: "uid-123"},
		Spec: batchv1.JobSpec{
			Parallelism:    new(int32(4)),
			Completions:    new(int32(4)),
			CompletionMode: new(batchv1.IndexedCompletion),
		},
	}
}

func TestEligible(t *testing.T) {
	cases := map[string]struct {
		change     func(*batchv1.Job)
		wantReason string
	}{
		"an Indexed Job whose pods all run at once": {change: func(*batchv1.Job) {}},
		"owners, suspension, managedBy and restart policy do not count": {change: func(job *batchv1.Job) {
			job.OwnerReferences = []metav1.OwnerReference{{Kind: "JobSet", Controller: new(true)}}
			job.Spec.Suspend = new(true)
			job.Spec.ManagedBy = new("example.com/other")
			job.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
		}},
		"a gang of two": {change: func(job *batchv1.Job) { job.Spec.Parallelism, job.Spec.Completions = new(int32(2)), new(int32(2)) }},
		"not Indexed": {
			change:     func(job *batchv1.Job) { job.Spec.CompletionMode = new(batchv1.NonIndexedCompletion) },
			wantReason: "spec.completionMode is NonIndexed: a gang needs Indexed",
		},
		"no completion mode counts as NonIndexed": {
			change:     func(job *batchv1.Job) { job.Spec.CompletionMode = nil },
			wantReason: "spec.completionMode is NonIndexed: a gang needs Indexed",
		},
		"a mode of the future": {
			change:     func(job *batchv1.Job) { job.Spec.CompletionMode = new(batchv1.CompletionMode("Magic")) },
			wantReason: "spec.completionMode is Magic: a gang needs Indexed",
		},
		"one pod": {
			change:     func(job *batchv1.Job) { job.Spec.Parallelism, job.Spec.Completions = new(int32(1)), new(int32(1)) },
			wantReason: "spec.parallelism is 1: a gang needs 2 or more",
		},
		"no pods for now": {
			change:     func(job *batchv1.Job) { job.Spec.Parallelism, job.Spec.Completions = new(int32(0)), new(int32(0)) },
			wantReason: "spec.parallelism is 0: a gang needs 2 or more",
		},
		"no parallelism": {
			change:     func(job *batchv1.Job) { job.Spec.Parallelism = nil },
			wantReason: "spec.parallelism is not set: a gang needs 2 or more",
		},
		"no completions": {
			change:     func(job *batchv1.Job) { job.Spec.Completions = nil },
			wantReason: "spec.completions is not set: a gang needs as many completions as spec.parallelism",
		},
		"fewer at once than in all": {
			change:     func(job *batchv1.Job) { job.Spec.Completions = new(int32(8)) },
			wantReason: "spec.completions is 8 and spec.parallelism is 4: a gang needs both to be the same",
		},
		"the pods have a group": {
			change: func(job *batchv1.Job) {
				job.Spec.Template.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: new("mine")}
			},
			wantReason: `spec.template.spec.schedulingGroup is set: the pods belong to the PodGroup "mine" already`,
		},
		"the pods have an empty group": {
			change:     func(job *batchv1.Job) { job.Spec.Template.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{} },
			wantReason: "spec.template.spec.schedulingGroup is set: the pods belong to a group already",
		},
		"several obstacles are all named": {
			change: func(job *batchv1.Job) { job.Spec = batchv1.JobSpec{} },
			wantReason: "spec.parallelism is not set: a gang needs 2 or more; " +
				"spec.completionMode is NonIndexed: a gang needs Indexed; " +
				"spec.completions is not set: a gang needs as many completions as spec.parallelism",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			job := gangJob()
			tc.change(job)
			ok, reason := builder.Eligible(job)
			assert.Equal(t, tc.wantReason == "", ok)
			assert.Equal(t, tc.wantReason, reason)
		})
	}
	ok, reason := builder.Eligible(nil)
	assert.False(t, ok)
	assert.Equal(t, "there is no Job", reason)
}
