package cluster

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A part that ends by itself is a failure of the cluster; the others go on.
func TestAPartThatEndsByItselfIsAFailure(t *testing.T) {
	t.Parallel()
	c := &Cluster{failed: make(chan struct{})}
	told, tell := context.WithCancel(t.Context())
	c.parts.Go(func() {
		c.supervise(told, runner{"patient", func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}})
	})
	require.NoError(t, c.Err())

	c.supervise(told, runner{"weary", func(context.Context) error { return nil }})
	<-c.Failed()
	require.EqualError(t, c.Err(), "running weary: ended by itself")

	c.supervise(told, runner{"broken", func(context.Context) error { return errors.New("no power") }})
	tell()
	c.parts.Wait()
	assert.EqualError(t, c.Err(), "running weary: ended by itself\nrunning broken: no power", "one that was told to end has not failed")
}
