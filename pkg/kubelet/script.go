package kubelet

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/musterkube/muster/pkg/internal/check"
)

// Script says how containers fare. The kubelet asks once for each time that a container starts, and never for two
// containers at once, so that a script may keep count without locks.
//
// [New] refuses scripts that can be seen to make no sense; see [Options.Validate].
type Script interface {
	Run(Attempt) Outcome
}

// ScriptFunc is a function as a [Script].
type ScriptFunc func(Attempt) Outcome

// Run implements Script by calling f.
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

// Outcome is what becomes of one start of one container. Where the exit code is out of range or a time negative, the
// container is not started, and its state says so.
type Outcome struct {
	// Duration is how long it runs. It must not be negative. Zero ends it at once, after the pod has been seen running.
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
	// has ended. If the pod's grace period is over before, it is killed and has 137. It must not be negative. Zero ends it
	// at once.
	Shutdown time.Duration
}

// validate judges an outcome, whose path is at.
func (o *Outcome) validate(at *field.Path) field.ErrorList {
	faults := check.NotNegative(at.Child("Duration"), o.Duration)
	faults = append(faults, validateExitCode(at.Child("ExitCode"), o.ExitCode)...)
	return append(faults, check.NotNegative(at.Child("Shutdown"), o.Shutdown)...)
}

func validateExitCode(at *field.Path, code int32) field.ErrorList {
	if code >= 0 && code <= maxExitCode {
		return nil
	}
	return field.ErrorList{field.Invalid(at, code, fmt.Sprintf("must be 0 to %d", maxExitCode))}
}

// maxExitCode is the greatest exit code of a process.
const maxExitCode = 255

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
// an exit code other than 0, after as long as they would have run. In a Job that is not Indexed an index is used by one
// pod only, so that more than one attempt fails only if its containers are restarted in place; see [Attempt].
func FailIndex(index int, exitCode int32, attempts int, next Script) Script {
	return Failure{Index: index, ExitCode: exitCode, Attempts: attempts}.Before(next)
}

// Failure says that an index of a Job is to fail at first. Its text form is INDEX=EXITCODE, or INDEX=EXITCODExATTEMPTS.
type Failure struct {
	// Index is the index that fails: 0 or more.
	Index int
	// ExitCode is what it fails with: 1 to 255.
	ExitCode int32
	// Attempts is how many of its attempts fail. With 0 none does.
	Attempts int
}

// Before returns a script that has the failure and else goes by next, which is [Fixed]{} if there is none. A failure that
// cannot be, such as one of index -1, is for [New] to refuse.
func (f Failure) Before(next Script) Script {
	if next == nil {
		next = Fixed{}
	}
	return failing{f, next}
}

// failing is a script with a failure.
type failing struct {
	failure Failure
	next    Script
}

// Run implements Script.
func (f failing) Run(a Attempt) Outcome {
	outcome := f.next.Run(a)
	if !a.Init && a.Index == f.failure.Index && a.Number <= f.failure.Attempts {
		outcome.ExitCode, outcome.Reason, outcome.Forever = f.failure.ExitCode, "", false
	}
	return outcome
}

// validateScript judges what can be seen of a script, whose path is at.
func validateScript(at *field.Path, script Script) field.ErrorList {
	switch s := script.(type) {
	case ScriptFunc:
		if s == nil {
			return field.ErrorList{field.Required(at, "the ScriptFunc is nil: give it a function, or leave the script out")}
		}
	case Fixed:
		return (&Outcome{Duration: s.Duration, ExitCode: s.ExitCode}).validate(at)
	case failing:
		return append(s.failure.validate(at), validateScript(at, s.next)...)
	}
	return nil
}

func (f Failure) validate(at *field.Path) field.ErrorList {
	faults := check.NotNegative(at.Child("Index"), f.Index)
	if f.ExitCode < 1 || f.ExitCode > maxExitCode {
		faults = append(faults, field.Invalid(at.Child("ExitCode"), f.ExitCode, fmt.Sprintf("must be 1 to %d for a failure", maxExitCode)))
	}
	return append(faults, check.NotNegative(at.Child("Attempts"), f.Attempts)...)
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
