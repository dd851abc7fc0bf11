package hooks

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	corelisters "k8s.io/client-go/listers/core/v1"
)

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

var namespaces = corev1.SchemeGroupVersion.WithResource("namespaces")

// namespaceLister reads namespaces, for their selectors and for expressions that use them. Its methods take no context:
// ctx is the life of the server.
type namespaceLister struct {
	ctx      context.Context //nolint:containedctx // as above
	storages map[schema.GroupVersion]map[string]rest.Storage
}

var _ corelisters.NamespaceLister = namespaceLister{}

// Get implements corelisters.NamespaceLister.
func (l namespaceLister) Get(name string) (*corev1.Namespace, error) {
	getter, ok := l.storages[namespaces.GroupVersion()][namespaces.Resource].(rest.Getter)
	if !ok || name == "" {
		return nil, apierrors.NewNotFound(namespaces.GroupResource(), name)
	}
	obj, err := getter.Get(asRequestFor(l.ctx, namespaces, ""), name, &metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	return obj.(*corev1.Namespace), nil
}

// List implements corelisters.NamespaceLister.
func (l namespaceLister) List(selector labels.Selector) ([]*corev1.Namespace, error) {
	lister, ok := l.storages[namespaces.GroupVersion()][namespaces.Resource].(rest.Lister)
	if !ok {
		return nil, nil
	}
	obj, err := lister.List(asRequestFor(l.ctx, namespaces, ""), &metainternalversion.ListOptions{LabelSelector: selector})
	if err != nil {
		return nil, err
	}
	list := obj.(*corev1.NamespaceList)
	all := make([]*corev1.Namespace, 0, len(list.Items))
	for i := range list.Items {
		all = append(all, &list.Items[i])
	}
	return all, nil
}
