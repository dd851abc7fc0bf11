package emulator

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/utils/clock"
)

func TestConsistentListsBehindASocketWaitForTheCache(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		behindSocket := context.WithValue(t.Context(), http.ServerContextKey, &http.Server{})
		gone, cancel := context.WithCancel(behindSocket)
		cancel()
		continued := storage.ListOptions{Predicate: storage.SelectionPredicate{Continue: "x"}}
		for name, tc := range map[string]struct {
			ctx   context.Context //nolint:containedctx // what differs between the cases
			since time.Duration
			list  storage.ListOptions
			want  time.Duration
		}{
			"right after a write":            {ctx: behindSocket, want: catchUp},
			"a little later":                 {ctx: behindSocket, since: time.Millisecond, want: catchUp - time.Millisecond},
			"long after it":                  {ctx: behindSocket, since: time.Second},
			"of any version":                 {ctx: behindSocket, list: storage.ListOptions{ResourceVersion: "0"}},
			"the next page":                  {ctx: behindSocket, list: continued},
			"in the process":                 {ctx: t.Context()},
			"for a client that did not wait": {ctx: gone},
		} {
			f := &freshness{}
			f.wait(tc.ctx, tc.list) // nothing was written
			f.wrote()
			clock.RealClock{}.Sleep(tc.since)
			asked := clock.RealClock{}.Now()
			f.wait(tc.ctx, tc.list)
			assert.Equal(t, tc.want, clock.RealClock{}.Since(asked), name)
		}
	})
}
