package mvcc_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/musterkube/muster/pkg/emulator/internal/mvcc"
)

func TestHistoryIsBoundedInBytes(t *testing.T) {
	const keep = 100_000
	db := newDB(t, mvcc.Options{KeepEvents: -1, KeepBytes: keep})
	value := make([]byte, 1000)
	for range 1000 {
		_, err := db.Put("a", value, 0)
		require.NoError(t, err)
		require.LessOrEqual(t, db.HistoryBytes(), int64(keep+keep/4))
	}
	kept := db.Revision() - db.CompactRevision()
	assert.Greater(t, kept, int64(keep/1300), "no more is forgotten than has to be")
	assert.Less(t, kept, int64(keep*5/4/1000))

	// New keys take no history but for their events, and one write too big for all of it is still made.
	before := db.CompactRevision()
	for _, key := range []string{"b", "c", "d"} {
		_, err := db.Put(key, make([]byte, keep), 0)
		require.NoError(t, err)
	}
	assert.Equal(t, before, db.CompactRevision())
	_, err := db.Put("b", make([]byte, 2*keep), 0)
	require.NoError(t, err)
	_, err = db.Put("b", nil, 0)
	require.NoError(t, err)
	assert.LessOrEqual(t, db.HistoryBytes(), int64(keep+keep/4))
	kv, _, err := db.Get("c", 0)
	require.NoError(t, err)
	assert.Len(t, kv.Value, keep)
}

func TestHistoryBytesAddUp(t *testing.T) {
	db := newDB(t, mvcc.Options{})
	assert.Zero(t, db.HistoryBytes())
	put(t, db, "a=1", "a=22", "b=1", "a=333")
	remove(t, db, "a", "b")
	grown := db.HistoryBytes()
	assert.Positive(t, grown)
	require.NoError(t, db.Compact(4))
	assert.Less(t, db.HistoryBytes(), grown)
	last := put(t, db, "c=1")
	require.NoError(t, db.Compact(last))
	other := newDB(t, mvcc.Options{})
	put(t, other, "c=1")
	assert.Equal(t, other.HistoryBytes(), db.HistoryBytes(), "one event is left")
}

func TestAWatcherIsCutOffForItsBytes(t *testing.T) {
	db := newDB(t, mvcc.Options{MaxPendingBytes: 10_000})
	past := put(t, db, "a=1")
	_, err := db.Put("a", make([]byte, 20_000), 0)
	require.NoError(t, err)
	slow, err := db.Watch(mvcc.Span{}, past)
	require.NoError(t, err)
	defer slow.Stop()
	idle, err := db.Watch(mvcc.Single("b"), 0)
	require.NoError(t, err)
	defer idle.Stop()
	quick, err := db.Watch(mvcc.Span{}, 0)
	require.NoError(t, err)
	defer quick.Stop()

	for range 3 {
		_, err = db.Put("c", make([]byte, 4_000), 0)
		require.NoError(t, err)
		assert.Len(t, take(t, quick), 1)
	}
	_, _, err = slow.Take()
	require.ErrorIs(t, err, mvcc.ErrWatcherTooSlow, "the past does not count, what came since does")
	assert.Empty(t, take(t, idle), "what is of no concern does not count")
	assert.Equal(t, 2, db.Watchers())
}

func TestWhatIsTooOldIsForgottenWithoutAWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := newDB(t, mvcc.Options{KeepFor: 8 * time.Minute})
		first := put(t, db, "a=1")
		last := put(t, db, "a=2", "a=3")
		w, err := db.Watch(mvcc.Span{}, first+1)
		require.NoError(t, err)
		w.Stop()
		sleep(7 * time.Minute)
		w, err = db.Watch(mvcc.Span{}, first+1)
		require.NoError(t, err)
		w.Stop()
		sleep(9 * time.Minute)
		_, err = db.Watch(mvcc.Span{}, first+1)
		require.ErrorIs(t, err, mvcc.ErrCompacted)
		w, err = db.Watch(mvcc.Span{}, last+1)
		require.NoError(t, err, "whoever has seen everything may go on")
		w.Stop()
	})
}
