package etcdmem

import (
	"context"
	"errors"
	"sync"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/musterkube/muster/pkg/emulator/internal/mvcc"
)

// watchClient makes watches, with one goroutine for each.
type watchClient struct {
	db    *mvcc.DB
	opts  Options
	tasks *tasks

	mu      sync.Mutex
	streams map[*stream]struct{}
}

var _ clientv3.Watcher = (*watchClient)(nil)

// Watch follows keys until ctx ends, which closes the channel. A revision that was compacted, a watch that falls too far
// behind, and a store that is set back to a snapshot yield a last response that is cancelled with a compact revision.
func (c *watchClient) Watch(ctx context.Context, key string, opts ...clientv3.OpOption) clientv3.WatchChan {
	op := clientv3.OpWatch(key, opts...)
	out := make(chan clientv3.WatchResponse, 1)
	watcher, err := c.db.Watch(spanOf(op.KeyBytes(), op.RangeBytes()), op.Rev())
	if err != nil {
		out <- c.refuse(err)
		close(out)
		return out
	}
	s := &stream{op: op, tasks: c.tasks, watcher: watcher, out: out, asked: make(chan struct{}, 1)}
	c.remember(s)
	started := c.tasks.start(func() {
		defer close(out)
		defer c.forget(s)
		if err := s.run(ctx, c.opts); outdated(err) {
			s.last(ctx, c.refuse(err))
		}
	})
	if !started {
		c.forget(s)
		close(out)
	}
	return out
}

func (c *watchClient) remember(s *stream) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.streams[s] = struct{}{}
}

// forget frees what a watch holds.
func (c *watchClient) forget(s *stream) {
	s.watcher.Stop()
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.streams, s)
}

// outdated reports whether a watch ends because what it wants to know next cannot be told any more.
func outdated(err error) bool {
	return errors.Is(err, mvcc.ErrCompacted) || errors.Is(err, mvcc.ErrWatcherTooSlow) || errors.Is(err, mvcc.ErrRestored)
}

// refuse is the last response of a watch.
func (c *watchClient) refuse(err error) clientv3.WatchResponse {
	response := clientv3.WatchResponse{Header: header(c.db.Revision()), Canceled: true}
	switch {
	case errors.Is(err, mvcc.ErrCompacted):
		response.CompactRevision = c.db.CompactRevision()
	case outdated(err):
		response.CompactRevision = response.Header.Revision
	default:
		response.CancelReason = clientError(err).Error()
	}
	return response
}

// RequestProgress sends every watch of this client a notification of how far it has come, after the events up to there.
func (c *watchClient) RequestProgress(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for s := range c.streams {
		s.ask()
	}
	return nil
}

// Close ends all watches of this client and waits for their goroutines.
func (c *watchClient) Close() error {
	c.tasks.close()
	return nil
}
