package pod

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/storage"

	"github.com/musterkube/muster/pkg/emulator/internal/sockets"
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
	sockets.Pause(ctx, pause)
	return p.Interface.Delete(ctx, key, out, preconditions, validate, cached, options)
}
