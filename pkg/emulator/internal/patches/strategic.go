package patches

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/endpoints/request"
	kjson "sigs.k8s.io/json"

	"github.com/musterkube/muster/pkg/emulator/internal/scheme"
)

// Simplified returns handler, which is behind [Handler], with each JSON merge patch that means the same as a strategic
// merge patch passed on as one. The library writes the object as JSON, merges, and reads it again for the former, and
// works on fields for the latter. Those are most patches that controllers send: of labels, of
// numbers, of a status.
//
// kind returns an empty object of the kind that a request is about, nil where strategic merge patches are unknown.
func Simplified(handler http.Handler, kind func(*request.RequestInfo) runtime.Object) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := patchFrom(r.Context())
		if p == nil || p.broken || p.kind != types.MergePatchType {
			handler.ServeHTTP(w, r)
			return
		}
		info, found := request.RequestInfoFrom(r.Context())
		if found {
			if obj := kind(info); obj != nil && isStrategic(p.body, obj) {
				strategic := *r
				strategic.Header = r.Header.Clone()
				strategic.Header.Set("Content-Type", string(types.StrategicMergePatchType))
				r = &strategic
			}
		}
		handler.ServeHTTP(w, r)
	})
}

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
	for name, value := range content {
		field, found := fieldNamed(name, of)
		if !found || field.Tag.Get("patchStrategy") != "" || !mergesAlike(value, field.Type) {
			return false
		}
	}
	return true
}

// fieldNamed returns the field of a struct that has a name in JSON.
func fieldNamed(name string, of reflect.Type) (reflect.StructField, bool) {
	for field := range of.Fields() {
		tagged, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if tagged == name {
			return field, true
		}
		if tagged == "" && field.Anonymous && field.Type.Kind() == reflect.Struct {
			if inner, found := fieldNamed(name, field.Type); found {
				return inner, true
			}
		}
	}
	return reflect.StructField{}, false
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
