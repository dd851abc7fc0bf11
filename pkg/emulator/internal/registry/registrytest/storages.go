package registrytest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/etcd/client/v3/kubernetes"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/etcd3"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/apiserver/pkg/storage/value/encrypt/identity"
	"k8s.io/client-go/tools/cache"

	"github.com/musterkube/muster/pkg/emulator/internal/etcdmem"
	"github.com/musterkube/muster/pkg/emulator/internal/mvcc"
	"github.com/musterkube/muster/pkg/emulator/internal/registry"
	"github.com/musterkube/muster/pkg/emulator/internal/scheme"
	"github.com/musterkube/muster/pkg/features"
)

// Storages are the storages of the registry, by version and resource.
type Storages map[schema.GroupVersion]map[string]rest.Storage

// New returns storages over an empty store of their own, which ends with the test. They hold what every cluster has from
// the start.
func New(tb testing.TB, gates features.Gates) Storages {
	tb.Helper()
	db, err := mvcc.New(mvcc.Options{})
	require.NoError(tb, err)
	tb.Cleanup(db.Close)
	client := etcdmem.Client(tb.Context(), db)
	// The test's context has ended by then, of which Close speaks.
	tb.Cleanup(func() { _ = client.Close() })
	storages, err := registry.Storages(registry.Config{RESTOptionsGetter: getter{client, scheme.New()}, Gates: gates})
	require.NoError(tb, err)
	require.NoError(tb, registry.Bootstrap(tb.Context(), storages))
	return storages
}

// Context returns the context of a request of a version's resource in a namespace; empty is for those outside any.
func Context(tb testing.TB, resource schema.GroupVersionResource, namespace string) context.Context {
	tb.Helper()
	return genericapirequest.WithRequestInfo(genericapirequest.WithNamespace(tb.Context(), namespace), &genericapirequest.RequestInfo{
		IsResourceRequest: true,
		APIGroup:          resource.Group,
		APIVersion:        resource.Version,
		Resource:          resource.Resource,
		Namespace:         namespace,
	})
}

// getter is the least that a registry needs: Kubernetes' own storage over an etcd client.
type getter struct {
	client *kubernetes.Client
	scheme *scheme.Scheme
}

// GetRESTOptions implements generic.RESTOptionsGetter.
func (g getter) GetRESTOptions(resource schema.GroupResource, _ runtime.Object) (generic.RESTOptions, error) {
	config := storagebackend.Config{Codec: g.scheme.StorageCodec(g.scheme.StorageVersion(resource)), Prefix: "/registry"}
	return generic.RESTOptions{
		StorageConfig:           config.ForResource(resource),
		EnableGarbageCollection: true,
		DeleteCollectionWorkers: 1,
		ResourcePrefix:          "/" + resource.Group + "/" + resource.Resource,
		Decorator:               g.store,
	}, nil
}

func (g getter) store(config *storagebackend.ConfigForResource, prefix string, _ func(runtime.Object) (string, error), newFunc, newListFunc func() runtime.Object,
	_ storage.AttrFunc, _ storage.IndexerFuncs, _ *cache.Indexers) (storage.Interface, factory.DestroyFunc, error) {
	versioner := storage.APIObjectVersioner{}
	store, err := etcd3.New(g.client, nil, config.Codec, newFunc, newListFunc, config.Prefix, prefix, config.GroupResource,
		identity.NewEncryptCheckTransformer(), etcd3.NewDefaultLeaseManagerConfig(), etcd3.NewDefaultDecoder(config.Codec, versioner), versioner)
	return store, func() {}, err
}
