package cluster_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"

	"github.com/musterkube/muster/pkg/cluster"
	"github.com/musterkube/muster/pkg/controller/job"
	"github.com/musterkube/muster/pkg/controller/nodelifecycle"
	"github.com/musterkube/muster/pkg/controller/podgc"
	"github.com/musterkube/muster/pkg/controller/podgroupprotection"
	"github.com/musterkube/muster/pkg/controller/ttl"
	"github.com/musterkube/muster/pkg/kubelet"
	"github.com/musterkube/muster/pkg/scheduler"
)

type runnable interface {
	Run(ctx context.Context) error
}

// Two at a time would do everything twice. Controllers may run again afterwards; the kubelet and the scheduler remember
// too much for that.
func TestNothingRunsTwiceAtATime(t *testing.T) {
	const busy, begun = "it runs already, and not twice at a time", "it runs already or has run: make another one with New"
	for name, tc := range map[string]struct {
		build   func(cfg *rest.Config) (runnable, error)
		wantErr string
		once    bool
	}{
		"job":            {func(cfg *rest.Config) (runnable, error) { return job.New(cfg, job.Options{}) }, busy, false},
		"podgc":          {func(cfg *rest.Config) (runnable, error) { return podgc.New(cfg, podgc.Options{}) }, busy, false},
		"ttl":            {func(cfg *rest.Config) (runnable, error) { return ttl.New(cfg, ttl.Options{}) }, busy, false},
		"node lifecycle": {func(cfg *rest.Config) (runnable, error) { return nodelifecycle.New(cfg, nodelifecycle.Options{}) }, busy, false},
		"podgroup protection": {func(cfg *rest.Config) (runnable, error) {
			return podgroupprotection.New(cfg, podgroupprotection.Options{})
		}, busy, false},
		"scheduler": {func(cfg *rest.Config) (runnable, error) { return scheduler.New(cfg, scheduler.Options{}) }, begun, true},
		"kubelet":   {func(cfg *rest.Config) (runnable, error) { return kubelet.New(cfg, kubelet.Options{}) }, begun, true},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				c := start(t, cluster.Options{Controllers: []string{}})
				part, err := tc.build(c.Config())
				require.NoError(t, err)
				run := func() (end func() error) {
					ctx, cancel := context.WithCancel(quiet(t.Context()))
					ended := make(chan error, 1)
					go func() { ended <- part.Run(ctx) }()
					synctest.Wait()
					return func() error {
						cancel()
						return <-ended
					}
				}
				end := run()
				require.ErrorContains(t, part.Run(quiet(t.Context())), tc.wantErr)
				require.NoError(t, end())
				if tc.once {
					require.ErrorContains(t, part.Run(quiet(t.Context())), tc.wantErr)
					return
				}
				end = run()
				require.ErrorContains(t, part.Run(quiet(t.Context())), tc.wantErr)
				require.NoError(t, end(), "one that has ended may run again")
			})
		})
	}
}
