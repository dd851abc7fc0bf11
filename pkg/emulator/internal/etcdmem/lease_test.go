package etcdmem

import (
	"context"
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

func sleep(d time.Duration) {
	clock.RealClock{}.Sleep(d)
	synctest.Wait()
}

func TestLeases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, db := newClient(t, mvcc.Options{}, Options{})
		ctx := t.Context()
		lease, err := client.Grant(ctx, 60)
		require.NoError(t, err)
		assert.EqualValues(t, 60, lease.TTL)
		_, err = client.Put(ctx, "a", "1", clientv3.WithLease(lease.ID))
		require.NoError(t, err)

		sleep(20*time.Second + time.Millisecond)
		state, err := client.TimeToLive(ctx, lease.ID, clientv3.WithAttachedKeys())
		require.NoError(t, err)
		assert.EqualValues(t, 39, state.TTL)
		assert.EqualValues(t, 60, state.GrantedTTL)
		assert.Equal(t, [][]byte{[]byte("a")}, state.Keys)
		renewed, err := client.KeepAliveOnce(ctx, lease.ID)
		require.NoError(t, err)
		assert.EqualValues(t, 60, renewed.TTL)
		state, err = client.TimeToLive(ctx, lease.ID)
		require.NoError(t, err)
		assert.EqualValues(t, 60, state.TTL)
		assert.Empty(t, state.Keys, "unasked")

		second, err := client.Grant(ctx, 0)
		require.NoError(t, err)
		assert.EqualValues(t, 1, second.TTL, "the shortest there is")
		all, err := client.Leases(ctx)
		require.NoError(t, err)
		assert.Equal(t, []clientv3.LeaseStatus{{ID: lease.ID}, {ID: second.ID}}, all.Leases)

		sleep(time.Minute)
		state, err = client.TimeToLive(ctx, lease.ID)
		require.NoError(t, err)
		assert.EqualValues(t, -1, state.TTL, "after it expired")
		kv, _, err := db.Get("a", 0)
		require.NoError(t, err)
		assert.Nil(t, kv)
		_, err = client.KeepAliveOnce(ctx, lease.ID)
		assert.Equal(t, rpctypes.ErrLeaseNotFound, err)
		_, err = client.Revoke(ctx, lease.ID)
		assert.Equal(t, rpctypes.ErrLeaseNotFound, err)
		_, err = client.Grant(ctx, 9_000_000_001)
		assert.Equal(t, rpctypes.ErrLeaseTTLTooLarge, err)
	})
}

func TestRevokeRemovesKeys(t *testing.T) {
	client, db := newClient(t, mvcc.Options{}, Options{})
	lease, err := client.Grant(t.Context(), 60)
	require.NoError(t, err)
	_, err = client.Put(t.Context(), "a", "1", clientv3.WithLease(lease.ID))
	require.NoError(t, err)
	response, err := client.Revoke(t.Context(), lease.ID)
	require.NoError(t, err)
	assert.EqualValues(t, 3, response.Header.Revision)
	kv, _, err := db.Get("a", 0)
	require.NoError(t, err)
	assert.Nil(t, kv)
}

func TestKeepAliveRenewsUntilItsContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, _ := newClient(t, mvcc.Options{}, Options{})
		lease, err := client.Grant(t.Context(), 60)
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		ch, err := client.KeepAlive(ctx, lease.ID)
		require.NoError(t, err)
		// A day without anybody taking responses: the channel is full long before.
		sleep(24 * time.Hour)
		for range clientv3.LeaseResponseChSize {
			response := <-ch
			assert.Equal(t, lease.ID, response.ID)
			assert.EqualValues(t, 60, response.TTL)
		}
		start := clock.RealClock{}.Now()
		assert.NotNil(t, <-ch)
		assert.LessOrEqual(t, clock.RealClock{}.Since(start), 20*time.Second, "time to the next response")
		cancel()
		_, open := <-ch
		assert.False(t, open)
		sleep(time.Minute)
		state, err := client.TimeToLive(t.Context(), lease.ID)
		require.NoError(t, err)
		assert.EqualValues(t, -1, state.TTL)
	})
}

func TestKeepAliveEndsWithItsLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, _ := newClient(t, mvcc.Options{}, Options{})
		none, err := client.KeepAlive(t.Context(), 99)
		require.NoError(t, err)
		_, open := <-none
		assert.False(t, open, "of a lease that is not")

		lease, err := client.Grant(t.Context(), 60)
		require.NoError(t, err)
		ch, err := client.KeepAlive(t.Context(), lease.ID)
		require.NoError(t, err)
		assert.NotNil(t, <-ch)
		_, err = client.Revoke(t.Context(), lease.ID)
		require.NoError(t, err)
		_, open = <-ch
		assert.False(t, open, "of a lease that was revoked")
	})
}

func TestKeepAliveEndsWithItsClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db, err := mvcc.New(mvcc.Options{})
		require.NoError(t, err)
		defer db.Close()
		client := Client(t.Context(), db)
		lease, err := client.Grant(t.Context(), 60)
		require.NoError(t, err)
		ch, err := client.KeepAlive(t.Context(), lease.ID)
		require.NoError(t, err)
		assert.NotNil(t, <-ch)
		require.ErrorIs(t, client.Close(), context.Canceled)
		_, open := <-ch
		assert.False(t, open)
		_, err = client.KeepAlive(t.Context(), lease.ID)
		var halted clientv3.ErrKeepAliveHalted
		require.ErrorAs(t, err, &halted)
	})
}
