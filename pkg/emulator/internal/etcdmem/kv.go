package etcdmem

import (
	"context"
	"io"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc"

	"github.com/musterkube/muster/pkg/emulator/internal/mvcc"
)

// kvServer answers the requests that etcd's client makes of KV calls. It stands where the connection to a server would.
type kvServer struct {
	db *mvcc.DB
}

var _ pb.KVClient = (*kvServer)(nil)

// Range reads keys.
func (s *kvServer) Range(ctx context.Context, r *pb.RangeRequest, _ ...grpc.CallOption) (*pb.RangeResponse, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	op, err := rangeOp(r)
	if err != nil {
		return nil, err
	}
	result, err := s.db.Range(op.Span, op.Options)
	if err != nil {
		return nil, clientError(err)
	}
	return rangeResponse(result), nil
}

// RangeStream reads keys as Range does, in one chunk. As with a server, an error comes from the stream and not from the
// call.
func (s *kvServer) RangeStream(ctx context.Context, r *pb.RangeRequest, _ ...grpc.CallOption) (grpc.ServerStreamingClient[pb.RangeStreamResponse], error) {
	response, err := s.Range(ctx, r)
	return &rangeStream{response: response, err: err}, nil
}

// rangeStream yields one response, or one error.
type rangeStream struct {
	// ClientStream is nil: etcd's client calls nothing but Recv.
	grpc.ClientStream
	response *pb.RangeResponse
	err      error
}

func (s *rangeStream) Recv() (*pb.RangeStreamResponse, error) {
	if s.err != nil {
		return nil, s.err
	}
	s.err = io.EOF
	return &pb.RangeStreamResponse{RangeResponse: s.response}, nil
}

// Put writes a key.
func (s *kvServer) Put(ctx context.Context, r *pb.PutRequest, _ ...grpc.CallOption) (*pb.PutResponse, error) {
	response, err := s.single(ctx, &pb.RequestOp{Request: &pb.RequestOp_RequestPut{RequestPut: r}})
	return response.GetResponsePut(), err
}

// DeleteRange removes keys.
func (s *kvServer) DeleteRange(ctx context.Context, r *pb.DeleteRangeRequest, _ ...grpc.CallOption) (*pb.DeleteRangeResponse, error) {
	response, err := s.single(ctx, &pb.RequestOp{Request: &pb.RequestOp_RequestDeleteRange{RequestDeleteRange: r}})
	return response.GetResponseDeleteRange(), err
}

// single runs one operation as a transaction without conditions.
func (s *kvServer) single(ctx context.Context, op *pb.RequestOp) (*pb.ResponseOp, error) {
	response, err := s.Txn(ctx, &pb.TxnRequest{Success: []*pb.RequestOp{op}})
	if err != nil {
		return nil, err
	}
	return response.Responses[0], nil
}

// Compact forgets what was before a revision. Whether compaction is to be physical makes no difference in memory.
func (s *kvServer) Compact(ctx context.Context, r *pb.CompactionRequest, _ ...grpc.CallOption) (*pb.CompactionResponse, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := s.db.Compact(r.Revision); err != nil {
		return nil, clientError(err)
	}
	return &pb.CompactionResponse{Header: header(s.db.Revision())}, nil
}

// rangeOp translates a range request. Reads are always consistent, so it does not matter whether r is serializable.
func rangeOp(r *pb.RangeRequest) (mvcc.RangeOp, error) {
	switch {
	case len(r.Key) == 0:
		return mvcc.RangeOp{}, rpctypes.ErrEmptyKey
	case r.SortOrder != pb.RangeRequest_NONE:
		return mvcc.RangeOp{}, unsupported("a sort order is")
	case r.MinModRevision != 0, r.MaxModRevision != 0, r.MinCreateRevision != 0, r.MaxCreateRevision != 0:
		return mvcc.RangeOp{}, unsupported("bounds on the revisions of keys are")
	}
	return mvcc.RangeOp{Span: spanOf(r.Key, r.RangeEnd), Options: mvcc.RangeOptions{
		Revision: r.Revision, Limit: r.Limit, KeysOnly: r.KeysOnly, CountOnly: r.CountOnly,
	}}, nil
}

func rangeResponse(result mvcc.RangeResult) *pb.RangeResponse {
	return &pb.RangeResponse{
		Header: header(result.Revision),
		Kvs:    keyValues(result.KVs),
		Count:  result.Count,
		More:   result.More,
	}
}
