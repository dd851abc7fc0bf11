package mvcc_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/musterkube/muster/pkg/emulator/internal/mvcc"
)

func TestRestoreGoesOnFromASnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := history(t)
		lease, err := db.Grant(7, time.Minute)
		require.NoError(t, err)
		putWithLease(t, db, lease, "a", "e")
		sleep(20 * time.Second)
		snapshot, err := db.Snapshot()
		require.NoError(t, err)
		want := []string{"a=@9(2,3)lease 7", "b=2@7(7,1)", "c=1@4(4,1)", "d=1@8(8,1)", "e=@10(10,1)lease 7"}
		assert.EqualValues(t, 10, snapshot.Revision)
		assert.Equal(t, want, showAll(snapshot.KVs))
		remove(t, db, "a", "b", "c", "d", "e")

		// Two stores of one snapshot do not see each other.
		first, err := mvcc.Restore(snapshot, mvcc.Options{})
		require.NoError(t, err)
		t.Cleanup(first.Close)
		second, err := mvcc.Restore(snapshot, mvcc.Options{})
		require.NoError(t, err)
		t.Cleanup(second.Close)
		assert.EqualValues(t, 11, put(t, first, "d=2"))
		assert.EqualValues(t, 11, remove(t, second, "d"))

		kv, _, err := first.Get("d", 0)
		require.NoError(t, err)
		assert.Equal(t, "d=2@11(8,2)", show(kv))
		kv, _, err = second.Get("d", 0)
		require.NoError(t, err)
		assert.Nil(t, kv)
		old, err := first.Range(mvcc.Span{}, mvcc.RangeOptions{Revision: 10})
		require.NoError(t, err)
		assert.Equal(t, want, showAll(old.KVs), "at the revision of the snapshot")
		_, _, err = first.Get("d", 9)
		require.ErrorIs(t, err, mvcc.ErrCompacted)
		_, err = first.Watch(mvcc.Span{}, 9)
		require.ErrorIs(t, err, mvcc.ErrCompacted)
		w, err := first.Watch(mvcc.Span{}, 11)
		require.NoError(t, err)
		assert.Equal(t, []string{"PUT d=2@11(8,2) was d=1@8(8,1)"}, take(t, w))

		// The lease goes on with the forty seconds that remained.
		sleep(40*time.Second - time.Nanosecond)
		assert.Empty(t, take(t, w))
		sleep(time.Nanosecond)
		assert.Equal(t, []string{"DELETE a@12 was a=@9(2,3)lease 7", "DELETE e@12 was e=@10(10,1)lease 7"}, take(t, w))
	})
}

func TestRestoreOfNothingIsAnEmptyStore(t *testing.T) {
	db := newDB(t, mvcc.Options{})
	snapshot, err := db.Snapshot()
	require.NoError(t, err)
	restored, err := mvcc.Restore(snapshot, mvcc.Options{})
	require.NoError(t, err)
	t.Cleanup(restored.Close)
	assert.EqualValues(t, 2, put(t, restored, "a=1"))
}
