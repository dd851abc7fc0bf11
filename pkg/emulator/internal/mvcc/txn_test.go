package mvcc_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/musterkube/muster/pkg/emulator/internal/mvcc"
)

func TestTxnConditions(t *testing.T) {
	const (
		mod, create, version, lease, value = mvcc.TargetModRevision, mvcc.TargetCreateRevision, mvcc.TargetVersion, mvcc.TargetLease, mvcc.TargetValue
		eq, ne, gt, lt                     = mvcc.Equal, mvcc.NotEqual, mvcc.Greater, mvcc.Less
	)
	// a is 2@5(2,2), x does not exist.
	tests := map[string]struct {
		conditions []mvcc.Compare
		want       bool
	}{
		"no condition":                        {want: true},
		"mod revision equal":                  {conditions: []mvcc.Compare{{Key: "a", Target: mod, Number: 5}}, want: true},
		"mod revision not equal":              {conditions: []mvcc.Compare{{Key: "a", Target: mod, Number: 4}}},
		"mod revision differs":                {conditions: []mvcc.Compare{{Key: "a", Target: mod, Relation: ne, Number: 4}}, want: true},
		"mod revision greater":                {conditions: []mvcc.Compare{{Key: "a", Target: mod, Relation: gt, Number: 4}}, want: true},
		"mod revision not greater":            {conditions: []mvcc.Compare{{Key: "a", Target: mod, Relation: gt, Number: 5}}},
		"mod revision less":                   {conditions: []mvcc.Compare{{Key: "a", Target: mod, Relation: lt, Number: 6}}, want: true},
		"mod revision not less":               {conditions: []mvcc.Compare{{Key: "a", Target: mod, Relation: lt, Number: 5}}},
		"create revision":                     {conditions: []mvcc.Compare{{Key: "a", Target: create, Number: 2}}, want: true},
		"version":                             {conditions: []mvcc.Compare{{Key: "a", Target: version, Number: 2}}, want: true},
		"no lease":                            {conditions: []mvcc.Compare{{Key: "a", Target: lease}}, want: true},
		"value":                               {conditions: []mvcc.Compare{{Key: "a", Target: value, Value: []byte("2")}}, want: true},
		"value sorts after":                   {conditions: []mvcc.Compare{{Key: "a", Target: value, Relation: gt, Value: []byte("1")}}, want: true},
		"a missing key has revision 0":        {conditions: []mvcc.Compare{{Key: "x", Target: mod, Relation: eq}}, want: true},
		"a missing key has version 0":         {conditions: []mvcc.Compare{{Key: "x", Target: version, Relation: lt, Number: 1}}, want: true},
		"a missing key has no value":          {conditions: []mvcc.Compare{{Key: "x", Target: value}}},
		"a missing key has not another value": {conditions: []mvcc.Compare{{Key: "x", Target: value, Relation: ne, Value: []byte("1")}}},
		"all of several":                      {conditions: []mvcc.Compare{{Key: "a", Number: 5}, {Key: "x"}}, want: true},
		"the last of several fails":           {conditions: []mvcc.Compare{{Key: "a", Number: 5}, {Key: "x", Number: 1}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			db := history(t)
			result, err := db.Txn(mvcc.Txn{
				If:   tc.conditions,
				Then: []mvcc.Op{mvcc.PutOp{Key: "then"}},
				Else: []mvcc.Op{mvcc.PutOp{Key: "else"}},
			})
			require.NoError(t, err)
			assert.Equal(t, tc.want, result.Succeeded)
			done, err := db.Range(mvcc.Span{Start: "e"}, mvcc.RangeOptions{})
			require.NoError(t, err)
			want := "else"
			if tc.want {
				want = "then"
			}
			require.Len(t, done.KVs, 1)
			assert.Equal(t, want, done.KVs[0].Key)
		})
	}
}

func TestTxnIsOneRevision(t *testing.T) {
	db := history(t)
	w, err := db.Watch(mvcc.Span{}, 0)
	require.NoError(t, err)
	result, err := db.Txn(mvcc.Txn{Then: []mvcc.Op{
		mvcc.RangeOp{Span: mvcc.Prefix("")},
		mvcc.PutOp{Key: "e", Value: []byte("1")},
		mvcc.RangeOp{Span: mvcc.Span{Start: "d"}},
		mvcc.DeleteOp{Span: mvcc.Span{Start: "a", End: "c"}},
		mvcc.PutOp{Key: "c", Value: []byte("2")},
		mvcc.RangeOp{Options: mvcc.RangeOptions{CountOnly: true}},
		mvcc.RangeOp{Span: mvcc.Single("a"), Options: mvcc.RangeOptions{Revision: 4}},
	}})
	require.NoError(t, err)
	assert.True(t, result.Succeeded)
	assert.EqualValues(t, 9, result.Revision)
	require.Len(t, result.Results, 7)
	assert.EqualValues(t, 4, result.Results[0].Range.Count, "keys before any write")
	assert.EqualValues(t, 8, result.Results[0].Range.Revision, "revision before any write")
	assert.Empty(t, result.Results[1].Prev, "what e was before")
	assert.Equal(t, []string{"d=1@8(8,1)", "e=1@9(9,1)"}, showAll(result.Results[2].Range.KVs), "keys after the first write")
	assert.EqualValues(t, 9, result.Results[2].Range.Revision, "revision after the first write")
	assert.Equal(t, []string{"a=2@5(2,2)", "b=2@7(7,1)"}, showAll(result.Results[3].Prev), "what was deleted")
	assert.Equal(t, []string{"c=1@4(4,1)"}, showAll(result.Results[4].Prev), "what c was before")
	assert.EqualValues(t, 3, result.Results[5].Range.Count, "keys after all writes")
	assert.Equal(t, []string{"a=1@2(2,1)"}, showAll(result.Results[6].Range.KVs), "an old revision")
	assert.Empty(t, cmp.Diff([]string{
		"PUT e=1@9(9,1) was -",
		"DELETE a@9 was a=2@5(2,2)",
		"DELETE b@9 was b=2@7(7,1)",
		"PUT c=2@9(4,2) was c=1@4(4,1)",
	}, take(t, w)), "events (-want +got)")

	result, err = db.Txn(mvcc.Txn{Then: []mvcc.Op{mvcc.DeleteOp{Span: mvcc.Single("a")}, mvcc.RangeOp{}}})
	require.NoError(t, err)
	assert.EqualValues(t, 9, result.Revision, "revision after a transaction that wrote nothing")
	assert.EqualValues(t, 9, db.Revision())
}

func TestTxnRefusesAllOrNothing(t *testing.T) {
	write := mvcc.PutOp{Key: "new"}
	tests := map[string]struct {
		txn     mvcc.Txn
		wantErr error
	}{
		"a key put twice":           {txn: mvcc.Txn{Then: []mvcc.Op{write, write}}, wantErr: mvcc.ErrDuplicateKey},
		"a key put twice in Else":   {txn: mvcc.Txn{Else: []mvcc.Op{write, write}}, wantErr: mvcc.ErrDuplicateKey},
		"a key put and deleted":     {txn: mvcc.Txn{Then: []mvcc.Op{write, mvcc.DeleteOp{}}}, wantErr: mvcc.ErrDuplicateKey},
		"a put without a key":       {txn: mvcc.Txn{Then: []mvcc.Op{write, mvcc.PutOp{}}}, wantErr: mvcc.ErrEmptyKey},
		"a condition without a key": {txn: mvcc.Txn{If: []mvcc.Compare{{}}, Then: []mvcc.Op{write}}, wantErr: mvcc.ErrEmptyKey},
		"a put with a lease that is not": {
			txn: mvcc.Txn{Then: []mvcc.Op{write, mvcc.PutOp{Key: "b", Lease: 3}}}, wantErr: mvcc.ErrLeaseNotFound,
		},
		"a read of the future": {
			txn:     mvcc.Txn{Then: []mvcc.Op{write, mvcc.RangeOp{Options: mvcc.RangeOptions{Revision: 9}}}},
			wantErr: mvcc.ErrFutureRevision,
		},
		"a read of the compacted past": {
			txn:     mvcc.Txn{Then: []mvcc.Op{write, mvcc.RangeOp{Options: mvcc.RangeOptions{Revision: 3}}}},
			wantErr: mvcc.ErrCompacted,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			db := history(t)
			require.NoError(t, db.Compact(4))
			_, err := db.Txn(tc.txn)
			require.ErrorIs(t, err, tc.wantErr)
			assert.EqualValues(t, 8, db.Revision(), "revision")
			kv, _, err := db.Get("new", 0)
			require.NoError(t, err)
			assert.Nil(t, kv, "key written before the operation that was refused")
		})
	}
}

func TestTxnMayDeleteAKeyTwiceOrPutItInBothBranches(t *testing.T) {
	db := history(t)
	result, err := db.Txn(mvcc.Txn{
		Then: []mvcc.Op{mvcc.DeleteOp{Span: mvcc.Single("a")}, mvcc.DeleteOp{Span: mvcc.Prefix("a")}, mvcc.PutOp{Key: "x"}},
		Else: []mvcc.Op{mvcc.PutOp{Key: "x"}, mvcc.PutOp{Key: "a"}},
	})
	require.NoError(t, err)
	assert.Len(t, result.Results[0].Prev, 1)
	assert.Empty(t, result.Results[1].Prev)
}
