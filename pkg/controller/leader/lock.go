package leader

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// lock is a Lease that notices when no election can succeed. It asks for nothing more than an election does, so that a
// replica needs no rights to namespaces.
type lock struct {
	*resourcelock.LeaseLock
	hopeless chan<- error // takes the first reason
}

// Create makes the Lease. The election would try again for ever where there is no namespace for it.
func (l *lock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	err := l.LeaseLock.Create(ctx, record)
	if namespaceMissing(err) {
		select {
		case l.hopeless <- fmt.Errorf("the namespace %[1]s does not exist; kubectl create namespace %[1]s makes it: %[2]w", l.LeaseMeta.Namespace, err):
		default:
		}
	}
	return err
}

// namespaceMissing tells the answer to a request in a namespace that does not exist from that of a server without Leases.
func namespaceMissing(err error) bool {
	var status apierrors.APIStatus
	if !apierrors.IsNotFound(err) || !errors.As(err, &status) {
		return false
	}
	details := status.Status().Details
	return details != nil && details.Kind == "namespaces"
}
