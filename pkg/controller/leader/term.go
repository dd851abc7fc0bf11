package leader

import (
	"context"
	"errors"

	"k8s.io/client-go/tools/leaderelection"
)

// term is one candidacy: the time of waiting, and that of leading after it.
type term struct {
	elector  *leaderelection.LeaderElector
	elected  chan struct{} // closed when this replica has become the leader
	hopeless chan error    // has the reason why nobody can be elected, if there is one
}

// serve runs lead while this replica is the leader. The election's own context outlives that of lead, because the end
// of the former gives the Lease up.
func (t *term) serve(ctx context.Context, lead func(context.Context) error) error {
	electing, resign := context.WithCancel(context.WithoutCancel(ctx))
	defer resign()
	over := make(chan struct{}) // closed when the election is over: the leadership was lost or given up
	go func() {
		defer close(over)
		t.elector.Run(electing)
	}()
	resigned := func() {
		resign()
		<-over
	}

	select {
	case <-t.elected:
	case <-over:
		return ErrLost
	case err := <-t.hopeless:
		resigned()
		return err
	case <-ctx.Done():
		resigned()
		return nil
	}

	leading, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- lead(leading) }()
	select {
	case err := <-ended:
		resigned()
		return err
	case <-over:
		stop()
		return errors.Join(ErrLost, unlessTold(<-ended))
	case <-ctx.Done():
		err := unlessTold(<-ended)
		resigned()
		return err
	}
}

// unlessTold returns the error of a controller that was told to end, unless it says no more than that.
func unlessTold(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}
