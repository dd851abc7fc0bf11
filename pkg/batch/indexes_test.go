package batch_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/musterkube/muster/pkg/batch"
)

func TestParseIndexSet(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		text    string
		want    []int
		printed string
		wantErr string
	}{
		"nothing is the empty set":         {text: "", want: nil, printed: ""},
		"one index":                        {text: "3", want: []int{3}, printed: "3"},
		"single indexes and ranges":        {text: "0,2-4,7", want: []int{0, 2, 3, 4, 7}, printed: "0,2-4,7"},
		"neighbours are brought together":  {text: "0,1,2", want: []int{0, 1, 2}, printed: "0-2"},
		"a range of two is printed as two": {text: "0-1,5", want: []int{0, 1, 5}, printed: "0,1,5"},
		"touching ranges are one":          {text: "0-1,2-3", want: []int{0, 1, 2, 3}, printed: "0-3"},
		"not a number":                     {text: "1,x", wantErr: `cannot convert string to integer for index: "x"`},
		"not a number at the end of a range": {
			text: "1-y", wantErr: `cannot convert string to integer for index: "y"`,
		},
		"a negative number is a range without a start": {text: "-1", wantErr: `cannot convert string to integer for index: ""`},
		"too many parts": {
			text:    "1-2-3",
			wantErr: `the fragment "1-2-3" violates the requirement that an index interval can have at most two parts separated by '-'`,
		},
		"beyond the completions":          {text: "10", wantErr: `too large index: "10"`},
		"a range beyond the completions":  {text: "5-10", wantErr: `too large index: "10"`},
		"a range that does not ascend":    {text: "4-4", wantErr: "non-increasing order, previous: 4, current: 4"},
		"items that do not ascend":        {text: "4,2", wantErr: "non-increasing order, previous: 4, current: 2"},
		"items that overlap":              {text: "1-4,4", wantErr: "non-increasing order, previous: 4, current: 4"},
		"an empty item between the items": {text: "1,,2", wantErr: `cannot convert string to integer for index: ""`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set, err := batch.ParseIndexSet(tc.text, 10)
			if tc.wantErr != "" {
				require.EqualError(t, err, fmt.Sprintf("reading indexes %q: %s", tc.text, tc.wantErr))
				assert.Zero(t, set.Len())
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tc.want, slices.Collect(set.All()))
			assert.Equal(t, len(tc.want), set.Len())
			assert.Equal(t, tc.printed, set.String())
		})
	}
}

func TestReadIndexSetForgives(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		text string
		want string
	}{
		"indexes beyond the completions are dropped": {text: "0,8-12,20", want: "0,8,9"},
		"what cannot be read is passed over":         {text: "0,x,2-y,5-3,7", want: "0,7"},
		"order does not matter":                      {text: "7,0-3,2-5", want: "0-5,7"},
		"nothing is the empty set":                   {text: "", want: ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, batch.ReadIndexSet(tc.text, 10).String())
		})
	}
}

// TestIndexSetBehavesLikeASet compares it with a map under random additions.
func TestIndexSetBehavesLikeASet(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var set, other batch.IndexSet
		model, otherModel := map[int]bool{}, map[int]bool{}
		limit := 1 + random.IntN(60)
		for range random.IntN(80) {
			index := random.IntN(limit)
			require.Equal(t, !model[index], set.Add(index))
			model[index] = true
			index = random.IntN(limit)
			other.Add(index)
			otherModel[index] = true
		}
		requireSame(t, model, set, limit)
		common := 0
		united := map[int]bool{}
		for index := range limit {
			if model[index] && otherModel[index] {
				common++
			}
			if model[index] || otherModel[index] {
				united[index] = true
			}
		}
		requireSame(t, united, set.Union(other), limit)
		requireSame(t, united, other.Union(set), limit)
		requireSame(t, model, set, limit)
		assert.Equal(t, common, set.CountIn(other))
		for index := range model {
			if index >= limit/2 {
				delete(model, index)
			}
		}
		requireSame(t, model, set.Below(limit/2), limit)
	}
}

func requireSame(t *testing.T, want map[int]bool, set batch.IndexSet, limit int) {
	t.Helper()
	var in, out []int
	for index := range limit {
		require.Equal(t, want[index], set.Has(index), "%d in %s", index, set)
		if want[index] {
			in = append(in, index)
		} else {
			out = append(out, index)
		}
	}
	require.Equal(t, in, slices.Collect(set.All()))
	require.Equal(t, out, slices.Collect(set.Missing(limit)))
	require.Equal(t, len(in), set.Len())
	require.True(t, set.Equal(batch.IndexSetOf(in...)))
	read, err := batch.ParseIndexSet(set.String(), limit)
	require.NoError(t, err)
	require.True(t, read.Equal(set))
}

func TestIndexSetEdges(t *testing.T) {
	t.Parallel()
	var set batch.IndexSet
	assert.False(t, set.Add(-1), "negative indexes are not added")
	assert.False(t, set.Has(-1))
	assert.True(t, set.Add(4))
	copied := set.Clone()
	set.Add(5)
	assert.Equal(t, "4", copied.String(), "a clone stays as it was")
	assert.Equal(t, "1,3", batch.IndexSetOf(3, 1, -2, 3).String())
	for range set.All() {
		break // The sequence must stop when it is told to.
	}
	for range set.Missing(10) {
		break
	}
}

// FuzzParseIndexSet checks that whatever is accepted prints in a form that reads back as the same set.
func FuzzParseIndexSet(f *testing.F) {
	for _, text := range []string{"", "0", "0-5,7", "1,x", "5-1", "--", "0,1,2", "+1", "00"} {
		f.Add(text, 10)
	}
	f.Fuzz(func(t *testing.T, text string, completions int) {
		forgiven := batch.ReadIndexSet(text, completions)
		set, err := batch.ParseIndexSet(text, completions)
		if err != nil {
			require.Zero(t, set.Len())
			return
		}
		require.True(t, set.Equal(forgiven), "what is valid reads the same both ways: %q", text)
		again, err := batch.ParseIndexSet(set.String(), completions)
		require.NoError(t, err)
		require.True(t, set.Equal(again))
		require.LessOrEqual(t, strings.Count(set.String(), ",")/2, set.Len())
	})
}
