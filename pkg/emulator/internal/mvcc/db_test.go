package mvcc_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/musterkube/muster/pkg/emulator/internal/mvcc"
)

func TestNewStandsWhereAFreshEtcdDoes(t *testing.T) {
	db := newDB(t, mvcc.Options{})
	assert.EqualValues(t, 1, db.Revision())
	assert.EqualValues(t, 0, db.CompactRevision())
	assert.EqualValues(t, 2, put(t, db, "a=1"), "revision of the first write")
}

func TestNewRefusesANegativeAge(t *testing.T) {
	_, err := mvcc.New(mvcc.Options{KeepFor: -time.Second})
	require.ErrorContains(t, err, "KeepFor")
	_, err = mvcc.Restore(mvcc.Snapshot{}, mvcc.Options{KeepFor: -time.Second})
	require.ErrorContains(t, err, "KeepFor")
}

func TestEveryCallFailsAfterClose(t *testing.T) {
	db := newDB(t, mvcc.Options{})
	lease, err := db.Grant(0, time.Hour)
	require.NoError(t, err)
	db.Close()
	db.Close()
	calls := map[string]func() error{
		"Get":      func() error { _, _, err := db.Get("a", 0); return err },
		"Range":    func() error { _, err := db.Range(mvcc.Span{}, mvcc.RangeOptions{}); return err },
		"Put":      func() error { _, err := db.Put("a", nil, 0); return err },
		"PutIf":    func() error { _, err := db.PutIf("a", nil, 0, 0); return err },
		"Delete":   func() error { _, _, err := db.Delete(mvcc.Span{}); return err },
		"DeleteIf": func() error { _, err := db.DeleteIf("a", 0); return err },
		"Txn":      func() error { _, err := db.Txn(mvcc.Txn{}); return err },
		"Compact":  func() error { return db.Compact(1) },
		"Watch":    func() error { _, err := db.Watch(mvcc.Span{}, 0); return err },
		"Grant":    func() error { _, err := db.Grant(0, time.Hour); return err },
		"Renew":    func() error { _, err := db.Renew(lease); return err },
		"Revoke":   func() error { _, err := db.Revoke(lease); return err },
		"Lease":    func() error { _, err := db.Lease(lease); return err },
		"Leases":   func() error { _, err := db.Leases(); return err },
		"Snapshot": func() error { _, err := db.Snapshot(); return err },
	}
	for name, call := range calls {
		assert.ErrorIs(t, call(), mvcc.ErrClosed, name)
	}
}
