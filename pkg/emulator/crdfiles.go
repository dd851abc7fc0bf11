package emulator

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8syaml "k8s.io/apimachinery/pkg/util/yaml"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// ReadCRDs reads the CustomResourceDefinitions of apiextensions.k8s.io/v1 in files of YAML or JSON and, of folders, in all
// files below them whose names end in .yaml, .yml or .json. Other objects among them are passed over, so that manifests
// may be given which have more in them; lists are read through. A path without any definition is an error, and so is a
// field that definitions do not have: the error names the file, the object and the field.
//
// [Options].CRDPaths reads in this way. What makes a definition invalid shows when it is installed.
func ReadCRDs(paths ...string) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	all := []*apiextensionsv1.CustomResourceDefinition{}
	for _, path := range paths {
		read, err := readPath(path)
		if err != nil {
			return nil, fmt.Errorf("reading custom resource definitions: %w", err)
		}
		for _, d := range read {
			all = append(all, d.crd)
		}
	}
	return all, nil
}

// readPath reads the definitions of one path, of which there must be one at least.
func readPath(path string) ([]definition, error) {
	files, err := manifestsIn(path)
	if err != nil {
		return nil, err
	}
	var all []definition
	for _, file := range files {
		read, err := readFile(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, read...)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: there is none of %s", path, apiextensionsv1.SchemeGroupVersion)
	}
	return all, nil
}

// manifestsIn returns the files to read: path itself, unless it is a folder.
func manifestsIn(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	var files []string
	err = filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(file)) {
			files = append(files, file)
		}
		return err
	})
	return files, err
}

func readFile(file string) ([]definition, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var all []definition
	documents := k8syaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	for number := 1; ; number++ {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		read, err := readDocument(document)
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", number, err)
		}
		for _, crd := range read {
			all = append(all, definition{crd: crd, file: file})
		}
	}
}

// readDocument returns the definitions in one document.
func readDocument(document []byte) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	content, err := yaml.YAMLToJSON(document)
	if err != nil {
		return nil, err
	}
	return readObject(content)
}

func readObject(content []byte) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	var object struct {
		metav1.PartialObjectMetadata
		Items []rawObject `json:"items"`
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(content, &object); err != nil {
		return nil, err
	}
	switch {
	case object.Kind == "List" || object.Kind == "CustomResourceDefinitionList":
		var all []*apiextensionsv1.CustomResourceDefinition
		for i, item := range object.Items {
			read, err := readObject(item.content)
			if err != nil {
				return nil, fmt.Errorf("item %d: %w", i, err)
			}
			all = append(all, read...)
		}
		return all, nil
	case object.Kind != "CustomResourceDefinition":
		return nil, nil
	case object.APIVersion != apiextensionsv1.SchemeGroupVersion.String():
		return nil, fmt.Errorf("CustomResourceDefinition %s: apiVersion: it is %q, and served is %s", object.Name, object.APIVersion, apiextensionsv1.SchemeGroupVersion)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	strict, err := kjson.UnmarshalStrict(content, crd)
	if err = errors.Join(append(strict, err)...); err != nil {
		return nil, fmt.Errorf("CustomResourceDefinition %s: %w", object.Name, err)
	}
	return []*apiextensionsv1.CustomResourceDefinition{crd}, nil
}

// rawObject is an object in a list, whatever it is.
type rawObject struct{ content []byte }

// UnmarshalJSON implements json.Unmarshaler.
func (r *rawObject) UnmarshalJSON(content []byte) error {
	r.content = bytes.Clone(content)
	return nil
}
