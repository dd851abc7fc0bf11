package pod

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/musterkube/muster/pkg/core"
)

// summary is the state of a pod's containers in brief.
type summary struct {
	// reason is the pod's phase, or what of it or of its containers is more telling.
	reason string
	// ready of total containers are ready; sidecars (init containers that are restarted) count among them.
	ready, total int
	// restarts of containers, of which the last happened at lastRestart.
	restarts    int
	lastRestart metav1.Time
}

// summarize reads a pod's status as kubectl shows it. While init containers run, they say how the pod is; then the
// containers do.
func summarize(pod *corev1.Pod) summary {
	s := summary{reason: string(pod.Status.Phase), total: len(pod.Spec.Containers)}
	if pod.Status.Reason != "" {
		s.reason = pod.Status.Reason
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Reason == corev1.PodReasonSchedulingGated {
			s.reason = corev1.PodReasonSchedulingGated
		}
	}
	initializing, sidecarRestarts := s.readInitContainers(pod)
	if !initializing || conditionIsTrue(pod, corev1.PodInitialized) {
		s.restarts, s.lastRestart = sidecarRestarts.restarts, sidecarRestarts.lastRestart
		s.readContainers(pod)
	}
	switch {
	case pod.DeletionTimestamp == nil:
	case pod.Status.Reason == "NodeLost":
		s.reason = "Unknown"
	case !core.PodFinished(pod):
		s.reason = "Terminating"
	}
	return s
}

// count adds the restarts of a container.
func (s *summary) count(status *corev1.ContainerStatus) {
	s.restarts += int(status.RestartCount)
	if last := status.LastTerminationState.Terminated; last != nil && s.lastRestart.Before(&last.FinishedAt) {
		s.lastRestart = last.FinishedAt
	}
}

// readInitContainers looks for the init container that has not ended well yet, if any, and returns the restarts of
// sidecars apart.
func (s *summary) readInitContainers(pod *corev1.Pod) (initializing bool, sidecars summary) {
	isSidecar := map[string]bool{}
	for _, container := range pod.Spec.InitContainers {
		if container.RestartPolicy != nil && *container.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			isSidecar[container.Name] = true
			s.total++
		}
	}
	for i := range pod.Status.InitContainerStatuses {
		status := &pod.Status.InitContainerStatuses[i]
		s.count(status)
		if isSidecar[status.Name] {
			sidecars.count(status)
		}
		ended := status.State.Terminated
		switch {
		case ended != nil && ended.ExitCode == 0:
			continue
		case isSidecar[status.Name] && status.Started != nil && *status.Started:
			if status.Ready {
				s.ready++
			}
			continue
		}
		s.reason = initReason(status, i, len(pod.Spec.InitContainers))
		return true, sidecars
	}
	return false, sidecars
}

// initReason says how the init container does that is the next to end, the index-th of count.
func initReason(status *corev1.ContainerStatus, index, count int) string {
	waiting := status.State.Waiting
	switch {
	case status.State.Terminated != nil:
		return "Init:" + endReason(status.State.Terminated)
	case waiting != nil && waiting.Reason != "" && waiting.Reason != "PodInitializing":
		return "Init:" + waiting.Reason
	}
	return fmt.Sprintf("Init:%d/%d", index, count)
}

// endReason says how a container ended.
func endReason(ended *corev1.ContainerStateTerminated) string {
	switch {
	case ended.Reason != "":
		return ended.Reason
	case ended.Signal != 0:
		return fmt.Sprintf("Signal:%d", ended.Signal)
	}
	return fmt.Sprintf("ExitCode:%d", ended.ExitCode)
}

// readContainers takes the reason from the first container that has one to give.
func (s *summary) readContainers(pod *corev1.Pod) {
	running, failure := false, ""
	for i := len(pod.Status.ContainerStatuses) - 1; i >= 0; i-- {
		status := &pod.Status.ContainerStatuses[i]
		s.count(status)
		waiting, ended := status.State.Waiting, status.State.Terminated
		switch {
		case waiting != nil && waiting.Reason != "":
			s.reason = waiting.Reason
		case ended != nil:
			s.reason = endReason(ended)
			if ended.ExitCode != 0 {
				failure = s.reason
			}
		case status.Ready && status.State.Running != nil:
			running = true
			s.ready++
		}
	}
	// Some containers being done does not make the pod so.
	if s.reason != "Completed" {
		return
	}
	switch {
	case running && core.PodReady(pod):
		s.reason = "Running"
	case failure != "":
		s.reason = failure
	case running:
		s.reason = "NotReady"
	}
}

func conditionIsTrue(pod *corev1.Pod, conditionType corev1.PodConditionType) bool {
	condition := core.PodCondition(pod, conditionType)
	return condition != nil && condition.Status == corev1.ConditionTrue
}
