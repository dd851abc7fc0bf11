package emulator

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/storage"
)

// retrySeconds is when a kube-apiserver tells clients to try again that are ahead of it.
const retrySeconds = 1

// bookmarked adds bookmarks to a storage without a watch cache.
type bookmarked struct {
	storage.Interface
}

// Watch sends bookmarks on watches that allow them (allowWatchBookmarks): events that carry nothing but a resource
// version, so that a client that watches something quiet does not fall behind what the server still remembers. They are
// the progress notifications of etcd, which come in order with the events, about once a minute. The bookmark that ends
// the initial events of a watch list is the storage's own.
func (b bookmarked) Watch(ctx context.Context, key string, options storage.ListOptions) (watch.Interface, error) {
	options.ProgressNotify = options.Predicate.AllowWatchBookmarks
	return b.Interface.Watch(ctx, key, options)
}

// watchCacheLike adds to a storage without a watch cache what else a client sees of one.
type watchCacheLike struct {
	bookmarked
	fresh *freshness
}

var _ storage.Interface = watchCacheLike{}

// Get says when to try again if the resource version asked for is yet to come. A resource version that is none is an
// error without a reason, which makes it an internal one.
func (w watchCacheLike) Get(ctx context.Context, key string, options storage.GetOptions, into runtime.Object) error {
	if _, err := w.Versioner().ParseResourceVersion(options.ResourceVersion); err != nil {
		return err
	}
	return tryAgain(w.Interface.Get(ctx, key, options, into))
}

// GetList says when to try again if the resource version asked for is yet to come. There are no pages of any version
// (resourceVersion=0): the limit is not looked at.
func (w watchCacheLike) GetList(ctx context.Context, key string, options storage.ListOptions, into runtime.Object) error {
	if options.ResourceVersion == "0" && options.Predicate.Continue == "" {
		options.Predicate.Limit = 0
	}
	w.fresh.wait(ctx, options)
	return tryAgain(w.Interface.GetList(ctx, key, options, into))
}

func tryAgain(err error) error {
	if !storage.IsTooLargeResourceVersion(err) {
		return err
	}
	status, ok := errors.AsType[*apierrors.StatusError](err)
	if !ok || status.ErrStatus.Details == nil {
		return err
	}
	status = &apierrors.StatusError{ErrStatus: *status.ErrStatus.DeepCopy()}
	status.ErrStatus.Details.RetryAfterSeconds = retrySeconds
	return status
}
