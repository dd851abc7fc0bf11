package core

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// ReadyTime returns when pod became ready. It returns the zero time when pod is not ready or does not say.
func ReadyTime(pod *corev1.Pod) time.Time {
	ready := PodCondition(pod, corev1.PodReady)
	if ready == nil || ready.Status != corev1.ConditionTrue {
		return time.Time{}
	}
	return ready.LastTransitionTime.Time
}

// FinishTime estimates when pod finished, as the Job controller does to time its back-off. The first of these that is
// known: the end of the container that ended last, when all regular containers and sidecars have ended; the moment
// Ready became False; the moment of deletion (the deletion timestamp less the grace period); the pod's creation.
func FinishTime(pod *corev1.Pod) time.Time {
	if last := lastContainerEnd(pod); !last.IsZero() {
		return last
	}
	ready := PodCondition(pod, corev1.PodReady)
	if ready != nil && ready.Status == corev1.ConditionFalse && !ready.LastTransitionTime.IsZero() {
		return ready.LastTransitionTime.Time
	}
	if pod.DeletionTimestamp != nil {
		var grace int64
		if pod.DeletionGracePeriodSeconds != nil {
			grace = *pod.DeletionGracePeriodSeconds
		}
		return pod.DeletionTimestamp.Add(-time.Duration(grace) * time.Second)
	}
	return pod.CreationTimestamp.Time
}

// lastContainerEnd is the latest end of the regular containers and sidecars, or zero while one of them runs. Other
// init containers have ended long before and do not count.
func lastContainerEnd(pod *corev1.Pod) time.Time {
	var last time.Time
	statuses := pod.Status.ContainerStatuses
	for i := range pod.Status.InitContainerStatuses {
		status := &pod.Status.InitContainerStatuses[i]
		if slices.ContainsFunc(pod.Spec.InitContainers, func(c corev1.Container) bool {
			return c.Name == status.Name && isSidecar(&c)
		}) {
			statuses = append(slices.Clip(statuses), *status)
		}
	}
	for i := range statuses {
		ended := statuses[i].State.Terminated
		if ended == nil || ended.FinishedAt.IsZero() {
			return time.Time{}
		}
		if ended.FinishedAt.After(last) {
			last = ended.FinishedAt.Time
		}
	}
	return last
}
