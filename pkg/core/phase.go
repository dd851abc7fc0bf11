package core

import corev1 "k8s.io/api/core/v1"

// PodFinished reports whether pod has reached a phase that it never leaves: Succeeded or Failed.
func PodFinished(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// PodActive reports whether pod counts as active in the status of a Job: it has neither finished nor been deleted.
func PodActive(pod *corev1.Pod) bool {
	return !PodFinished(pod) && pod.DeletionTimestamp == nil
}

// PodTerminating reports whether pod has been deleted and has not finished yet (k8s.io/api batch/v1
// JobStatus.Terminating, KEP-3939).
func PodTerminating(pod *corev1.Pod) bool {
	return !PodFinished(pod) && pod.DeletionTimestamp != nil
}

// PodCondition returns the first condition of that type, or nil. It points into pod.
func PodCondition(pod *corev1.Pod, conditionType corev1.PodConditionType) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == conditionType {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}

// PodReady reports whether the condition Ready of pod is True.
func PodReady(pod *corev1.Pod) bool {
	ready := PodCondition(pod, corev1.PodReady)
	return ready != nil && ready.Status == corev1.ConditionTrue
}
