package mvcc_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/musterkube/muster/pkg/emulator/internal/mvcc"
)

func TestSpanContains(t *testing.T) {
	tests := map[string]struct {
		span        mvcc.Span
		wantInside  []string
		wantOutside []string
	}{
		"a single key is alone": {
			span:        mvcc.Single("/a"),
			wantInside:  []string{"/a"},
			wantOutside: []string{"", "/", "/a\x00", "/aa", "/b"},
		},
		"a prefix holds what begins with it": {
			span:        mvcc.Prefix("/pods/"),
			wantInside:  []string{"/pods/", "/pods/a", "/pods/\xff\xff"},
			wantOutside: []string{"/pods", "/pods0", "/podsa/", "/pod"},
		},
		"a prefix that ends in 0xff goes on to the next key without it": {
			span:        mvcc.Prefix("a\xff"),
			wantInside:  []string{"a\xff", "a\xff\xff"},
			wantOutside: []string{"a\xfe", "b"},
		},
		"a prefix of nothing but 0xff has no end": {
			span:        mvcc.Prefix("\xff"),
			wantInside:  []string{"\xff", "\xff\xff"},
			wantOutside: []string{"\xfe", "a"},
		},
		"the empty prefix holds everything": {
			span:       mvcc.Prefix(""),
			wantInside: []string{"", "a", "\xff"},
		},
		"the zero span holds everything": {
			span:       mvcc.Span{},
			wantInside: []string{"", "a", "\xff"},
		},
		"a start without an end goes on for ever": {
			span:        mvcc.Span{Start: "b"},
			wantInside:  []string{"b", "c", "\xff"},
			wantOutside: []string{"", "a", "azzz"},
		},
		"an end before the start leaves nothing": {
			span:        mvcc.Span{Start: "b", End: "a"},
			wantOutside: []string{"a", "ab", "b", "c"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for _, key := range tc.wantInside {
				assert.True(t, tc.span.Contains(key), "contains %q", key)
			}
			for _, key := range tc.wantOutside {
				assert.False(t, tc.span.Contains(key), "contains %q", key)
			}
		})
	}
}
