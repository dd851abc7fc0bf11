package etcdmem

import (
	"errors"
	"fmt"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/musterkube/muster/pkg/emulator/internal/mvcc"
)

// clientErrors maps the errors of the store to those that an etcd client returns.
var clientErrors = []struct{ store, client error }{
	{mvcc.ErrCompacted, rpctypes.ErrCompacted},
	{mvcc.ErrFutureRevision, rpctypes.ErrFutureRev},
	{mvcc.ErrEmptyKey, rpctypes.ErrEmptyKey},
	{mvcc.ErrDuplicateKey, rpctypes.ErrDuplicateKey},
	{mvcc.ErrLeaseNotFound, rpctypes.ErrLeaseNotFound},
	{mvcc.ErrLeaseExists, rpctypes.ErrLeaseExist},
	{mvcc.ErrClosed, rpctypes.ErrStopped},
}

// clientError returns the error that an etcd client would return. The stock store compares it with ==, so it is not
// wrapped.
func clientError(err error) error {
	for _, known := range clientErrors {
		if errors.Is(err, known.store) {
			return known.client
		}
	}
	return err
}

// unsupported is the refusal of a request that etcd would serve. It is InvalidArgument rather than Unimplemented, which
// the stock store takes to mean that the server does not know the call at all.
func unsupported(what string) error {
	return status.Error(codes.InvalidArgument, fmt.Sprintf("etcdmem: %s not supported by the in-memory store", what))
}

// spanOf translates etcd's way to name keys: no end for a single key, a NUL byte for no end at all.
func spanOf(key, end []byte) mvcc.Span {
	switch {
	case len(end) == 0:
		return mvcc.Single(string(key))
	case len(end) == 1 && end[0] == 0:
		return mvcc.Span{Start: string(key)}
	default:
		return mvcc.Span{Start: string(key), End: string(end)}
	}
}

func header(revision int64) *pb.ResponseHeader {
	return &pb.ResponseHeader{Revision: revision}
}

// keyValue translates one version of a key, nil for nil.
func keyValue(kv *mvcc.KeyValue) *mvccpb.KeyValue {
	if kv == nil {
		return nil
	}
	return &mvccpb.KeyValue{
		Key:            []byte(kv.Key),
		Value:          kv.Value,
		CreateRevision: kv.CreateRevision,
		ModRevision:    kv.ModRevision,
		Version:        kv.Version,
		Lease:          int64(kv.Lease),
	}
}

func keyValues(kvs []*mvcc.KeyValue) []*mvccpb.KeyValue {
	list := make([]*mvccpb.KeyValue, len(kvs))
	for i, kv := range kvs {
		list[i] = keyValue(kv)
	}
	return list
}
