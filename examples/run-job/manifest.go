package main

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

//go:embed job.yaml
var embeddedJob []byte

// document is one object of a manifest and the place it came from.
type document struct {
	file   string
	number int   // position in the file, from 1
	items  []int // position in a List, from 1, and in each List in it; empty outside one
	object *unstructured.Unstructured
}

// place says where the document stands, in words for an error.
func (d document) place() string {
	parts := []string{d.file, fmt.Sprintf("document %d", d.number)}
	for _, n := range d.items {
		parts = append(parts, fmt.Sprintf("item %d", n))
	}
	return joined(parts...)
}

// name says which object it is.
func (d document) name() string {
	name := d.object.GetName()
	if name == "" {
		name = d.object.GetGenerateName()
	}
	return d.object.GetKind() + " " + strings.TrimPrefix(d.object.GetNamespace()+"/"+name, "/")
}

// parseManifest splits a manifest into its objects. The text is a stream of JSON values or of YAML documents.
func parseManifest(file string, data []byte) ([]document, error) {
	parts, isJSON := splitJSON(data)
	if !isJSON {
		var err error
		if parts, err = splitYAML(data); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	var docs []document
	var faults []error
	for i, part := range parts {
		parsed, err := parseDocument(document{file: file, number: i + 1}, part)
		docs, faults = append(docs, parsed...), append(faults, err)
	}
	return docs, errors.Join(faults...)
}

// splitJSON cuts a stream of JSON values apart; it says no for anything else, which YAML then judges.
func splitJSON(data []byte) ([][]byte, bool) {
	if !bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		return nil, false
	}
	var parts [][]byte
	decoder := json.NewDecoder(bytes.NewReader(data))
	for {
		var part json.RawMessage
		switch err := decoder.Decode(&part); {
		case errors.Is(err, io.EOF):
			return parts, true
		case err != nil:
			return nil, false
		}
		parts = append(parts, part)
	}
}

func splitYAML(data []byte) ([][]byte, error) {
	var parts [][]byte
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	for {
		part, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return parts, nil
		}
		if err != nil {
			return nil, fmt.Errorf("splitting YAML documents: %w", err)
		}
		parts = append(parts, part)
	}
}

// parseDocument reads one document: nothing when it is empty, the items when it is a List.
func parseDocument(d document, part []byte) ([]document, error) {
	text, err := yaml.YAMLToJSONStrict(part)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.place(), err)
	}
	if err := endsThere(part); err != nil {
		return nil, fmt.Errorf("%s: %w", d.place(), err)
	}
	if string(text) == "null" {
		return nil, nil
	}
	return parseObject(d, text)
}

// endsThere returns an error when something follows the first YAML document of a part, which would be lost otherwise.
func endsThere(part []byte) error {
	decoder := yamlv3.NewDecoder(bytes.NewReader(part))
	for n := 0; ; n++ {
		var node yamlv3.Node
		switch err := decoder.Decode(&node); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case n > 0:
			return errors.New("more follows after the end of the document: part documents with a line of ---")
		}
	}
}

// parseObject reads an object, or those of a List.
func parseObject(d document, text []byte) ([]document, error) {
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil || fields == nil {
		return nil, fmt.Errorf("%s: want an object with apiVersion, kind and metadata, got %s", d.place(), jsonType(text))
	}
	if err := checkFields(fields); err != nil {
		return nil, fmt.Errorf("%s: %w", d.place(), err)
	}
	kind, version := fields["kind"].(string), fields["apiVersion"].(string)
	_, hasItems := fields["items"]
	if kind == "List" || hasItems && strings.HasSuffix(kind, "List") {
		return parseList(d, text, kind, version)
	}
	d.object = &unstructured.Unstructured{}
	if err := d.object.UnmarshalJSON(text); err != nil {
		return nil, fmt.Errorf("%s: %w", d.place(), err)
	}
	return []document{d}, nil
}

// checkFields returns an error unless an object has a kind and an apiVersion, and metadata that can be read: nothing
// else is needed to ask the server, which checks the rest.
func checkFields(fields map[string]any) error {
	for _, f := range []struct{ name, example string }{{"kind", "Job"}, {"apiVersion", "batch/v1"}} {
		switch value := fields[f.name].(type) {
		case string:
			if value == "" {
				return fmt.Errorf("%s: required, such as %s", f.name, f.example)
			}
		case nil:
			return fmt.Errorf("%s: required, such as %s", f.name, f.example)
		default:
			return fmt.Errorf("%s: want a string such as %s, got %s", f.name, f.example, typeOf(value))
		}
	}
	if _, err := schema.ParseGroupVersion(fields["apiVersion"].(string)); err != nil {
		return fmt.Errorf("apiVersion: %w", err)
	}
	metadata, isObject := fields["metadata"].(map[string]any)
	if !isObject && fields["metadata"] != nil {
		return fmt.Errorf("metadata: want an object, got %s", typeOf(fields["metadata"]))
	}
	for _, name := range []string{"name", "generateName", "namespace"} {
		if _, isString := metadata[name].(string); !isString && metadata[name] != nil {
			return fmt.Errorf("metadata.%s: want a string, got %s", name, typeOf(metadata[name]))
		}
	}
	return nil
}

// typeOf names the type of a JSON value, in words for an error.
func typeOf(value any) string {
	switch value.(type) {
	case nil:
		return "nothing"
	case bool:
		return "a boolean"
	case string:
		return "a string"
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	default:
		return "a number"
	}
}

func jsonType(text []byte) string {
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		return err.Error()
	}
	return typeOf(value)
}

// parseList reads the items of a List, which may be Lists. Those of a list of one kind, such as a JobList, need not name
// theirs: the server leaves it out when it lists.
func parseList(d document, text []byte, kind, apiVersion string) ([]document, error) {
	var list struct {
		Items []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("%s: items: want a list of objects", d.place())
	}
	var docs []document
	var faults []error
	outer := d.items
	for i, item := range list.Items {
		d.items = append(slices.Clone(outer), i+1)
		parsed, err := parseObject(d, withKind(item, strings.TrimSuffix(kind, "List"), apiVersion))
		docs, faults = append(docs, parsed...), append(faults, err)
	}
	return docs, errors.Join(faults...)
}

// withKind returns an item with a kind and an apiVersion, if it had neither and there is one.
func withKind(item []byte, kind, apiVersion string) []byte {
	var fields map[string]json.RawMessage
	if kind == "" || json.Unmarshal(item, &fields) != nil || fields == nil || fields["kind"] != nil || fields["apiVersion"] != nil {
		return item
	}
	fields["kind"], _ = json.Marshal(kind) // a string has a JSON form
	fields["apiVersion"], _ = json.Marshal(apiVersion)
	text, err := json.Marshal(fields)
	if err != nil {
		return item
	}
	return text
}
