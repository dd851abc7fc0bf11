package openapi

import (
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/emicklei/go-restful/v3"
	"k8s.io/kube-openapi/pkg/builder"
	"k8s.io/kube-openapi/pkg/builder3"
	"k8s.io/kube-openapi/pkg/cached"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/handler"
	"k8s.io/kube-openapi/pkg/handler3"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// documents are the services behind /openapi/v2 and /openapi/v3 for one set of routes.
type documents struct {
	v2 *handler.OpenAPIService
	v3 *handler3.OpenAPIService
	// swagger is the document behind v2, and names are those of the documents behind v3.
	swagger func() (*spec.Swagger, error)
	names   map[string]bool
}

// known has the documents of every set of routes that a server of this process had: few, for only feature gates
// change what is served.
var known sync.Map // of fingerprint to func() documents

// Install serves /openapi/v2 and /openapi/v3 on mux for the web services as they are now. It builds nothing yet. More, if
// it is not nil, is asked with each request for documents of what comes and goes.
func Install(webServices []*restful.WebService, mux common.PathHandlerByGroupVersion, more Source) error {
	services := withoutHandlers(webServices)
	made, _ := known.LoadOrStore(fingerprint(services), sync.OnceValue(func() documents { return newDocuments(services) }))
	shared := made.(func() documents)()

	if more == nil {
		more = func(*http.Request) (*Documents, error) { return nil, nil }
	}
	(&merging{shared: shared, more: more, v2: handlerOf(shared.v2)}).register(mux)
	return nil
}

func newDocuments(services []service) documents {
	v2 := sync.OnceValues(func() (*spec.Swagger, error) { return buildV2(services) })
	v3 := sync.OnceValues(func() (map[string]*spec3.OpenAPI, error) { return buildV3(services) })

	d := documents{
		swagger: v2,
		names:   map[string]bool{},
		v2: handler.NewOpenAPIServiceLazy(cached.Func(func() (*spec.Swagger, string, error) {
			document, err := v2()
			return document, "v2", err
		})),
		v3: handler3.NewOpenAPIService(),
	}
	for _, s := range services {
		d.names[s.name()] = true
		d.v3.UpdateGroupVersionLazy(s.name(), cached.Func(func() (*spec3.OpenAPI, string, error) {
			all, err := v3()
			return all[s.name()], s.name(), err
		}))
	}
	return d
}

// name is the name of the service's document below /openapi/v3/.
func (s service) name() string { return strings.TrimPrefix(s.root, "/") }

func buildV2(services []service) (*spec.Swagger, error) {
	building.Lock()
	defer building.Unlock()
	document, err := builder.BuildOpenAPISpecFromRoutes(containers(services), configV2())
	if err != nil {
		return nil, fmt.Errorf("building the OpenAPI 2 document: %w", err)
	}
	// Defaults are not valid in every place of OpenAPI 2 where the definitions have them.
	document.Definitions = handler.PruneDefaults(document.Definitions)
	return document, nil
}

// buildV3 builds the documents of all services at once: the index, which clients read first, needs a hash of each.
func buildV3(services []service) (map[string]*spec3.OpenAPI, error) {
	building.Lock()
	defer building.Unlock()
	config := configV3()
	all := make(map[string]*spec3.OpenAPI, len(services))
	for _, s := range services {
		document, err := builder3.BuildOpenAPISpecFromRoutes([]common.RouteContainer{s}, config)
		if err != nil {
			return nil, fmt.Errorf("building the OpenAPI 3 document of %s: %w", s.name(), err)
		}
		all[s.name()] = document
	}
	return all, nil
}
