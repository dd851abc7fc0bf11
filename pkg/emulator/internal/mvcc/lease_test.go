package mvcc_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/musterkube/muster/pkg/emulator/internal/mvcc"
)

func putWithLease(t *testing.T, db *mvcc.DB, lease mvcc.LeaseID, keys ...string) {
	t.Helper()
	for _, key := range keys {
		_, err := db.Put(key, nil, lease)
		require.NoError(t, err)
	}
}

// sleep lets virtual time pass, and what it sets off come to rest.
func sleep(d time.Duration) {
	clock.RealClock{}.Sleep(d)
	synctest.Wait()
}

func TestAnExpiredLeaseTakesItsKeysAtOneRevision(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := newDB(t, mvcc.Options{})
		lease, err := db.Grant(0, time.Minute)
		require.NoError(t, err)
		putWithLease(t, db, lease, "b", "c", "a", "moved")
		putWithLease(t, db, 0, "moved")
		w, err := db.Watch(mvcc.Span{}, 0)
		require.NoError(t, err)

		sleep(time.Minute - time.Nanosecond)
		assert.Empty(t, take(t, w), "events before the lease expires")
		state, err := db.Lease(lease)
		require.NoError(t, err)
		assert.Equal(t, mvcc.Lease{ID: lease, TTL: time.Minute, Remaining: time.Nanosecond, Keys: []string{"a", "b", "c"}}, state)

		sleep(time.Nanosecond)
		assert.Equal(t, []string{
			"DELETE a@7 was a=@4(4,1)lease 1", "DELETE b@7 was b=@2(2,1)lease 1", "DELETE c@7 was c=@3(3,1)lease 1",
		}, take(t, w))
		_, err = db.Lease(lease)
		require.ErrorIs(t, err, mvcc.ErrLeaseNotFound)
		_, err = db.Put("d", nil, lease)
		require.ErrorIs(t, err, mvcc.ErrLeaseNotFound)
	})
}

func TestRenewGrantsTheWholeTimeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := newDB(t, mvcc.Options{})
		lease, err := db.Grant(42, time.Minute)
		require.NoError(t, err)
		assert.EqualValues(t, 42, lease)
		putWithLease(t, db, lease, "a")
		for range 5 {
			sleep(59 * time.Second)
			ttl, err := db.Renew(lease)
			require.NoError(t, err)
			assert.Equal(t, time.Minute, ttl)
		}
		sleep(59 * time.Second)
		kv, _, err := db.Get("a", 0)
		require.NoError(t, err)
		assert.NotNil(t, kv, "key before the renewed lease expires")
		sleep(time.Second)
		kv, _, err = db.Get("a", 0)
		require.NoError(t, err)
		assert.Nil(t, kv, "key after it has")
		_, err = db.Renew(lease)
		require.ErrorIs(t, err, mvcc.ErrLeaseNotFound)
	})
}

func TestRevokeEndsALeaseAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := newDB(t, mvcc.Options{})
		lease, err := db.Grant(0, time.Minute)
		require.NoError(t, err)
		putWithLease(t, db, lease, "a", "b")
		rev, err := db.Revoke(lease)
		require.NoError(t, err)
		assert.EqualValues(t, 4, rev, "both keys go at one revision")
		_, err = db.Revoke(lease)
		require.ErrorIs(t, err, mvcc.ErrLeaseNotFound)
		// Its name is free again, and the timer of the old lease must not end the new one.
		_, err = db.Grant(lease, time.Hour)
		require.NoError(t, err)
		putWithLease(t, db, lease, "a")
		sleep(2 * time.Minute)
		kv, _, err := db.Get("a", 0)
		require.NoError(t, err)
		assert.NotNil(t, kv)
		rev, err = db.Revoke(lease)
		require.NoError(t, err)
		assert.EqualValues(t, 6, rev)
	})
}

func TestGrantChoosesAFreeName(t *testing.T) {
	db := newDB(t, mvcc.Options{})
	_, err := db.Grant(1, time.Hour)
	require.NoError(t, err)
	_, err = db.Grant(1, time.Hour)
	require.ErrorIs(t, err, mvcc.ErrLeaseExists)
	chosen, err := db.Grant(0, time.Hour)
	require.NoError(t, err)
	assert.EqualValues(t, 2, chosen)
	leases, err := db.Leases()
	require.NoError(t, err)
	require.Len(t, leases, 2)
	assert.EqualValues(t, 1, leases[0].ID)
	assert.EqualValues(t, 2, leases[1].ID)
}

func TestALeaseWithoutKeysMakesNoRevision(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := newDB(t, mvcc.Options{})
		_, err := db.Grant(0, time.Second)
		require.NoError(t, err)
		sleep(time.Second)
		assert.EqualValues(t, 1, db.Revision())
		leases, err := db.Leases()
		require.NoError(t, err)
		assert.Empty(t, leases)
	})
}

func TestCloseStopsLeaseTimers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := newDB(t, mvcc.Options{})
		for range 10 {
			lease, err := db.Grant(0, time.Minute)
			require.NoError(t, err)
			putWithLease(t, db, lease, "a")
			_, err = db.Renew(lease)
			require.NoError(t, err)
		}
		rev, start := db.Revision(), clock.RealClock{}.Now()
		db.Close()
		assert.Zero(t, clock.RealClock{}.Since(start), "time that Close waited for timers that it stopped")
		sleep(time.Hour)
		assert.Equal(t, rev, db.Revision())
	})
}

// TestLeasesOnAFakeClock guards against the deadlock between a clock that calls back while it holds its lock and a store
// that asks the clock while it holds its own.
func TestLeasesOnAFakeClock(t *testing.T) {
	fake := clocktesting.NewFakeClock(time.Unix(0, 0))
	db := newDB(t, mvcc.Options{Clock: fake, KeepFor: time.Hour})
	w, err := db.Watch(mvcc.Span{}, 0)
	require.NoError(t, err)
	for range 100 {
		lease, err := db.Grant(0, time.Minute)
		require.NoError(t, err)
		putWithLease(t, db, lease, "a")
		go fake.Step(time.Minute)
		for gone := false; !gone; {
			events, err := w.Next(t.Context())
			require.NoError(t, err)
			gone = events[len(events)-1].IsDelete()
		}
	}
}
