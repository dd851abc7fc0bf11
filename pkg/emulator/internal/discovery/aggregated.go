package discovery

import (
	"crypto/sha512"
	"encoding/json"
	"fmt"
	"net/http"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apiserver/pkg/endpoints/discovery/aggregated"
)

// Group is one API group with its versions, the preferred one first.
type Group struct {
	Name     string
	Versions []apidiscoveryv2.APIVersionDiscovery
}

// handler serves one document.
type handler struct {
	list       apidiscoveryv2.APIGroupDiscoveryList
	etag       string
	serializer runtime.NegotiatedSerializer
}

// New returns a handler for the document that lists groups, in their order. It answers requests that ask for
// apidiscovery.k8s.io/v2; others have to be sent elsewhere, as
// [k8s.io/apiserver/pkg/endpoints/discovery/aggregated.WrapAggregatedDiscoveryToHandler] does.
func New(groups []Group) (http.Handler, error) {
	h := &handler{serializer: newSerializer()}
	for _, group := range groups {
		h.list.Items = append(h.list.Items, apidiscoveryv2.APIGroupDiscovery{
			ObjectMeta: metav1.ObjectMeta{Name: group.Name},
			Versions:   group.Versions,
		})
	}
	document, err := json.Marshal(h.list)
	if err != nil {
		return nil, fmt.Errorf("hashing the discovery document: %w", err)
	}
	h.etag = fmt.Sprintf("%X", sha512.Sum512(document))
	return h, nil
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	list := h.list // encoding sets the kind and version of what it is given
	aggregated.ServeHTTPWithETag(&list, h.etag, apidiscoveryv2.SchemeGroupVersion, h.serializer, w, r)
}

func newSerializer() runtime.NegotiatedSerializer {
	scheme := runtime.NewScheme()
	utilruntime.Must(apidiscoveryv2.AddToScheme(scheme))
	return serializer.NewCodecFactory(scheme)
}
