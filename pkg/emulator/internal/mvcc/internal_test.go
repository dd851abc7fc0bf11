package mvcc

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestCompactionFreesWhatNobodyCanRead looks inside, because what is kept in vain does not show from outside.
func TestCompactionFreesWhatNobodyCanRead(t *testing.T) {
	db, err := New(Options{KeepEvents: -1})
	require.NoError(t, err)
	t.Cleanup(db.Close)
	for range 3 {
		for _, key := range []string{"kept", "gone", "gone at the end"} {
			_, err := db.Put(key, nil, 0)
			require.NoError(t, err)
		}
	}
	for _, key := range []string{"gone", "gone at the end"} {
		_, _, err = db.Delete(Single(key))
		require.NoError(t, err)
	}
	_, err = db.Range(Span{}, RangeOptions{})
	require.NoError(t, err)
	require.NoError(t, db.Compact(db.Revision()))

	assert.Nil(t, db.view, "a view of what was before")
	var left []string
	db.index.Ascend(func(e *entry) bool {
		left = append(left, e.key)
		assert.Len(t, e.versions, 1, "versions of %s", e.key)
		return true
	})
	assert.Equal(t, []string{"kept"}, left, "keys in the index")
	require.Len(t, db.log, 1, "events")
	assert.Equal(t, "gone at the end", db.log[0].KV.Key)
	assert.LessOrEqual(t, cap(db.log), 8, "room in the array of events")
}

// TestATimerThatFiresTooLateDoesNothing calls what a timer calls when Renew or Revoke came between its firing and its
// taking the lock.
func TestATimerThatFiresTooLateDoesNothing(t *testing.T) {
	db, err := New(Options{})
	require.NoError(t, err)
	t.Cleanup(db.Close)
	id, err := db.Grant(0, time.Hour)
	require.NoError(t, err)
	_, err = db.Put("a", nil, id)
	require.NoError(t, err)
	l := db.leases[id]
	old := l.term
	_, err = db.Renew(id)
	require.NoError(t, err)
	db.expire(l, old)
	assert.Contains(t, db.leases, id, "the renewed lease")

	old = l.term
	_, err = db.Revoke(id)
	require.NoError(t, err)
	_, err = db.Grant(id, time.Hour)
	require.NoError(t, err)
	db.expire(l, old)
	assert.Contains(t, db.leases, id, "the new lease of the same name")
}
