package patches

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/endpoints/request"
)

const limit = 64

// pass sends a request through the handler and returns what comes out behind it.
func pass(t *testing.T, r *http.Request) (body string, remembered *patch, err error) {
	t.Helper()
	Handler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var read []byte
		read, err = io.ReadAll(r.Body)
		body, remembered = string(read), patchFrom(r.Context())
		require.NoError(t, r.Body.Close())
	}), limit).ServeHTTP(httptest.NewRecorder(), r)
	return body, remembered, err
}

func newPatch(kind, resource, body string) *http.Request {
	r := httptest.NewRequest(http.MethodPatch, "/x?fieldValidation=Strict", strings.NewReader(body))
	r.Header.Set("Content-Type", kind)
	return r.WithContext(request.WithRequestInfo(r.Context(), &request.RequestInfo{Resource: resource}))
}

func TestBodiesPassUnlessTheLibraryWouldStumble(t *testing.T) {
	const strategic, apply = "application/strategic-merge-patch+json", "application/apply-patch+yaml"
	cases := map[string]struct {
		kind, resource, body string
		want                 string
		wantBroken           bool
	}{
		"a patch passes as it is":                          {kind: strategic, body: `{"a": 1}`, want: `{"a": 1}`},
		"what is no JSON becomes a patch of nothing":       {kind: strategic, body: `{"a"`, want: `{}`, wantBroken: true},
		"a list of operations stays a list":                {kind: "application/json-patch+json", body: `[`, want: `[]`, wantBroken: true},
		"YAML is for applying":                             {kind: apply, body: "a: b", want: "a: b"},
		"YAML that cannot be read becomes nothing":         {kind: apply, body: "a: b: c", want: `{}`, wantBroken: true},
		"the media type may have parameters":               {kind: apply + "; charset=utf-8", body: "a: b: c", want: `{}`, wantBroken: true},
		"a newer field is taken out":                       {kind: strategic, resource: "pods", body: `{"spec":{"evictionResponders":1,"a":2}}`, want: `{"spec":{"a":2}}`},
		"its name elsewhere stays":                         {kind: strategic, resource: "pods", body: `{"metadata":{"labels":{"evictionResponders":"1"}}}`, want: `{"metadata":{"labels":{"evictionResponders":"1"}}}`},
		"other kinds have fields of that name, for us":     {kind: strategic, resource: "leases", body: `{"spec":{"evictionResponders":1}}`, want: `{"spec":{"evictionResponders":1}}`},
		"a merge patch is left to the decoder":             {kind: "application/merge-patch+json", resource: "pods", body: `{"spec":{"evictionResponders":1}}`, want: `{"spec":{"evictionResponders":1}}`},
		"what is longer than the limit is left to refuse":  {kind: strategic, body: strings.Repeat("{", limit+7), want: strings.Repeat("{", limit+7)},
		"what is as long as the limit is read":             {kind: strategic, body: strings.Repeat("{", limit), want: `{}`, wantBroken: true},
		"other media types are none of this handler's":     {kind: "application/json", body: `{"a"`, want: `{"a"`},
		"an empty body is no JSON":                         {kind: strategic, want: `{}`, wantBroken: true},
		"large numbers stay whole when a field is dropped": {kind: strategic, resource: "pods", body: `{"spec":{"evictionResponders":1,"a":9007199254740993}}`, want: `{"spec":{"a":9007199254740993}}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, remembered, err := pass(t, newPatch(tc.kind, tc.resource, tc.body))
			require.NoError(t, err)
			assert.Equal(t, tc.want, got)
			if remembered == nil {
				assert.False(t, tc.wantBroken)
				assert.Equal(t, tc.body, got)
				return
			}
			assert.Equal(t, tc.wantBroken, remembered.broken)
			assert.Equal(t, tc.body, string(remembered.body), "as it was sent")
			assert.Equal(t, metav1.FieldValidationStrict, remembered.validation)
		})
	}
}

func TestBodyThatBreaksOffIsPassedOnToWhereItBreaks(t *testing.T) {
	lost := errors.New("connection lost")
	r := newPatch("application/merge-patch+json", "pods", "")
	r.Body = io.NopCloser(io.MultiReader(strings.NewReader(`{"a"`), failure{lost}))
	body, remembered, err := pass(t, r)
	assert.Equal(t, `{"a"`, body)
	require.ErrorIs(t, err, lost)
	assert.Nil(t, remembered)
}

func TestOtherRequestsAreNotRead(t *testing.T) {
	r := newPatch("application/merge-patch+json", "pods", "{")
	r.Method = http.MethodPut
	body, remembered, err := pass(t, r)
	require.NoError(t, err)
	assert.Equal(t, "{", body)
	assert.Nil(t, remembered)
}
