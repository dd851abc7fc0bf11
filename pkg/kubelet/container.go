package kubelet

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
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
	pod      types.UID
	state    state
	restarts int32
	// streak counts the restarts since the container last ran long enough.
	streak int32
	// problem is why it cannot be started, empty if it can.
	problem string
	// retry is when it is to be started, the zero time for at once.
	retry time.Time

	// Of the present or the last start: when, how it fares, and when it ends unless forever.
	started time.Time
	outcome Outcome
	forever bool
	ends    time.Time
	// code is what it will exit with.
	code int32
	// process is what runs it, nil if it is played; output is its log, nil if it has none.
	process process
	output  *output
	// ended is how it exited, once it has; last is how it did the time before.
	ended, last *corev1.ContainerStateTerminated
}

// launcher starts a container, or says why it cannot be made.
type launcher func(*container) (start, error)

// run starts the container, for the first time or again. If that is not possible it stays as it is, with a problem; if it
// ends before it runs, it is left exited.
func (c *container) run(at time.Time, launch launcher) {
	again := int32(0)
	if c.last != nil {
		again = 1
	}
	c.restarts += again
	if !c.resume(at, launch) {
		c.restarts -= again
		return
	}
	c.streak += again
}

// resume has the container running since some time. It reports whether that is possible.
func (c *container) resume(since time.Time, launch launcher) bool {
	begun, err := launch(c)
	if err != nil {
		c.state, c.problem = waiting, err.Error()
		if begun.retry > 0 {
			c.retry = since.Add(begun.retry)
		}
		return false
	}
	outcome := begun.outcome
	c.state, c.problem, c.started, c.outcome = running, "", since, outcome
	c.process, c.output = begun.process, begun.output
	c.forever, c.ends, c.code = outcome.Forever, since.Add(max(0, outcome.Duration)), outcome.ExitCode
	if c.kind == sidecar && outcome.Duration == 0 && outcome.ExitCode == 0 {
		// Nothing said: a sidecar is there to stay.
		c.forever = true
	}
	if begun.failed != nil {
		c.started = time.Unix(0, 0) // which is when a container was started that never was, for container runtimes
		c.conclude(*begun.failed)
	}
	return true
}

// due says whether the container has ended by itself by now.
func (c *container) due(now time.Time) bool {
	switch {
	case c.state != running:
		return false
	case c.process != nil:
		return c.process.ended() != nil
	}
	return !c.forever && !c.ends.After(now)
}

// finish ends a container that is due.
func (c *container) finish() {
	if c.process != nil {
		c.conclude(*c.process.ended())
		return
	}
	c.exit(c.ends)
}

// conclude ends a container that was not played, or not started.
func (c *container) conclude(how exit) {
	c.code = how.code
	c.outcome = Outcome{ExitCode: how.code, Reason: how.reason, Message: how.message}
	c.exit(how.at)
}

// exit ends the container at that time.
func (c *container) exit(at time.Time) {
	reason, message := c.outcome.Reason, c.outcome.Message
	if reason == "" || c.code != c.outcome.ExitCode {
		reason = "Completed"
		if c.code != 0 {
			reason = "Error"
		}
	}
	if c.output != nil {
		c.output.close(at)
		if message == "" && fallsBack(c.spec, c.code) {
			message = c.output.message()
		}
	}
	c.state, c.process = exited, nil
	c.ended = &corev1.ContainerStateTerminated{
		ExitCode:    c.code,
		Reason:      reason,
		Message:     message,
		StartedAt:   metav1.NewTime(c.started),
		FinishedAt:  metav1.NewTime(at),
		ContainerID: c.id(),
	}
}

// id names the present or the last run.
func (c *container) id() string { return containerID(c.pod, c.spec.Name, c.restarts) }

// await has a container that has exited run again after a while.
func (c *container) await() {
	if c.ended.FinishedAt.Sub(c.ended.StartedAt.Time) >= restartForget && c.ended.StartedAt.Unix() > 0 {
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
	if c.process != nil {
		c.process.end(max(0, kill.Sub(now)))
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
			Reason:   reasonLost,
			Message:  "The container could not be located when the pod was terminated",
		}
	}
}

// vanish ends a container that ran under a kubelet that went before, and of which there is no trace.
func (c *container) vanish(status *corev1.ContainerStatus, now time.Time) {
	c.started = status.State.Running.StartedAt.Time
	c.conclude(exit{
		at: now, code: exitKilled, reason: reasonLost,
		message: "The container could not be located when the pod was deleted.  The container used to be Running",
	})
}
