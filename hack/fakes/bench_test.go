package fakes

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// BenchmarkStart is what a test pays before it begins.
func BenchmarkStart(b *testing.B) {
	for _, of := range worlds {
		b.Run(of.name, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				stopped := &scope{TB: b}
				b.StartTimer()
				of.make(stopped)
				stopped.close()
			}
		})
	}
}

// scope is a testing.TB whose cleanups are run before its test is over.
type scope struct {
	testing.TB
	cleanups []func()
}

func (s *scope) Cleanup(cleanup func()) { s.cleanups = append(s.cleanups, cleanup) }

func (s *scope) close() {
	for _, cleanup := range s.cleanups {
		cleanup()
	}
}

// BenchmarkRequests are single requests, with a thousand pods there for those that read or change.
func BenchmarkRequests(b *testing.B) {
	const objects = 1000
	name := func(i int) string { return podName(i % objects) }
	for _, request := range []struct {
		name string
		do   func(ctx context.Context, w world, i int) error
	}{
		{"create", func(ctx context.Context, w world, i int) error {
			_, err := w.create(ctx, newPod(podName(objects+i)))
			return err
		}},
		{"get", func(ctx context.Context, w world, i int) error {
			_, err := w.get(ctx, name(i))
			return err
		}},
		{"list of 1000", func(ctx context.Context, w world, _ int) error {
			_, err := w.list(ctx, 0)
			return err
		}},
		{"patch", func(ctx context.Context, w world, i int) error {
			return w.patch(ctx, name(i), []byte(`{"metadata":{"labels":{"patched":"`+podName(i)+`"}}}`))
		}},
		{"apply", func(ctx context.Context, w world, i int) error {
			return w.apply(ctx, newApply(name(i), podName(i)), "bench")
		}},
	} {
		for _, of := range worlds {
			b.Run(request.name+"/"+of.name, func(b *testing.B) {
				w := of.make(b)
				for i := range objects {
					if _, err := w.create(b.Context(), newPod(podName(i))); err != nil {
						b.Fatal(err)
					}
				}
				for i := 0; b.Loop(); i++ {
					if err := request.do(b.Context(), w, i); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkWatch is the time from a create until twenty watchers have its event.
func BenchmarkWatch(b *testing.B) {
	const watchers = 20
	for _, of := range worlds {
		b.Run(of.name, func(b *testing.B) {
			w := of.make(b)
			var all []watch.Interface
			for range watchers {
				changes, err := w.watch(b.Context(), "")
				if err != nil {
					b.Fatal(err)
				}
				defer changes.Stop()
				all = append(all, changes)
			}
			for i := 0; b.Loop(); i++ {
				if _, err := w.create(b.Context(), newPod(podName(i))); err != nil {
					b.Fatal(err)
				}
				for _, changes := range all {
					if got := (<-changes.ResultChan()).Object.(*corev1.Pod).Name; got != podName(i) {
						b.Fatalf("an event of %s, want %s", got, podName(i))
					}
				}
			}
		})
	}
}
