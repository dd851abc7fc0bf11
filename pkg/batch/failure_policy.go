package batch

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// FailureMatch says what a pod failure policy (KEP-3329) makes of one failed pod.
type FailureMatch struct {
	// Rule is the index of the rule that matched, -1 when none did.
	Rule int
	// Action is the action of that rule, "" when none matched.
	Action batchv1.PodFailurePolicyAction
	// Counted says whether the failure counts against backoffLimit (and backoffLimitPerIndex).
	Counted bool
	// Message tells a user why the Job fails. It is set with action FailJob alone.
	Message string
}

// Matched reports whether a rule matched.
func (m FailureMatch) Matched() bool { return m.Rule >= 0 }

// MatchFailurePolicy tries the rules of policy on a failed pod in their order; the first that matches decides. Without
// a policy, or a rule that matches, the failure counts.
//
// A rule on exit codes looks at terminated containers with an exit code other than 0: the regular containers first,
// then the init containers. A rule on pod conditions matches when any condition has the type and status of any
// pattern. The caller makes sure that the pod has failed: with a policy, pods in phase Failed.
func MatchFailurePolicy(policy *batchv1.PodFailurePolicy, pod *corev1.Pod) FailureMatch {
	if policy == nil {
		return FailureMatch{Rule: -1, Counted: true}
	}
	for i := range policy.Rules {
		rule := &policy.Rules[i]
		what := matchRule(rule, pod)
		if what == "" {
			continue
		}
		match := FailureMatch{Rule: i, Action: rule.Action, Counted: rule.Action != batchv1.PodFailurePolicyActionIgnore}
		switch rule.Action {
		case batchv1.PodFailurePolicyActionFailJob:
			match.Message = fmt.Sprintf("%s matching %s rule at index %d", what, rule.Action, i)
			return match
		case batchv1.PodFailurePolicyActionIgnore, batchv1.PodFailurePolicyActionCount,
			batchv1.PodFailurePolicyActionFailIndex:
			return match
		}
		// An action that a later release may add is no match here.
	}
	return FailureMatch{Rule: -1, Counted: true}
}

// matchRule says in words what made the rule match, "" when it does not.
func matchRule(rule *batchv1.PodFailurePolicyRule, pod *corev1.Pod) string {
	if rule.OnExitCodes != nil {
		if status := matchExitCodes(rule.OnExitCodes, &pod.Status); status != nil {
			return fmt.Sprintf("Container %s for pod %s/%s failed with exit code %d",
				status.Name, pod.Namespace, pod.Name, status.State.Terminated.ExitCode)
		}
		return ""
	}
	for i := range pod.Status.Conditions {
		condition := &pod.Status.Conditions[i]
		if slices.ContainsFunc(rule.OnPodConditions, func(p batchv1.PodFailurePolicyOnPodConditionsPattern) bool {
			return p.Type == condition.Type && p.Status == condition.Status
		}) {
			return fmt.Sprintf("Pod %s/%s has condition %s", pod.Namespace, pod.Name, condition.Type)
		}
	}
	return ""
}

func matchExitCodes(want *batchv1.PodFailurePolicyOnExitCodesRequirement, status *corev1.PodStatus) *corev1.ContainerStatus {
	for _, statuses := range [][]corev1.ContainerStatus{status.ContainerStatuses, status.InitContainerStatuses} {
		for i := range statuses {
			ended := statuses[i].State.Terminated
			if ended == nil || ended.ExitCode == 0 {
				continue
			}
			if want.ContainerName != nil && *want.ContainerName != statuses[i].Name {
				continue
			}
			listed := slices.Contains(want.Values, ended.ExitCode)
			if (want.Operator == batchv1.PodFailurePolicyOnExitCodesOpIn && listed) ||
				(want.Operator == batchv1.PodFailurePolicyOnExitCodesOpNotIn && !listed) {
				return &statuses[i]
			}
		}
	}
	return nil
}

// OnlyReplaceFailed reports whether a Job's pod is replaced only once it has failed, and not as soon as it is deleted
// (KEP-3939): podReplacementPolicy is Failed, or there is a pod failure policy, which needs to see how pods ended.
func OnlyReplaceFailed(job *batchv1.Job) bool {
	if job.Spec.PodFailurePolicy != nil {
		return true
	}
	return job.Spec.PodReplacementPolicy != nil && *job.Spec.PodReplacementPolicy == batchv1.Failed
}

// PodFailed reports whether pod counts as failed for job: it is in phase Failed, or it was deleted before it finished
// and the Job does not wait for deleted pods to end ([OnlyReplaceFailed]).
func PodFailed(job *batchv1.Job, pod *corev1.Pod) bool {
	if pod.Status.Phase == corev1.PodFailed {
		return true
	}
	return !OnlyReplaceFailed(job) && pod.DeletionTimestamp != nil && pod.Status.Phase != corev1.PodSucceeded
}
