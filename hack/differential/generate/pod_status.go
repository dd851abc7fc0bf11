package generate

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// PodStatus returns a status that a pod can have.
func (g *Generator) PodStatus(pod *corev1.Pod) corev1.PodStatus {
	status := corev1.PodStatus{
		ObservedGeneration: number[int64](g, 0, 2)(),
		Phase:              pick(g, corev1.PodPending, corev1.PodRunning, corev1.PodSucceeded, corev1.PodFailed),
		Message:            pick(g, "", "", "why"), Reason: pick(g, "", "", "Evicted"),
		NominatedNodeName: pick(g, "", "", "", "node-2"),
		QOSClass:          "",
	}
	for _, kind := range []corev1.PodConditionType{corev1.PodScheduled, corev1.PodReady, corev1.DisruptionTarget,
		"example.com/ready"} {
		if g.Chance(0.4) {
			status.Conditions = append(status.Conditions, corev1.PodCondition{
				Type: kind, Status: pick(g, corev1.ConditionTrue, corev1.ConditionFalse),
				ObservedGeneration: number[int64](g, 0, 2)(), LastTransitionTime: g.day(1), Reason: pick(g, "", "a"),
			})
		}
	}
	if g.Chance(0.5) {
		status.StartTime = new(g.day(1))
		status.HostIP, status.HostIPs = "10.0.0.1", []corev1.HostIP{{IP: "10.0.0.1"}}
	}
	if g.Chance(0.5) {
		status.PodIP = "10.1.0.1"
		status.PodIPs = pick(g, nil, []corev1.PodIP{{IP: "10.1.0.1"}}, []corev1.PodIP{{IP: "10.1.0.1"}, {IP: "fd00::1"}})
	}
	if g.Chance(0.6) {
		status.ContainerStatuses = g.containerStatuses(pod.Spec.Containers)
		status.InitContainerStatuses = g.containerStatuses(pod.Spec.InitContainers)
	}
	for i := range pod.Spec.ResourceClaims {
		if pod.Spec.ResourceClaims[i].ResourceClaimTemplateName != nil && g.Chance(0.5) {
			status.ResourceClaimStatuses = append(status.ResourceClaimStatuses,
				corev1.PodResourceClaimStatus{Name: pod.Spec.ResourceClaims[i].Name, ResourceClaimName: maybe(g, 0.8, g.name)})
		}
	}
	return status
}

func (g *Generator) containerStatuses(containers []corev1.Container) []corev1.ContainerStatus {
	var statuses []corev1.ContainerStatus
	for i := range containers {
		status := corev1.ContainerStatus{
			Name: containers[i].Name, Image: containers[i].Image, ImageID: "sha256:a",
			ContainerID: fmt.Sprintf("containerd://%d", i), Ready: g.Chance(0.5), RestartCount: number[int32](g, 0, 3)(),
			Started: maybe(g, 0.5, of(g, true, false)), State: g.containerState(),
			LastTerminationState: pick(g, corev1.ContainerState{}, g.containerState()),
			Resources:            maybe(g, 0.2, func() corev1.ResourceRequirements { return g.resources(&corev1.PodSpec{}) }),
			AllocatedResources:   g.resources(&corev1.PodSpec{}).Requests,
		}
		if g.Chance(0.1) {
			status.User = &corev1.ContainerUser{Linux: &corev1.LinuxContainerUser{UID: 1, GID: 1}}
		}
		statuses = append(statuses, status)
	}
	return statuses
}

func (g *Generator) containerState() corev1.ContainerState {
	return pick(g, corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}},
		corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: g.day(1)}},
		corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: number[int32](g, 0, 2)(),
			StartedAt: g.day(1), FinishedAt: g.day(2), ContainerID: "containerd://1"}})
}
