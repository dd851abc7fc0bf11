package crds

import (
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Mapping returns the resource of a kind, in the first of the given versions that is served or, if none is, in the
// preferred one: an object may be stored in a version that is not served. It returns nil if the kind is not defined.
func (v *View) Mapping(kind schema.GroupKind, versions ...string) *meta.RESTMapping {
	for _, crd := range v.crds {
		if crd.Spec.Group != kind.Group || crd.Status.AcceptedNames.Kind != kind.Kind {
			continue
		}
		served := servedVersions(crd)
		if len(served) == 0 {
			continue
		}
		name := served[0]
		if at := slices.IndexFunc(versions, func(wanted string) bool { return slices.Contains(served, wanted) }); at >= 0 {
			name = versions[at]
		}
		scope := meta.RESTScopeRoot
		if crd.Spec.Scope == apiextensionsv1.NamespaceScoped {
			scope = meta.RESTScopeNamespace
		}
		version := schema.GroupVersion{Group: kind.Group, Version: name}
		return &meta.RESTMapping{
			Resource:         version.WithResource(crd.Status.AcceptedNames.Plural),
			GroupVersionKind: version.WithKind(kind.Kind),
			Scope:            scope,
		}
	}
	return nil
}

// Namespaced returns the resources in namespaces, each in the version that is preferred.
func (v *View) Namespaced() []schema.GroupVersionResource {
	var all []schema.GroupVersionResource
	for _, crd := range v.crds {
		served := servedVersions(crd)
		if crd.Spec.Scope != apiextensionsv1.NamespaceScoped || len(served) == 0 {
			continue
		}
		all = append(all, schema.GroupVersionResource{Group: crd.Spec.Group, Version: served[0], Resource: crd.Status.AcceptedNames.Plural})
	}
	return all
}
