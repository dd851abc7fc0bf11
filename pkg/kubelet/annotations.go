package kubelet

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Annotations of a pod, or of the template that it is made from, that say how its containers fare. They win over the
// [Script] and do not concern init containers. A container whose annotation cannot be read is not started; its state
// says so.
const (
	// AnnotationRunDuration is how long the containers run, in the form of [time.ParseDuration], such as "90s", or
	// "forever".
	AnnotationRunDuration = "kubelet.muster.dev/run-duration"
	// AnnotationExitCode is what they exit with: 0 to 255.
	AnnotationExitCode = "kubelet.muster.dev/exit-code"
	// AnnotationFail lists indexes of the Job that fail at first, parted by commas, each in the form of [ParseFailure].
	AnnotationFail = "kubelet.muster.dev/fail"
	// AnnotationOutput is what they write when they start, as [Outcome].Output.
	AnnotationOutput = "kubelet.muster.dev/output"
	// AnnotationEvictAfter has the kubelet evict the pod after the containers have run for so long, as [Outcome].Evict.
	AnnotationEvictAfter = "kubelet.muster.dev/evict-after"
	// AnnotationShutdownDuration is how long the containers take to end when told to, as [Outcome].Shutdown.
	AnnotationShutdownDuration = "kubelet.muster.dev/shutdown-duration"
)

// annotate returns the outcome as the annotations of the attempt's pod change it.
func annotate(a Attempt, outcome Outcome) (Outcome, error) {
	if a.Init {
		return outcome, nil
	}
	for _, read := range []struct {
		key   string
		apply func(value string) error
	}{
		{AnnotationRunDuration, func(value string) error {
			if outcome.Forever = value == "forever"; outcome.Forever {
				return nil
			}
			return parseDuration(value, &outcome.Duration)
		}},
		{AnnotationExitCode, func(value string) error {
			code, err := strconv.ParseUint(value, 10, 8)
			outcome.ExitCode, outcome.Reason = int32(code), ""
			return err
		}},
		{AnnotationFail, func(value string) error { return applyFailures(a, value, &outcome) }},
		{AnnotationOutput, func(value string) error {
			outcome.Output = value
			return nil
		}},
		{AnnotationEvictAfter, func(value string) error {
			outcome.Evict, outcome.Forever = true, false
			return parseDuration(value, &outcome.Duration)
		}},
		{AnnotationShutdownDuration, func(value string) error { return parseDuration(value, &outcome.Shutdown) }},
	} {
		value, found := a.Pod.Annotations[read.key]
		if !found {
			continue
		}
		if err := read.apply(value); err != nil {
			return Outcome{}, fmt.Errorf("reading annotation %s: %w", read.key, err)
		}
	}
	return outcome, nil
}

func parseDuration(text string, into *time.Duration) error {
	d, err := time.ParseDuration(text)
	if err != nil {
		return err
	}
	if d < 0 {
		return fmt.Errorf("duration %q is negative", text)
	}
	*into = d
	return nil
}

func applyFailures(a Attempt, list string, outcome *Outcome) error {
	for text := range strings.SplitSeq(list, ",") {
		failure, err := ParseFailure(strings.TrimSpace(text))
		if err != nil {
			return err
		}
		so := *outcome
		*outcome = failure.Before(ScriptFunc(func(Attempt) Outcome { return so })).Run(a)
	}
	return nil
}
