package admission

import (
	"context"
	"fmt"

	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
)

// reader reads objects other than the one that a request is about, straight from their storages.
type reader struct {
	storages map[schema.GroupVersion]map[string]rest.Storage
}

// get returns the named object, or the error NotFound about it. namespace is empty for kinds outside namespaces.
func (r reader) get(ctx context.Context, resource schema.GroupVersionResource, namespace, name string) (runtime.Object, error) {
	storage, ok := r.storages[resource.GroupVersion()][resource.Resource].(rest.Getter)
	if !ok {
		return nil, fmt.Errorf("reading %s: not served", resource)
	}
	return storage.Get(asRequestFor(ctx, resource, namespace), name, &metav1.GetOptions{})
}

// list returns the objects in a namespace, or everywhere if it is empty.
func (r reader) list(ctx context.Context, resource schema.GroupVersionResource, namespace string) (runtime.Object, error) {
	storage, ok := r.storages[resource.GroupVersion()][resource.Resource].(rest.Lister)
	if !ok {
		return nil, fmt.Errorf("listing %s: not served", resource)
	}
	return storage.List(asRequestFor(ctx, resource, namespace), &metainternalversion.ListOptions{})
}

// asRequestFor returns ctx as it would be in a request for resource: storages take from it the namespace to look in, and
// what to call the objects in errors.
func asRequestFor(ctx context.Context, resource schema.GroupVersionResource, namespace string) context.Context {
	ctx = genericapirequest.WithNamespace(ctx, namespace)
	return genericapirequest.WithRequestInfo(ctx, &genericapirequest.RequestInfo{
		IsResourceRequest: true,
		APIGroup:          resource.Group,
		APIVersion:        resource.Version,
		Resource:          resource.Resource,
		Namespace:         namespace,
	})
}
