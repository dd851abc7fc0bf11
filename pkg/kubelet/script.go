package kubelet

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Script says how containers fare. The kubelet asks once for each time that a container starts, and never for two
// containers at once, so that a script may keep count without locks.
type Script interface {
	Run(Attempt) Outcome
}

// ScriptFunc is a function as a [Script].
type ScriptFunc func(Attempt) Outcome

// Run calls f.
func (f ScriptFunc) Run(a Attempt) Outcome { return f(a) }

// Attempt is one start of one container.
type Attempt struct {
	// Pod is the pod that the container belongs to. It must not be changed.
	Pod *corev1.Pod
	// Container is the name of the container.
	Container string
	// Init says that it is an init container, or a sidecar.
	Init bool
	// Job is the name of the Job that controls the pod, empty for a pod without.
	Job string
	// Index is the pod's completion index if the Job is Indexed. Otherwise it is the pod's number among the pods of the
	// Job, in the order in which they were made, the first being 0; a replacement has a number of its own. It is -1 for a
	// pod without a Job.
	Index int
	// Number counts the starts of this container under this index, the first being 1: restarts in place, and those of
	// the pods that went before. The kubelet counts what it has seen; one that was started later knows of pods that
	// still exist.
	Number int
}

// Outcome is what becomes of one start of one container.
type Outcome struct {
	// Duration is how long it runs. Zero ends it at once, after the pod has been seen running.
	Duration time.Duration
	// Forever lets it run until it is stopped, whatever Duration says.
	Forever bool
	// ExitCode is what it ends with if nobody stops it: 0 to 255.
	ExitCode int32
	// Reason is the reason in its terminated state, such as "OOMKilled". Default: "Completed" or "Error", as the exit
	// code has it.
	Reason string
	// Message is its termination message.
	Message string
	// Output is what it writes, all of it when it starts: its log.
	Output string
	// Evict has the kubelet evict the whole pod after Duration, as one does whose node runs out of memory: the pod fails
	// with the reason Evicted and the condition DisruptionTarget, reason TerminationByKubelet, and the containers end as
	// after a deletion. Message then tells why. It is of no consequence together with Forever.
	Evict bool
	// Shutdown is how long it takes to end once it is told to. It then has the exit code 143, as a process that SIGTERM
	// has ended. If the pod's grace period is over before, it is killed and has 137. Zero ends it at once.
	Shutdown time.Duration
}

// Fixed is a script in which every container fares alike, except that init containers end well at once. The zero value
// has all end well at once.
type Fixed struct {
	Duration time.Duration
	ExitCode int32
}

var _ Script = Fixed{}

// Run returns the outcome that f stands for.
func (f Fixed) Run(a Attempt) Outcome {
	if a.Init {
		return Outcome{}
	}
	return Outcome{Duration: f.Duration, ExitCode: f.ExitCode}
}

// FailIndex is a script like next, in which the first so many attempts of the pods with an index of their Job end with
// an exit code, after as long as they would have run. In a Job that is not Indexed an index is used by one pod only, so
// that more than one attempt fails only if its containers are restarted in place; see [Attempt].
func FailIndex(index int, exitCode int32, attempts int, next Script) Script {
	return Failure{Index: index, ExitCode: exitCode, Attempts: attempts}.Before(next)
}

// Failure says that an index of a Job is to fail at first. Its text form is INDEX=EXITCODE, or INDEX=EXITCODExATTEMPTS.
type Failure struct {
	Index    int
	ExitCode int32
	Attempts int
}

// Before returns a script that has the failure and else goes by next, which is [Fixed]{} if there is none.
func (f Failure) Before(next Script) Script {
	if next == nil {
		next = Fixed{}
	}
	return ScriptFunc(func(a Attempt) Outcome {
		outcome := next.Run(a)
		if !a.Init && a.Index == f.Index && a.Number <= f.Attempts {
			outcome.ExitCode, outcome.Reason, outcome.Forever = f.ExitCode, "", false
		}
		return outcome
	})
}

// ParseFailure reads the text form of a [Failure]: "0=1" is one failure of index 0 with exit code 1, "2=137x3" three of
// index 2 with 137.
func ParseFailure(text string) (Failure, error) {
	wrong := fmt.Errorf("failure %q: want INDEX=EXITCODE or INDEX=EXITCODExATTEMPTS, with an exit code from 1 to 255", text)
	indexText, rest, found := strings.Cut(text, "=")
	codeText, attemptsText, several := strings.Cut(rest, "x")
	if !several {
		attemptsText = "1"
	}
	index, err := strconv.Atoi(indexText)
	if !found || err != nil || index < 0 {
		return Failure{}, wrong
	}
	code, err := strconv.ParseInt(codeText, 10, 32)
	if err != nil || code < 1 || code > 255 {
		return Failure{}, wrong
	}
	attempts, err := strconv.Atoi(attemptsText)
	if err != nil || attempts < 1 {
		return Failure{}, wrong
	}
	return Failure{Index: index, ExitCode: int32(code), Attempts: attempts}, nil
}

// String returns the text form, which [ParseFailure] reads.
func (f Failure) String() string {
	text := fmt.Sprintf("%d=%d", f.Index, f.ExitCode)
	if f.Attempts != 1 {
		text += fmt.Sprintf("x%d", f.Attempts)
	}
	return text
}
