package crds

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"strings"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsserver "k8s.io/apiextensions-apiserver/pkg/apiserver"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apidiscovery "k8s.io/apiserver/pkg/endpoints/discovery"

	"github.com/musterkube/muster/pkg/emulator/internal/discovery"
)

var (
	verbs            = metav1.Verbs{"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"}
	terminatingVerbs = metav1.Verbs{"delete", "deletecollection", "get", "list", "watch"}
	subresourceVerbs = metav1.Verbs{"get", "patch", "update"}

	scaleKind = autoscalingv1.SchemeGroupVersion.WithKind("Scale")
)

// describe returns what discovery says of definitions: in the form of one document, and in that of a document a version.
func describe(crds []*apiextensionsv1.CustomResourceDefinition) ([]discovery.Group, map[schema.GroupVersion][]metav1.APIResource) {
	resources := map[schema.GroupVersion][]metav1.APIResource{}
	aggregated := map[schema.GroupVersion][]apidiscoveryv2.APIResourceDiscovery{}
	for _, crd := range crds {
		for _, name := range servedVersions(crd) {
			version := schema.GroupVersion{Group: crd.Spec.Group, Version: name}
			subresources, err := apihelpers.GetSubresourcesForVersion(crd, name)
			if err != nil || subresources == nil { // there is no such error of a version that is there
				subresources = &apiextensionsv1.CustomResourceSubresources{}
			}
			resources[version] = append(resources[version], plain(crd, subresources)...)
			aggregated[version] = append(aggregated[version], inOneDocument(crd, version, subresources))
		}
	}
	versions := slices.Collect(maps.Keys(resources))
	discovery.Sort(versions)
	var groups []discovery.Group
	for _, version := range versions {
		if last := len(groups) - 1; last < 0 || groups[last].Name != version.Group {
			groups = append(groups, discovery.Group{Name: version.Group})
		}
		group := &groups[len(groups)-1]
		list := aggregated[version]
		slices.SortFunc(list, func(a, b apidiscoveryv2.APIResourceDiscovery) int { return cmp.Compare(a.Resource, b.Resource) })
		group.Versions = append(group.Versions, apidiscoveryv2.APIVersionDiscovery{
			Version: version.Version, Freshness: apidiscoveryv2.DiscoveryFreshnessCurrent, Resources: list,
		})
	}
	return groups, resources
}

// verbsOf returns what can be done to the objects of a definition.
func verbsOf(crd *apiextensionsv1.CustomResourceDefinition) metav1.Verbs {
	if apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.Terminating) {
		return terminatingVerbs
	}
	return verbs
}

// plain returns the resources of a definition as the document of a version lists them.
func plain(crd *apiextensionsv1.CustomResourceDefinition, subresources *apiextensionsv1.CustomResourceSubresources) []metav1.APIResource {
	names := crd.Status.AcceptedNames
	namespaced := crd.Spec.Scope == apiextensionsv1.NamespaceScoped
	hash := ""
	if stored, err := apihelpers.GetCRDStorageVersion(crd); err == nil {
		hash = apidiscovery.StorageVersionHash(crd.Spec.Group, stored, crd.Spec.Names.Kind)
	}
	list := []metav1.APIResource{{
		Name: names.Plural, SingularName: names.Singular, Kind: names.Kind, ShortNames: names.ShortNames, Categories: names.Categories,
		Namespaced: namespaced, Verbs: verbsOf(crd), StorageVersionHash: hash,
	}}
	if subresources.Status != nil {
		list = append(list, metav1.APIResource{Name: names.Plural + "/status", Namespaced: namespaced, Kind: names.Kind, Verbs: subresourceVerbs})
	}
	if subresources.Scale != nil {
		list = append(list, metav1.APIResource{
			Group: scaleKind.Group, Version: scaleKind.Version, Kind: scaleKind.Kind,
			Name: names.Plural + "/scale", Namespaced: namespaced, Verbs: subresourceVerbs,
		})
	}
	return list
}

// inOneDocument returns the resource of a definition as the aggregated document has it.
func inOneDocument(crd *apiextensionsv1.CustomResourceDefinition, version schema.GroupVersion, subresources *apiextensionsv1.CustomResourceSubresources) apidiscoveryv2.APIResourceDiscovery {
	names := crd.Status.AcceptedNames
	kind := version.WithKind(names.Kind)
	described := apidiscoveryv2.APIResourceDiscovery{
		Resource: names.Plural, SingularResource: names.Singular, Scope: apidiscoveryv2.ScopeCluster, ResponseKind: kindOf(kind),
		Verbs: verbsOf(crd), ShortNames: names.ShortNames, Categories: names.Categories,
	}
	if crd.Spec.Scope == apiextensionsv1.NamespaceScoped {
		described.Scope = apidiscoveryv2.ScopeNamespace
	}
	if subresources.Status != nil {
		described.Subresources = append(described.Subresources, apidiscoveryv2.APISubresourceDiscovery{
			Subresource: "status", ResponseKind: kindOf(kind), Verbs: subresourceVerbs,
		})
	}
	if subresources.Scale != nil {
		described.Subresources = append(described.Subresources, apidiscoveryv2.APISubresourceDiscovery{
			Subresource: "scale", ResponseKind: kindOf(scaleKind), Verbs: subresourceVerbs,
		})
	}
	return described
}

func kindOf(kind schema.GroupVersionKind) *metav1.GroupVersionKind {
	return &metav1.GroupVersionKind{Group: kind.Group, Version: kind.Version, Kind: kind.Kind}
}

// serveDiscovery answers requests for the document of a group or of a version.
func (m *machinery) serveDiscovery(w http.ResponseWriter, r *http.Request) {
	view, err := m.view()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	path := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch len(path) {
	case 2: // apis, group
		for _, group := range view.Groups {
			if group.Name == path[1] {
				apidiscovery.NewAPIGroupHandler(apiextensionsserver.Codecs, group.Describe()).ServeHTTP(w, r)
				return
			}
		}
	case 3: // apis, group, version
		version := schema.GroupVersion{Group: path[1], Version: path[2]}
		if list, found := view.resources[version]; found {
			lister := apidiscovery.APIResourceListerFunc(func() []metav1.APIResource { return list })
			apidiscovery.NewAPIVersionHandler(apiextensionsserver.Codecs, version, lister).ServeHTTP(w, r)
			return
		}
	}
	http.NotFound(w, r)
}

// Paths returns the paths below /apis at which custom resources are served. It waits for nothing, and so has none of those
// that nobody has asked for yet.
func (s *Server) Paths() []string {
	m := s.started.Load()
	if m == nil {
		return nil
	}
	view, err := m.view()
	if err != nil {
		return nil
	}
	var paths []string
	for _, group := range view.Groups {
		paths = append(paths, "/apis/"+group.Name)
		for _, version := range group.Versions {
			paths = append(paths, "/apis/"+group.Name+"/"+version.Version)
		}
	}
	return paths
}
