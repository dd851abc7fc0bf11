package kubelet

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/musterkube/muster/pkg/core"
)

// Exit codes of containers that did not end by themselves, as a shell gives them: 128 and the signal's number.
const (
	exitTerminated int32 = 143
	exitKilled     int32 = 137
)

// How a kubelet evicts a pod when its node runs out of something: at once, but for the shortest of grace periods.
const (
	reasonEvicted   = "Evicted"
	defaultEviction = "The node was low on resource: memory. "
	evictionGrace   = 2 * time.Second
)

// run is the life of one pod on its node. Its methods take the time and do no I/O; what they come to is written by the
// caller.
type run struct {
	// pod is the newest version that is known, the kubelet's own writes included.
	pod *corev1.Pod
	// taken is when the kubelet took the pod on, and due when it may start containers.
	taken, due time.Time
	// node is where it is, whatever becomes of the pod.
	node          string
	podIP, hostIP string
	// containers are the init containers and sidecars in their order, then the others.
	containers []*container
	// launch starts a container.
	launch launcher
	// stopping is when the containers were told to end, zero if they were not; killing is when they are killed.
	stopping, killing time.Time
	// reason and message tell why the pod is made to fail, empty if it is not; disrupted says that it is not its own fault.
	reason, message string
	disrupted       bool
	// ending says that all but the sidecars have ended, so that these are to end as well.
	ending bool
	// phase is how the pod ended; empty while it has not.
	phase corev1.PodPhase
}

// newRun takes a pod on, as its status has it. delay is how long it takes until its first container starts. If resume is
// false, containers that run by its status are lost.
func newRun(pod *corev1.Pod, now time.Time, delay time.Duration, resume bool, launch func(*run, *container) (start, error)) *run {
	r := &run{pod: pod, taken: now, due: now.Add(delay)}
	if !pod.Status.StartTime.IsZero() {
		r.taken, r.due = pod.Status.StartTime.Time, pod.Status.StartTime.Add(delay)
	}
	r.launch = func(c *container) (start, error) { return launch(r, c) }
	for i := range pod.Spec.InitContainers {
		spec := &pod.Spec.InitContainers[i]
		kind := initContainer
		if spec.RestartPolicy != nil && *spec.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			kind = sidecar
		}
		r.containers = append(r.containers, &container{kind: kind, spec: spec, pod: pod.UID})
	}
	for i := range pod.Spec.Containers {
		r.containers = append(r.containers, &container{kind: mainContainer, spec: &pod.Spec.Containers[i], pod: pod.UID})
	}
	for _, c := range r.containers {
		if status := findStatus(pod, c.spec.Name); status != nil {
			r.adopt(c, status, resume, now)
		}
	}
	return r
}

// adopt takes a container over from a kubelet that went before.
func (r *run) adopt(c *container, status *corev1.ContainerStatus, resume bool, now time.Time) {
	c.restarts, c.streak = status.RestartCount, status.RestartCount
	if last := status.LastTerminationState.Terminated; last != nil {
		c.last = last
	}
	switch {
	case status.State.Running != nil && !resume:
		c.vanish(status, now)
		r.settle(c)
	case status.State.Running != nil:
		c.resume(status.State.Running.StartedAt.Time, r.launch)
	case status.State.Terminated != nil:
		c.state, c.ended = exited, status.State.Terminated
		r.settle(c)
	case c.last != nil:
		c.state, c.retry = waiting, c.last.FinishedAt.Add(restartDelay(c.restarts))
	}
}

func findStatus(pod *corev1.Pod, name string) *corev1.ContainerStatus {
	for _, list := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range list {
			if list[i].Name == name {
				return &list[i]
			}
		}
	}
	return nil
}

// advance brings the pod to where it should be now. It returns when it is to be called again; the zero time says that
// only an event can change anything. A container is never started and ended in one call, so that every pod is seen
// running.
func (r *run) advance(now time.Time) time.Time {
	if core.PodFinished(r.pod) {
		// By this kubelet or by somebody else: a pod that is over is over.
		r.phase = r.pod.Status.Phase
	}
	if r.phase != "" {
		return time.Time{}
	}
	r.heed(now)
	for _, c := range r.containers {
		switch {
		case !c.due(now):
		case c.outcome.Evict && c.process == nil && r.stopping.IsZero():
			r.evict(c, now)
		default:
			c.finish()
			r.settle(c)
		}
	}
	if r.stopping.IsZero() && !r.ending {
		r.startDue(now)
	}
	if r.conclude(now) {
		return time.Time{}
	}
	return r.next(now)
}

// heed finds out whether the pod is to be stopped: it is being deleted, or its active deadline is over.
func (r *run) heed(now time.Time) {
	if deletion := r.pod.DeletionTimestamp; deletion != nil {
		r.stop(now, deletion.Time)
		return
	}
	if deadline := r.deadline(); !deadline.IsZero() && !now.Before(deadline) && r.stopping.IsZero() {
		r.reason = "DeadlineExceeded"
		r.message = "Pod was active on the node longer than the specified deadline"
		r.stop(now, now.Add(r.grace()))
	}
}

// grace is how long the containers have to end.
func (r *run) grace() time.Duration {
	seconds := int64(corev1.DefaultTerminationGracePeriodSeconds)
	if own := r.pod.Spec.TerminationGracePeriodSeconds; own != nil {
		seconds = *own
	}
	return time.Duration(seconds) * time.Second
}

// evict makes the pod fail for the sake of its node, as a kubelet does whose node runs out of something.
func (r *run) evict(c *container, now time.Time) {
	r.reason, r.message, r.disrupted = reasonEvicted, c.outcome.Message, true
	if r.message == "" {
		r.message = defaultEviction
	}
	c.outcome.Message = "" // which is the pod's, not the container's
	r.stop(now, now.Add(evictionGrace))
}

// deadline is when spec.activeDeadlineSeconds of the pod ends, the zero time if it has none.
func (r *run) deadline() time.Time {
	if r.pod.Spec.ActiveDeadlineSeconds == nil {
		return time.Time{}
	}
	return r.taken.Add(time.Duration(*r.pod.Spec.ActiveDeadlineSeconds) * time.Second)
}

// stop tells all containers to end, and has those killed that have not ended by then. A second call can only bring the
// killing forward.
func (r *run) stop(now, kill time.Time) {
	if r.stopping.IsZero() {
		r.stopping, r.killing = now, kill
	}
	if kill.Before(r.killing) {
		r.killing = kill
	}
	for _, c := range r.containers {
		c.stop(r.stopping, r.killing, now)
	}
}

// abandon ends what runs of a pod that is not there any more.
func (r *run) abandon(now time.Time, grace time.Duration) {
	for _, c := range r.containers {
		switch {
		case c.state != running:
		case c.process != nil:
			c.process.end(grace)
		case c.output != nil:
			c.output.close(now)
		}
	}
}

// startDue starts the containers whose turn it is: init containers one after another, each after the one before has
// ended well, sidecars on the way, then all others.
func (r *run) startDue(now time.Time) {
	if now.Before(r.due) {
		return
	}
	for _, c := range r.containers {
		if c.state == waiting && !c.retry.After(now) {
			c.run(now, r.launch)
			if c.state == exited {
				r.settle(c)
			}
		}
		if c.kind == initContainer && !c.succeeded() || c.kind == sidecar && c.state != running {
			return
		}
	}
}

// settle decides about a container that has exited whether it is to run again, and when.
func (r *run) settle(c *container) {
	if r.stopping.IsZero() && !r.ending && r.restarts(c) {
		c.await()
	}
}

func (r *run) restarts(c *container) bool {
	if c.kind == sidecar {
		return true
	}
	switch r.pod.Spec.RestartPolicy {
	case corev1.RestartPolicyNever:
		return false
	case corev1.RestartPolicyOnFailure:
		return c.ended.ExitCode != 0
	default:
		// An init container that ended well has done its work, whatever the policy.
		return c.kind == mainContainer || c.ended.ExitCode != 0
	}
}

// conclude finds out whether the pod is over, and how. The sidecars of one that is are told to end.
func (r *run) conclude(now time.Time) bool {
	failed := r.reason != ""
	for _, c := range r.containers {
		switch {
		case c.kind == sidecar:
		case c.state == exited && c.ended.ExitCode != 0:
			failed = true
			if c.kind == initContainer && r.stopping.IsZero() {
				// It is not run again, so that nothing after it will ever start.
				r.stop(now, now.Add(r.grace()))
			}
		case c.state == running:
			return false
		case c.state == waiting && r.stopping.IsZero():
			return false
		case c.state == waiting && c.kind == mainContainer:
			failed = true
		}
	}
	r.ending = true
	for _, c := range r.containers {
		if c.kind == sidecar {
			c.stop(now, now.Add(r.grace()), now)
			if c.state == running {
				return false
			}
		}
	}
	for _, c := range r.containers {
		c.lose(!r.initialised())
	}
	r.phase = corev1.PodSucceeded
	if failed {
		r.phase = corev1.PodFailed
	}
	return true
}

// initialised says whether the init containers are done, so that the others may have run.
func (r *run) initialised() bool {
	for _, c := range r.containers {
		if c.kind == initContainer && !c.succeeded() {
			return false
		}
	}
	return true
}

// next is when the pod will change by itself.
func (r *run) next(now time.Time) time.Time {
	var next time.Time
	sooner := func(at time.Time) {
		if next.IsZero() || at.Before(next) {
			next = at
		}
	}
	for _, c := range r.containers {
		if c.state == running && !c.forever && c.process == nil {
			sooner(c.ends)
		}
		// One that could have been started and was not waits for another, which has its own time.
		if c.state == waiting && c.retry.After(now) && r.stopping.IsZero() {
			sooner(c.retry)
		}
	}
	if deadline := r.deadline(); !deadline.IsZero() && r.stopping.IsZero() {
		sooner(deadline)
	}
	if r.due.After(now) {
		sooner(r.due)
	}
	return next
}

func restartMessage(delay time.Duration, pod *corev1.Pod, name string) string {
	return fmt.Sprintf("back-off %s restarting failed container=%s pod=%s_%s(%s)", delay, name, pod.Name, pod.Namespace, pod.UID)
}
