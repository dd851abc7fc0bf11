package openapi

import (
	"fmt"
	"net/http"
	"sync"

	openapinamer "k8s.io/apiserver/pkg/endpoints/openapi"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/common/restfuladapter"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

const (
	title = "Kubernetes"
	// version is what a kube-apiserver 1.36 puts into its documents: no patch level.
	version = "1.36"

	bearerToken            = "BearerToken"
	bearerTokenDescription = "Bearer Token authentication"
)

// building is held during each build: the builders change maps of the definitions and of the configuration.
var building sync.Mutex

// configV2 returns a configuration for one build of the OpenAPI 2 document.
func configV2() *common.Config {
	return &common.Config{
		ProtocolList:    []string{"https"},
		Info:            &spec.Info{InfoProps: spec.InfoProps{Title: title, Version: version}},
		DefaultResponse: &spec.Response{ResponseProps: spec.ResponseProps{Description: "Default Response."}},
		CommonResponses: map[int]spec.Response{
			http.StatusUnauthorized: {ResponseProps: spec.ResponseProps{Description: "Unauthorized"}},
		},
		SecurityDefinitions: &spec.SecurityDefinitions{
			bearerToken: {SecuritySchemeProps: spec.SecuritySchemeProps{
				Type: "apiKey", Name: "authorization", In: "header", Description: bearerTokenDescription,
			}},
		},
		DefaultSecurity:                []map[string][]string{{bearerToken: {}}},
		GetOperationIDAndTagsFromRoute: operation,
		GetDefinitionName:              definitionName,
		GetDefinitions:                 definitions,
	}
}

// configV3 returns a configuration for builds of OpenAPI 3 documents that are made in one go, and for what
// server-side apply needs.
func configV3() *common.OpenAPIV3Config {
	config := &common.OpenAPIV3Config{
		Info:            &spec.Info{InfoProps: spec.InfoProps{Title: title, Version: version}},
		DefaultResponse: &spec3.Response{ResponseProps: spec3.ResponseProps{Description: "Default Response."}},
		CommonResponses: map[int]*spec3.Response{
			http.StatusUnauthorized: {ResponseProps: spec3.ResponseProps{Description: "Unauthorized"}},
		},
		SecuritySchemes: spec3.SecuritySchemes{
			bearerToken: {SecuritySchemeProps: spec3.SecuritySchemeProps{
				Type: "apiKey", Name: "authorization", In: "header", Description: bearerTokenDescription,
			}},
		},
		DefaultSecurity:                []map[string][]string{{bearerToken: {}}},
		GetOperationIDAndTagsFromRoute: operation,
		GetDefinitionName:              definitionName,
		GetDefinitions:                 definitions,
	}
	config.Definitions = definitions(func(name string) spec.Ref {
		name, _ = definitionName(name)
		return spec.MustCreateRef("#/components/schemas/" + common.EscapeJsonPointer(name))
	})
	return config
}

// operation names the operation behind a route, as Kubernetes names it.
func operation(route common.Route) (id string, tags []string, err error) {
	adapter, ok := route.(*restfuladapter.RouteAdapter)
	if !ok {
		return "", nil, fmt.Errorf("naming the operation of %s %s: %T is not a route of go-restful", route.Method(), route.Path(), route)
	}
	return openapinamer.GetOperationIDAndTags(adapter.Route)
}
