package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/metrics"
	"runtime/pprof"
	"sync"
	"time"
)

// memoryInterval is how often memory is looked at. The garbage collector of Go runs less often than that.
const memoryInterval = 5 * time.Millisecond

// cost is what a measurement took.
type cost struct {
	wall, cpu time.Duration
	// peak is the most memory that the process has held for the heap and for stacks, in MiB.
	peak float64
}

// meter takes the cost of what happens between its start and its stop.
type meter struct {
	began time.Time
	cpu   time.Duration
	done  chan struct{}
	watch sync.WaitGroup
	peak  uint64
}

// startMeter begins a measurement. What an earlier one has left in memory does not count.
func startMeter() *meter {
	runtime.GC()
	m := &meter{done: make(chan struct{})}
	m.watch.Go(m.watchMemory)
	m.began, m.cpu = time.Now(), cpuTime()
	return m
}

// stop ends the measurement.
func (m *meter) stop() cost {
	c := cost{wall: time.Since(m.began), cpu: cpuTime() - m.cpu}
	close(m.done)
	m.watch.Wait()
	c.peak = float64(m.peak) / (1 << 20)
	return c
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

// profile begins a CPU profile in a file, if one is named. What it returns ends it.
func profile(path string) (stop func() error, err error) {
	if path == "" {
		return func() error { return nil }, nil
	}
	file, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("writing a CPU profile: %w", err)
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return nil, fmt.Errorf("writing a CPU profile: %w", err)
	}
	return func() error {
		pprof.StopCPUProfile()
		return file.Close()
	}, nil
}
