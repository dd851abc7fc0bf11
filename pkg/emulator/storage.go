package emulator

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"go.etcd.io/etcd/client/v3/kubernetes"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/etcd3"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/apiserver/pkg/storage/value/encrypt/identity"
	"k8s.io/client-go/tools/cache"

	"github.com/musterkube/muster/pkg/emulator/internal/crds"
	"github.com/musterkube/muster/pkg/emulator/internal/scheme"
)

const (
	// healthKey is what is read to find out whether the store answers; there need not be such a key.
	healthKey = "/health"
	// healthTimeout is how long that may take.
	healthTimeout = 2 * time.Second
)

// unusualKeys are the resources whose keys do not begin with their name.
var unusualKeys = map[string]string{
	"endpoints":              "services/endpoints",
	"nodes":                  "minions",
	"replicationcontrollers": "controllers",
	"services":               "services/specs",
}

// restOptions tells the registry how to store a resource: with the storage of a kube-apiserver, under the same keys and
// in the same encoding, over client.
type restOptions struct {
	client *kubernetes.Client
	prefix string
	scheme *scheme.Scheme
	fresh  *freshness
}

var _ generic.RESTOptionsGetter = restOptions{}

// GetRESTOptions implements generic.RESTOptionsGetter.
func (o restOptions) GetRESTOptions(resource schema.GroupResource, _ runtime.Object) (generic.RESTOptions, error) {
	version := o.scheme.StorageVersion(resource)
	config := storagebackend.Config{
		Prefix:          o.prefix,
		Codec:           o.scheme.StorageCodec(version),
		EncodeVersioner: version,
	}
	key := resource.Resource
	if unusual, ok := unusualKeys[key]; ok && resource.Group == "" {
		key = unusual
	}
	return generic.RESTOptions{
		StorageConfig:           config.ForResource(resource),
		Decorator:               o.store,
		EnableGarbageCollection: true,
		DeleteCollectionWorkers: 1,
		ResourcePrefix:          "/" + key,
	}, nil
}

// definitionOptions tells how to store custom resource definitions.
type definitionOptions struct{ restOptions }

// GetRESTOptions implements generic.RESTOptionsGetter.
func (o definitionOptions) GetRESTOptions(resource schema.GroupResource, _ runtime.Object) (generic.RESTOptions, error) {
	codec, version := crds.StorageCodec()
	return o.below(resource, codec, version), nil
}

// customOptions tells how to store custom resources. The library converts them and checks their schema on the way.
type customOptions struct{ restOptions }

// GetRESTOptions implements generic.RESTOptionsGetter.
func (o customOptions) GetRESTOptions(resource schema.GroupResource, _ runtime.Object) (generic.RESTOptions, error) {
	return o.below(resource, unstructured.UnstructuredJSONScheme, nil), nil
}

// below stores a resource below the name of its group, as a kube-apiserver does with all that has to do with custom
// resources.
func (o restOptions) below(resource schema.GroupResource, codec runtime.Codec, version runtime.GroupVersioner) generic.RESTOptions {
	config := storagebackend.Config{Prefix: o.prefix, Codec: codec, EncodeVersioner: version}
	return generic.RESTOptions{
		StorageConfig:           config.ForResource(resource),
		Decorator:               o.store,
		EnableGarbageCollection: true,
		DeleteCollectionWorkers: 1,
		ResourcePrefix:          "/" + resource.Group + "/" + resource.Resource,
	}
}

// hasDefinitions tells whether any custom resource definition is stored.
func (o restOptions) hasDefinitions(ctx context.Context) (bool, error) {
	prefix := o.prefix + "/" + crds.Resource.Group + "/" + crds.Resource.Resource + "/"
	count, err := o.client.Kubernetes.Count(ctx, prefix, kubernetes.CountOptions{})
	if err != nil {
		return false, fmt.Errorf("counting custom resource definitions: %w", err)
	}
	return count > 0, nil
}

// namespaceRevision returns the revision at which a namespace was last written, 0 if there is none.
func (o restOptions) namespaceRevision(ctx context.Context, name string) (int64, error) {
	response, err := o.client.Kubernetes.Get(ctx, o.prefix+"/namespaces/"+name, kubernetes.GetOptions{})
	if err != nil {
		return 0, fmt.Errorf("reading the revision of namespace %s: %w", name, err)
	}
	return response.KV.GetModRevision(), nil
}

// store makes the storage of one resource. There is no watch cache in front of it: it would cost a dozen goroutines a
// resource and a tenth of a second for each consistent read of one where nothing happens.
func (o restOptions) store(config *storagebackend.ConfigForResource, resourcePrefix string, _ func(runtime.Object) (string, error),
	newFunc, newListFunc func() runtime.Object, _ storage.AttrFunc, _ storage.IndexerFuncs, _ *cache.Indexers,
) (storage.Interface, factory.DestroyFunc, error) {
	versioner := storage.APIObjectVersioner{}
	store, err := etcd3.New(o.client, nil, config.Codec, newFunc, newListFunc, config.Prefix, resourcePrefix, config.GroupResource,
		identity.NewEncryptCheckTransformer(), etcd3.NewDefaultLeaseManagerConfig(), etcd3.NewDefaultDecoder(config.Codec, versioner), versioner)
	if err != nil {
		return nil, nil, fmt.Errorf("making the storage of %s: %w", config.GroupResource, err)
	}
	if config.GroupResource.Resource == "events" && config.GroupResource.Group == "" {
		return bookmarked{store}, store.Close, nil // a kube-apiserver has no watch cache for them
	}
	return watchCacheLike{bookmarked{store}, o.fresh}, store.Close, nil
}

// healthy tells whether the store answers.
func (o restOptions) healthy(r *http.Request) error {
	ctx, cancel := context.WithTimeout(r.Context(), healthTimeout)
	defer cancel()
	if _, err := o.client.Kubernetes.Get(ctx, o.prefix+healthKey, kubernetes.GetOptions{}); err != nil {
		return fmt.Errorf("reading from the store: %w", err)
	}
	return nil
}
