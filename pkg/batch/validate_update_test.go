package batch_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/musterkube/muster/pkg/batch"
)

func TestValidateUpdate(t *testing.T) {
	t.Parallel()
	setImage := func(job *batchv1.Job) { job.Spec.Template.Spec.Containers[0].Image = "other" }
	setNodes := func(job *batchv1.Job) { job.Spec.Template.Spec.NodeSelector = map[string]string{"a": "b"} }
	setCPU := func(job *batchv1.Job) {
		job.Spec.Template.Spec.Containers[0].Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse("1")}
	}
	resuming := func(job *batchv1.Job) {
		suspended(job)
		job.Status.StartTime = at(9)
		job.Status.Conditions = []batchv1.JobCondition{condition(batchv1.JobSuspended, corev1.ConditionTrue)}
	}
	cases := map[string]struct {
		before, change func(*batchv1.Job)
		// want holds how each error of the update begins.
		want []string
	}{
		"how much runs at once, and what limits it, may change at any time": {
			change: func(job *batchv1.Job) {
				job.Spec.Parallelism, job.Spec.BackoffLimit = new(int32(5)), new(int32(9))
				job.Spec.ActiveDeadlineSeconds, job.Spec.TTLSecondsAfterFinished = new(int64(9)), new(int32(9))
				job.Spec.Suspend, job.Spec.PodReplacementPolicy = new(true), new(batchv1.Failed)
			},
		},
		"completions of a Job without indexes are fixed": {
			change: func(job *batchv1.Job) { job.Spec.Completions = new(int32(5)) },
			want:   []string{"spec.completions: Invalid value: 5: field is immutable"},
		},
		"completions of an Indexed Job follow its parallelism": {
			before: indexed(5),
			change: indexed(3),
		},
		"completions of an Indexed Job do not move alone": {
			before: indexed(5),
			change: func(job *batchv1.Job) { job.Spec.Completions = new(int32(3)) },
			want:   []string{"spec.completions: Invalid value: 3: can only be modified in tandem with spec.parallelism"},
		},
		"who manages a Job is fixed": {
			change: func(job *batchv1.Job) { job.Spec.ManagedBy = new("example.com/c") },
			want:   []string{`spec.managedBy: Invalid value: "example.com/c": field is immutable`},
		},
		"the template of a running Job is fixed": {
			change: setNodes,
			want:   []string{"spec.template: Invalid value: "},
		},
		"where pods of a suspended Job run may change":     {before: suspended, change: setNodes},
		"what pods of a suspended Job request may change":  {before: suspended, change: setCPU},
		"a Job that is suspended again may change as well": {before: resuming, change: setCPU},
		"a change and the resumption may come together": {
			before: suspended,
			change: func(job *batchv1.Job) {
				setNodes(job)
				job.Spec.Suspend = new(false)
			},
		},
		"what pods of a suspended Job are is fixed": {
			before: suspended,
			change: setImage,
			want:   []string{"spec.template.spec: Invalid value: "},
		},
		"a suspended Job that still runs pods is as fixed as a running one": {
			before: func(job *batchv1.Job) {
				suspended(job)
				job.Status.Active = 1
			},
			change: setNodes,
			want:   []string{"spec.template: Invalid value: "},
		},
		"the group of a suspended Job's pods is fixed": {
			before: suspended,
			change: func(job *batchv1.Job) {
				job.Spec.Template.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: new("g")}
			},
			want: []string{"spec.template.spec: Invalid value: "},
		},
		"node affinity of a suspended Job may come and go, pod affinity may not": {
			before: suspended,
			change: func(job *batchv1.Job) {
				job.Spec.Template.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{}}
			},
			want: []string{"spec.template.spec: Invalid value: "},
		},
		"a Job from before the prefixed labels does without them": {
			before: func(job *batchv1.Job) {
				delete(job.Spec.Template.Labels, batchv1.JobNameLabel)
				delete(job.Spec.Template.Labels, batchv1.ControllerUidLabel)
				job.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"controller-uid": "u"}}
			},
			change: func(job *batchv1.Job) { job.Spec.Parallelism = new(int32(2)) },
		},
		"an error of the spec stands there twice": {
			change: func(job *batchv1.Job) { job.Spec.Parallelism = new(int32(-1)) },
			want: []string{
				"spec.parallelism: Invalid value: -1: must be greater than or equal to 0",
				"spec.parallelism: Invalid value: -1: must be greater than or equal to 0",
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			job, old := update(t, tc.before, tc.change)
			batch.PrepareForUpdate(job, old)
			errs := batch.ValidateUpdate(job, old, batch.Options{})
			require.Len(t, errs, len(tc.want), lines(errs))
			for i, err := range errs {
				require.Contains(t, err.Error(), tc.want[i])
			}
		})
	}
}
