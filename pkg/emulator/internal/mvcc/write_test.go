package mvcc_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/musterkube/muster/pkg/emulator/internal/mvcc"
)

func TestPutRefuses(t *testing.T) {
	db := newDB(t, mvcc.Options{})
	_, err := db.Put("", []byte("1"), 0)
	require.ErrorIs(t, err, mvcc.ErrEmptyKey)
	_, err = db.Put("a", []byte("1"), 7)
	require.ErrorIs(t, err, mvcc.ErrLeaseNotFound)
	_, err = db.PutIf("", []byte("1"), 0, 0)
	require.ErrorIs(t, err, mvcc.ErrEmptyKey)
	_, err = db.PutIf("a", []byte("1"), 0, 7)
	require.ErrorIs(t, err, mvcc.ErrLeaseNotFound)
	_, err = db.DeleteIf("", 0)
	require.ErrorIs(t, err, mvcc.ErrEmptyKey)
	assert.EqualValues(t, 1, db.Revision(), "revision after nothing but refusals")
}

func TestConditionalWrites(t *testing.T) {
	putIf := func(key string, expect int64) func(*mvcc.DB) (mvcc.Outcome, error) {
		return func(db *mvcc.DB) (mvcc.Outcome, error) { return db.PutIf(key, []byte("new"), expect, 0) }
	}
	deleteIf := func(key string, expect int64) func(*mvcc.DB) (mvcc.Outcome, error) {
		return func(db *mvcc.DB) (mvcc.Outcome, error) { return db.DeleteIf(key, expect) }
	}
	// The store has a at 5 and c at 4; b went at 6 and came back at 7; it stands at 8.
	tests := map[string]struct {
		write         func(*mvcc.DB) (mvcc.Outcome, error)
		wantSucceeded bool
		wantRevision  int64
		wantCurrent   string
		key, wantKey  string
	}{
		"put of a key as expected": {
			write: putIf("a", 5), wantSucceeded: true, wantRevision: 9, wantCurrent: "-", key: "a", wantKey: "a=new@9(2,3)",
		},
		"put of a key changed since": {
			write: putIf("a", 2), wantRevision: 8, wantCurrent: "a=2@5(2,2)", key: "a", wantKey: "a=2@5(2,2)",
		},
		"put of a new key": {
			write: putIf("x", 0), wantSucceeded: true, wantRevision: 9, wantCurrent: "-", key: "x", wantKey: "x=new@9(9,1)",
		},
		"put of a new key that exists": {
			write: putIf("a", 0), wantRevision: 8, wantCurrent: "a=2@5(2,2)", key: "a", wantKey: "a=2@5(2,2)",
		},
		"put of an existing key that does not exist": {
			write: putIf("x", 5), wantRevision: 8, wantCurrent: "-", key: "x", wantKey: "-",
		},
		"delete of a key as expected": {
			write: deleteIf("a", 5), wantSucceeded: true, wantRevision: 9, wantCurrent: "-", key: "a", wantKey: "-",
		},
		"delete of a key changed since": {
			write: deleteIf("b", 3), wantRevision: 8, wantCurrent: "b=2@7(7,1)", key: "b", wantKey: "b=2@7(7,1)",
		},
		"delete of nothing, as expected, makes no revision": {
			write: deleteIf("x", 0), wantSucceeded: true, wantRevision: 8, wantCurrent: "-", key: "x", wantKey: "-",
		},
		"delete of a key that is gone": {
			write: deleteIf("x", 5), wantRevision: 8, wantCurrent: "-", key: "x", wantKey: "-",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			db := history(t)
			outcome, err := tc.write(db)
			require.NoError(t, err)
			assert.Equal(t, tc.wantSucceeded, outcome.Succeeded, "succeeded")
			assert.Equal(t, tc.wantRevision, outcome.Revision, "revision")
			assert.Equal(t, tc.wantCurrent, show(outcome.Current), "current")
			kv, _, err := db.Get(tc.key, 0)
			require.NoError(t, err)
			assert.Equal(t, tc.wantKey, show(kv), "key afterwards")
		})
	}
}

func TestDeleteOfASpanIsOneRevision(t *testing.T) {
	db := history(t)
	w, err := db.Watch(mvcc.Span{}, 0)
	require.NoError(t, err)
	removed, rev, err := db.Delete(mvcc.Span{Start: "a", End: "d"})
	require.NoError(t, err)
	assert.EqualValues(t, 9, rev)
	assert.Equal(t, []string{"a=2@5(2,2)", "b=2@7(7,1)", "c=1@4(4,1)"}, showAll(removed))
	assert.Equal(t, []string{
		"DELETE a@9 was a=2@5(2,2)", "DELETE b@9 was b=2@7(7,1)", "DELETE c@9 was c=1@4(4,1)",
	}, take(t, w))

	removed, rev, err = db.Delete(mvcc.Span{Start: "a", End: "d"})
	require.NoError(t, err)
	assert.EqualValues(t, 9, rev, "revision after deleting nothing")
	assert.Empty(t, removed)
	assert.Empty(t, take(t, w))
}

func TestAKeyBelongsToTheLeaseOfItsLastPut(t *testing.T) {
	db := newDB(t, mvcc.Options{})
	first, err := db.Grant(0, time.Hour)
	require.NoError(t, err)
	second, err := db.Grant(0, time.Hour)
	require.NoError(t, err)
	keys := func(id mvcc.LeaseID) []string {
		lease, err := db.Lease(id)
		require.NoError(t, err)
		return lease.Keys
	}
	for _, lease := range []mvcc.LeaseID{first, first, second, 0, second} {
		_, err := db.Put("a", nil, lease)
		require.NoError(t, err)
		for _, id := range []mvcc.LeaseID{first, second} {
			if id == lease {
				assert.Equal(t, []string{"a"}, keys(id), "after a put with lease %d", lease)
			} else {
				assert.Empty(t, keys(id), "after a put with lease %d", lease)
			}
		}
	}
	remove(t, db, "a")
	assert.Empty(t, keys(second), "after the key went")
}
