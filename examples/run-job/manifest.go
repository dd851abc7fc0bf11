package main

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

//go:embed job.yaml
var embeddedJob []byte

// document is one object of a manifest and the place it came from.
type document struct {
	file   string
	number int // position in the file, from 1
	item   int // position in a List, from 1; 0 outside one
	object *unstructured.Unstructured
}

// place says where the document stands, in words for an error.
func (d document) place() string {
	if d.item > 0 {
		return fmt.Sprintf("%s: document %d: item %d", d.file, d.number, d.item)
	}
	return fmt.Sprintf("%s: document %d", d.file, d.number)
}

// readManifests reads every object of the named files, folders and standard input ("-"); of the embedded Job when none
// is named. Every fault is reported, not only the first.
func readManifests(names []string, stdin io.Reader) ([]document, error) {
	if len(names) == 0 {
		return parseManifest("embedded job.yaml", embeddedJob)
	}
	var docs []document
	var faults []error
	for _, name := range names {
		sources, err := expand(name)
		if err != nil {
			return nil, err
		}
		for _, source := range sources {
			data, err := readSource(source, stdin)
			if err != nil {
				return nil, err
			}
			parsed, err := parseManifest(displayName(source), data)
			docs, faults = append(docs, parsed...), append(faults, err)
		}
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	if len(docs) == 0 {
		return nil, fmt.Errorf("%v: no objects in it", names)
	}
	return docs, nil
}

// expand returns the manifest files that a -f names.
func expand(name string) ([]string, error) {
	if name == "-" {
		return []string{name}, nil
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("reading manifest: %w", err)
	}
	if !info.IsDir() {
		return []string{name}, nil
	}
	entries, err := os.ReadDir(name)
	if err != nil {
		return nil, fmt.Errorf("reading folder: %w", err)
	}
	var files []string
	for _, entry := range entries {
		if !entry.IsDir() && slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(entry.Name())) {
			files = append(files, filepath.Join(name, entry.Name()))
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: no .yaml, .yml or .json file in this folder", name)
	}
	return files, nil
}

func readSource(name string, stdin io.Reader) ([]byte, error) {
	if name == "-" {
		data, err := io.ReadAll(stdin)
		if err != nil {
			return nil, fmt.Errorf("reading standard input: %w", err)
		}
		return data, nil
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("reading manifest: %w", err)
	}
	return data, nil
}

func displayName(name string) string {
	if name == "-" {
		return "standard input"
	}
	return name
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
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, fmt.Errorf("%s: want an object with apiVersion, kind and metadata: %w", d.place(), err)
	}
	kind, _ := fields["kind"].(string)
	if _, hasItems := fields["items"]; hasItems && strings.HasSuffix(kind, "List") {
		return parseList(d, text)
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

func parseList(d document, text []byte) ([]document, error) {
	var list struct {
		Items []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("%s: %w", d.place(), err)
	}
	var docs []document
	var faults []error
	for i, item := range list.Items {
		d.item = i + 1
		parsed, err := parseObject(d, item)
		docs, faults = append(docs, parsed...), append(faults, err)
	}
	return docs, errors.Join(faults...)
}

func parseObject(d document, text []byte) ([]document, error) {
	d.object = &unstructured.Unstructured{}
	if err := d.object.UnmarshalJSON(text); err != nil {
		if d.object.GetKind() == "" {
			return nil, fmt.Errorf("%s: kind: required, such as Job", d.place())
		}
		return nil, fmt.Errorf("%s: %w", d.place(), err)
	}
	if d.object.GetAPIVersion() == "" {
		return nil, fmt.Errorf("%s: apiVersion: required, such as batch/v1", d.place())
	}
	return []document{d}, nil
}
