package discovery

import (
	"cmp"
	"crypto/sha512"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apiserver/pkg/endpoints/discovery/aggregated"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
)

// Group is one API group with its versions, the preferred one first.
type Group struct {
	Name     string
	Versions []apidiscoveryv2.APIVersionDiscovery
}

// Describe returns the description of the group in the list of groups and in its own document.
func (g Group) Describe() metav1.APIGroup {
	described := metav1.APIGroup{Name: g.Name}
	for _, version := range g.Versions {
		described.Versions = append(described.Versions, metav1.GroupVersionForDiscovery{
			GroupVersion: strings.TrimPrefix(g.Name+"/"+version.Version, "/"),
			Version:      version.Version,
		})
	}
	described.PreferredVersion = described.Versions[0]
	return described
}

// Handler serves one document.
type Handler struct {
	groups     []Group
	more       func(*http.Request) ([]Group, error)
	serializer runtime.NegotiatedSerializer

	mu      sync.Mutex
	current *document
}

// document is a state of the document. It does not change.
type document struct {
	more []Group // what it has of groups that come and go
	list apidiscoveryv2.APIGroupDiscoveryList
	etag string
}

// New returns a handler for the document that lists groups, in their order. It answers requests that ask for
// apidiscovery.k8s.io/v2; others have to be sent elsewhere, as
// [k8s.io/apiserver/pkg/endpoints/discovery/aggregated.WrapAggregatedDiscoveryToHandler] does.
//
// More, if it is not nil, is asked with each request for groups that come and go. As long as they are the same it has to
// return the same slice. They follow the others, in their order; a group that is there already is left out.
func New(groups []Group, more func(*http.Request) ([]Group, error)) (*Handler, error) {
	h := &Handler{groups: groups, more: more, serializer: newSerializer()}
	if _, err := h.documentOf(nil); err != nil {
		return nil, err
	}
	return h, nil
}

// Groups returns all groups that there are at the time of a request.
func (h *Handler) Groups(r *http.Request) ([]Group, error) {
	more, err := h.ask(r)
	if err != nil {
		return nil, err
	}
	return h.merge(more), nil
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	more, err := h.ask(r)
	if err != nil {
		responsewriters.InternalError(w, r, err)
		return
	}
	d, err := h.documentOf(more)
	if err != nil {
		responsewriters.InternalError(w, r, err)
		return
	}
	list := d.list // encoding sets the kind and version of what it is given
	aggregated.ServeHTTPWithETag(&list, d.etag, apidiscoveryv2.SchemeGroupVersion, h.serializer, w, r)
}

func (h *Handler) ask(r *http.Request) ([]Group, error) {
	if h.more == nil {
		return nil, nil
	}
	return h.more(r)
}

// merge puts groups that come and go among the others.
func (h *Handler) merge(more []Group) []Group {
	if len(more) == 0 {
		return h.groups
	}
	all := slices.Clone(h.groups)
	for _, group := range more {
		if !slices.ContainsFunc(h.groups, func(known Group) bool { return known.Name == group.Name }) {
			all = append(all, group)
		}
	}
	slices.SortStableFunc(all, func(a, b Group) int {
		return cmp.Or(cmp.Compare(priority(b.Name), priority(a.Name)), cmp.Compare(a.Name, b.Name))
	})
	return all
}

// documentOf returns the document with these groups among the others, the last one if they are the same.
func (h *Handler) documentOf(more []Group) (*document, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.current != nil && len(h.current.more) == len(more) && (len(more) == 0 || &h.current.more[0] == &more[0]) {
		return h.current, nil
	}
	d := &document{more: more}
	for _, group := range h.merge(more) {
		d.list.Items = append(d.list.Items, apidiscoveryv2.APIGroupDiscovery{
			ObjectMeta: metav1.ObjectMeta{Name: group.Name},
			Versions:   group.Versions,
		})
	}
	content, err := json.Marshal(d.list)
	if err != nil {
		return nil, fmt.Errorf("hashing the discovery document: %w", err)
	}
	d.etag = fmt.Sprintf("%X", sha512.Sum512(content))
	h.current = d
	return d, nil
}

func newSerializer() runtime.NegotiatedSerializer {
	scheme := runtime.NewScheme()
	utilruntime.Must(apidiscoveryv2.AddToScheme(scheme))
	return serializer.NewCodecFactory(scheme)
}
