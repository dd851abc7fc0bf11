package mvcc_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/musterkube/muster/pkg/emulator/internal/mvcc"
)

func contents(tb testing.TB, db *mvcc.DB) map[string]string {
	tb.Helper()
	result, err := db.Range(mvcc.Span{}, mvcc.RangeOptions{})
	require.NoError(tb, err)
	found := map[string]string{}
	for _, kv := range result.KVs {
		found[kv.Key] = string(kv.Value)
	}
	return found
}

func TestRestoreInPlace(t *testing.T) {
	db := newDB(t, mvcc.Options{})
	put(t, db, "changed=1", "gone=1", "same=1", "twice=1")
	snapshot, err := db.Snapshot()
	require.NoError(t, err)
	put(t, db, "changed=2", "new=1", "twice=2", "twice=1")
	before := remove(t, db, "gone")
	require.EqualValues(t, 10, before)
	running, err := db.Watch(mvcc.Span{}, 0)
	require.NoError(t, err)
	late, err := db.Watch(mvcc.Span{}, 2)
	require.NoError(t, err)

	after, err := db.Restore(snapshot)
	require.NoError(t, err)

	assert.EqualValues(t, 12, after)
	assert.Equal(t, after, db.Revision())
	now, err := db.Range(mvcc.Span{}, mvcc.RangeOptions{})
	require.NoError(t, err)
	assert.Equal(t, []string{"changed=1@12(12,1)", "gone=1@12(12,1)", "same=1@4(4,1)", "twice=1@9(5,3)"}, showAll(now.KVs),
		"what has the value of the snapshot keeps its revision, the rest gets a new one")
	for _, w := range []*mvcc.Watcher{running, late} {
		_, _, err := w.Take()
		require.ErrorIs(t, err, mvcc.ErrRestored)
		w.Stop()
	}
	for from := int64(1); from <= before+1; from++ {
		_, err := db.Watch(mvcc.Span{}, from)
		require.ErrorIs(t, err, mvcc.ErrCompacted, "a watch from %d would miss the restore", from)
	}
	for _, revision := range []int64{2, before, after - 1} {
		_, _, err := db.Get("same", revision)
		require.ErrorIs(t, err, mvcc.ErrCompacted)
	}
	next, err := db.Watch(mvcc.Span{}, after+1)
	require.NoError(t, err)
	defer next.Stop()
	put(t, db, "changed=3")
	assert.Equal(t, []string{"PUT changed=3@13(12,2) was changed=1@12(12,1)"}, take(t, next))

	again, err := db.Restore(snapshot)
	require.NoError(t, err)
	assert.EqualValues(t, 15, again)
	assert.Equal(t, map[string]string{"changed": "1", "gone": "1", "same": "1", "twice": "1"}, contents(t, db))
	require.ErrorIs(t, db.Compact(again), mvcc.ErrCompacted)
}

// TestRestoreInPlaceComparedToAModel sets stores back to any of several snapshots after any writes.
func TestRestoreInPlaceComparedToAModel(t *testing.T) {
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 1))
		db := newDB(t, mvcc.Options{KeepEvents: 20})
		type kept struct {
			snapshot mvcc.Snapshot
			contents map[string]string
		}
		var snapshots []kept
		highest := map[string]int64{}
		for range 300 {
			key := fmt.Sprint("k", random.IntN(12))
			before := db.Revision()
			switch random.IntN(10) {
			case 0:
				snapshot, err := db.Snapshot()
				require.NoError(t, err)
				snapshots = append(snapshots, kept{snapshot, contents(t, db)})
			case 1:
				if len(snapshots) == 0 {
					continue
				}
				to := snapshots[random.IntN(len(snapshots))]
				restore := db.Restore
				if random.IntN(2) == 0 {
					restore = func(s mvcc.Snapshot) (int64, error) { return db.Rewind(s, replaced) }
				}
				_, err := restore(to.snapshot)
				require.NoError(t, err)
				require.Equal(t, to.contents, contents(t, db), "seed %d", seed)
			case 2, 3:
				remove(t, db, key)
			default:
				put(t, db, fmt.Sprint(key, "=", random.IntN(3)))
			}
			require.GreaterOrEqual(t, db.Revision(), before)
			result, err := db.Range(mvcc.Span{}, mvcc.RangeOptions{})
			require.NoError(t, err)
			for _, kv := range result.KVs {
				require.GreaterOrEqual(t, kv.ModRevision, highest[kv.Key], "seed %d: the revision of %s went back", seed, kv.Key)
				highest[kv.Key] = kv.ModRevision
			}
		}
	}
}

func replaced(now, then *mvcc.KeyValue) bool { return now.CreateRevision != then.CreateRevision }

func TestRewindIsSeenByWatchers(t *testing.T) {
	db := newDB(t, mvcc.Options{})
	put(t, db, "changed=1", "gone=1", "replaced=1", "same=1")
	snapshot, err := db.Snapshot()
	require.NoError(t, err)
	put(t, db, "changed=2", "new=1")
	remove(t, db, "gone", "replaced")
	before := put(t, db, "replaced=2")
	w, err := db.Watch(mvcc.Span{}, 0)
	require.NoError(t, err)
	defer w.Stop()

	after, err := db.Rewind(snapshot, replaced)
	require.NoError(t, err)
	assert.Equal(t, before+5, after)
	assert.Equal(t, []string{
		"DELETE new@11 was new=1@7(7,1)", "DELETE replaced@12 was replaced=2@10(10,1)",
		"PUT changed=1@13(2,3) was changed=2@6(2,2)", "PUT gone=1@14(14,1) was -", "PUT replaced=1@15(15,1) was -",
	}, take(t, w))
	old, err := db.Range(mvcc.Span{}, mvcc.RangeOptions{Revision: before})
	require.NoError(t, err)
	assert.Equal(t, []string{"changed=2@6(2,2)", "new=1@7(7,1)", "replaced=2@10(10,1)", "same=1@5(5,1)"}, showAll(old.KVs), "the past stays")
	db.Close()
	_, err = db.Rewind(snapshot, replaced)
	require.ErrorIs(t, err, mvcc.ErrClosed)
}

func TestRestoreInPlaceAndLeases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := newDB(t, mvcc.Options{})
		lease, err := db.Grant(0, time.Minute)
		require.NoError(t, err)
		putWithLease(t, db, lease, "a")
		snapshot, err := db.Snapshot()
		require.NoError(t, err)
		sleep(30 * time.Second)
		putWithLease(t, db, lease, "b")
		for range 100 {
			_, err = db.Restore(snapshot)
			require.NoError(t, err)
		}
		leases, err := db.Leases()
		require.NoError(t, err)
		require.Len(t, leases, 2, "restoring again and again must not gather leases")
		assert.Equal(t, map[string]string{"a": ""}, contents(t, db))
		// Who had been granted the lease may go on to use it.
		putWithLease(t, db, lease, "c")
		sleep(30 * time.Second)
		assert.Equal(t, map[string]string{"a": ""}, contents(t, db), "the lease granted before the restore has expired")
		sleep(30 * time.Second)
		assert.Empty(t, contents(t, db), "the minute that remained at the snapshot is over")
		leases, err = db.Leases()
		require.NoError(t, err)
		assert.Empty(t, leases)
	})
}

func TestRestoreOfAClosedStore(t *testing.T) {
	db := newDB(t, mvcc.Options{})
	snapshot, err := db.Snapshot()
	require.NoError(t, err)
	db.Close()
	_, err = db.Restore(snapshot)
	require.ErrorIs(t, err, mvcc.ErrClosed)
}

func written(tb testing.TB, snapshot mvcc.Snapshot) []byte {
	tb.Helper()
	var file bytes.Buffer
	n, err := snapshot.WriteTo(&file)
	require.NoError(tb, err)
	require.EqualValues(tb, file.Len(), n)
	return file.Bytes()
}

func TestSnapshotThroughAFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := history(t)
		lease, err := db.Grant(7, time.Minute)
		require.NoError(t, err)
		putWithLease(t, db, lease, "a", "e")
		sleep(20 * time.Second)
		snapshot, err := db.Snapshot()
		require.NoError(t, err)

		read, err := mvcc.ReadSnapshot(bytes.NewReader(written(t, snapshot)))
		require.NoError(t, err)
		assert.Equal(t, snapshot.Revision, read.Revision)
		assert.Equal(t, showAll(snapshot.KVs), showAll(read.KVs))
		assert.Equal(t, snapshot.Leases, read.Leases)
		assert.Equal(t, written(t, snapshot), written(t, read))
	})
}

func TestFilesThatAreNoSnapshots(t *testing.T) {
	db := history(t)
	snapshot, err := db.Snapshot()
	require.NoError(t, err)
	good := written(t, snapshot)
	newer := bytes.Clone(good)
	newer[len("mvcc snapshot\n")]++
	cases := map[string]struct {
		data []byte
		want string
	}{
		"an empty one":                   {want: "does not begin as one"},
		"one of something else":          {data: []byte("apiVersion: v1\n"), want: "does not begin as one"},
		"one of a newer format":          {data: newer, want: "its format is version 2, and only version 1 can be read"},
		"one that was cut short":         {data: good[:len(good)-1], want: "damaged or cut short"},
		"one that ends after its header": {data: good[:len("mvcc snapshot\n")+1], want: "damaged or cut short"},
		"one with something after it":    {data: append(bytes.Clone(good), 'x'), want: "damaged or cut short"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := mvcc.ReadSnapshot(bytes.NewReader(tc.data))
			require.ErrorIs(t, err, mvcc.ErrBadSnapshot)
			assert.ErrorContains(t, err, tc.want)
		})
	}
	for i := len("mvcc snapshot\n"); i < len(good); i++ {
		damaged := bytes.Clone(good)
		damaged[i] ^= 0x40
		_, err := mvcc.ReadSnapshot(bytes.NewReader(damaged))
		require.ErrorIs(t, err, mvcc.ErrBadSnapshot, "byte %d", i)
	}
}
