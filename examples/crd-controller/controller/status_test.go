package controller

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	trainingv1 "github.com/musterkube/muster/examples/crd-controller/api/v1"
	"github.com/musterkube/muster/pkg/testing/wrappers"
)

var noon = time.Date(2026, time.May, 1, 12, 0, 0, 0, time.UTC)

func newRun(members ...trainingv1.MemberStatus) *trainingv1.TrainingRun {
	return &trainingv1.TrainingRun{
		ObjectMeta: metav1.ObjectMeta{Name: "bert", Namespace: "default", UID: "0123456789"},
		Spec:       trainingv1.TrainingRunSpec{Workers: trainingv1.Workers{Replicas: 2}, BackoffLimit: new(int32(1))},
		Status:     trainingv1.TrainingRunStatus{Members: members},
	}
}

// attempt is a pod of a member.
func attempt(member, number string) *wrappers.PodWrapper {
	return wrappers.MakePod("p", "default").Node("node-1").Label(labelMember, member).Label(labelAttempt, number)
}

func done(name string) trainingv1.MemberStatus {
	return trainingv1.MemberStatus{Name: name, Succeeded: true}
}

func failed(name string) trainingv1.MemberStatus {
	return trainingv1.MemberStatus{Name: name, Failures: 1}
}

func TestNextStatus(t *testing.T) {
	complete := newRun(done("driver"))
	complete.Status.Conditions = []metav1.Condition{{Type: trainingv1.ConditionComplete, Status: metav1.ConditionTrue}}
	cases := map[string]struct {
		run         *trainingv1.TrainingRun
		pods        []*wrappers.PodWrapper
		want        []trainingv1.MemberStatus
		wantOutcome string
	}{
		"a pod that runs is no news": {
			run: newRun(), pods: []*wrappers.PodWrapper{attempt("driver", "0").Phase(corev1.PodRunning)},
		},
		"what has succeeded is written down": {
			run: newRun(), pods: []*wrappers.PodWrapper{attempt("driver", "0").Exited(0, noon)},
			want: []trainingv1.MemberStatus{done("driver")},
		},
		"what is written down stays when the pod is gone": {
			run: newRun(done("driver"), failed("worker-0")), want: []trainingv1.MemberStatus{done("driver"), failed("worker-0")},
		},
		"a failure is counted once, however often it is seen": {
			run: newRun(failed("worker-0")), pods: []*wrappers.PodWrapper{attempt("worker-0", "0").Exited(1, noon)},
			want: []trainingv1.MemberStatus{failed("worker-0")},
		},
		"a pod that is deleted before it has a node has failed": {
			run: newRun(), pods: []*wrappers.PodWrapper{attempt("worker-0", "0").Node("").Deleted(noon)},
			want: []trainingv1.MemberStatus{failed("worker-0")},
		},
		"one that is deleted while it runs has yet to end": {
			run: newRun(), pods: []*wrappers.PodWrapper{attempt("worker-0", "0").Phase(corev1.PodRunning).Deleted(noon)},
		},
		"the last member's success completes the run": {
			run: newRun(done("driver"), done("worker-1")), pods: []*wrappers.PodWrapper{attempt("worker-0", "1").Exited(0, noon)},
			want:        []trainingv1.MemberStatus{done("driver"), done("worker-0"), done("worker-1")},
			wantOutcome: trainingv1.ConditionComplete,
		},
		"failures of several members add up": {
			run: newRun(failed("worker-0")), pods: []*wrappers.PodWrapper{attempt("worker-1", "0").Exited(1, noon)},
			want:        []trainingv1.MemberStatus{failed("worker-0"), failed("worker-1")},
			wantOutcome: trainingv1.ConditionFailed,
		},
		"an outcome is the last word": {
			run: complete, pods: []*wrappers.PodWrapper{attempt("worker-1", "5").Exited(1, noon)},
			want: []trainingv1.MemberStatus{done("driver")}, wantOutcome: trainingv1.ConditionComplete,
		},
		"a pod without labels is nobody's": {
			run: newRun(), pods: []*wrappers.PodWrapper{wrappers.MakePod("p", "default").Exited(0, noon)},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var pods []corev1.Pod
			for _, pod := range tc.pods {
				pods = append(pods, *pod.Obj())
			}
			before := tc.run.DeepCopy()
			got := nextStatus(tc.run, pods, nil, noon)
			assert.Equal(t, tc.want, got.Members)
			assert.Equal(t, before, tc.run, "the run must not be changed")
			assert.Equal(t, tc.wantOutcome != "", finished(&got))
			for _, condition := range got.Conditions {
				assert.Equal(t, tc.wantOutcome, condition.Type)
			}
		})
	}
}

func TestObjects(t *testing.T) {
	run := newRun()
	run.Spec.Driver.Template = wrappers.MakeJob("", "").PodLabel("app", "bert").Obj().Spec.Template
	workload, err := newWorkload(run)
	require.NoError(t, err)
	assert.Equal(t, &schedulingv1alpha2.TypedLocalObjectReference{APIGroup: "training.example.com", Kind: "TrainingRun", Name: "bert"},
		workload.Spec.ControllerRef)
	var names []string
	for _, m := range membersOf(run) {
		names = append(names, m.name+"/"+m.group)
	}
	assert.Equal(t, []string{"driver/driver", "worker-0/workers", "worker-1/workers"}, names)

	group := wrappers.MakePodGroup("bert-driver", "default").Obj()
	pod := newPod(run, membersOf(run)[0], 2, group)
	assert.Equal(t, "bert-01234-driver-2", pod.Name)
	assert.Equal(t, "bert-driver", *pod.Spec.SchedulingGroup.PodGroupName)
	assert.Equal(t, "bert", pod.Labels["app"])
	name, number, ok := memberOf(pod)
	assert.Equal(t, []any{"driver", int32(2), true}, []any{name, number, ok})
	assert.NotContains(t, run.Spec.Driver.Template.Labels, labelRun, "the template must not be changed")
}
