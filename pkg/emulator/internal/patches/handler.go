package patches

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/apiserver/pkg/endpoints/request"
)

// patch is a patch as a client sent it.
type patch struct {
	kind types.PatchType
	body []byte
	// validation is how the client would like unknown fields to be treated.
	validation string
	// content is the object to be applied, if the body is plain JSON. It is not to be changed.
	content map[string]any
	// broken is true for a body that the library would refuse at the door. It has been given one that changes nothing.
	broken bool
}

type patchKey struct{}

// patchFrom returns the patch of the request that ctx belongs to, nil if it is none.
func patchFrom(ctx context.Context) *patch {
	p, _ := ctx.Value(patchKey{}).(*patch)
	return p
}

// Handler returns a handler that remembers the patches that it passes on, for [Follow]. Bodies beyond limit bytes, which
// is that of the handlers below, are left to them.
func Handler(handler http.Handler, limit int64) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPatch && r.Body != nil {
			r = remember(r, limit)
		}
		handler.ServeHTTP(w, r)
	})
}

// Plain returns a request that came through [Handler] as it was sent, for handlers that do not call [Follow].
func Plain(r *http.Request) *http.Request {
	p := patchFrom(r.Context())
	if p == nil {
		return r
	}
	r = r.WithContext(context.WithValue(r.Context(), patchKey{}, (*patch)(nil)))
	r.Body = rejoined{bytes.NewReader(p.body), r.Body}
	return r
}

// Fault returns what Kubernetes 1.36 says to a patch that is broken, nil to any other request. Such a patch is refused once
// the object to patch is there; one to be applied, always.
func Fault(r *http.Request) (always bool, refused error) {
	p := patchFrom(r.Context())
	if p == nil || !p.broken {
		return false, nil
	}
	return p.kind == types.ApplyYAMLPatchType, apierrors.NewBadRequest(p.fault())
}

// remember reads the patch of a request and returns the request to pass on. What cannot be a patch, or be read, is passed
// on as it is.
func remember(r *http.Request, limit int64) *http.Request {
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	p := &patch{kind: types.PatchType(kind), validation: r.URL.Query().Get("fieldValidation")}
	substitute := substituteOf(p.kind)
	if substitute == nil {
		return r
	}
	if p.validation == "" {
		p.validation = metav1.FieldValidationWarn
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, limit+1))
	unread := r.Body
	if err != nil || int64(len(body)) > limit {
		r.Body = rejoined{io.MultiReader(bytes.NewReader(body), failing(unread, err)), unread}
		return r
	}
	p.body = body
	if p.kind == types.ApplyYAMLPatchType {
		p.content = plainObject(body)
	}
	if p.content == nil && !passes(p.kind, body) {
		p.broken, body = true, substitute
	} else if p.kind == types.StrategicMergePatchType {
		if lean := withoutNewerFields(resourceOf(r), body); lean != nil {
			body = lean
		}
	}
	r = r.WithContext(context.WithValue(r.Context(), patchKey{}, p))
	r.Body = rejoined{bytes.NewReader(body), unread}
	return r
}

// resourceOf returns the resource that a request is about.
func resourceOf(r *http.Request) schema.GroupResource {
	info, found := request.RequestInfoFrom(r.Context())
	if !found {
		return schema.GroupResource{}
	}
	return schema.GroupResource{Group: info.APIGroup, Resource: info.Resource}
}

// rejoined is a body of which a part had been read.
type rejoined struct {
	io.Reader
	io.Closer
}

// failing returns what is left of a body: the error if there was one.
func failing(rest io.Reader, err error) io.Reader {
	if err == nil {
		return rest
	}
	return failure{err}
}

type failure struct{ err error }

// Read implements io.Reader.
func (f failure) Read([]byte) (int, error) { return 0, f.err }

// substituteOf returns a patch of a kind that changes nothing, nil if there is no such kind.
func substituteOf(kind types.PatchType) []byte {
	switch kind {
	case types.JSONPatchType:
		return []byte(`[]`)
	case types.MergePatchType, types.StrategicMergePatchType, types.ApplyYAMLPatchType:
		return []byte(`{}`)
	}
	return nil
}

// passes tells whether the library lets a body in.
func passes(kind types.PatchType, body []byte) bool {
	if kind != types.ApplyYAMLPatchType {
		return json.Valid(body)
	}
	_, err := yaml.ToJSON(body)
	return err == nil
}
