package patches

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"

	"github.com/musterkube/muster/pkg/emulator/internal/scheme"
)

// isStrategic reports whether a JSON merge patch of objects like obj, which is empty and is filled in, does the same as
// a strategic merge patch. It does if the patch is without fault, which the two would put differently, and changes
// nothing but values, maps, and lists that both replace.
func isStrategic(body []byte, obj runtime.Object) bool {
	if bytes.ContainsAny(body, `$\`) || scheme.MentionsNewerFields(body) {
		return false // what may be a directive, written out or escaped, or is unknown to Kubernetes 1.36
	}
	if faults, err := kjson.UnmarshalStrict(body, obj); err != nil || len(faults) > 0 {
		return false
	}
	var content map[string]any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(body, &content); err != nil || content == nil {
		return false // null is no patch
	}
	for _, name := range []string{"apiVersion", "kind"} {
		if _, found := content[name]; found {
			return false // of what an object is, only what is read from JSON must say the right thing
		}
	}
	if metadata, ok := content["metadata"].(map[string]any); ok && metadata["managedFields"] != nil {
		return false // sets of fields are written in no form that Go types describe
	}
	return mergesAlike(content, reflect.TypeOf(obj))
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// mergesAlike reports whether a value of a patch does the same to something of a type in both kinds of patches.
func mergesAlike(value any, of reflect.Type) bool {
	if value == nil {
		return true // both delete
	}
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	switch value := value.(type) {
	case map[string]any:
		switch {
		case reflect.PointerTo(of).Implements(unmarshaler):
			return false // such as RawExtension: what is in it, strategic merge patches do not know
		case of.Kind() == reflect.Struct:
			return fieldsMergeAlike(value, of)
		default:
			return of.Kind() == reflect.Map && !hasNested(value)
		}
	case []any:
		return !hasNull(value)
	default:
		return true
	}
}

// fieldsMergeAlike is mergesAlike for an object.
func fieldsMergeAlike(content map[string]any, of reflect.Type) bool {
	fields := fieldsOf(of)
	for name, value := range content {
		field, found := fields[name]
		if !found || field.Tag.Get("patchStrategy") != "" || !mergesAlike(value, field.Type) {
			return false
		}
	}
	return true
}

// knownFields holds what fieldsOf has found out of types, which do not change.
var knownFields sync.Map

// fieldsOf returns the fields of a struct by their names in JSON, with those of inlined structs.
func fieldsOf(of reflect.Type) map[string]reflect.StructField {
	if known, found := knownFields.Load(of); found {
		return known.(map[string]reflect.StructField)
	}
	fields := map[string]reflect.StructField{}
	for field := range of.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name != "":
			fields[name] = field
		case field.Anonymous && field.Type.Kind() == reflect.Struct:
			maps.Copy(fields, fieldsOf(field.Type))
		}
	}
	knownFields.Store(of, fields)
	return fields
}

// hasNested reports whether a map has values other than scalars: of those in maps, strategic merge patches know nothing.
func hasNested(content map[string]any) bool {
	for _, value := range content {
		switch value.(type) {
		case map[string]any, []any:
			return true
		}
	}
	return false
}

// hasNull reports whether there is a null anywhere in a value. In lists, JSON merge patches leave it out.
func hasNull(value any) bool {
	switch value := value.(type) {
	case nil:
		return true
	case map[string]any:
		return slices.ContainsFunc(slices.Collect(maps.Values(value)), hasNull)
	case []any:
		return slices.ContainsFunc(value, hasNull)
	}
	return false
}
