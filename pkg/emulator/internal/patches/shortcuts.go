package patches

import (
	"bytes"
	"net/http"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apiserver/pkg/endpoints/request"
)

// Shortcuts spare the library work on patches, with the same outcome:
//
//   - a JSON merge patch that means the same as a strategic merge patch is passed on as one. The library writes the object
//     as JSON, merges, and reads it again for the former, and works on fields for the latter. Those are most patches that
//     controllers send: of labels, of numbers, of a status;
//   - an object to be applied that is JSON is read once, and stands behind a short one that the library reads as YAML.
type Shortcuts struct {
	kind    func(*request.RequestInfo) runtime.Object
	applied *applied
}

// NewShortcuts returns the shortcuts of a server. Kind returns an empty object of the kind that a request is about, nil
// where there are to be none.
func NewShortcuts(kind func(*request.RequestInfo) runtime.Object) *Shortcuts {
	return &Shortcuts{kind: kind, applied: newApplied()}
}

// Handler returns handler, which is behind [Handler], with patches that take the shortcuts. What handler converts to find
// out the owners of fields it has to convert by [Shortcuts.Converter].
func (s *Shortcuts) Handler(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := patchFrom(r.Context())
		info, found := request.RequestInfoFrom(r.Context())
		if p == nil || p.broken || !found {
			handler.ServeHTTP(w, r)
			return
		}
		switch p.kind {
		case types.MergePatchType:
			if obj := s.kind(info); obj != nil && isStrategic(p.body, obj) {
				strategic := *r
				strategic.Header = r.Header.Clone()
				strategic.Header.Set("Content-Type", string(types.StrategicMergePatchType))
				r = &strategic
			}
		case types.ApplyYAMLPatchType:
			if s.kind(info) == nil {
				break
			}
			if body, end := s.applied.shortened(p, r); body != nil {
				defer end()
				short := *r
				short.Body = rejoined{bytes.NewReader(body), r.Body}
				r = &short
			}
		}
		handler.ServeHTTP(w, r)
	})
}

// Converter returns converter for the requests that come through [Shortcuts.Handler].
func (s *Shortcuts) Converter(converter managedfields.TypeConverter) managedfields.TypeConverter {
	return appliedConverter{converter, s.applied}
}
