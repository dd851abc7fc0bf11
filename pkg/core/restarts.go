package core

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Restarts returns how often the init and regular containers of pod have been restarted, added up. It is what a Job
// with restartPolicy OnFailure holds against its backoffLimit.
func Restarts(pod *corev1.Pod) int32 {
	var sum int32
	for i := range pod.Status.InitContainerStatuses {
		sum += pod.Status.InitContainerStatuses[i].RestartCount
	}
	for i := range pod.Status.ContainerStatuses {
		sum += pod.Status.ContainerStatuses[i].RestartCount
	}
	return sum
}

// MaxRestarts returns the highest restart count among the regular containers of pod, and among its sidecars
// (restartable init containers, KEP-753). Controllers compare them to choose which pod to delete first.
func MaxRestarts(pod *corev1.Pod) (regular, sidecars int32) {
	for i := range pod.Status.ContainerStatuses {
		regular = max(regular, pod.Status.ContainerStatuses[i].RestartCount)
	}
	for i := range pod.Status.InitContainerStatuses {
		status := &pod.Status.InitContainerStatuses[i]
		if slices.ContainsFunc(pod.Spec.InitContainers, func(c corev1.Container) bool {
			return c.Name == status.Name && isSidecar(&c)
		}) {
			sidecars = max(sidecars, status.RestartCount)
		}
	}
	return regular, sidecars
}
