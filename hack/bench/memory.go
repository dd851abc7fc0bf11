package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/metrics"
	"slices"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"

	"github.com/musterkube/muster/pkg/emulator"
)

// memoryBenchmark fills servers with objects, and takes what they hold in memory for each and how requests fare.
type memoryBenchmark struct {
	objects []int
}

func (b *memoryBenchmark) flags(set *pflag.FlagSet) {
	set.IntSliceVar(&b.objects, "objects", []int{1_000, 10_000, 100_000}, "how many objects to fill a server with; each number is a server of its own")
}

func (b *memoryBenchmark) check() error { return positive(b.objects...) }

func (b *memoryBenchmark) run(ctx context.Context, r *report) error {
	t := r.table("Memory of a server, in use after a collection of garbage", "object", "objects", "MiB", "bytes an object",
		"MiB after a patch of each", "create per second", "patch per second", "get p50 µs", "list all ms")
	for _, of := range []func(*rest.Config) (*kind, error){podKind, workloadKind} {
		for _, objects := range slices.Sorted(slices.Values(b.objects)) {
			if err := b.fill(ctx, of, objects, t); err != nil {
				return fmt.Errorf("measuring %d objects: %w", objects, err)
			}
		}
	}
	return nil
}

// fill measures one server.
func (b *memoryBenchmark) fill(ctx context.Context, of func(*rest.Config) (*kind, error), objects int, t *table) error {
	server, err := emulator.Start(ctx, emulator.Options{})
	if err != nil {
		return err
	}
	defer server.Stop()
	k, err := of(server.Config())
	if err != nil {
		return err
	}
	// What the first write builds is kept for the process, whatever the number of objects.
	if err := k.create(ctx, "first"); err != nil {
		return fmt.Errorf("creating a %s: %w", k.name, err)
	}
	empty := inUse()
	created, err := each(ctx, objects, clients, onName(k.create))
	if err != nil {
		return fmt.Errorf("creating %ss: %w", k.name, err)
	}
	full := inUse()
	patched, err := each(ctx, objects, clients, onName(k.patch))
	if err != nil {
		return fmt.Errorf("patching %ss: %w", k.name, err)
	}
	after := inUse()
	got, err := each(ctx, min(objects, 1000), 1, onName(k.get))
	if err != nil {
		return fmt.Errorf("reading %ss: %w", k.name, err)
	}
	listed, err := each(ctx, 1, 1, func(ctx context.Context, _ int) error { return k.list(ctx, 0) })
	if err != nil {
		return fmt.Errorf("listing %ss: %w", k.name, err)
	}
	t.add(text(k.name), number(objects, 0), number(mebibytes(full-empty), 1), number((full-empty)/int64(objects), 0),
		number(mebibytes(after-empty), 1), number(rate(objects, created.wall), 0), number(rate(objects, patched.wall), 0),
		number(got.percentile(50).Microseconds(), 0), number(float64(listed.wall)/float64(time.Millisecond), 1))
	return nil
}

// inUse is how many bytes the process holds in objects that something still points at. The second collection takes what
// only pools and finalizers had kept.
func inUse() int64 {
	runtime.GC()
	runtime.GC()
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}

func mebibytes(bytes int64) float64 { return float64(bytes) / (1 << 20) }
