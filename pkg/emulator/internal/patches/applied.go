package patches

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// standIn is the field of an applied object that says for which object it stands. No kind has it.
const standIn = "standsFor"

// longestKey is how long a key may be to be sure that YAML reads it as JSON does. YAML 1.1 knows none beyond 1,024 bytes.
const longestKey = 512

// applied has the objects of apply requests that are under way. The library reads the body of such a request three times,
// as YAML, which is slow; almost all of them are JSON. So the library gets a short object that stands for the one that was
// sent, which has been read once, and whoever looks at what is in it gets that.
type applied struct {
	// secret begins the names of objects, so that nobody can send one of their own making.
	secret  string
	last    atomic.Uint64
	objects sync.Map
}

func newApplied() *applied { return &applied{secret: rand.Text()} }

// shortened returns a body for the library in place of that of p, and a function to be called when the request has ended.
// It returns nil if the body has to be passed on as it is.
func (a *applied) shortened(p *patch, r *http.Request) (body []byte, end func()) {
	if p.content == nil || r.URL.Query().Get("fieldManager") == kubectl {
		return nil, nil
	}
	short, ok := headOf(p.content)
	if !ok {
		return nil, nil
	}
	name := a.secret + "-" + strconv.FormatUint(a.last.Add(1), 10)
	short[standIn] = name
	body, err := json.Marshal(short)
	if err != nil || len(body) >= len(p.body) {
		return nil, nil
	}
	a.objects.Store(name, p)
	return body, func() { a.objects.Delete(name) }
}

// kubectl is the field manager for which the library keeps what was applied in an annotation.
const kubectl = "kubectl"

// headOf returns what the library wants to know of an applied object before it looks at what is in it: kind and version.
// It returns false for an object that the library would find fault with.
func headOf(content map[string]any) (map[string]any, bool) {
	apiVersion, known := content["apiVersion"].(string)
	kind, ok := content["kind"].(string)
	metadata, isObject := content["metadata"].(map[string]any)
	if _, owned := metadata["managedFields"]; owned || !known || !ok || !isObject {
		return nil, false
	}
	return map[string]any{"apiVersion": apiVersion, "kind": kind}, true
}

// appliedConverter converts objects that stand for others as if they were those.
type appliedConverter struct {
	managedfields.TypeConverter
	applied *applied
}

// ObjectToTyped implements managedfields.TypeConverter. An object that stands for another becomes that one, which is then
// also what errors speak of. A name that is not known, or not any more, is a field that no kind has.
func (c appliedConverter) ObjectToTyped(obj runtime.Object, options ...typed.ValidationOptions) (*typed.TypedValue, error) {
	if shapeless, ok := obj.(*unstructured.Unstructured); ok {
		name, _ := shapeless.Object[standIn].(string)
		if p, found := c.applied.objects.Load(name); found {
			shapeless.Object = p.(*patch).object()
		}
	}
	return c.TypeConverter.ObjectToTyped(obj, options...)
}

// object returns the applied object, another one each time: it may become part of what is made of it.
func (p *patch) object() map[string]any { return runtime.DeepCopyJSON(p.content) }

// plainObject returns the object in a body, nil unless reading it as JSON and as YAML is the same beyond doubt: ASCII on
// one line, without escapes, with whole numbers, and nothing twice.
func plainObject(body []byte) map[string]any {
	body = bytes.TrimRight(body, "\n")
	for _, c := range body {
		if c < ' ' || c > '~' || c == '\\' {
			return nil
		}
	}
	var content map[string]any
	if faults, err := kjson.UnmarshalStrict(body, &content); err != nil || len(faults) > 0 || !isPlain(content) {
		return nil
	}
	return content
}

// isPlain reports whether YAML has the same idea of a value as JSON.
func isPlain(value any) bool {
	switch value := value.(type) {
	case map[string]any:
		for key, element := range value {
			if len(key) > longestKey || !isPlain(element) {
				return false
			}
		}
	case []any:
		for _, element := range value {
			if !isPlain(element) {
				return false
			}
		}
	case float64:
		return false
	}
	return true
}
