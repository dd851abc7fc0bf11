package emulator

import (
	"context"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/utils/clock"

	"github.com/musterkube/muster/pkg/emulator/internal/sockets"
)

// catchUp is how long the watch cache of a kube-apiserver with etcd takes at least to hear of a write to another resource.
const catchUp = 4 * time.Millisecond

// freshness is when something was last written to a store, in nanoseconds of the real time.
type freshness struct{ written atomic.Int64 }

// wrote takes note of a write.
func (f *freshness) wrote() { f.written.Store(clock.RealClock{}.Now().UnixNano()) }

// wait holds up a consistent list (one without a resource version) for a client behind a socket until a watch cache would
// know that it is fresh.
//
// There are controllers that list what they have just written about, and count on what comes of it in the meantime. From
// a store in memory they would have their answer before anybody could do anything.
func (f *freshness) wait(ctx context.Context, options storage.ListOptions) {
	if options.ResourceVersion != "" || options.Predicate.Continue != "" {
		return
	}
	left := f.written.Load() + catchUp.Nanoseconds() - clock.RealClock{}.Now().UnixNano()
	sockets.Pause(ctx, min(time.Duration(left), catchUp)) // more is left only if the clock was put back
}

// Create implements storage.Interface.
func (w watchCacheLike) Create(ctx context.Context, key string, obj, out runtime.Object, ttl uint64) error {
	defer w.fresh.wrote()
	return w.Interface.Create(ctx, key, obj, out, ttl)
}

// Delete implements storage.Interface.
func (w watchCacheLike) Delete(ctx context.Context, key string, out runtime.Object, preconditions *storage.Preconditions,
	validate storage.ValidateObjectFunc, cached runtime.Object, options storage.DeleteOptions,
) error {
	defer w.fresh.wrote()
	return w.Interface.Delete(ctx, key, out, preconditions, validate, cached, options)
}

// GuaranteedUpdate implements storage.Interface.
func (w watchCacheLike) GuaranteedUpdate(ctx context.Context, key string, destination runtime.Object, ignoreNotFound bool,
	preconditions *storage.Preconditions, update storage.UpdateFunc, cached runtime.Object,
) error {
	defer w.fresh.wrote()
	return w.Interface.GuaranteedUpdate(ctx, key, destination, ignoreNotFound, preconditions, update, cached)
}
