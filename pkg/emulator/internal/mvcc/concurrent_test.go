package mvcc_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/musterkube/muster/pkg/emulator/internal/mvcc"
)

// lastKey is written to every span when all else is written.
const lastKey = "\xfe-last"

// stretch is what an informer saw between two lists.
type stretch struct {
	revision int64
	list     []string
	events   []string
}

// inform lists and watches a span as an informer does, stopping and resuming watches at random, until it has seen the
// last key. It returns everything that it saw.
func inform(ctx context.Context, db *mvcc.DB, prefix string, random *rand.Rand) ([]stretch, error) {
	var seen []stretch
	for {
		list, err := db.Range(mvcc.Prefix(prefix), mvcc.RangeOptions{})
		if err != nil {
			return nil, err
		}
		seen = append(seen, stretch{revision: list.Revision, list: showAll(list.KVs)})
		if n := len(list.KVs); n > 0 && list.KVs[n-1].Key == prefix+lastKey {
			return seen, nil
		}
		done, err := follow(ctx, db, prefix, random, &seen[len(seen)-1])
		if done || err != nil {
			return seen, err
		}
	}
}

// follow watches from a list on, until it cannot be resumed or, which it reports, the last key has come.
func follow(ctx context.Context, db *mvcc.DB, prefix string, random *rand.Rand, s *stretch) (done bool, err error) {
	for from := s.revision + 1; ; {
		w, err := db.Watch(mvcc.Prefix(prefix), from)
		if errors.Is(err, mvcc.ErrCompacted) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		for range 1 + random.IntN(5) {
			events, err := w.Next(ctx)
			if errors.Is(err, mvcc.ErrWatcherTooSlow) {
				break
			}
			if err != nil {
				return false, err
			}
			for _, event := range events {
				if event.PrevForgotten() {
					// A client that needs it lists again; so does this one.
					w.Stop()
					return false, nil
				}
				s.events = append(s.events, showEvents([]mvcc.Event{event})...)
			}
			last := events[len(events)-1].KV
			from = last.ModRevision + 1
			if last.Key == prefix+lastKey {
				w.Stop()
				return true, nil
			}
		}
		w.Stop()
	}
}

// TestInformersSeeEveryEventOnceAndInOrder has writers, a compactor and informers that stop and resume all work at once,
// and compares what each informer saw with what a watcher that never stopped saw.
func TestInformersSeeEveryEventOnceAndInOrder(t *testing.T) {
	const writers, writesEach = 4, 400
	db := newDB(t, mvcc.Options{KeepEvents: 300, MaxPending: writers * writesEach * 4})
	witness, err := db.Watch(mvcc.Span{}, 0)
	require.NoError(t, err)
	prefixes := []string{"a/", "b/", ""}

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	seen := make([][]stretch, 3*len(prefixes))
	var informers, workers sync.WaitGroup
	for i := range seen {
		informers.Go(func() {
			var err error
			seen[i], err = inform(ctx, db, prefixes[i%len(prefixes)], rand.New(rand.NewPCG(uint64(i), 2)))
			assert.NoError(t, err, "informer %d", i)
		})
	}
	for i := range writers {
		workers.Go(func() { writeAtRandom(t, db, rand.New(rand.NewPCG(uint64(i), 3)), writesEach) })
	}
	workers.Wait()
	for _, prefix := range prefixes {
		put(t, db, prefix+lastKey+"=1")
	}
	informers.Wait()

	events, _, err := witness.Take()
	require.NoError(t, err)
	for i, stretches := range seen {
		prefix := prefixes[i%len(prefixes)]
		for _, s := range stretches {
			checkStretch(t, events, prefix, s)
		}
	}
}

func writeAtRandom(t *testing.T, db *mvcc.DB, random *rand.Rand, writes int) {
	key := func() string { return fmt.Sprintf("%c/%d", 'a'+random.IntN(2), random.IntN(30)) }
	for i := range writes {
		var err error
		switch random.IntN(8) {
		case 0:
			_, _, err = db.Delete(mvcc.Prefix(key()))
		case 1:
			_, err = db.Txn(mvcc.Txn{Then: []mvcc.Op{mvcc.PutOp{Key: "a/x"}, mvcc.PutOp{Key: "b/x"}}})
		case 2:
			if err = db.Compact(max(1, db.Revision()-random.Int64N(100))); errors.Is(err, mvcc.ErrCompacted) {
				err = nil
			}
		default:
			_, err = db.Put(key(), fmt.Append(nil, i), 0)
		}
		assert.NoError(t, err)
	}
}

// checkStretch compares what an informer saw with the events of the whole store.
func checkStretch(t *testing.T, all []mvcc.Event, prefix string, s stretch) {
	t.Helper()
	state := newModel()
	var later []mvcc.Event
	for _, event := range all {
		switch kv := event.KV; {
		case !mvcc.Prefix(prefix).Contains(kv.Key):
		case kv.ModRevision > s.revision:
			later = append(later, event)
		case event.IsDelete():
			delete(state.states[1], kv.Key)
		default:
			state.states[1][kv.Key] = *kv
		}
	}
	list, _ := state.list(mvcc.Span{}, mvcc.RangeOptions{Revision: 1})
	assert.Empty(t, cmp.Diff(list, s.list), "list of %q at %d (-want +got)", prefix, s.revision)
	require.LessOrEqual(t, len(s.events), len(later))
	want := showEvents(later[:len(s.events)])
	assert.Empty(t, cmp.Diff(want, append([]string{}, s.events...)), "events of %q after %d (-want +got)", prefix, s.revision)
}
