// Command models-schema prints an OpenAPI v2 document, as JSON, with the definitions of this module's API types and of
// what they refer to. applyconfiguration-gen reads from it how each field merges under server-side apply.
//
// The definitions of other APIs in generated/openapi are left out, so that apply configurations carry no schema but
// their own.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/musterkube/muster/generated/openapi"
)

// apis is how the names of this module's own definitions begin: the import path of apis, its domain reversed.
const apis = "com.github.musterkube.muster.apis."

func main() {
	if err := write(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "models-schema:", err)
		os.Exit(1)
	}
}

// write encodes the document to w. Map keys come out sorted, so that equal definitions give equal bytes.
func write(w io.Writer) error {
	all := openapi.GetOpenAPIDefinitions(func(name string) spec.Ref {
		return spec.MustCreateRef("#/definitions/" + name)
	})
	definitions := reachable(all)
	if len(definitions) == 0 {
		return fmt.Errorf("no definition begins with %q", apis)
	}
	document := spec.Swagger{SwaggerProps: spec.SwaggerProps{
		Swagger:     "2.0",
		Info:        &spec.Info{InfoProps: spec.InfoProps{Title: "Muster", Version: "unversioned"}},
		Paths:       &spec.Paths{},
		Definitions: definitions,
	}}
	if err := json.NewEncoder(w).Encode(document); err != nil {
		return fmt.Errorf("encoding the document: %w", err)
	}
	return nil
}

// reachable returns this module's definitions and those that they refer to, directly or not.
func reachable(all map[string]common.OpenAPIDefinition) spec.Definitions {
	definitions := spec.Definitions{}
	var add func(name string)
	add = func(name string) {
		definition, known := all[name]
		if _, done := definitions[name]; done || !known {
			return
		}
		definitions[name] = preferV2(definition)
		for _, dependency := range definition.Dependencies {
			add(dependency)
		}
	}
	for name := range all {
		if strings.HasPrefix(name, apis) {
			add(name)
		}
	}
	return definitions
}

// preferV2 returns the schema that a definition keeps for OpenAPI v2, for types such as IntOrString whose v3 schema says
// what v2 cannot.
func preferV2(definition common.OpenAPIDefinition) spec.Schema {
	if v2, ok := definition.Schema.Extensions[common.ExtensionV2Schema].(spec.Schema); ok {
		return v2
	}
	return definition.Schema
}
