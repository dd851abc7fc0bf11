package openapi

import (
	"maps"
	"slices"
	"strings"
	"sync"

	apiextensionsserver "k8s.io/apiextensions-apiserver/pkg/apiserver"
	apiextensionsopenapi "k8s.io/apiextensions-apiserver/pkg/generated/openapi"
	"k8s.io/apimachinery/pkg/runtime"
	openapinamer "k8s.io/apiserver/pkg/endpoints/openapi"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"

	generated "github.com/musterkube/muster/generated/openapi"
	"github.com/musterkube/muster/pkg/emulator/internal/scheme"
)

const (
	// ourModels and upstreamModels begin the names of the models of scheduling.k8s.io/v1alpha2: here, and in
	// Kubernetes 1.36.
	ourModels      = "com.github.musterkube.muster.apis.scheduling.v1alpha2."
	upstreamModels = "io.k8s.api.scheduling.v1alpha2."

	// kindExtension lists the kinds that a model is the type of; clients and server-side apply find models by it.
	kindExtension = "x-kubernetes-group-version-kind"
)

// definitions returns a fresh copy of the definitions, without the fields that are newer than Kubernetes 1.36.
func definitions(ref common.ReferenceCallback) map[string]common.OpenAPIDefinition {
	all := generated.GetOpenAPIDefinitions(ref)
	// Those of CustomResourceDefinitions are in the library that has the type.
	for name, definition := range apiextensionsopenapi.GetOpenAPIDefinitions(ref) {
		if strings.HasPrefix(name, crdModels) {
			all[name] = definition
		}
	}
	for _, newer := range scheme.Newer() {
		if definition, ok := all[newer.Model()]; ok {
			all[newer.Model()] = without(definition, newer.Names, ref)
		}
	}
	return all
}

// without returns the definition of a struct less the named fields, and less the models that only those refer to.
func without(definition common.OpenAPIDefinition, names []string, ref common.ReferenceCallback) common.OpenAPIDefinition {
	object := &definition.Schema
	object.Properties = maps.Clone(object.Properties)
	maps.DeleteFunc(object.Properties, func(name string, _ spec.Schema) bool { return slices.Contains(names, name) })
	object.Required = slices.DeleteFunc(slices.Clone(object.Required), func(name string) bool { return slices.Contains(names, name) })

	used := map[string]bool{}
	for _, property := range object.Properties {
		collectRefs(&property, used)
	}
	definition.Dependencies = slices.DeleteFunc(slices.Clone(definition.Dependencies), func(model string) bool {
		target := ref(model)
		return !used[target.String()]
	})
	return definition
}

// collectRefs notes what a property refers to: by itself, as a list, or as a map.
func collectRefs(property *spec.Schema, used map[string]bool) {
	if target := property.Ref.String(); target != "" {
		used[target] = true
	}
	if property.Items != nil && property.Items.Schema != nil {
		collectRefs(property.Items.Schema, used)
	}
	if property.AdditionalProperties != nil && property.AdditionalProperties.Schema != nil {
		collectRefs(property.AdditionalProperties.Schema, used)
	}
	for i := range property.AllOf {
		collectRefs(&property.AllOf[i], used)
	}
}

// namer is made once; the scheme that it reads does not change.
var namer = sync.OnceValue(func() *openapinamer.DefinitionNamer {
	return openapinamer.NewDefinitionNamer(scheme.New().Scheme, apiextensionsserver.Scheme)
})

// definitionName returns the name that a model has in documents, and the kinds that it is the type of. Internal
// versions are no kinds that a client could name.
func definitionName(name string) (string, spec.Extensions) {
	_, extensions := namer().GetDefinitionName(name)
	if kinds, ok := extensions[kindExtension].([]any); ok {
		kinds = slices.DeleteFunc(kinds, func(kind any) bool {
			return kind.(map[string]any)["version"] == runtime.APIVersionInternal
		})
		extensions = spec.Extensions{kindExtension: kinds}
		if len(kinds) == 0 {
			extensions = nil
		}
	}
	if rest, ours := strings.CutPrefix(name, ourModels); ours {
		name = upstreamModels + rest
	}
	return name, extensions
}
