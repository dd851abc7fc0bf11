package main

import (
	"fmt"
	"sync"

	"github.com/musterkube/muster/pkg/kubelet"
)

// rehearsal is the script that the flags ask for, which keeps count of the failures that it has played.
type rehearsal struct {
	script   kubelet.Script
	failures []kubelet.Failure

	mu sync.Mutex
	// played is how often each failure has come, in the pods where it came most often.
	played []int
}

// rehearse turns the flags into what the kubelet plays.
func (o options) rehearse() *rehearsal {
	r := &rehearsal{script: kubelet.Fixed{Duration: o.podDuration}, failures: o.failures, played: make([]int, len(o.failures))}
	for i, f := range o.failures {
		r.script = r.counting(i, f.Before(r.script))
	}
	return r
}

// Run implements kubelet.Script.
func (r *rehearsal) Run(a kubelet.Attempt) kubelet.Outcome { return r.script.Run(a) }

// counting plays a script and notes when the failure at i came of it. No other failure is for the same index.
func (r *rehearsal) counting(i int, script kubelet.Script) kubelet.Script {
	return kubelet.ScriptFunc(func(a kubelet.Attempt) kubelet.Outcome {
		outcome := script.Run(a)
		if !a.Init && a.Index == r.failures[i].Index && outcome.ExitCode == r.failures[i].ExitCode {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.played[i] = max(r.played[i], a.Number)
		}
		return outcome
	})
}

// unplayed says which failures did not come as often as they were asked for, and why, as far as the report tells.
func (r *rehearsal) unplayed(report *report) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var texts []string
	for i, f := range r.failures {
		switch played := r.played[i]; {
		case played >= f.Attempts:
		case played == 0:
			texts = append(texts, fmt.Sprintf("--fail %s never fired: %s", f, report.whyNoIndex(f.Index)))
		default:
			texts = append(texts, fmt.Sprintf("--fail %s fired only %s: %s", f, times(played), report.whyNotAgain()))
		}
	}
	return texts
}

func (r *report) whyNoIndex(index int) string {
	jobs := 0
	for _, job := range r.Jobs {
		jobs++
		if index < job.indexes {
			return "no pod of that index was started"
		}
	}
	switch jobs {
	case 0:
		return "there is no Job"
	case 1:
		return fmt.Sprintf("the Job has no index %d", index)
	default:
		return fmt.Sprintf("no Job has an index %d", index)
	}
}

func (r *report) whyNotAgain() string {
	for _, job := range r.Jobs {
		if job.indexed {
			return "the index was not started again"
		}
	}
	return "the Job is not Indexed, so that a replacement has a number of its own; only a restart in place has the same (restartPolicy: OnFailure)"
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
