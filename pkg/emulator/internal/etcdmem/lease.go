package etcdmem

import (
	"context"
	"errors"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/utils/clock"

	"github.com/musterkube/muster/pkg/emulator/internal/mvcc"
)

const (
	// minTTL is the shortest time to live of a lease, in seconds; less is raised to it.
	minTTL = 1
	// maxTTL is the longest, in seconds, as in etcd: more does not fit a time.Duration.
	maxTTL = 9_000_000_000
	// renewals is how often KeepAlive renews a lease within its time to live.
	renewals = 3
)

// leaseClient serves leases. Times to live are seconds.
type leaseClient struct {
	db    *mvcc.DB
	clock clock.WithTicker
	tasks *tasks
}

var _ clientv3.Lease = (*leaseClient)(nil)

// Grant makes a lease.
func (c *leaseClient) Grant(ctx context.Context, ttl int64) (*clientv3.LeaseGrantResponse, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if ttl > maxTTL {
		return nil, rpctypes.ErrLeaseTTLTooLarge
	}
	ttl = max(ttl, minTTL)
	id, err := c.db.Grant(0, time.Duration(ttl)*time.Second)
	if err != nil {
		return nil, clientError(err)
	}
	return &clientv3.LeaseGrantResponse{ResponseHeader: c.header(), ID: clientv3.LeaseID(id), TTL: ttl}, nil
}

// Revoke ends a lease and removes its keys.
func (c *leaseClient) Revoke(ctx context.Context, id clientv3.LeaseID) (*clientv3.LeaseRevokeResponse, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	revision, err := c.db.Revoke(mvcc.LeaseID(id))
	if err != nil {
		return nil, clientError(err)
	}
	return (*clientv3.LeaseRevokeResponse)(&pb.LeaseRevokeResponse{Header: header(revision)}), nil
}

// TimeToLive tells how long a lease has to live, -1 for one that does not exist. The only option there is asks for the
// keys; given any option, they are returned.
func (c *leaseClient) TimeToLive(ctx context.Context, id clientv3.LeaseID, opts ...clientv3.LeaseOption) (*clientv3.LeaseTimeToLiveResponse, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	response := &clientv3.LeaseTimeToLiveResponse{ResponseHeader: c.header(), ID: id, TTL: -1}
	lease, err := c.db.Lease(mvcc.LeaseID(id))
	switch {
	case errors.Is(err, mvcc.ErrLeaseNotFound):
		return response, nil
	case err != nil:
		return nil, clientError(err)
	}
	response.TTL, response.GrantedTTL = seconds(lease.Remaining), seconds(lease.TTL)
	if len(opts) > 0 {
		for _, key := range lease.Keys {
			response.Keys = append(response.Keys, []byte(key))
		}
	}
	return response, nil
}

// Leases lists all leases.
func (c *leaseClient) Leases(ctx context.Context) (*clientv3.LeaseLeasesResponse, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	leases, err := c.db.Leases()
	if err != nil {
		return nil, clientError(err)
	}
	response := &clientv3.LeaseLeasesResponse{ResponseHeader: c.header()}
	for _, lease := range leases {
		response.Leases = append(response.Leases, clientv3.LeaseStatus{ID: clientv3.LeaseID(lease.ID)})
	}
	return response, nil
}

// KeepAliveOnce renews a lease.
func (c *leaseClient) KeepAliveOnce(ctx context.Context, id clientv3.LeaseID) (*clientv3.LeaseKeepAliveResponse, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	ttl, err := c.db.Renew(mvcc.LeaseID(id))
	if err != nil {
		return nil, clientError(err)
	}
	return &clientv3.LeaseKeepAliveResponse{ResponseHeader: c.header(), ID: id, TTL: seconds(ttl)}, nil
}

// KeepAlive renews a lease now and then three times in each time to live, until ctx ends or the lease is gone, either of
// which closes the channel. As with etcd's client, responses that nobody takes are dropped when the channel is full.
func (c *leaseClient) KeepAlive(ctx context.Context, id clientv3.LeaseID) (<-chan *clientv3.LeaseKeepAliveResponse, error) {
	out := make(chan *clientv3.LeaseKeepAliveResponse, clientv3.LeaseResponseChSize)
	first, err := c.KeepAliveOnce(ctx, id)
	if errors.Is(err, rpctypes.ErrLeaseNotFound) {
		close(out)
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	out <- first
	if !c.tasks.start(func() { c.keepAlive(ctx, first, out) }) {
		return nil, clientv3.ErrKeepAliveHalted{Reason: context.Canceled}
	}
	return out, nil
}

func (c *leaseClient) keepAlive(ctx context.Context, first *clientv3.LeaseKeepAliveResponse, out chan<- *clientv3.LeaseKeepAliveResponse) {
	defer close(out)
	ticker := c.clock.NewTicker(time.Duration(max(first.TTL, minTTL)) * time.Second / renewals)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.tasks.cancelled:
			return
		case <-c.tasks.closing:
			return
		case <-ticker.C():
		}
		response, err := c.KeepAliveOnce(ctx, first.ID)
		if err != nil {
			return
		}
		select {
		case out <- response:
		default:
		}
	}
}

// Close ends all KeepAlives of this client and waits for their goroutines. The leases live on.
func (c *leaseClient) Close() error {
	c.tasks.close()
	return nil
}

func (c *leaseClient) header() *pb.ResponseHeader { return header(c.db.Revision()) }

// seconds rounds down, as etcd does.
func seconds(d time.Duration) int64 { return int64(d / time.Second) }
