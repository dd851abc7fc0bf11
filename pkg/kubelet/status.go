package kubelet

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Reasons in the conditions of pods, as a kubelet gives them.
const (
	reasonPodCompleted   = "PodCompleted"
	reasonPodFailed      = "PodFailed"
	reasonNotReady       = "ContainersNotReady"
	reasonNotInitialised = "ContainersNotInitialized"
	reasonCreating       = "ContainerCreating"
	reasonInitialising   = "PodInitializing"
	reasonCrashLoop      = "CrashLoopBackOff"
	reasonConfigError    = "CreateContainerConfigError"
	containerRuntime     = "muster"
)

// status returns the pod's status as it should be now. What a kubelet does not own, such as conditions of others, is
// as before.
func (r *run) status(now time.Time) *corev1.PodStatus {
	s := r.pod.Status.DeepCopy()
	s.ObservedGeneration = r.pod.Generation
	if s.StartTime.IsZero() {
		s.StartTime = new(metav1.NewTime(r.taken))
	}
	s.HostIP, s.HostIPs = r.hostIP, []corev1.HostIP{{IP: r.hostIP}}
	if s.PodIP == "" {
		s.PodIP = r.podIP
		if r.pod.Spec.HostNetwork {
			s.PodIP = r.hostIP
		}
		s.PodIPs = []corev1.PodIP{{IP: s.PodIP}}
	}
	s.InitContainerStatuses, s.ContainerStatuses = nil, nil
	for _, c := range r.containers {
		if c.kind == mainContainer {
			s.ContainerStatuses = append(s.ContainerStatuses, r.containerStatus(c))
		} else {
			s.InitContainerStatuses = append(s.InitContainerStatuses, r.containerStatus(c))
		}
	}
	s.Phase = r.phaseNow()
	if r.phase != "" && r.reason != "" {
		s.Reason, s.Message = r.reason, r.message
	}
	r.setConditions(s, now)
	return s
}

// phaseNow is Pending until the first of the main containers has been started.
func (r *run) phaseNow() corev1.PodPhase {
	if r.phase != "" {
		return r.phase
	}
	for _, c := range r.containers {
		if c.kind == mainContainer && (c.state != waiting || c.last != nil) {
			return corev1.PodRunning
		}
	}
	return corev1.PodPending
}

func (r *run) containerStatus(c *container) corev1.ContainerStatus {
	s := corev1.ContainerStatus{
		Name:         c.spec.Name,
		Image:        c.spec.Image,
		RestartCount: c.restarts,
		Ready:        c.state == running && c.kind != initContainer || c.kind == initContainer && c.succeeded(),
		Started:      new(c.state == running),
	}
	if c.last != nil {
		s.LastTerminationState.Terminated = c.last
	}
	if c.state != waiting || c.last != nil {
		s.ContainerID = c.id()
	}
	switch c.state {
	case running:
		s.State.Running = &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(c.started)}
	case exited:
		s.State.Terminated = c.ended.DeepCopy()
	default:
		s.State.Waiting = r.waitingState(c)
	}
	return s
}

func (r *run) waitingState(c *container) *corev1.ContainerStateWaiting {
	switch {
	case c.problem != "":
		return &corev1.ContainerStateWaiting{Reason: reasonConfigError, Message: c.problem}
	case c.last != nil:
		delay := c.retry.Sub(c.last.FinishedAt.Time)
		return &corev1.ContainerStateWaiting{Reason: reasonCrashLoop, Message: restartMessage(delay, r.pod, c.spec.Name)}
	case c.kind == mainContainer && !r.initialised(), c.kind != mainContainer:
		return &corev1.ContainerStateWaiting{Reason: reasonInitialising}
	}
	return &corev1.ContainerStateWaiting{Reason: reasonCreating}
}

// setConditions sets the conditions that a kubelet owns.
func (r *run) setConditions(s *corev1.PodStatus, now time.Time) {
	set := func(conditionType corev1.PodConditionType, status bool, reason, message string) {
		r.setCondition(s, now, corev1.PodCondition{
			Type: conditionType, Status: conditionStatus(status), Reason: reason, Message: message,
			ObservedGeneration: r.pod.Generation,
		})
	}
	set(corev1.PodReadyToStartContainers, r.phase == "" && !now.Before(r.due), "", "")

	incomplete, unready := r.lagging()
	switch {
	case r.phase == corev1.PodSucceeded:
		set(corev1.PodInitialized, true, reasonPodCompleted, "")
	case len(incomplete) == 0:
		set(corev1.PodInitialized, true, "", "")
	default:
		set(corev1.PodInitialized, false, reasonNotInitialised, fmt.Sprintf("containers with incomplete status: %s", incomplete))
	}
	ready, reason, message := len(unready) == 0, "", ""
	switch {
	case r.phase == corev1.PodSucceeded:
		ready, reason = false, reasonPodCompleted
	case r.phase == corev1.PodFailed:
		ready, reason = false, reasonPodFailed
	case !ready:
		reason, message = reasonNotReady, fmt.Sprintf("containers with unready status: %s", unready)
	}
	set(corev1.PodReady, ready && r.gatesOpen(s), reason, message)
	set(corev1.ContainersReady, ready, reason, message)
	set(corev1.PodScheduled, true, "", "")
	if r.disrupted && r.phase != "" {
		set(corev1.DisruptionTarget, true, "TerminationByKubelet", r.message)
	}
}

// lagging lists the init containers and sidecars that keep the pod from being initialised, and the containers that keep
// it from being ready. A pod whose main containers have started is initialised.
func (r *run) lagging() (incomplete, unready []string) {
	begun := false
	for _, c := range r.containers {
		if c.kind == mainContainer && (c.state != waiting || c.last != nil) {
			begun = true
		}
	}
	for _, c := range r.containers {
		if !begun && (c.kind == initContainer && !c.succeeded() || c.kind == sidecar && c.state != running) {
			incomplete = append(incomplete, c.spec.Name)
		}
		if c.kind != initContainer && c.state != running {
			unready = append(unready, c.spec.Name)
		}
	}
	return incomplete, unready
}

// gatesOpen says whether the conditions that spec.readinessGates names are true.
func (r *run) gatesOpen(s *corev1.PodStatus) bool {
	for _, gate := range r.pod.Spec.ReadinessGates {
		if !slices.ContainsFunc(s.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == gate.ConditionType && c.Status == corev1.ConditionTrue
		}) {
			return false
		}
	}
	return true
}

// setCondition replaces the condition of its type. The time of transition moves only when the status does.
func (r *run) setCondition(s *corev1.PodStatus, now time.Time, condition corev1.PodCondition) {
	condition.LastTransitionTime = metav1.NewTime(now)
	at := slices.IndexFunc(s.Conditions, func(c corev1.PodCondition) bool { return c.Type == condition.Type })
	if at < 0 {
		s.Conditions = append(s.Conditions, condition)
		return
	}
	if s.Conditions[at].Status == condition.Status {
		condition.LastTransitionTime = s.Conditions[at].LastTransitionTime
	}
	s.Conditions[at] = condition
}

func conditionStatus(is bool) corev1.ConditionStatus {
	if is {
		return corev1.ConditionTrue
	}
	return corev1.ConditionFalse
}
