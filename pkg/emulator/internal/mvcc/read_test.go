package mvcc_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/musterkube/muster/pkg/emulator/internal/mvcc"
)

// history fills a store: a, b and c at 2, 3 and 4, a again at 5, b gone at 6, b back at 7, d at 8.
func history(t *testing.T) *mvcc.DB {
	t.Helper()
	db := newDB(t, mvcc.Options{})
	put(t, db, "a=1", "b=1", "c=1", "a=2")
	remove(t, db, "b")
	require.EqualValues(t, 8, put(t, db, "b=2", "d=1"))
	return db
}

func TestGet(t *testing.T) {
	db := history(t)
	tests := map[string]struct {
		key      string
		revision int64
		want     string
		wantErr  error
	}{
		"the present version":                    {key: "a", want: "a=2@5(2,2)"},
		"a negative revision is the present":     {key: "a", revision: -1, want: "a=2@5(2,2)"},
		"an earlier version":                     {key: "a", revision: 4, want: "a=1@2(2,1)"},
		"the revision of the write itself":       {key: "a", revision: 5, want: "a=2@5(2,2)"},
		"before the key existed":                 {key: "d", revision: 7, want: "-"},
		"while the key was gone":                 {key: "b", revision: 6, want: "-"},
		"a key that came back counts from one":   {key: "b", want: "b=2@7(7,1)"},
		"a key that never was":                   {key: "x", want: "-"},
		"a key between two others":               {key: "aa", want: "-"},
		"a revision that has not come":           {key: "a", revision: 9, want: "-", wantErr: mvcc.ErrFutureRevision},
		"a future revision of a key that is not": {key: "x", revision: 9, want: "-", wantErr: mvcc.ErrFutureRevision},
		"the first revision, before any write":   {key: "a", revision: 1, want: "-"},
		"no key":                                 {key: "", want: "-", wantErr: mvcc.ErrEmptyKey},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			kv, now, err := db.Get(tc.key, tc.revision)
			require.ErrorIs(t, err, tc.wantErr)
			assert.Equal(t, tc.want, show(kv))
			if tc.key != "" {
				assert.EqualValues(t, 8, now, "present revision")
			}
		})
	}
}

func TestRange(t *testing.T) {
	db := history(t)
	tests := map[string]struct {
		span    mvcc.Span
		opts    mvcc.RangeOptions
		want    []string
		count   int64
		more    bool
		wantErr error
	}{
		"everything": {
			want: []string{"a=2@5(2,2)", "b=2@7(7,1)", "c=1@4(4,1)", "d=1@8(8,1)"}, count: 4,
		},
		"a part": {
			span: mvcc.Span{Start: "b", End: "d"}, want: []string{"b=2@7(7,1)", "c=1@4(4,1)"}, count: 2,
		},
		"one key":   {span: mvcc.Single("b"), want: []string{"b=2@7(7,1)"}, count: 1},
		"nothing":   {span: mvcc.Prefix("x"), want: []string{}},
		"backwards": {span: mvcc.Span{Start: "d", End: "b"}, want: []string{}},
		"an earlier revision": {
			opts: mvcc.RangeOptions{Revision: 6}, want: []string{"a=2@5(2,2)", "c=1@4(4,1)"}, count: 2,
		},
		"the first revision": {opts: mvcc.RangeOptions{Revision: 1}, want: []string{}},
		"a limit counts what it leaves out": {
			opts: mvcc.RangeOptions{Limit: 3}, want: []string{"a=2@5(2,2)", "b=2@7(7,1)", "c=1@4(4,1)"}, count: 4, more: true,
		},
		"a limit that is just enough": {
			opts: mvcc.RangeOptions{Limit: 2, Revision: 6}, want: []string{"a=2@5(2,2)", "c=1@4(4,1)"}, count: 2,
		},
		"keys only": {
			opts: mvcc.RangeOptions{KeysOnly: true, Limit: 1}, want: []string{"a=@5(2,2)"}, count: 4, more: true,
		},
		"count only": {opts: mvcc.RangeOptions{CountOnly: true}, want: []string{}, count: 4},
		"count only with a limit": {
			opts: mvcc.RangeOptions{CountOnly: true, Limit: 1}, want: []string{}, count: 4,
		},
		"a revision that has not come": {opts: mvcc.RangeOptions{Revision: 9}, want: []string{}, wantErr: mvcc.ErrFutureRevision},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			result, err := db.Range(tc.span, tc.opts)
			require.ErrorIs(t, err, tc.wantErr)
			assert.Empty(t, cmp.Diff(tc.want, showAll(result.KVs)), "(-want +got)")
			assert.Equal(t, tc.count, result.Count, "count")
			assert.Equal(t, tc.more, result.More, "more")
			assert.EqualValues(t, 8, result.Revision, "present revision")
		})
	}
}

func TestReadsShareTheValueThatWasPut(t *testing.T) {
	db := newDB(t, mvcc.Options{})
	value := []byte("value")
	_, err := db.Put("a", value, 0)
	require.NoError(t, err)
	kv, _, err := db.Get("a", 0)
	require.NoError(t, err)
	assert.Same(t, &value[0], &kv.Value[0])
	result, err := db.Range(mvcc.Span{}, mvcc.RangeOptions{})
	require.NoError(t, err)
	assert.Same(t, kv, result.KVs[0])
	// Keys only must not take the value away from the others.
	_, err = db.Range(mvcc.Span{}, mvcc.RangeOptions{KeysOnly: true})
	require.NoError(t, err)
	assert.Equal(t, "value", string(kv.Value))
}

func TestAScanIsOfOneRevisionWhateverIsWrittenMeanwhile(t *testing.T) {
	db := newDB(t, mvcc.Options{KeepEvents: -1})
	put(t, db, "a=1", "b=1")
	before, err := db.Range(mvcc.Span{}, mvcc.RangeOptions{})
	require.NoError(t, err)
	put(t, db, "a=2", "c=1")
	remove(t, db, "b")
	require.NoError(t, db.Compact(db.Revision()))
	assert.Equal(t, []string{"a=1@2(2,1)", "b=1@3(3,1)"}, showAll(before.KVs))
	after, err := db.Range(mvcc.Span{}, mvcc.RangeOptions{})
	require.NoError(t, err)
	assert.Equal(t, []string{"a=2@4(2,2)", "c=1@5(5,1)"}, showAll(after.KVs))
}
