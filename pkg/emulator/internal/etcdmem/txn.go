package etcdmem

import (
	"context"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc"

	"github.com/musterkube/muster/pkg/emulator/internal/mvcc"
)

// Txn runs a transaction.
func (s *kvServer) Txn(ctx context.Context, r *pb.TxnRequest, _ ...grpc.CallOption) (*pb.TxnResponse, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	txn, err := txnOf(r)
	if err != nil {
		return nil, err
	}
	result, err := s.db.Txn(txn)
	if err != nil {
		return nil, clientError(err)
	}
	requests := r.Success
	if !result.Succeeded {
		requests = r.Failure
	}
	response := &pb.TxnResponse{Header: header(result.Revision), Succeeded: result.Succeeded}
	for i, request := range requests {
		response.Responses = append(response.Responses, opResponse(request, result.Results[i], result.Revision))
	}
	return response, nil
}

// txnOf translates a transaction, or says what of it is not supported.
func txnOf(r *pb.TxnRequest) (mvcc.Txn, error) {
	var txn mvcc.Txn
	for _, c := range r.Compare {
		condition, err := compareOf(c)
		if err != nil {
			return txn, err
		}
		txn.If = append(txn.If, condition)
	}
	var err error
	if txn.Then, err = opsOf(r.Success); err != nil {
		return txn, err
	}
	txn.Else, err = opsOf(r.Failure)
	return txn, err
}

func compareOf(c *pb.Compare) (mvcc.Compare, error) {
	if len(c.RangeEnd) > 0 {
		return mvcc.Compare{}, unsupported("a condition over a range of keys is")
	}
	condition := mvcc.Compare{Key: string(c.Key)}
	switch c.Target {
	case pb.Compare_MOD:
		condition.Target, condition.Number = mvcc.TargetModRevision, c.GetModRevision()
	case pb.Compare_CREATE:
		condition.Target, condition.Number = mvcc.TargetCreateRevision, c.GetCreateRevision()
	case pb.Compare_VERSION:
		condition.Target, condition.Number = mvcc.TargetVersion, c.GetVersion()
	case pb.Compare_LEASE:
		condition.Target, condition.Number = mvcc.TargetLease, c.GetLease()
	case pb.Compare_VALUE:
		condition.Target, condition.Value = mvcc.TargetValue, c.GetValue()
	default:
		return condition, unsupported("comparing " + c.Target.String() + " is")
	}
	switch c.Result {
	case pb.Compare_EQUAL:
		condition.Relation = mvcc.Equal
	case pb.Compare_NOT_EQUAL:
		condition.Relation = mvcc.NotEqual
	case pb.Compare_GREATER:
		condition.Relation = mvcc.Greater
	case pb.Compare_LESS:
		condition.Relation = mvcc.Less
	default:
		return condition, unsupported("the relation " + c.Result.String() + " is")
	}
	return condition, nil
}

func opsOf(requests []*pb.RequestOp) ([]mvcc.Op, error) {
	ops := make([]mvcc.Op, 0, len(requests))
	for _, request := range requests {
		op, err := opOf(request)
		if err != nil {
			return nil, err
		}
		ops = append(ops, op)
	}
	return ops, nil
}

func opOf(request *pb.RequestOp) (mvcc.Op, error) {
	switch r := request.Request.(type) {
	case *pb.RequestOp_RequestRange:
		return rangeOp(r.RequestRange)
	case *pb.RequestOp_RequestPut:
		put := r.RequestPut
		if put.IgnoreValue || put.IgnoreLease {
			return nil, unsupported("a put that keeps the value or the lease is")
		}
		return mvcc.PutOp{Key: string(put.Key), Value: put.Value, Lease: mvcc.LeaseID(put.Lease)}, nil
	case *pb.RequestOp_RequestDeleteRange:
		if len(r.RequestDeleteRange.Key) == 0 {
			return nil, rpctypes.ErrEmptyKey
		}
		return mvcc.DeleteOp{Span: spanOf(r.RequestDeleteRange.Key, r.RequestDeleteRange.RangeEnd)}, nil
	default:
		return nil, unsupported("a nested transaction is")
	}
}

// opResponse tells what one operation of a transaction did. revision is the one that the transaction left.
func opResponse(request *pb.RequestOp, result mvcc.OpResult, revision int64) *pb.ResponseOp {
	switch r := request.Request.(type) {
	case *pb.RequestOp_RequestPut:
		response := &pb.PutResponse{Header: header(revision)}
		if r.RequestPut.PrevKv && len(result.Prev) > 0 {
			response.PrevKv = keyValue(result.Prev[0])
		}
		return &pb.ResponseOp{Response: &pb.ResponseOp_ResponsePut{ResponsePut: response}}
	case *pb.RequestOp_RequestDeleteRange:
		response := &pb.DeleteRangeResponse{Header: header(revision), Deleted: int64(len(result.Prev))}
		if r.RequestDeleteRange.PrevKv {
			response.PrevKvs = keyValues(result.Prev)
		}
		return &pb.ResponseOp{Response: &pb.ResponseOp_ResponseDeleteRange{ResponseDeleteRange: response}}
	default:
		return &pb.ResponseOp{Response: &pb.ResponseOp_ResponseRange{ResponseRange: rangeResponse(result.Range)}}
	}
}
