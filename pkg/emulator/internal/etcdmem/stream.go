package etcdmem

import (
	"context"
	"errors"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/musterkube/muster/pkg/emulator/internal/mvcc"
)

// stream carries the events of one watcher to the channel of one watch.
type stream struct {
	op      clientv3.Op
	tasks   *tasks
	watcher *mvcc.Watcher
	out     chan<- clientv3.WatchResponse
	// asked holds a token when a progress notification was requested.
	asked chan struct{}
}

// errUnwanted ends a stream whose client wants no more.
var errUnwanted = errors.New("watch or client was closed")

// run sends responses until the watch ends, and returns why it did.
func (s *stream) run(ctx context.Context, opts Options) error {
	var tick <-chan time.Time
	if s.op.IsProgressNotify() && opts.ProgressInterval > 0 {
		ticker := opts.Clock.NewTicker(opts.ProgressInterval)
		defer ticker.Stop()
		tick = ticker.C()
	}
	if s.op.IsCreatedNotify() {
		if err := s.send(ctx, clientv3.WatchResponse{Header: header(s.watcher.From() - 1), Created: true}); err != nil {
			return err
		}
	}
	idle := true
	for {
		progress := false
		select {
		case <-ctx.Done():
			return errUnwanted
		case <-s.tasks.cancelled:
			return errUnwanted
		case <-s.tasks.closing:
			return errUnwanted
		case <-s.watcher.Ready():
		case <-s.asked:
			progress = true
		case <-tick:
			progress, idle = idle, true
		}
		sent, err := s.forward(ctx, progress)
		if err != nil {
			return err
		}
		idle = idle && !sent
	}
}

// forward sends the events that wait and, if wanted, a notification of how far the watch has come. It says whether it
// sent events.
func (s *stream) forward(ctx context.Context, progress bool) (sent bool, err error) {
	events, seen, err := s.watcher.Take()
	if err != nil {
		return false, err
	}
	list, err := s.convert(events)
	if err != nil {
		return false, err
	}
	if len(list) > 0 {
		if err := s.send(ctx, clientv3.WatchResponse{Header: header(seen), Events: list}); err != nil {
			return false, err
		}
	}
	// A watch of a revision yet to come has seen nothing: telling it a revision before its own would turn it back.
	if progress && seen >= s.watcher.From()-1 {
		err = s.send(ctx, clientv3.WatchResponse{Header: header(seen)})
	}
	return len(list) > 0, err
}

// convert translates those events that the watch did not filter out. It fails with ErrCompacted when the watch wants to
// know what a key was and that is forgotten. etcd leaves the previous state out then, which an API server reports as an
// internal error; that the revision is too old is what its client can act upon.
func (s *stream) convert(events []mvcc.Event) ([]*clientv3.Event, error) {
	list := make([]*clientv3.Event, 0, len(events))
	for _, event := range events {
		if event.IsDelete() && s.op.IsFilterDelete() || !event.IsDelete() && s.op.IsFilterPut() {
			continue
		}
		converted := &clientv3.Event{Type: mvccpb.Event_PUT, Kv: keyValue(event.KV)}
		if event.IsDelete() {
			converted.Type = mvccpb.Event_DELETE
		}
		if s.op.IsPrevKV() {
			if event.PrevForgotten() {
				return nil, mvcc.ErrCompacted
			}
			converted.PrevKv = keyValue(event.Prev)
		}
		list = append(list, converted)
	}
	return list, nil
}

// send hands over a response, and fails when the watch, its client or its watcher ends before it is taken.
func (s *stream) send(ctx context.Context, response clientv3.WatchResponse) error {
	select {
	case s.out <- response:
		return nil
	case <-ctx.Done():
	case <-s.tasks.cancelled:
	case <-s.tasks.closing:
	case <-s.watcher.Done():
		_, _, err := s.watcher.Take()
		return err
	}
	return errUnwanted
}

// last hands over the response that ends the watch, unless nobody wants it.
func (s *stream) last(ctx context.Context, response clientv3.WatchResponse) {
	select {
	case s.out <- response:
	case <-ctx.Done():
	case <-s.tasks.cancelled:
	case <-s.tasks.closing:
	}
}

// ask requests a progress notification.
func (s *stream) ask() {
	select {
	case s.asked <- struct{}{}:
	default:
	}
}
