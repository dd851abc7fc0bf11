package etcdmem

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/musterkube/muster/pkg/emulator/internal/mvcc"
)

// fill writes a at 2 and 5, b at 3 and c at 4.
func fill(tb testing.TB, db *mvcc.DB) {
	tb.Helper()
	put(tb, db, "a", "1")
	put(tb, db, "b", "1")
	put(tb, db, "c", "1")
	put(tb, db, "a", "2")
}

func TestGet(t *testing.T) {
	client, db := newClient(t, mvcc.Options{}, Options{})
	fill(t, db)
	tests := map[string]struct {
		key   string
		opts  []clientv3.OpOption
		want  []string
		count int64
		more  bool
	}{
		"one key":              {key: "a", want: []string{"a=2@5(2,2)"}, count: 1},
		"one key of old":       {key: "a", opts: []clientv3.OpOption{clientv3.WithRev(4)}, want: []string{"a=1@2(2,1)"}, count: 1},
		"no key":               {key: "x", want: []string{}},
		"a prefix":             {key: "b", opts: []clientv3.OpOption{clientv3.WithPrefix()}, want: []string{"b=1@3(3,1)"}, count: 1},
		"everything":           {key: "", opts: []clientv3.OpOption{clientv3.WithPrefix()}, want: []string{"a=2@5(2,2)", "b=1@3(3,1)", "c=1@4(4,1)"}, count: 3},
		"from a key":           {key: "b", opts: []clientv3.OpOption{clientv3.WithFromKey()}, want: []string{"b=1@3(3,1)", "c=1@4(4,1)"}, count: 2},
		"a range":              {key: "a", opts: []clientv3.OpOption{clientv3.WithRange("c")}, want: []string{"a=2@5(2,2)", "b=1@3(3,1)"}, count: 2},
		"a range and a limit":  {key: "a", opts: []clientv3.OpOption{clientv3.WithRange("z"), clientv3.WithLimit(1)}, want: []string{"a=2@5(2,2)"}, count: 3, more: true},
		"keys only":            {key: "c", opts: []clientv3.OpOption{clientv3.WithKeysOnly()}, want: []string{"c=@4(4,1)"}, count: 1},
		"count only":           {key: "a", opts: []clientv3.OpOption{clientv3.WithFromKey(), clientv3.WithCountOnly()}, want: []string{}, count: 3},
		"sorted as it is":      {key: "b", opts: []clientv3.OpOption{clientv3.WithFromKey(), clientv3.WithSort(clientv3.SortByKey, clientv3.SortAscend)}, want: []string{"b=1@3(3,1)", "c=1@4(4,1)"}, count: 2},
		"serializable is fine": {key: "a", opts: []clientv3.OpOption{clientv3.WithSerializable()}, want: []string{"a=2@5(2,2)"}, count: 1},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			response, err := client.KV.Get(t.Context(), tc.key, tc.opts...)
			require.NoError(t, err)
			assert.Equal(t, tc.want, showAll(response.Kvs))
			assert.Equal(t, tc.count, response.Count, "count")
			assert.Equal(t, tc.more, response.More, "more")
			assert.EqualValues(t, 5, response.Header.Revision)

			stream, err := client.GetStream(t.Context(), tc.key, tc.opts...)
			require.NoError(t, err)
			streamed, err := clientv3.GetStreamToGetResponse(stream)
			require.NoError(t, err)
			assert.Equal(t, tc.want, showAll(streamed.Kvs), "streamed")
			assert.Equal(t, tc.count, streamed.Count, "count of the stream")
			assert.Equal(t, tc.more, streamed.More, "more of the stream")
			assert.EqualValues(t, 5, streamed.Header.Revision)
		})
	}
}

func TestWritesReturnWhatWas(t *testing.T) {
	client, db := newClient(t, mvcc.Options{}, Options{})
	fill(t, db)
	ctx := t.Context()
	put, err := client.Put(ctx, "a", "3", clientv3.WithPrevKV())
	require.NoError(t, err)
	assert.Equal(t, "a=2@5(2,2)", show(put.PrevKv))
	assert.EqualValues(t, 6, put.Header.Revision)
	put, err = client.Put(ctx, "new", "1", clientv3.WithPrevKV())
	require.NoError(t, err)
	assert.Nil(t, put.PrevKv)
	put, err = client.Put(ctx, "a", "4")
	require.NoError(t, err)
	assert.Nil(t, put.PrevKv, "unasked")

	del, err := client.Delete(ctx, "a", clientv3.WithRange("c"), clientv3.WithPrevKV())
	require.NoError(t, err)
	assert.Equal(t, []string{"a=4@8(2,4)", "b=1@3(3,1)"}, showAll(del.PrevKvs))
	assert.EqualValues(t, 2, del.Deleted)
	assert.EqualValues(t, 9, del.Header.Revision)
	del, err = client.Delete(ctx, "a")
	require.NoError(t, err)
	assert.EqualValues(t, 0, del.Deleted)
	assert.EqualValues(t, 9, del.Header.Revision)
	del, err = client.Delete(ctx, "c")
	require.NoError(t, err)
	assert.EqualValues(t, 1, del.Deleted)
	assert.Empty(t, del.PrevKvs, "unasked")
}

func TestTxn(t *testing.T) {
	// a is 2@5(2,2) and has no lease.
	tests := map[string]struct {
		condition clientv3.Cmp
		want      bool
	}{
		"mod revision":        {condition: clientv3.Compare(clientv3.ModRevision("a"), "=", 5), want: true},
		"mod revision else":   {condition: clientv3.Compare(clientv3.ModRevision("a"), "=", 2)},
		"create revision":     {condition: clientv3.Compare(clientv3.CreateRevision("a"), "<", 3), want: true},
		"create revision not": {condition: clientv3.Compare(clientv3.CreateRevision("a"), "!=", 2)},
		"version":             {condition: clientv3.Compare(clientv3.Version("a"), ">", 1), want: true},
		"version not":         {condition: clientv3.Compare(clientv3.Version("a"), ">", 2)},
		"value":               {condition: clientv3.Compare(clientv3.Value("a"), "!=", "1"), want: true},
		"value not":           {condition: clientv3.Compare(clientv3.Value("a"), "=", "1")},
		"lease":               {condition: clientv3.Compare(clientv3.LeaseValue("a"), "=", clientv3.NoLease), want: true},
		"lease not":           {condition: clientv3.Compare(clientv3.LeaseValue("a"), "=", 7)},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			client, db := newClient(t, mvcc.Options{}, Options{})
			fill(t, db)
			response, err := client.Txn(t.Context()).If(tc.condition).
				Then(clientv3.OpPut("then", "1"), clientv3.OpGet("b"), clientv3.OpDelete("b", clientv3.WithPrevKV()), clientv3.OpGet("b")).
				Else(clientv3.OpGet("a", clientv3.WithFromKey(), clientv3.WithCountOnly())).
				Commit()
			require.NoError(t, err)
			assert.Equal(t, tc.want, response.Succeeded)
			if !tc.want {
				assert.EqualValues(t, 5, response.Header.Revision)
				require.Len(t, response.Responses, 1)
				assert.EqualValues(t, 3, response.Responses[0].GetResponseRange().Count)
				return
			}
			assert.EqualValues(t, 6, response.Header.Revision)
			require.Len(t, response.Responses, 4)
			assert.EqualValues(t, 6, response.Responses[0].GetResponsePut().Header.Revision)
			assert.Equal(t, []string{"b=1@3(3,1)"}, showAll(response.Responses[1].GetResponseRange().Kvs))
			assert.Equal(t, []string{"b=1@3(3,1)"}, showAll(response.Responses[2].GetResponseDeleteRange().PrevKvs))
			assert.Empty(t, response.Responses[3].GetResponseRange().Kvs)
		})
	}
}

func TestErrorsAreThoseOfAnEtcdClient(t *testing.T) {
	client, db := newClient(t, mvcc.Options{}, Options{})
	fill(t, db)
	ctx := t.Context()
	_, err := client.Compact(ctx, 4)
	require.NoError(t, err)
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	commit := func(ops ...clientv3.Op) error {
		_, err := client.Txn(ctx).Then(ops...).Commit()
		return err
	}
	get := func(ctx context.Context, key string, opts ...clientv3.OpOption) error {
		_, err := client.KV.Get(ctx, key, opts...)
		return err
	}
	compact := func(rev int64) error {
		_, err := client.Compact(ctx, rev)
		return err
	}
	tests := map[string]struct{ got, want error }{
		"a compacted revision":        {got: get(ctx, "a", clientv3.WithRev(3)), want: rpctypes.ErrCompacted},
		"a future revision":           {got: get(ctx, "a", clientv3.WithRev(6)), want: rpctypes.ErrFutureRev},
		"no key to get":               {got: get(ctx, ""), want: rpctypes.ErrEmptyKey},
		"no key to put":               {got: commit(clientv3.OpPut("", "1")), want: rpctypes.ErrEmptyKey},
		"no key to delete":            {got: commit(clientv3.OpDelete("")), want: rpctypes.ErrEmptyKey},
		"a key put twice":             {got: commit(clientv3.OpPut("a", "1"), clientv3.OpPut("a", "2")), want: rpctypes.ErrDuplicateKey},
		"a lease that is not":         {got: commit(clientv3.OpPut("a", "1", clientv3.WithLease(9))), want: rpctypes.ErrLeaseNotFound},
		"compacting again":            {got: compact(4), want: rpctypes.ErrCompacted},
		"compacting the future":       {got: compact(6), want: rpctypes.ErrFutureRev},
		"a cancelled request":         {got: get(cancelled, "a"), want: context.Canceled},
		"a sort order without sense":  {got: get(ctx, "a", clientv3.WithSort(clientv3.SortByKey, 7)), want: rpctypes.ErrInvalidSortOption},
		"a transaction's compacted":   {got: commit(clientv3.OpGet("a", clientv3.WithRev(3))), want: rpctypes.ErrCompacted},
		"a transaction's future read": {got: commit(clientv3.OpGet("a", clientv3.WithRev(6))), want: rpctypes.ErrFutureRev},
	}
	for name, tc := range tests {
		// Not ErrorIs: the stock store compares some of these by ==.
		assert.Equal(t, tc.want, tc.got, name)
	}

	stream, err := client.GetStream(ctx, "a", clientv3.WithRev(3))
	require.NoError(t, err, "an error of a stream comes from the stream")
	_, err = clientv3.GetStreamToGetResponse(stream)
	assert.Equal(t, rpctypes.ErrCompacted, err)
	db.Close()
	assert.Equal(t, rpctypes.ErrStopped, get(ctx, "a"), "a closed store")
}

func TestWhatIsNotSupportedSaysSo(t *testing.T) {
	client, _ := newClient(t, mvcc.Options{}, Options{})
	ctx := t.Context()
	get := func(opts ...clientv3.OpOption) error {
		_, err := client.KV.Get(ctx, "a", append(opts, clientv3.WithFromKey())...)
		return err
	}
	do := func(op clientv3.Op) error {
		_, err := client.Do(ctx, op)
		return err
	}
	compare := func(c clientv3.Cmp) error {
		_, err := client.Txn(ctx).If(c).Commit()
		return err
	}
	refused := map[string]error{
		"sort order":     get(clientv3.WithSort(clientv3.SortByKey, clientv3.SortDescend)),
		"min mod":        get(clientv3.WithMinModRev(1)),
		"max mod":        get(clientv3.WithMaxModRev(1)),
		"min create":     get(clientv3.WithMinCreateRev(1)),
		"max create":     get(clientv3.WithMaxCreateRev(1)),
		"ignored value":  do(clientv3.OpPut("a", "", clientv3.WithIgnoreValue())),
		"ignored lease":  do(clientv3.OpPut("a", "", clientv3.WithIgnoreLease())),
		"nested":         do(clientv3.OpTxn(nil, []clientv3.Op{clientv3.OpTxn(nil, nil, nil)}, nil)),
		"range compared": compare(clientv3.Compare(clientv3.ModRevision("a"), "=", 0).WithPrefix()),
	}
	for name, err := range refused {
		assert.ErrorContains(t, err, "not supported by the in-memory store", name)
		assert.Equal(t, codes.InvalidArgument, status.Code(err), name)
	}
	_, err := client.MemberList(ctx)
	assert.Equal(t, codes.Unimplemented, status.Code(err), "Cluster")
	_, err = client.AuthStatus(ctx)
	assert.Equal(t, codes.Unimplemented, status.Code(err), "Auth")
	_, err = client.Status(ctx, "")
	assert.Equal(t, codes.Unimplemented, status.Code(err), "Maintenance")
	_, err = client.Snapshot(ctx)
	assert.Equal(t, codes.Unimplemented, status.Code(err), "Maintenance stream")
}

func TestDo(t *testing.T) {
	client, _ := newClient(t, mvcc.Options{}, Options{})
	ctx := t.Context()
	response, err := client.Do(ctx, clientv3.OpPut("a", "1"))
	require.NoError(t, err)
	assert.EqualValues(t, 2, response.Put().Header.Revision)
	response, err = client.Do(ctx, clientv3.OpGet("a"))
	require.NoError(t, err)
	assert.Equal(t, []string{"a=1@2(2,1)"}, showAll(response.Get().Kvs))
	response, err = client.Do(ctx, clientv3.OpTxn(nil, []clientv3.Op{clientv3.OpDelete("a")}, nil))
	require.NoError(t, err)
	assert.EqualValues(t, 3, response.Txn().Header.Revision)
	response, err = client.Do(ctx, clientv3.OpDelete("a"))
	require.NoError(t, err)
	assert.EqualValues(t, 0, response.Del().Deleted)
}

func TestPutAttachesALease(t *testing.T) {
	client, db := newClient(t, mvcc.Options{}, Options{})
	id, err := db.Grant(0, time.Hour)
	require.NoError(t, err)
	_, err = client.Put(t.Context(), "a", "1", clientv3.WithLease(clientv3.LeaseID(id)))
	require.NoError(t, err)
	response, err := client.KV.Get(t.Context(), "a")
	require.NoError(t, err)
	require.Len(t, response.Kvs, 1)
	assert.EqualValues(t, id, response.Kvs[0].Lease)
}
