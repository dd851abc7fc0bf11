package kubelet

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The waits before a container is started again: none the first time, then 10 seconds and twice as long each time, up
// to 5 minutes. A container that ran for 10 minutes starts over.
const (
	restartFirst  = 10 * time.Second
	restartMost   = 5 * time.Minute
	restartForget = 2 * restartMost
)

type kind int

const (
	mainContainer kind = iota
	initContainer
	sidecar // an init container with restartPolicy Always (KEP-753)
)

type state int

const (
	waiting state = iota
	running
	exited
)

// container is one container of a run.
type container struct {
	kind     kind
	spec     *corev1.Container
	state    state
	restarts int32
	// streak counts the restarts since the container last ran long enough.
	streak int32
	// problem is why it cannot be started, empty if it can.
	problem string
	// retry is when it is to be started again, the zero time if it never was started.
	retry time.Time

	// Of the present or the last start: when, how it fares, and when it ends unless forever.
	started time.Time
	outcome Outcome
	forever bool
	ends    time.Time
	// code is what it will exit with.
	code int32
	// ended is how it exited, once it has; last is how it did the time before.
	ended, last *corev1.ContainerStateTerminated
}

func newContainer(kind kind, spec *corev1.Container) *container {
	return &container{kind: kind, spec: spec}
}

// run starts the container, for the first time or again. If that is not possible it stays as it is, with a problem.
func (c *container) run(at time.Time, start func(*container) (Outcome, error)) {
	again := int32(0)
	if c.last != nil {
		again = 1
	}
	c.restarts += again
	if !c.resume(at, start) {
		c.restarts -= again
		return
	}
	c.streak += again
}

// resume has the container running since some time. It reports whether that is possible.
func (c *container) resume(since time.Time, start func(*container) (Outcome, error)) bool {
	outcome, err := start(c)
	if err != nil {
		c.state, c.problem = waiting, err.Error()
		return false
	}
	c.state, c.problem, c.started, c.outcome = running, "", since, outcome
	c.forever, c.ends, c.code = outcome.Forever, since.Add(max(0, outcome.Duration)), outcome.ExitCode
	if c.kind == sidecar && outcome.Duration == 0 && outcome.ExitCode == 0 {
		// Nothing said: a sidecar is there to stay.
		c.forever = true
	}
	return true
}

// exit ends the container at that time.
func (c *container) exit(at time.Time) {
	reason := c.outcome.Reason
	if reason == "" || c.code != c.outcome.ExitCode {
		reason = "Completed"
		if c.code != 0 {
			reason = "Error"
		}
	}
	c.state = exited
	c.ended = &corev1.ContainerStateTerminated{
		ExitCode:   c.code,
		Reason:     reason,
		Message:    c.outcome.Message,
		StartedAt:  metav1.NewTime(c.started),
		FinishedAt: metav1.NewTime(at),
	}
}

// await has a container that has exited run again after a while.
func (c *container) await() {
	if c.ended.FinishedAt.Sub(c.ended.StartedAt.Time) >= restartForget {
		c.streak = 0
	}
	c.state, c.retry = waiting, c.ended.FinishedAt.Add(restartDelay(c.streak))
	c.last, c.ended = c.ended, nil
}

// restartDelay is the wait after so many restarts in a row.
func restartDelay(streak int32) time.Duration {
	if streak <= 0 {
		return 0
	}
	delay := restartFirst
	for n := int32(1); n < streak && delay < restartMost; n++ {
		delay *= 2
	}
	return min(delay, restartMost)
}

// stop tells a running container to end, at the latest when it is killed.
func (c *container) stop(told, kill, now time.Time) {
	if c.state != running {
		return
	}
	end, code := told.Add(c.outcome.Shutdown), exitTerminated
	if kill.Before(end) {
		end, code = kill, exitKilled
	}
	if end.Before(now) {
		end = now
	}
	if !c.forever && c.ends.Before(end) {
		return
	}
	c.forever, c.ends, c.code = false, end, code
	if !end.After(now) {
		c.exit(end)
	}
}

func (c *container) succeeded() bool {
	return c.state == exited && c.ended.ExitCode == 0
}

// lose gives a container that is not running, in a pod that is over, the state that it is left with. One that waited to
// be started again keeps its last exit; one that never was started is taken for lost, as a kubelet does, unless its
// turn had not come.
func (c *container) lose(notYet bool) {
	switch {
	case c.state != waiting:
	case c.last != nil:
		c.state, c.ended, c.last = exited, c.last, nil
	case c.kind == mainContainer && !notYet:
		c.state = exited
		c.ended = &corev1.ContainerStateTerminated{
			ExitCode: exitKilled,
			Reason:   "ContainerStatusUnknown",
			Message:  "The container could not be located when the pod was terminated",
		}
	}
}
