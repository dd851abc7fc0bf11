package mvcc_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"

	"github.com/musterkube/muster/pkg/emulator/internal/mvcc"
)

func TestCompactRefuses(t *testing.T) {
	db := history(t)
	require.ErrorIs(t, db.Compact(9), mvcc.ErrFutureRevision)
	require.ErrorIs(t, db.Compact(0), mvcc.ErrCompacted)
	require.NoError(t, db.Compact(5))
	assert.EqualValues(t, 5, db.CompactRevision())
	require.ErrorIs(t, db.Compact(5), mvcc.ErrCompacted, "the same revision again")
	require.ErrorIs(t, db.Compact(4), mvcc.ErrCompacted, "an earlier revision")
	require.NoError(t, db.Compact(8), "the present revision")
	assert.EqualValues(t, 8, db.Revision(), "compaction makes no revision")
}

// TestCompactForgetsThePastAlone compacts at every revision and compares each read with the one before.
func TestCompactForgetsThePastAlone(t *testing.T) {
	for at := int64(1); at <= 8; at++ {
		t.Run(fmt.Sprintf("at revision %d", at), func(t *testing.T) {
			db, whole := history(t), history(t)
			require.NoError(t, db.Compact(at))
			for rev := int64(1); rev <= 8; rev++ {
				result, err := db.Range(mvcc.Span{}, mvcc.RangeOptions{Revision: rev})
				_, _, getErr := db.Get("a", rev)
				if rev < at {
					require.ErrorIs(t, err, mvcc.ErrCompacted, "list at %d", rev)
					require.ErrorIs(t, getErr, mvcc.ErrCompacted, "get at %d", rev)
					assert.EqualValues(t, 8, result.Revision, "present revision with the error")
					continue
				}
				require.NoError(t, err, "list at %d", rev)
				require.NoError(t, getErr, "get at %d", rev)
				want, err := whole.Range(mvcc.Span{}, mvcc.RangeOptions{Revision: rev})
				require.NoError(t, err)
				assert.Equal(t, showAll(want.KVs), showAll(result.KVs), "list at %d", rev)
			}
		})
	}
}

func TestAKeyThatWasCompactedAwayStartsAnew(t *testing.T) {
	db := newDB(t, mvcc.Options{})
	put(t, db, "a=1", "a=2")
	require.NoError(t, db.Compact(remove(t, db, "a")))
	put(t, db, "a=3")
	kv, _, err := db.Get("a", 0)
	require.NoError(t, err)
	assert.Equal(t, "a=3@5(5,1)", show(kv))
	kv, _, err = db.Get("a", 4)
	require.NoError(t, err)
	assert.Nil(t, kv, "at the revision of the deletion")
}

func TestHistoryIsBoundedByNumber(t *testing.T) {
	const keep, slack = 8, 2
	db := newDB(t, mvcc.Options{KeepEvents: keep})
	for i := range 100 {
		rev := put(t, db, "a=x")
		kept := rev - max(db.CompactRevision()-1, 1)
		if i < keep+slack {
			assert.EqualValues(t, 0, db.CompactRevision(), "after %d events", i+1)
		}
		assert.LessOrEqual(t, kept, int64(keep+slack), "events kept at revision %d", rev)
		if rev > keep {
			assert.GreaterOrEqual(t, kept, int64(keep), "events kept at revision %d", rev)
		}
		w, err := db.Watch(mvcc.Span{}, max(rev-keep+1, 2))
		require.NoError(t, err, "watch of the last %d events at revision %d", keep, rev)
		assert.Len(t, take(t, w), int(min(rev-1, keep)))
		w.Stop()
	}
}

func TestHistoryWithoutABoundKeepsEverything(t *testing.T) {
	db := newDB(t, mvcc.Options{KeepEvents: -1})
	for range mvcc.DefaultKeepEvents + mvcc.DefaultKeepEvents/2 {
		_, err := db.Put("a", nil, 0)
		require.NoError(t, err)
	}
	assert.EqualValues(t, 0, db.CompactRevision())
}

func TestHistoryIsBoundedByAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const keep = 8 * time.Minute
		db := newDB(t, mvcc.Options{KeepFor: keep})
		// One write a minute: revision r is made at minute r-2.
		for range 60 {
			rev := put(t, db, "a=x")
			oldest := max(db.CompactRevision(), 2)
			assert.LessOrEqual(t, time.Duration(rev-oldest)*time.Minute, keep+keep/8, "age of the oldest event at revision %d", rev)
			if db.CompactRevision() > 0 {
				assert.GreaterOrEqual(t, time.Duration(rev-oldest)*time.Minute, keep, "age of the oldest event at revision %d", rev)
			}
			clock.RealClock{}.Sleep(time.Minute)
		}
		// Without writes nothing happens, however long; the next write forgets all before it.
		before := db.CompactRevision()
		clock.RealClock{}.Sleep(time.Hour)
		assert.Equal(t, before, db.CompactRevision())
		rev := put(t, db, "a=x")
		assert.GreaterOrEqual(t, db.CompactRevision(), rev-1)
	})
}
