package etcdmem

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"go.etcd.io/etcd/client/v3/kubernetes"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/musterkube/muster/pkg/emulator/internal/mvcc"
)

// answer is what a call of kubernetes.Interface returned.
type answer struct {
	KVs             []*mvccpb.KeyValue
	Count, Revision int64
	Succeeded       bool
	Err             error
}

// TestKubernetesInterfaceAnswersAsTheStockOne makes the same calls of this package's implementation and of etcd's own
// one, which turns them into requests for clientv3.KV, each on a store of its own.
func TestKubernetesInterfaceAnswersAsTheStockOne(t *testing.T) {
	for seed := range uint64(10) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			ours, oursDB := newClient(t, mvcc.Options{}, Options{})
			stock, stockDB := newClient(t, mvcc.Options{}, Options{})
			for step := range 400 {
				// The same seed for both, so that both make the same call.
				call := func(c kubernetes.Interface, db *mvcc.DB) answer {
					return randomCall(t.Context(), rand.New(rand.NewPCG(seed, uint64(step))), c, db)
				}
				got, want := call(ours.Kubernetes, oursDB), call(stock, stockDB)
				require.Equal(t, want.Err, got.Err, "error of step %d", step)
				got.Err, want.Err = nil, nil
				require.Empty(t, cmp.Diff(want, got, protocmp.Transform()), "step %d (-want +got)", step)
			}
		})
	}
}

// randomCall makes one call. The store is only asked for its revision, so that calls often name one that matters.
func randomCall(ctx context.Context, random *rand.Rand, c kubernetes.Interface, db *mvcc.DB) answer {
	key := []string{"/a", "/b", "/b/1", "/b/2", ""}[random.IntN(5)]
	revision := max(0, db.Revision()+2-random.Int64N(12))
	one := func(kv *mvccpb.KeyValue) []*mvccpb.KeyValue {
		if kv == nil {
			return nil
		}
		return []*mvccpb.KeyValue{kv}
	}
	if kv, _, err := db.Get(key, 0); err == nil && random.IntN(3) > 0 {
		// What a caller who has read the key expects.
		revision = 0
		if kv != nil {
			revision = kv.ModRevision
		}
	}
	switch random.IntN(8) {
	case 0:
		r, err := c.Get(ctx, key, kubernetes.GetOptions{Revision: revision})
		return answer{KVs: one(r.KV), Revision: r.Revision, Err: err}
	case 1:
		opts := kubernetes.ListOptions{Revision: revision, Limit: random.Int64N(3), Continue: []string{"", "", "/b\x00"}[random.IntN(3)]}
		r, err := c.List(ctx, key, opts)
		return answer{KVs: r.Kvs, Count: r.Count, Revision: r.Revision, Err: err}
	case 2:
		count, err := c.Count(ctx, key, kubernetes.CountOptions{})
		return answer{Count: count, Err: err}
	case 3:
		r, err := c.OptimisticDelete(ctx, key, revision, kubernetes.DeleteOptions{GetOnFailure: random.IntN(2) == 0})
		return answer{KVs: one(r.KV), Revision: r.Revision, Succeeded: r.Succeeded, Err: err}
	case 4:
		if random.IntN(10) == 0 {
			return answer{Err: db.Compact(db.Revision() - 3)}
		}
		fallthrough
	default:
		value := fmt.Append(nil, random.IntN(100))
		r, err := c.OptimisticPut(ctx, key, value, revision, kubernetes.PutOptions{GetOnFailure: random.IntN(2) == 0})
		return answer{KVs: one(r.KV), Revision: r.Revision, Succeeded: r.Succeeded, Err: err}
	}
}

func TestKubernetesInterfaceKeepsTheValueWithoutACopy(t *testing.T) {
	client, _ := newClient(t, mvcc.Options{}, Options{})
	value := []byte("value")
	_, err := client.Kubernetes.OptimisticPut(t.Context(), "/a", value, 0, kubernetes.PutOptions{})
	require.NoError(t, err)
	got, err := client.Kubernetes.Get(t.Context(), "/a", kubernetes.GetOptions{})
	require.NoError(t, err)
	assert.Same(t, &value[0], &got.KV.Value[0])
}

func TestKubernetesInterfaceRefuses(t *testing.T) {
	client, db := newClient(t, mvcc.Options{}, Options{})
	calls := map[string]func(ctx context.Context) error{
		"Get": func(ctx context.Context) error {
			_, err := client.Kubernetes.Get(ctx, "/a", kubernetes.GetOptions{})
			return err
		},
		"List": func(ctx context.Context) error {
			_, err := client.Kubernetes.List(ctx, "/a", kubernetes.ListOptions{})
			return err
		},
		"Count": func(ctx context.Context) error {
			_, err := client.Kubernetes.Count(ctx, "/a", kubernetes.CountOptions{})
			return err
		},
		"OptimisticPut": func(ctx context.Context) error {
			_, err := client.Kubernetes.OptimisticPut(ctx, "/a", nil, 0, kubernetes.PutOptions{})
			return err
		},
		"OptimisticDelete": func(ctx context.Context) error {
			_, err := client.Kubernetes.OptimisticDelete(ctx, "/a", 0, kubernetes.DeleteOptions{})
			return err
		},
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, call := range calls {
		assert.Equal(t, context.Canceled, call(cancelled), "%s with a cancelled context", name)
	}
	_, err := client.Kubernetes.OptimisticPut(t.Context(), "/a", nil, 0, kubernetes.PutOptions{LeaseID: 9})
	assert.Equal(t, rpctypes.ErrLeaseNotFound, err)
	db.Close()
	for name, call := range calls {
		assert.Equal(t, rpctypes.ErrStopped, call(t.Context()), "%s of a closed store", name)
	}
}
