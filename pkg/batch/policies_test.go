package batch_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/musterkube/muster/pkg/batch"
)

func endedPod(edit func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p"},
		Status:     corev1.PodStatus{Phase: corev1.PodFailed},
	}
	edit(pod)
	return pod
}

func ended(name string, code int32) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: name, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code}}}
}

func TestMatchFailurePolicy(t *testing.T) {
	t.Parallel()
	onCodes := func(action batchv1.PodFailurePolicyAction, container *string, operator batchv1.PodFailurePolicyOnExitCodesOperator, codes ...int32) batchv1.PodFailurePolicyRule {
		return batchv1.PodFailurePolicyRule{Action: action, OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
			ContainerName: container, Operator: operator, Values: codes,
		}}
	}
	const in, notIn = batchv1.PodFailurePolicyOnExitCodesOpIn, batchv1.PodFailurePolicyOnExitCodesOpNotIn
	disrupted := batchv1.PodFailurePolicyRule{
		Action:          batchv1.PodFailurePolicyActionIgnore,
		OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}},
	}
	cases := map[string]struct {
		rules []batchv1.PodFailurePolicyRule
		pod   func(*corev1.Pod)
		want  batch.FailureMatch
	}{
		"no rule: the failure counts": {
			pod:  func(*corev1.Pod) {},
			want: batch.FailureMatch{Rule: -1, Counted: true},
		},
		"a code fails the Job": {
			rules: []batchv1.PodFailurePolicyRule{onCodes(batchv1.PodFailurePolicyActionFailJob, nil, in, 3, 42)},
			pod:   func(pod *corev1.Pod) { pod.Status.ContainerStatuses = []corev1.ContainerStatus{ended("c", 42)} },
			want: batch.FailureMatch{
				Rule: 0, Action: batchv1.PodFailurePolicyActionFailJob, Counted: true,
				Message: "Container c for pod ns/p failed with exit code 42 matching FailJob rule at index 0",
			},
		},
		"a condition is ignored": {
			rules: []batchv1.PodFailurePolicyRule{onCodes(batchv1.PodFailurePolicyActionFailJob, nil, in, 1), disrupted},
			pod: func(pod *corev1.Pod) {
				pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}}
			},
			want: batch.FailureMatch{Rule: 1, Action: batchv1.PodFailurePolicyActionIgnore},
		},
		"a condition fails the Job": {
			rules: []batchv1.PodFailurePolicyRule{{Action: batchv1.PodFailurePolicyActionFailJob, OnPodConditions: disrupted.OnPodConditions}},
			pod: func(pod *corev1.Pod) {
				pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}}
			},
			want: batch.FailureMatch{
				Rule: 0, Action: batchv1.PodFailurePolicyActionFailJob, Counted: true,
				Message: "Pod ns/p has condition DisruptionTarget matching FailJob rule at index 0",
			},
		},
		"a condition with another status does not match": {
			rules: []batchv1.PodFailurePolicyRule{disrupted},
			pod: func(pod *corev1.Pod) {
				pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionFalse}}
			},
			want: batch.FailureMatch{Rule: -1, Counted: true},
		},
		"the first rule that matches decides": {
			rules: []batchv1.PodFailurePolicyRule{
				onCodes(batchv1.PodFailurePolicyActionCount, nil, notIn, 42), onCodes(batchv1.PodFailurePolicyActionIgnore, nil, in, 1),
			},
			pod:  func(pod *corev1.Pod) { pod.Status.ContainerStatuses = []corev1.ContainerStatus{ended("c", 1)} },
			want: batch.FailureMatch{Rule: 0, Action: batchv1.PodFailurePolicyActionCount, Counted: true},
		},
		"success is not a code, even for NotIn": {
			rules: []batchv1.PodFailurePolicyRule{onCodes(batchv1.PodFailurePolicyActionFailJob, nil, notIn, 1)},
			pod:   func(pod *corev1.Pod) { pod.Status.ContainerStatuses = []corev1.ContainerStatus{ended("c", 0)} },
			want:  batch.FailureMatch{Rule: -1, Counted: true},
		},
		"a named container is the only one looked at": {
			rules: []batchv1.PodFailurePolicyRule{onCodes(batchv1.PodFailurePolicyActionFailIndex, new("b"), in, 7)},
			pod: func(pod *corev1.Pod) {
				pod.Status.ContainerStatuses = []corev1.ContainerStatus{ended("a", 7), ended("b", 1)}
				pod.Status.InitContainerStatuses = []corev1.ContainerStatus{ended("b", 7)}
			},
			want: batch.FailureMatch{Rule: 0, Action: batchv1.PodFailurePolicyActionFailIndex, Counted: true},
		},
		"regular containers come before init containers": {
			rules: []batchv1.PodFailurePolicyRule{onCodes(batchv1.PodFailurePolicyActionFailJob, nil, notIn, 99)},
			pod: func(pod *corev1.Pod) {
				pod.Status.InitContainerStatuses = []corev1.ContainerStatus{ended("init", 1)}
				pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "running"}, ended("main", 2)}
			},
			want: batch.FailureMatch{
				Rule: 0, Action: batchv1.PodFailurePolicyActionFailJob, Counted: true,
				Message: "Container main for pod ns/p failed with exit code 2 matching FailJob rule at index 0",
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := batch.MatchFailurePolicy(&batchv1.PodFailurePolicy{Rules: tc.rules}, endedPod(tc.pod))
			assert.Equal(t, tc.want, got)
			assert.Equal(t, tc.want.Rule >= 0, got.Matched())
		})
	}
	assert.Equal(t, batch.FailureMatch{Rule: -1, Counted: true}, batch.MatchFailurePolicy(nil, &corev1.Pod{}))
}

func TestPodFailed(t *testing.T) {
	t.Parallel()
	deleted := func(phase corev1.PodPhase) *corev1.Pod {
		return endedPod(func(pod *corev1.Pod) { pod.Status.Phase, pod.DeletionTimestamp = phase, at(10) })
	}
	eager, patient := makeJob(), makeJob(func(job *batchv1.Job) { job.Spec.PodReplacementPolicy = new(batchv1.Failed) })
	withPolicy := &batchv1.Job{Spec: batchv1.JobSpec{PodFailurePolicy: &batchv1.PodFailurePolicy{}}}
	assert.True(t, batch.PodFailed(eager, deleted(corev1.PodRunning)), "a deleted pod counts at once")
	assert.False(t, batch.PodFailed(eager, deleted(corev1.PodSucceeded)))
	assert.False(t, batch.PodFailed(patient, deleted(corev1.PodRunning)), "a deleted pod counts once it has failed")
	assert.True(t, batch.PodFailed(patient, deleted(corev1.PodFailed)))
	assert.False(t, batch.PodFailed(withPolicy, deleted(corev1.PodRunning)), "a failure policy must see how pods end")
}

func TestMatchSuccessPolicy(t *testing.T) {
	t.Parallel()
	rule := func(indexes *string, count *int32) batchv1.SuccessPolicyRule {
		return batchv1.SuccessPolicyRule{SucceededIndexes: indexes, SucceededCount: count}
	}
	cases := map[string]struct {
		rules     []batchv1.SuccessPolicyRule
		succeeded batch.IndexSet
		want      int
	}{
		"nothing matches before the first success":     {rules: []batchv1.SuccessPolicyRule{rule(nil, new(int32(0)))}, want: -1},
		"all listed indexes":                           {rules: []batchv1.SuccessPolicyRule{rule(new("0,2-3"), nil)}, succeeded: batch.IndexSetOf(0, 2, 3), want: 0},
		"one listed index is missing":                  {rules: []batchv1.SuccessPolicyRule{rule(new("0,2-3"), nil)}, succeeded: batch.IndexSetOf(0, 1, 3), want: -1},
		"some of the listed indexes":                   {rules: []batchv1.SuccessPolicyRule{rule(new("0-3"), new(int32(2)))}, succeeded: batch.IndexSetOf(1, 3, 5), want: 0},
		"others do not count towards the listed":       {rules: []batchv1.SuccessPolicyRule{rule(new("0-3"), new(int32(2)))}, succeeded: batch.IndexSetOf(1, 4, 5), want: -1},
		"as many as that, whichever":                   {rules: []batchv1.SuccessPolicyRule{rule(nil, new(int32(2)))}, succeeded: batch.IndexSetOf(1, 4), want: 0},
		"the first rule that matches counts":           {rules: []batchv1.SuccessPolicyRule{rule(new("9"), nil), rule(nil, new(int32(1))), rule(new("1"), nil)}, succeeded: batch.IndexSetOf(1), want: 1},
		"indexes beyond the completions are not asked": {rules: []batchv1.SuccessPolicyRule{rule(new("1,10-20"), nil)}, succeeded: batch.IndexSetOf(1), want: 0},
		"a list without an index never matches":        {rules: []batchv1.SuccessPolicyRule{rule(new(""), new(int32(0)))}, succeeded: batch.IndexSetOf(1), want: -1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := batch.MatchSuccessPolicy(&batchv1.SuccessPolicy{Rules: tc.rules}, 10, tc.succeeded)
			assert.Equal(t, tc.want, got.Rule)
			assert.Equal(t, tc.want >= 0, got.Matched())
		})
	}
	assert.Equal(t, "Matched rules at index 0",
		batch.MatchSuccessPolicy(&batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{rule(nil, new(int32(1)))}}, 1, batch.IndexSetOf(0)).Message)
	assert.False(t, batch.MatchSuccessPolicy(nil, 1, batch.IndexSetOf(0)).Matched())
}

func TestPodAnnotations(t *testing.T) {
	t.Parallel()
	pod := &corev1.Pod{}
	_, ok := batch.CompletionIndex(pod)
	assert.False(t, ok)
	for text, want := range map[string]int{"0": 0, "17": 17} {
		pod.Annotations = map[string]string{batchv1.JobCompletionIndexAnnotation: text}
		index, ok := batch.CompletionIndex(pod)
		assert.True(t, ok)
		assert.Equal(t, want, index)
	}
	for _, text := range []string{"", "-1", "x", "1.5"} {
		pod.Annotations = map[string]string{batchv1.JobCompletionIndexAnnotation: text}
		_, ok := batch.CompletionIndex(pod)
		assert.False(t, ok, text)
	}
	pod.Annotations = map[string]string{
		batchv1.JobIndexFailureCountAnnotation: "3", batchv1.JobIndexIgnoredFailureCountAnnotation: "99999999999",
	}
	counted, ignored := batch.IndexFailures(pod)
	assert.Equal(t, int32(3), counted)
	assert.Equal(t, int32(0), ignored, "what does not fit reads as none")
}
