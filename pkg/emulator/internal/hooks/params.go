package hooks

import (
	"context"
	"fmt"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
)

// params reads the parameters of policies from the server itself, whatever their kind: custom resources are as good as
// others. It has the form of an informer, which is what the library asks for.
type params struct {
	ctx    context.Context //nolint:containedctx // the life of the server: the library's calls carry no context
	client dynamic.NamespaceableResourceInterface
}

var (
	_ informers.GenericInformer = params{}
	_ cache.GenericLister       = params{}
)

// Informer implements informers.GenericInformer.
func (params) Informer() cache.SharedIndexInformer { return still{} }

// Lister implements informers.GenericInformer.
func (p params) Lister() cache.GenericLister { return p }

// List implements cache.GenericLister.
func (p params) List(selector labels.Selector) ([]runtime.Object, error) {
	return listParams(p.ctx, p.client, selector)
}

// Get implements cache.GenericLister.
func (p params) Get(name string) (runtime.Object, error) {
	return getParam(p.ctx, p.client, name)
}

// ByNamespace implements cache.GenericLister.
func (p params) ByNamespace(namespace string) cache.GenericNamespaceLister {
	return namespacedParams{p.ctx, p.client.Namespace(namespace)}
}

type namespacedParams struct {
	ctx    context.Context //nolint:containedctx // as of params
	client dynamic.ResourceInterface
}

// List implements cache.GenericNamespaceLister.
func (p namespacedParams) List(selector labels.Selector) ([]runtime.Object, error) {
	return listParams(p.ctx, p.client, selector)
}

// Get implements cache.GenericNamespaceLister.
func (p namespacedParams) Get(name string) (runtime.Object, error) {
	return getParam(p.ctx, p.client, name)
}

func listParams(ctx context.Context, client dynamic.ResourceInterface, selector labels.Selector) ([]runtime.Object, error) {
	list, err := client.List(ctx, metav1.ListOptions{LabelSelector: selector.String()})
	if err != nil {
		return nil, err
	}
	all := make([]runtime.Object, 0, len(list.Items))
	for i := range list.Items {
		all = append(all, &list.Items[i])
	}
	return all, nil
}

func getParam(ctx context.Context, client dynamic.ResourceInterface, name string) (runtime.Object, error) {
	obj, err := client.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, err // not obj, which is a nil pointer and as an interface would be something
	}
	return obj, nil
}

// findParams returns where the parameters of a kind are, nothing for no kind.
func (h *Hooks) findParams(kind *admissionregistrationv1.ParamKind) (informers.GenericInformer, meta.RESTScope, error) {
	if kind == nil {
		return nil, nil, nil
	}
	connected, err := h.clients()
	if err != nil {
		return nil, nil, err
	}
	version, err := schema.ParseGroupVersion(kind.APIVersion)
	if err != nil {
		return nil, nil, fmt.Errorf("failed to parse paramKind APIVersion: %w", err)
	}
	served, err := connected.kubernetes.Discovery().ServerResourcesForGroupVersion(kind.APIVersion)
	if err == nil {
		for _, resource := range served.APIResources {
			if resource.Kind != kind.Kind || strings.Contains(resource.Name, "/") {
				continue
			}
			scope := meta.RESTScopeRoot
			if resource.Namespaced {
				scope = meta.RESTScopeNamespace
			}
			return params{h.life, connected.dynamic.Resource(version.WithResource(resource.Name))}, scope, nil
		}
	}
	return nil, nil, fmt.Errorf("failed to find resource referenced by paramKind: '%v'", version.WithKind(kind.Kind))
}
