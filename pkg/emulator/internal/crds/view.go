package crds

import (
	"cmp"
	"context"
	"slices"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"

	"github.com/musterkube/muster/pkg/emulator/internal/discovery"
	"github.com/musterkube/muster/pkg/emulator/internal/openapi"
)

// View is what is served at one moment. It does not change: there is another one after each change, so that those who
// make something of a view need not do it again while they get the same one.
type View struct {
	// Groups are the groups with their versions and resources, for discovery.
	Groups []discovery.Group
	// Documents are the OpenAPI documents.
	Documents *openapi.Documents

	crds      []*apiextensionsv1.CustomResourceDefinition
	resources map[schema.GroupVersion][]metav1.APIResource
}

// views has the latest view.
type views struct {
	mu     sync.Mutex
	as     int64 // of which number of changes
	latest *View
	// documents are those of the definitions in the latest view, which the next one takes over.
	documents documents
}

// View returns what is served now, nil if there are no definitions.
func (s *Server) View(ctx context.Context) (*View, error) {
	m, err := s.machinery(ctx)
	if m == nil || err != nil {
		return nil, err
	}
	return m.view()
}

// view returns the latest view.
func (m *machinery) view() (*View, error) {
	m.views.mu.Lock()
	defer m.views.mu.Unlock()
	// What changes from here on makes another view necessary, if it is in this one already or not.
	changes := m.changes.Load()
	if m.views.latest != nil && m.views.as == changes {
		return m.views.latest, nil
	}
	all, err := m.lister.List(labels.Everything())
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(slices.Clone(all), func(crd *apiextensionsv1.CustomResourceDefinition) bool { return !isServed(crd) })
	slices.SortFunc(all, func(a, b *apiextensionsv1.CustomResourceDefinition) int { return cmp.Compare(a.Name, b.Name) })
	view := &View{crds: all}
	view.Groups, view.resources = describe(all)
	m.views.documents = m.views.documents.of(all)
	view.Documents = m.views.documents.merge(all)
	m.views.latest, m.views.as = view, changes
	return view, nil
}

// servedVersions returns the names of the versions in which a definition is served, the preferred one first.
func servedVersions(crd *apiextensionsv1.CustomResourceDefinition) []string {
	var names []string
	for _, v := range crd.Spec.Versions {
		if v.Served {
			names = append(names, v.Name)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return version.CompareKubeAwareVersionStrings(b, a) })
	return names
}
