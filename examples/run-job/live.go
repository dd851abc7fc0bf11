package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/musterkube/muster/examples/run-job/internal/life"
	"github.com/musterkube/muster/examples/run-job/internal/progress"
)

// live says whether progress is shown below what is written to out.
func (o options) live(out io.Writer) bool {
	switch o.progress {
	case progressAlways:
		return true
	case progressNever:
		return false
	default:
		return o.output == outputText && progress.IsTerminal(out) && os.Getenv("TERM") != "dumb"
	}
}

// bare returns what is behind writers that only keep others from writing at the same time.
func bare(out io.Writer) io.Writer {
	for {
		w, ok := out.(*syncWriter)
		if !ok {
			return out
		}
		out = w.out
	}
}

// showLive shows how far everything has come below what is written to out, if the flags ask for it, until hide is called.
// It may be called again.
func (f *follower) showLive(opts options, out *syncWriter) (hide func(), err error) {
	before := out.out
	if !opts.live(bare(before)) {
		return func() {}, nil
	}
	live, err := progress.Start(bare(before), progress.StyleOf(os.Getenv), f.progress)
	if err != nil {
		return nil, fmt.Errorf("showing progress: %w", err)
	}
	out.redirect(live)
	return sync.OnceFunc(func() {
		live.Stop()
		out.redirect(before)
	}), nil
}

// progress is how far everything has come, as far as it was told.
func (f *follower) progress() progress.State {
	f.telling.Lock()
	defer f.telling.Unlock()
	state := progress.State{Elapsed: time.Since(f.start)}
	state.NotReady = slices.Sorted(maps.Keys(f.record.notReady))
	for _, key := range f.record.order {
		s := f.record.sections[key]
		part := progress.Job{Name: s.name}
		job := withUID[*batchv1.Job](f.world, key)
		if job == nil {
			part.Cells, part.Total = s.states(0), len(s.pods)
			for _, cell := range part.Cells {
				if cell == life.Succeeded {
					part.Done++
				}
			}
			state.Jobs = append(state.Jobs, part)
			continue
		}
		part.Done = int(job.Status.Succeeded)
		if job.Spec.Completions != nil {
			part.Total = int(*job.Spec.Completions)
		}
		indexes, indexed := indexes(job)
		if !indexed {
			indexes = 0
		}
		part.Cells = s.states(indexes)
		if condition, ended := finishedBy(job); ended {
			part.Ended, part.Failed = string(condition.Type), condition.Type == batchv1.JobFailed
		}
		state.Jobs = append(state.Jobs, part)
	}
	return state
}

// states returns the states of the pods of a section: one for each of so many indexes, that of its newest pod, or else one
// for each pod that there is.
func (s *section) states(indexes int) []life.State {
	if indexes == 0 {
		var list []life.State
		for _, p := range s.pods {
			if state := p.last(); state != life.Gone {
				list = append(list, state)
			}
		}
		return list
	}
	list := make([]life.State, indexes)
	for i := range list {
		list[i] = life.Gone
	}
	for _, p := range s.pods {
		// A pod that was replaced, or was made twice, counts only while there is no other.
		if p.index >= 0 && p.index < indexes && (p.last() != life.Gone || list[p.index] == life.Gone) {
			list[p.index] = p.last()
		}
	}
	return list
}

func (p *podRecord) last() life.State { return life.Pod{Spans: p.spans}.Last() }
