package main

import (
	"context"
	"fmt"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"

	"github.com/musterkube/muster/pkg/emulator"
)

// clients is how many requests are under way at a time where several are.
const clients = 8

// apiBenchmark measures the start of servers and single requests.
type apiBenchmark struct {
	starts, objects, watchers int
}

func (b *apiBenchmark) flags(set *pflag.FlagSet) {
	set.IntVar(&b.starts, "starts", 20, "how many servers to start, one after another")
	set.IntVar(&b.objects, "objects", 2000, "how many objects to create, read and change")
	set.IntVar(&b.watchers, "watchers", 20, "how many clients watch while objects are created")
}

func (b *apiBenchmark) check() error { return positive(b.starts, b.objects, b.watchers) }

func (b *apiBenchmark) run(ctx context.Context, r *report) error {
	if err := b.start(ctx, r); err != nil {
		return fmt.Errorf("measuring starts: %w", err)
	}
	requests := r.table("Requests", requestColumns("object", "request", "at a time")...)
	for _, kind := range []func(*rest.Config) (*kind, error){podKind, workloadKind} {
		for _, atOnce := range []int{1, clients} {
			if err := b.requests(ctx, kind, atOnce, requests); err != nil {
				return fmt.Errorf("measuring requests: %w", err)
			}
		}
	}
	if err := b.fanOut(ctx, r); err != nil {
		return fmt.Errorf("measuring watches: %w", err)
	}
	return nil
}

// start starts and stops servers. The first one pays for what all servers of a process share.
func (b *apiBenchmark) start(ctx context.Context, r *report) error {
	t := r.table("Starts", requestColumns("what")...)
	startServer := func(ctx context.Context, _ int) error {
		server, err := emulator.Start(ctx, emulator.Options{})
		if err == nil {
			server.Stop()
		}
		return err
	}
	for _, m := range []struct {
		what string
		n    int
	}{{"the first server, and its stop", 1}, {"a later server, and its stop", b.starts}} {
		s, err := each(ctx, m.n, 1, startServer)
		if err != nil {
			return err
		}
		t.addSample(s, m.what)
	}
	return nil
}

// requests measures requests for one kind of object on a server of its own.
func (b *apiBenchmark) requests(ctx context.Context, of func(*rest.Config) (*kind, error), atOnce int, t *table) error {
	server, err := emulator.Start(ctx, emulator.Options{})
	if err != nil {
		return err
	}
	defer server.Stop()
	k, err := of(server.Config())
	if err != nil {
		return err
	}
	// The first write of an API group builds what managed fields need.
	if err := k.create(ctx, "first"); err != nil {
		return fmt.Errorf("creating a %s: %w", k.name, err)
	}
	for _, m := range []struct {
		request string
		n       int
		do      func(ctx context.Context, i int) error
	}{
		{"create", b.objects, onName(k.create)},
		{"get", b.objects, onName(k.get)},
		{"list 100", max(b.objects/20, 1), func(ctx context.Context, _ int) error { return k.list(ctx, 100) }},
		{"list all", max(b.objects/100, 1), func(ctx context.Context, _ int) error { return k.list(ctx, 0) }},
		{"patch", b.objects, onName(k.patch)},
		{"apply", b.objects, onName(k.apply)},
		{"delete", b.objects, onName(k.delete)},
	} {
		s, err := each(ctx, m.n, atOnce, m.do)
		if err != nil {
			return fmt.Errorf("%s of a %s: %w", m.request, k.name, err)
		}
		t.addSample(s, k.name, m.request, fmt.Sprint(atOnce))
	}
	return nil
}

// onName turns a request for an object of some name into one for an object of some number.
func onName(do func(context.Context, string) error) func(context.Context, int) error {
	return func(ctx context.Context, i int) error { return do(ctx, objectName(i)) }
}

// objectPrefix begins the names of all objects; their number follows.
const objectPrefix = "object-"

func objectName(i int) string { return fmt.Sprintf("%s%06d", objectPrefix, i) }
