package kubelet

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Runtime is what containers run in. The zero value plays them by the [Script]; [Processes] runs their commands.
type Runtime struct {
	processes *ProcessOptions
}

// ProcessOptions says how [Processes] runs containers. The zero value is useful.
type ProcessOptions struct {
	// Dir is the working directory of containers without spec.containers[].workingDir, and what a relative one counts
	// from. Default: the present directory of this process.
	Dir string
	// StopGrace is how long processes may take to end, once told to, when the kubelet ends before they do. It must not be
	// negative. Default: one second.
	StopGrace time.Duration
}

// Processes is a runtime in which each container is a process on this machine: its command and arguments, started with
// the rights of the calling process.
//
// It isolates nothing. A process sees and may change all files of the machine, all other processes of its user and the
// network as it is; there are no images, no volumes, no limits to CPU and memory, and no user but the caller's. Only
// run what you would run in a shell. The pod's address is made up, so that nothing answers there.
//
// The environment is what spec.containers[].env and envFrom say, fields of the pod and its resources, ConfigMaps and
// Secrets included, and of this process's own environment PATH and HOME, if the container does not set them. References
// of the form $(NAME) are expanded in values, command and arguments. A container without a command cannot be run, as its
// image, which would say what to run, is not looked at.
//
// A process leads a group of its own. The whole group is sent SIGTERM when the container is to end, SIGKILL when the
// grace period is over, and SIGKILL when the process itself has ended. What leaves the group, as a daemon does, is on
// its own. Without such, no process outlives [Kubelet.Run]. On systems without process groups, the process itself is
// killed at once.
//
// Standard output and standard error are the container's log. Their end is the termination message where
// terminationMessagePolicy is FallbackToLogsOnError and the process failed; no file at terminationMessagePath is read.
//
// Processes live by the real clock, whatever the clock of the kubelet, and cannot run in a testing/synctest bubble. The
// annotations that say how containers fare are not looked at, and a [Script] beside them is refused: see [Options.Validate].
func Processes(options ProcessOptions) Runtime {
	if options.StopGrace == 0 {
		options.StopGrace = time.Second
	}
	return Runtime{processes: &options}
}

// process is a container that really runs.
type process interface {
	// end tells it to end, the first time, and has it killed after the grace. A later call can only shorten that.
	end(grace time.Duration)
	// ended says how it ended, nil while it has not.
	ended() *exit
}

// exit is how a process ended.
type exit struct {
	at      time.Time
	code    int32
	reason  string
	message string
}

// start is what became of the start of a container.
type start struct {
	// outcome is how it will fare, if it is played.
	outcome Outcome
	// process is what runs it otherwise.
	process process
	// failed is how it failed to start, nil if it runs.
	failed *exit
	// output is its log, nil if it will write nothing.
	output *output
	// retry is after how long a start that went wrong is tried again; zero for when the pod changes.
	retry time.Duration
}

// Exit codes and reasons of containers that could not be started, as container runtimes have them.
const (
	exitNotStarted   int32 = 128
	reasonStartError       = "StartError"
	reasonCannotRun        = "ContainerCannotRun"
	reasonLost             = "ContainerStatusUnknown"
)

// retryDelay is after how long a container is tried again that cannot be made, such as for want of a ConfigMap.
const retryDelay = 10 * time.Second

// fallsBack says whether the end of a container's log is its termination message.
func fallsBack(spec *corev1.Container, code int32) bool {
	return code != 0 && spec.TerminationMessagePolicy == corev1.TerminationMessageFallbackToLogsOnError
}
