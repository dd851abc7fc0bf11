package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// sample is what doing one thing many times took.
type sample struct {
	n         int
	wall, cpu time.Duration
	// latencies are sorted.
	latencies []time.Duration
}

// each calls do for 0 to n-1, so many at a time. The first error ends it.
func each(ctx context.Context, n, atOnce int, do func(ctx context.Context, i int) error) (sample, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s := sample{n: n, latencies: make([]time.Duration, n)}
	began, cpu := time.Now(), cpuTime()
	var next atomic.Int64
	var working sync.WaitGroup
	for range atOnce {
		working.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				sent := time.Now()
				if err := do(ctx, i); err != nil {
					cancel(err)
				}
				s.latencies[i] = time.Since(sent)
			}
		})
	}
	working.Wait()
	s.wall, s.cpu = time.Since(began), cpuTime()-cpu
	if ctx.Err() != nil {
		return s, context.Cause(ctx)
	}
	slices.Sort(s.latencies)
	return s, nil
}

// percentile is the latency that so many of a hundred stay below.
func (s sample) percentile(p int) time.Duration {
	if len(s.latencies) == 0 {
		return 0
	}
	return s.latencies[min(len(s.latencies)*p/100, len(s.latencies)-1)]
}

// requestColumns are the columns of a table of samples.
func requestColumns(first ...string) []string {
	return append(first, "count", "per second", "p50 µs", "p99 µs", "CPU µs each")
}

// addSample adds a row to a table with requestColumns.
func (t *table) addSample(s sample, names ...string) {
	var row []cell
	for _, name := range names {
		row = append(row, text(name))
	}
	t.add(append(row, number(s.n, 0), number(rate(s.n, s.wall), 0), number(s.percentile(50).Microseconds(), 0),
		number(s.percentile(99).Microseconds(), 0), number(per(s.cpu, s.n, time.Microsecond), 0))...)
}

// positive returns an error unless every size is at least 1.
func positive(sizes ...int) error {
	if slices.Min(sizes) < 1 {
		return fmt.Errorf("sizes must be at least 1")
	}
	return nil
}
