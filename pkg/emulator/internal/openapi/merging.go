package openapi

import (
	"bytes"
	"crypto/sha512"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	"k8s.io/kube-openapi/pkg/cached"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/handler"
	"k8s.io/kube-openapi/pkg/handler3"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

const (
	pathV2 = "/openapi/v2"
	pathV3 = "/openapi/v3"
)

// Documents describe what has no routes: the kinds that custom resource definitions define. They do not change.
type Documents struct {
	// Versions has a document of OpenAPI 3 for each group and version, by name, such as apis/example.com/v1. They are
	// asked for more than once and have to be built once.
	Versions map[string]func() (*spec3.OpenAPI, error)
	// Add returns the document of OpenAPI 2 with what belongs to it. It leaves the one that it gets as it is.
	Add func(*spec.Swagger) (*spec.Swagger, error)
}

// Source tells what documents there are at the time of a request; nil if there are none but those of the routes. As long
// as they are the same it has to return the same pointer.
type Source func(*http.Request) (*Documents, error)

// merging serves the documents of routes, which servers of the process share, together with those of a server's own.
type merging struct {
	shared documents
	v2     http.Handler // of shared
	more   Source

	mu      sync.Mutex
	current *merged
}

// merged is what is served as long as the documents of the server's own are the same.
type merged struct {
	of *Documents
	v2 http.Handler
	v3 *handler3.OpenAPIService
}

func (m *merging) register(mux common.PathHandlerByGroupVersion) {
	mux.Handle(pathV2, m.handler(m.v2.ServeHTTP, func(own *merged, w http.ResponseWriter, r *http.Request) { own.v2.ServeHTTP(w, r) }))
	mux.Handle(pathV3, m.handler(m.shared.v3.HandleDiscovery, m.serveIndex))
	mux.HandlePrefix(pathV3+"/", m.handler(m.serveShared, func(own *merged, w http.ResponseWriter, r *http.Request) {
		if _, found := own.of.Versions[documentOf(r)]; found {
			own.v3.HandleGroupVersion(w, r)
			return
		}
		m.serveShared(w, r)
	}))
}

// documentOf returns the name of the OpenAPI 3 document that a request asks for.
func documentOf(r *http.Request) string { return strings.TrimPrefix(r.URL.Path, pathV3+"/") }

// serveShared answers with one of the shared documents. The library would answer 200 and nothing if there is none.
func (m *merging) serveShared(w http.ResponseWriter, r *http.Request) {
	if !m.shared.names[documentOf(r)] {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	m.shared.v3.HandleGroupVersion(w, r)
}

// handler returns a handler for requests while there are none but shared documents, and for others.
func (m *merging) handler(shared http.HandlerFunc, own func(*merged, http.ResponseWriter, *http.Request)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		documents, err := m.more(r)
		switch {
		case err != nil:
			responsewriters.InternalError(w, r, err)
		case documents == nil:
			shared(w, r)
		default:
			own(m.with(documents), w, r)
		}
	})
}

// with returns what is served with these documents.
func (m *merging) with(own *Documents) *merged {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.current != nil && m.current.of == own {
		return m.current
	}
	swagger := sync.OnceValues(func() (*spec.Swagger, error) {
		static, err := m.shared.swagger()
		if err != nil {
			return nil, err
		}
		return own.Add(static)
	})
	current := &merged{of: own, v3: handler3.NewOpenAPIService()}
	current.v2 = handlerOf(handler.NewOpenAPIServiceLazy(cached.Func(func() (*spec.Swagger, string, error) {
		document, err := swagger()
		return document, "v2", err
	})))
	for name, build := range own.Versions {
		current.v3.UpdateGroupVersionLazy(name, cached.Func(func() (*spec3.OpenAPI, string, error) {
			document, err := build()
			return document, name, err
		}))
	}
	m.current = current
	return current
}

// serveIndex answers with the list of all documents.
func (m *merging) serveIndex(own *merged, w http.ResponseWriter, r *http.Request) {
	index := handler3.OpenAPIV3Discovery{Paths: map[string]handler3.OpenAPIV3DiscoveryGroupVersion{}}
	for _, service := range []*handler3.OpenAPIService{own.v3, m.shared.v3} {
		// What both have is served by the server's own.
		part, err := indexOf(service, r)
		if err != nil {
			responsewriters.InternalError(w, r, err)
			return
		}
		for name, document := range part.Paths {
			if _, found := index.Paths[name]; !found {
				index.Paths[name] = document
			}
		}
	}
	content, err := json.Marshal(index)
	if err != nil {
		responsewriters.InternalError(w, r, fmt.Errorf("writing the index of OpenAPI documents: %w", err))
		return
	}
	w.Header().Set("Etag", strconv.Quote(fmt.Sprintf("%X", sha512.Sum512(content))))
	w.Header().Set("Content-Type", "application/json")
	http.ServeContent(w, r, pathV3, time.Time{}, bytes.NewReader(content))
}

// indexOf returns the list of a service's documents. The service tells it in no other way than by answering a request.
func indexOf(service *handler3.OpenAPIService, r *http.Request) (*handler3.OpenAPIV3Discovery, error) {
	answer := &answer{header: http.Header{}, code: http.StatusOK}
	plain := r.Clone(r.Context())
	plain.Method, plain.Header = http.MethodGet, http.Header{}
	service.HandleDiscovery(answer, plain)
	if answer.code != http.StatusOK {
		return nil, fmt.Errorf("building OpenAPI 3 documents: %d", answer.code)
	}
	index := &handler3.OpenAPIV3Discovery{}
	if err := json.Unmarshal(answer.body.Bytes(), index); err != nil {
		return nil, fmt.Errorf("reading an index of OpenAPI documents: %w", err)
	}
	return index, nil
}

// answer keeps what a handler answers.
type answer struct {
	header http.Header
	code   int
	body   bytes.Buffer
}

var _ http.ResponseWriter = (*answer)(nil)

func (a *answer) Header() http.Header               { return a.header }
func (a *answer) WriteHeader(code int)              { a.code = code }
func (a *answer) Write(content []byte) (int, error) { return a.body.Write(content) }

// handlerOf returns the handler of a service, which it gives away only by being registered.
func handlerOf(service *handler.OpenAPIService) http.Handler {
	var taken taker
	service.RegisterOpenAPIVersionedService(pathV2, &taken)
	return taken.handler
}

type taker struct{ handler http.Handler }

func (t *taker) Handle(_ string, handler http.Handler) { t.handler = handler }
