package pod

import (
	"context"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/utils/clock"
)

// pause is for how long a pod that has no time to end stays between the write that says that it is being deleted and the
// one that removes it. It is what the two take on a kube-apiserver with etcd, rounded down.
const pause = time.Millisecond

// showDeletions lets clients behind a socket see of each pod that is being deleted that it is, before it is gone.
//
// A pod without a node is deleted at once, in two writes. From a store in memory both come to a watcher as one, and what a
// controller has in its cache is never a pod that is being deleted; from etcd they are apart, and there are controllers
// that act on what is seen in between. Clients in the process, whose time may be virtual, are not kept waiting.
func showDeletions(store *genericregistry.Store) {
	store.Storage.Storage = paused{store.Storage.Storage}
}

type paused struct{ storage.Interface }

// Delete implements storage.Interface.
func (p paused) Delete(ctx context.Context, key string, out runtime.Object, preconditions *storage.Preconditions,
	validate storage.ValidateObjectFunc, cached runtime.Object, options storage.DeleteOptions,
) error {
	if ctx.Value(http.ServerContextKey) != nil {
		timer := clock.RealClock{}.NewTimer(pause) // whatever the clock of the server: clients behind a socket are not on it
		defer timer.Stop()
		select {
		case <-timer.C():
		case <-ctx.Done(): // the storage says so
		}
	}
	return p.Interface.Delete(ctx, key, out, preconditions, validate, cached, options)
}
