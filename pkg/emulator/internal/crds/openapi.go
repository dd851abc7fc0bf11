package crds

import (
	"fmt"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kube-openapi/pkg/handler"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/musterkube/muster/pkg/emulator/internal/openapi"
)

// definitionKey tells apart what is built of definitions: all of it comes from their specs.
type definitionKey struct {
	uid        types.UID
	generation int64
}

// document has the OpenAPI documents of one definition, which are built when somebody asks.
type document struct {
	v3 map[string]func() (*spec3.OpenAPI, error) // by version
	v2 func() (*spec.Swagger, error)
}

type documents map[definitionKey]document

// of returns the documents of definitions: those that are here already, and new ones.
func (d documents) of(crds []*apiextensionsv1.CustomResourceDefinition) documents {
	all := make(documents, len(crds))
	for _, crd := range crds {
		key := definitionKey{crd.UID, crd.Generation}
		known, found := d[key]
		if !found {
			known = newDocument(crd)
		}
		all[key] = known
	}
	return all
}

func newDocument(crd *apiextensionsv1.CustomResourceDefinition) document {
	d := document{v3: map[string]func() (*spec3.OpenAPI, error){}}
	versions := servedVersions(crd)
	for _, version := range versions {
		d.v3[version] = sync.OnceValues(func() (*spec3.OpenAPI, error) {
			built, err := builder.BuildOpenAPIV3(crd, version, builder.Options{IncludeSelectableFields: true})
			if err != nil {
				return nil, fmt.Errorf("building the OpenAPI 3 document of %s in %s: %w", crd.Name, version, err)
			}
			return built, nil
		})
	}
	d.v2 = sync.OnceValues(func() (*spec.Swagger, error) {
		merged := &spec.Swagger{}
		for _, version := range versions {
			built, err := builder.BuildOpenAPIV2(crd, version, builder.Options{V2: true, IncludeSelectableFields: true})
			if err != nil {
				return nil, fmt.Errorf("building the OpenAPI 2 document of %s in %s: %w", crd.Name, version, err)
			}
			// Defaults are not valid in every place of OpenAPI 2.
			built.Definitions = handler.PruneDefaults(built.Definitions)
			if merged, err = builder.MergeSpecs(merged, built); err != nil {
				return nil, fmt.Errorf("merging the OpenAPI 2 documents of %s: %w", crd.Name, err)
			}
		}
		return merged, nil
	})
	return d
}

// merge returns the documents that are served for definitions.
func (d documents) merge(crds []*apiextensionsv1.CustomResourceDefinition) *openapi.Documents {
	merged := &openapi.Documents{Versions: map[string]func() (*spec3.OpenAPI, error){}}
	parts := map[string][]func() (*spec3.OpenAPI, error){}
	var whole []func() (*spec.Swagger, error)
	for _, crd := range crds {
		document := d[definitionKey{crd.UID, crd.Generation}]
		whole = append(whole, document.v2)
		for version, part := range document.v3 {
			name := "apis/" + schema.GroupVersion{Group: crd.Spec.Group, Version: version}.String()
			parts[name] = append(parts[name], part)
		}
	}
	for name, list := range parts {
		merged.Versions[name] = sync.OnceValues(func() (*spec3.OpenAPI, error) {
			built, err := buildAll(list)
			if err != nil {
				return nil, err
			}
			return builder.MergeSpecsV3(built...)
		})
	}
	merged.Add = func(static *spec.Swagger) (*spec.Swagger, error) {
		built, err := buildAll(whole)
		if err != nil {
			return nil, err
		}
		return builder.MergeSpecs(static, built...)
	}
	return merged
}

func buildAll[T any](builds []func() (T, error)) ([]T, error) {
	var all []T
	for _, build := range builds {
		built, err := build()
		if err != nil {
			return nil, err
		}
		all = append(all, built)
	}
	return all, nil
}
