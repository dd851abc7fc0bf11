package main

import (
	"runtime"
	"runtime/metrics"
	"sync"
	"time"
)

// memoryInterval is how often memory is looked at. The garbage collector of Go runs less often than that.
const memoryInterval = 5 * time.Millisecond

// cost is what a measurement took.
type cost struct {
	wall, cpu time.Duration
	// allocated is how much memory was allocated, in bytes; most of it was freed again. It tells more than CPU time where
	// others use the machine too.
	allocated uint64
	// peak is the most memory that the process has held for the heap and for stacks, in MiB.
	peak float64
}

// meter takes the cost of what happens between its start and its stop.
type meter struct {
	began     time.Time
	cpu       time.Duration
	allocated uint64
	done      chan struct{}
	watch     sync.WaitGroup
	peak      uint64
}

// startMeter begins a measurement. What an earlier one has left in memory does not count.
func startMeter() *meter {
	runtime.GC()
	m := &meter{done: make(chan struct{})}
	m.watch.Go(m.watchMemory)
	m.began, m.cpu, m.allocated = time.Now(), cpuTime(), allocated()
	return m
}

// stop ends the measurement.
func (m *meter) stop() cost {
	c := cost{wall: time.Since(m.began), cpu: cpuTime() - m.cpu, allocated: allocated() - m.allocated}
	close(m.done)
	m.watch.Wait()
	c.peak = float64(m.peak) / (1 << 20)
	return c
}

// allocated is how many bytes the process has allocated so far.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

func (m *meter) watchMemory() {
	samples := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	ticker := time.NewTicker(memoryInterval)
	defer ticker.Stop()
	for {
		metrics.Read(samples)
		m.peak = max(m.peak, samples[0].Value.Uint64()+samples[1].Value.Uint64())
		select {
		case <-ticker.C:
		case <-m.done:
			return
		}
	}
}

// per is the cost of one of n things in a unit: per(c.cpu, n, time.Millisecond) is in milliseconds each.
func per(d time.Duration, n int, unit time.Duration) float64 {
	return float64(d) / float64(unit) / float64(max(n, 1))
}

// rate is how many of n things were done in a second.
func rate(n int, d time.Duration) float64 { return float64(n) / max(d.Seconds(), 1e-9) }
