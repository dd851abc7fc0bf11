package main

import corev1 "k8s.io/api/core/v1"

// pendingReason is why a pod has no node, in the scheduler's words.
func pendingReason(pod *corev1.Pod) string {
	if pod.Spec.NodeName != "" {
		return ""
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return c.Message
		}
	}
	return ""
}

func groupOf(pod *corev1.Pod) string {
	if pod.Spec.SchedulingGroup == nil || pod.Spec.SchedulingGroup.PodGroupName == nil {
		return ""
	}
	return *pod.Spec.SchedulingGroup.PodGroupName
}

func restarts(pod *corev1.Pod) int32 {
	var n int32
	for _, s := range pod.Status.ContainerStatuses {
		n += s.RestartCount
	}
	return n
}

// exitCode is the exit code of a pod that has ended: of the first of its containers that failed, or of the init container
// whose failure kept them from starting. A sidecar's says nothing, for it ends when they have. It is nil when none of
// them ended, such as on a lost node.
func exitCode(pod *corev1.Pod) *int32 {
	var code *int32
	for _, s := range pod.Status.ContainerStatuses {
		if s.State.Terminated == nil {
			continue
		}
		if s.State.Terminated.ExitCode != 0 {
			return &s.State.Terminated.ExitCode
		}
		code = &s.State.Terminated.ExitCode
	}
	for _, s := range pod.Status.InitContainerStatuses {
		if s.State.Terminated != nil && s.State.Terminated.ExitCode != 0 && !isSidecar(pod, s.Name) && code == nil {
			return &s.State.Terminated.ExitCode
		}
	}
	return code
}

func isSidecar(pod *corev1.Pod, container string) bool {
	for _, c := range pod.Spec.InitContainers {
		if c.Name == container {
			return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
		}
	}
	return false
}
