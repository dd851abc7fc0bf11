package leader

import (
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// ErrLost is returned by [Run], wrapped, when this replica was the leader and is not any more: it could not renew the
// Lease in time, or somebody else holds it. Run may be called again then, to stand by for the next time, if what it leads
// may be run again, as the controllers beside this package may. A process can as well end and be started anew.
var ErrLost = errors.New("leadership lost")

// Run waits until this replica is the leader and then calls lead, whose context ends when the leadership does. It
// returns when ctx ends, when the leadership is lost (ErrLost), or when lead returns by itself, in each case only after
// lead has returned and with its error, of which context.Canceled counts as none when lead was told to end.
//
// What no election could mend is an error at once. An Options.Name or Options.Namespace that no Lease can have is a
// *field.Error each (k8s.io/apimachinery/pkg/util/validation/field), whose Field is "Options.Name" or
// "Options.Namespace"; errors.As finds the first of them. Where the namespace does not exist, the error says how to
// create it, and apierrors.IsNotFound is true of it. While the server cannot be reached, or forbids the Lease, Run
// keeps trying and logs why, as client-go's election does.
func Run(ctx context.Context, cfg *rest.Config, options Options, lead func(context.Context) error) error {
	options, err := options.withDefaults()
	switch {
	case err != nil:
		return err
	case cfg == nil:
		return fmt.Errorf("electing the leader of %s/%s: there is no rest.Config", options.Namespace, options.Name)
	case lead == nil:
		return fmt.Errorf("electing the leader of %s/%s: there is nothing for it to lead", options.Namespace, options.Name)
	}
	client, err := kubernetes.NewForConfig(rest.AddUserAgent(rest.CopyConfig(cfg), "leader-election"))
	if err != nil {
		return fmt.Errorf("electing the leader of %s/%s: making a client: %w", options.Namespace, options.Name, err)
	}
	t := term{elected: make(chan struct{}), hopeless: make(chan error, 1)}
	t.elector, err = leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Name: options.Name,
		Lock: &lock{hopeless: t.hopeless, LeaseLock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: options.Namespace, Name: options.Name},
			Client:     client.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: options.Identity},
		}},
		LeaseDuration: options.LeaseDuration, RenewDeadline: options.RenewDeadline, RetryPeriod: options.RetryPeriod,
		ReleaseOnCancel: true,
		Callbacks:       leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) { close(t.elected) }, OnStoppedLeading: func() {}},
	})
	if err != nil {
		return fmt.Errorf("electing the leader of %s/%s: %w", options.Namespace, options.Name, err)
	}
	if err := t.serve(ctx, lead); err != nil {
		return fmt.Errorf("leading %s/%s as %s: %w", options.Namespace, options.Name, options.Identity, err)
	}
	return nil
}
