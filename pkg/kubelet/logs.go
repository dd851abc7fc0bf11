package kubelet

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// logs has the output of containers: of their present run and of the one before it.
type logs struct {
	mu   sync.Mutex
	runs map[loggedContainer]*output
}

// loggedContainer is one run of a container, after so many restarts.
type loggedContainer struct {
	pod       types.UID
	container string
	restarts  int32
}

func newLogs() *logs {
	return &logs{runs: map[loggedContainer]*output{}}
}

// keep takes on the output of a container that was restarted so often. What it wrote two runs before goes.
func (l *logs) keep(pod types.UID, container string, restarts int32, out *output) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.runs[loggedContainer{pod, container, restarts}] = out
	delete(l.runs, loggedContainer{pod, container, restarts - 2})
}

// get returns the output of one run of a container, nil if it is not there.
func (l *logs) get(pod types.UID, container string, restarts int32) *output {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.runs[loggedContainer{pod, container, restarts}]
}

// drop forgets what a container that was restarted so often has written. Who reads it reads on to its end.
func (l *logs) drop(pod types.UID, container string, restarts int32) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for number := restarts - 1; number <= restarts; number++ {
		delete(l.runs, loggedContainer{pod, container, number})
	}
}

// ContainerLogs returns what the container that the options name has written: of its present run or, if that is asked
// for, of the one before. The reader goes on while the container runs if the log is to be followed, and ends with ctx.
// A kubelet that was started later knows nothing of what was written before: that log is empty. So is that of a played
// container whose [Outcome] has no output.
//
// The errors are those of a kubelet, in its words: that a container waits to start, or has no run before.
func (k *Kubelet) ContainerLogs(ctx context.Context, pod *corev1.Pod, options *corev1.PodLogOptions) (io.ReadCloser, error) {
	if k.isLost(pod.Spec.NodeName) {
		return nil, fmt.Errorf("reading logs on node %s: it cannot be reached", pod.Spec.NodeName)
	}
	restarts, err := loggedRun(pod, options.Container, options.Previous)
	if err != nil {
		return nil, err
	}
	out := k.logs.get(pod.UID, options.Container, restarts)
	if out == nil {
		return io.NopCloser(strings.NewReader("")), nil
	}
	return out.read(ctx, options, k.clock.Now()), nil
}

// loggedRun finds in the pod's status which run of a container is asked for, and returns how often the container had
// been restarted before it.
func loggedRun(pod *corev1.Pod, container string, previous bool) (int32, error) {
	status := findStatus(pod, container)
	if status == nil {
		return 0, fmt.Errorf("container %q in pod %q is not available", container, pod.Name)
	}
	last, ended := status.LastTerminationState.Terminated, status.State.Terminated
	switch {
	case previous:
		if last == nil || last.ContainerID == "" {
			return 0, fmt.Errorf("previous terminated container %q in pod %q not found", container, pod.Name)
		}
		return restartsOf(last.ContainerID), nil
	case status.State.Running != nil:
		return restartsOf(status.ContainerID), nil
	case ended != nil && ended.ContainerID != "":
		return restartsOf(ended.ContainerID), nil
	case last != nil && last.ContainerID != "":
		return restartsOf(last.ContainerID), nil
	case ended != nil || last != nil:
		return 0, fmt.Errorf("container %q in pod %q is terminated", container, pod.Name)
	}
	reason := ""
	if status.State.Waiting != nil {
		reason = status.State.Waiting.Reason
	}
	return 0, fmt.Errorf("container %q in pod %q is waiting to start: %s", container, pod.Name, reason)
}

// containerID names one run of a container, as container runtimes do.
func containerID(pod types.UID, container string, restarts int32) string {
	return fmt.Sprintf("%s://%s/%s/%d", containerRuntime, pod, container, restarts)
}

// restartsOf returns the number at the end of a container ID, and -1, which no run has, for the ID of somebody else.
func restartsOf(id string) int32 {
	text := id[strings.LastIndexByte(id, '/')+1:]
	number, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return -1
	}
	return int32(number)
}
