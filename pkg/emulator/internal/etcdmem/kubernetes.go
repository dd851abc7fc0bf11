package etcdmem

import (
	"context"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"go.etcd.io/etcd/client/v3/kubernetes"

	"github.com/musterkube/muster/pkg/emulator/internal/mvcc"
)

// kubeClient is the narrow interface that Kubernetes has to etcd. kubernetes.Client could serve it through KV; going to
// the store directly spares each write two copies of its value and the making of a transaction.
type kubeClient struct {
	db *mvcc.DB
}

var _ kubernetes.Interface = (*kubeClient)(nil)

// Get reads one key.
func (c *kubeClient) Get(ctx context.Context, key string, opts kubernetes.GetOptions) (kubernetes.GetResponse, error) {
	if err := ctx.Err(); err != nil {
		return kubernetes.GetResponse{}, err
	}
	kv, revision, err := c.db.Get(key, opts.Revision)
	if err != nil {
		return kubernetes.GetResponse{}, clientError(err)
	}
	return kubernetes.GetResponse{KV: keyValue(kv), Revision: revision}, nil
}

// List reads the keys with a prefix, or those of them from opts.Continue on.
func (c *kubeClient) List(ctx context.Context, prefix string, opts kubernetes.ListOptions) (kubernetes.ListResponse, error) {
	if err := ctx.Err(); err != nil {
		return kubernetes.ListResponse{}, err
	}
	span := mvcc.Prefix(prefix)
	if opts.Continue != "" {
		span.Start = opts.Continue
	}
	if span.Start == "" {
		return kubernetes.ListResponse{}, rpctypes.ErrEmptyKey
	}
	result, err := c.db.Range(span, mvcc.RangeOptions{Revision: opts.Revision, Limit: opts.Limit})
	if err != nil {
		return kubernetes.ListResponse{}, clientError(err)
	}
	return kubernetes.ListResponse{Kvs: keyValues(result.KVs), Count: result.Count, Revision: result.Revision}, nil
}

// Count counts the keys with a prefix.
func (c *kubeClient) Count(ctx context.Context, prefix string, _ kubernetes.CountOptions) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	result, err := c.db.Range(mvcc.Prefix(prefix), mvcc.RangeOptions{CountOnly: true})
	return result.Count, clientError(err)
}

// OptimisticPut writes a key that was last written at the expected revision.
func (c *kubeClient) OptimisticPut(ctx context.Context, key string, value []byte, expected int64, opts kubernetes.PutOptions) (kubernetes.PutResponse, error) {
	if err := ctx.Err(); err != nil {
		return kubernetes.PutResponse{}, err
	}
	outcome, err := c.db.PutIf(key, value, expected, mvcc.LeaseID(opts.LeaseID))
	if err != nil {
		return kubernetes.PutResponse{}, clientError(err)
	}
	response := kubernetes.PutResponse{Succeeded: outcome.Succeeded, Revision: outcome.Revision}
	if opts.GetOnFailure {
		response.KV = keyValue(outcome.Current)
	}
	return response, nil
}

// OptimisticDelete removes a key that was last written at the expected revision.
func (c *kubeClient) OptimisticDelete(ctx context.Context, key string, expected int64, opts kubernetes.DeleteOptions) (kubernetes.DeleteResponse, error) {
	if err := ctx.Err(); err != nil {
		return kubernetes.DeleteResponse{}, err
	}
	outcome, err := c.db.DeleteIf(key, expected)
	if err != nil {
		return kubernetes.DeleteResponse{}, clientError(err)
	}
	response := kubernetes.DeleteResponse{Succeeded: outcome.Succeeded, Revision: outcome.Revision}
	if opts.GetOnFailure {
		response.KV = keyValue(outcome.Current)
	}
	return response, nil
}
