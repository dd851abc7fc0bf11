package stack

import (
	"runtime/metrics"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The goroutines wait at the same time, so that all their stacks are there to be measured.
func TestReserveGrowsTheStack(t *testing.T) {
	const goroutines = 100
	perGoroutine := func(begin func()) int {
		before := stackBytes()
		var ready, all sync.WaitGroup
		proceed := make(chan struct{})
		ready.Add(goroutines)
		for range goroutines {
			all.Go(func() {
				begin()
				ready.Done()
				<-proceed
			})
		}
		ready.Wait()
		grown := stackBytes() - before
		close(proceed)
		all.Wait()
		return grown / goroutines
	}
	assert.GreaterOrEqual(t, perGoroutine(Reserve), room)
	assert.Less(t, perGoroutine(func() {}), room)
}

// stackBytes is the memory that is used for stacks, which is taken from the heap in spans.
func stackBytes() int {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(sample)
	return int(sample[0].Value.Uint64())
}

func TestReserveAllocatesNothing(t *testing.T) {
	assert.Zero(t, testing.AllocsPerRun(100, Reserve))
}
