package admissionregistration

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/storage"
)

// observe has changed called after each write to the store.
func observe(store *genericregistry.Store, changed func()) {
	store.Storage.Storage = observed{store.Storage.Storage, changed}
}

// observed is a storage that tells of writes. It tells of those that failed too: a write may fail in the answer alone.
type observed struct {
	storage.Interface
	changed func()
}

// Create implements storage.Interface.
func (o observed) Create(ctx context.Context, key string, obj, out runtime.Object, ttl uint64) error {
	defer o.changed()
	return o.Interface.Create(ctx, key, obj, out, ttl)
}

// Delete implements storage.Interface.
func (o observed) Delete(ctx context.Context, key string, out runtime.Object, preconditions *storage.Preconditions,
	validate storage.ValidateObjectFunc, cached runtime.Object, options storage.DeleteOptions) error {
	defer o.changed()
	return o.Interface.Delete(ctx, key, out, preconditions, validate, cached, options)
}

// GuaranteedUpdate implements storage.Interface.
func (o observed) GuaranteedUpdate(ctx context.Context, key string, destination runtime.Object, ignoreNotFound bool,
	preconditions *storage.Preconditions, update storage.UpdateFunc, cached runtime.Object) error {
	defer o.changed()
	return o.Interface.GuaranteedUpdate(ctx, key, destination, ignoreNotFound, preconditions, update, cached)
}
