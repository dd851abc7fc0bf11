package etcdmem

import (
	"context"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/utils/clock"

	"github.com/musterkube/muster/pkg/emulator/internal/mvcc"
)

// next returns the next response of a watch, "closed" after the last.
func next(ch clientv3.WatchChan) string {
	response, ok := <-ch
	if !ok {
		return "closed"
	}
	return showResponse(response)
}

// quiet says that nothing comes from a watch until something else happens. It needs a bubble of virtual time.
func quiet(t *testing.T, ch clientv3.WatchChan) {
	t.Helper()
	synctest.Wait()
	select {
	case response, ok := <-ch:
		require.Fail(t, "unexpected response", "%s, open: %v", showResponse(response), ok)
	default:
	}
}

func TestWatchOptions(t *testing.T) {
	tests := map[string]struct {
		key  string
		opts []clientv3.OpOption
		want []string
	}{
		"one key from a revision": {
			key: "a", opts: []clientv3.OpOption{clientv3.WithRev(1)},
			want: []string{"events to 5: PUT a=1@2(2,1) was -; PUT a=2@5(2,2) was -;", "events to 6: DELETE a=@6(0,0) was -;"},
		},
		"from now": {
			key: "a", want: []string{"events to 6: DELETE a=@6(0,0) was -;"},
		},
		"with what was": {
			key: "a", opts: []clientv3.OpOption{clientv3.WithRev(5), clientv3.WithPrevKV()},
			want: []string{"events to 5: PUT a=2@5(2,2) was a=1@2(2,1);", "events to 6: DELETE a=@6(0,0) was a=2@5(2,2);"},
		},
		"a prefix": {
			key: "", opts: []clientv3.OpOption{clientv3.WithPrefix(), clientv3.WithRev(4)},
			want: []string{"events to 5: PUT c=1@4(4,1) was -; PUT a=2@5(2,2) was -;", "events to 6: DELETE a=@6(0,0) was -;"},
		},
		"without puts": {
			key: "a", opts: []clientv3.OpOption{clientv3.WithRev(1), clientv3.WithFilterPut()},
			want: []string{"events to 6: DELETE a=@6(0,0) was -;"},
		},
		"without deletes": {
			key: "a", opts: []clientv3.OpOption{clientv3.WithRev(1), clientv3.WithFilterDelete()},
			want: []string{"events to 5: PUT a=1@2(2,1) was -; PUT a=2@5(2,2) was -;"},
		},
		"told when it is created": {
			key: "a", opts: []clientv3.OpOption{clientv3.WithCreatedNotify()},
			want: []string{"created at 5", "events to 6: DELETE a=@6(0,0) was -;"},
		},
		"fragmentation makes no difference": {
			key: "a", opts: []clientv3.OpOption{clientv3.WithFragment()},
			want: []string{"events to 6: DELETE a=@6(0,0) was -;"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, db := newClient(t, mvcc.Options{}, Options{})
				fill(t, db)
				ctx, cancel := context.WithCancel(t.Context())
				ch := client.Watch(ctx, tc.key, tc.opts...)
				synctest.Wait()
				_, _, err := db.Delete(mvcc.Single("a"))
				require.NoError(t, err)
				for _, want := range tc.want {
					assert.Equal(t, want, next(ch))
				}
				quiet(t, ch)
				cancel()
				assert.Equal(t, "closed", next(ch))
			})
		})
	}
}

func TestWatchOfTheCompactedPastIsCancelled(t *testing.T) {
	client, db := newClient(t, mvcc.Options{}, Options{})
	fill(t, db)
	require.NoError(t, db.Compact(5))
	ch := client.Watch(t.Context(), "a", clientv3.WithRev(4))
	response := <-ch
	assert.True(t, response.Canceled)
	assert.EqualValues(t, 5, response.CompactRevision)
	assert.Equal(t, rpctypes.ErrCompacted, response.Err())
	assert.Equal(t, "closed", next(ch))

	// At the revision itself, only those who want to know what was are refused, and only if something was.
	assert.Equal(t, "events to 5: PUT a=2@5(2,2) was -;", next(client.Watch(t.Context(), "a", clientv3.WithRev(5))))
	ch = client.Watch(t.Context(), "a", clientv3.WithRev(5), clientv3.WithPrevKV())
	assert.Equal(t, `error "etcdserver: mvcc: required revision has been compacted", compacted at 5`, next(ch))
	assert.Equal(t, "closed", next(ch))
	ch = client.Watch(t.Context(), "c", clientv3.WithRev(5), clientv3.WithPrevKV())
	put(t, db, "c", "2")
	assert.Equal(t, "events to 6: PUT c=2@6(4,2) was c=1@4(4,1);", next(ch))
}

func TestWatchThatFallsBehindIsCancelledAsCompacted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, db := newClient(t, mvcc.Options{MaxPending: 2}, Options{})
		ch := client.Watch(t.Context(), "a")
		// The first response waits in the channel, the second in the goroutine's hands, the rest in the queue.
		for range 2 {
			put(t, db, "a", "1")
			synctest.Wait()
		}
		for range 3 {
			put(t, db, "a", "1")
		}
		synctest.Wait()
		assert.Equal(t, "events to 2: PUT a=1@2(2,1) was -;", next(ch))
		assert.Equal(t, `error "etcdserver: mvcc: required revision has been compacted", compacted at 6`, next(ch))
		assert.Equal(t, "closed", next(ch))
	})
}

func TestProgressIsToldToIdleWatchesThatAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, db := newClient(t, mvcc.Options{}, Options{})
		asking := client.Watch(t.Context(), "a", clientv3.WithProgressNotify())
		silent := client.Watch(t.Context(), "a")
		future := client.Watch(t.Context(), "a", clientv3.WithProgressNotify(), clientv3.WithRev(4))
		put(t, db, "b", "1")
		clock.RealClock{}.Sleep(DefaultProgressInterval)
		assert.Equal(t, "progress to 2", next(asking))
		quiet(t, silent)
		quiet(t, future)

		put(t, db, "a", "1")
		assert.Equal(t, "events to 3: PUT a=1@3(3,1) was -;", next(asking))
		assert.Equal(t, "events to 3: PUT a=1@3(3,1) was -;", next(silent))
		clock.RealClock{}.Sleep(DefaultProgressInterval)
		quiet(t, asking)
		assert.Equal(t, "progress to 3", next(future), "a watch from the next revision on has seen everything so far")
		clock.RealClock{}.Sleep(DefaultProgressInterval)
		assert.Equal(t, "progress to 3", next(asking))
	})
}

func TestProgressCanBeSwitchedOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, _ := newClient(t, mvcc.Options{}, Options{ProgressInterval: -1})
		ch := client.Watch(t.Context(), "a", clientv3.WithProgressNotify())
		clock.RealClock{}.Sleep(24 * time.Hour)
		quiet(t, ch)
	})
}

func TestRequestProgressReachesEveryWatchAfterItsEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, db := newClient(t, mvcc.Options{}, Options{})
		a, b := client.Watch(t.Context(), "a"), client.Watch(t.Context(), "b")
		future := client.Watch(t.Context(), "a", clientv3.WithRev(9))
		put(t, db, "a", "1")
		put(t, db, "c", "1")
		require.NoError(t, client.RequestProgress(t.Context()))
		synctest.Wait()
		// The event and the notification may come from one look at the queue or from two.
		assert.Contains(t, []string{"events to 2: PUT a=1@2(2,1) was -;", "events to 3: PUT a=1@2(2,1) was -;"}, next(a))
		assert.Equal(t, "progress to 3", next(a))
		assert.Equal(t, "progress to 3", next(b))
		for _, ch := range []clientv3.WatchChan{a, b, future} {
			quiet(t, ch)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, client.RequestProgress(ctx), context.Canceled)
	})
}

// TestWatchesEnd ends watches in each way that there is, with a response that nobody takes in the way, and sees that
// no goroutine is left: the bubble would report it.
func TestWatchesEnd(t *testing.T) {
	tests := map[string]struct {
		end func(client *clientv3.Client, cancelWatch, cancelClient func(), db *mvcc.DB)
		// waits says that the goroutines have ended when end returns.
		waits bool
	}{
		"by their own context":    {end: func(_ *clientv3.Client, cancelWatch, _ func(), _ *mvcc.DB) { cancelWatch() }},
		"by the client's context": {end: func(_ *clientv3.Client, _, cancelClient func(), _ *mvcc.DB) { cancelClient() }},
		"by Close of the client":  {end: func(client *clientv3.Client, _, _ func(), _ *mvcc.DB) { _ = client.Close() }, waits: true},
		"by Close of the watcher": {end: func(client *clientv3.Client, _, _ func(), _ *mvcc.DB) { _ = client.Watcher.Close() }, waits: true},
		"by Close of the store":   {end: func(_ *clientv3.Client, _, _ func(), db *mvcc.DB) { db.Close() }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				db, err := mvcc.New(mvcc.Options{})
				require.NoError(t, err)
				defer db.Close()
				clientCtx, cancelClient := context.WithCancel(context.WithoutCancel(t.Context()))
				defer cancelClient()
				watchCtx, cancelWatch := context.WithCancel(context.WithoutCancel(t.Context()))
				defer cancelWatch()
				client := Client(clientCtx, db)
				idle := client.Watch(watchCtx, "a", clientv3.WithProgressNotify())
				stuck := client.Watch(watchCtx, "b")
				for range 3 {
					put(t, db, "b", "1")
					synctest.Wait()
				}
				watches := client.Watcher.(*watchClient)
				running := slices.Collect(maps.Keys(watches.streams))
				require.Len(t, running, 2)
				tc.end(client.Client, cancelWatch, cancelClient, db)
				if !tc.waits {
					synctest.Wait()
				}
				watches.mu.Lock()
				assert.Empty(t, watches.streams, "watches that the client knows")
				watches.mu.Unlock()
				for _, s := range running {
					// That of a watch which the store did not end shows by its end that it left the store.
					_, _, err := s.watcher.Take()
					assert.Error(t, err, "watcher")
				}
				assert.Equal(t, "closed", next(idle))
				assert.Equal(t, "events to 2: PUT b=1@2(2,1) was -;", next(stuck), "what was in the channel already")
				assert.Equal(t, "closed", next(stuck))
			})
		})
	}
}

func TestWatchAfterClose(t *testing.T) {
	db, err := mvcc.New(mvcc.Options{})
	require.NoError(t, err)
	client := Client(t.Context(), db)
	require.ErrorIs(t, client.Close(), context.Canceled)
	assert.Equal(t, "closed", next(client.Watch(t.Context(), "a")), "of the client")
	other := Client(t.Context(), db)
	db.Close()
	ch := other.Watch(t.Context(), "a")
	response := <-ch
	assert.True(t, response.Canceled)
	assert.Equal(t, rpctypes.ErrStopped, response.Err(), "of the store")
	assert.Equal(t, "closed", next(ch))
	require.ErrorIs(t, other.Close(), context.Canceled)
}
