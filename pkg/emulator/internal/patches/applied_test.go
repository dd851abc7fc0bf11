package patches

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/apiserver/pkg/endpoints/request"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// asUnstructured is a converter that remembers what it was given.
type asUnstructured struct{ got []runtime.Object }

func (c *asUnstructured) ObjectToTyped(obj runtime.Object, _ ...typed.ValidationOptions) (*typed.TypedValue, error) {
	c.got = append(c.got, obj.DeepCopyObject())
	return nil, nil
}

func (c *asUnstructured) TypedToObject(*typed.TypedValue) (runtime.Object, error) { return nil, nil }

func TestAppliedObjectStandsBehindAShortOne(t *testing.T) {
	const sent = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}],"priority":7}}`
	shortcuts := NewShortcuts(func(info *request.RequestInfo) runtime.Object {
		if info.Resource != "pods" {
			return nil
		}
		return &corev1.Pod{}
	})
	converter := &asUnstructured{}
	var body []byte
	var late *unstructured.Unstructured
	pass := func(r *http.Request) {
		t.Helper()
		Handler(shortcuts.Handler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			var err error
			body, err = io.ReadAll(r.Body)
			require.NoError(t, err)
			for range 2 { // as when a write conflicts with another one
				read := &unstructured.Unstructured{}
				require.NoError(t, yaml.Unmarshal(body, &read.Object))
				late = read.DeepCopy()
				_, err = shortcuts.Converter(converter).ObjectToTyped(read)
				require.NoError(t, err)
				unstructured.RemoveNestedField(read.Object, "spec")
			}
		})), 1<<20).ServeHTTP(httptest.NewRecorder(), r)
	}
	var want map[string]any
	require.NoError(t, yaml.Unmarshal([]byte(sent), &want))

	pass(newPatch("application/apply-patch+yaml", "pods", sent))
	assert.Less(t, len(body), len(sent))
	assert.NotContains(t, string(body), "containers")
	require.Len(t, converter.got, 2)
	for _, got := range converter.got {
		assert.Equal(t, want, got.(*unstructured.Unstructured).Object)
	}

	converter.got = nil
	_, err := shortcuts.Converter(converter).ObjectToTyped(late)
	require.NoError(t, err)
	assert.Contains(t, converter.got[0].(*unstructured.Unstructured).Object, standIn, "when the request has ended, the name means nothing")

	for name, r := range map[string]*http.Request{
		"another kind":            newPatch("application/apply-patch+yaml", "others", sent),
		"YAML":                    newPatch("application/apply-patch+yaml", "pods", sent+" # YAML"),
		"managed fields":          newPatch("application/apply-patch+yaml", "pods", strings.Replace(sent, `"labels"`, `"managedFields":[],"labels"`, 1)),
		"without a kind":          newPatch("application/apply-patch+yaml", "pods", strings.Replace(sent, `"kind":"Pod",`, "", 1)),
		"a short one":             newPatch("application/apply-patch+yaml", "pods", `{"apiVersion":"v1","kind":"Pod","metadata":{}}`),
		"another kind of a patch": newPatch("application/merge-patch+json", "pods", sent),
	} {
		pass(r)
		assert.NotContains(t, string(body), standIn, name)
	}
	r := newPatch("application/apply-patch+yaml", "pods", sent)
	r.URL.RawQuery = "fieldManager=kubectl"
	pass(r)
	assert.NotContains(t, string(body), standIn, "the library keeps what kubectl applies")
}

func TestPlainObjects(t *testing.T) {
	for _, body := range []string{
		`{}`, `{"a":1}`, "{\"a\":1}\n", `{"a":"b: c # d"}`, `{"a":[null,true,{"b":-7}]}`, `{ "a" : 1 }`, `{"<<":"x","y":"no"}`, `{"a":9223372036854775807}`,
	} {
		assert.NotNil(t, plainObject([]byte(body)), body)
		sameAsYAML(t, []byte(body))
	}
	for _, body := range []string{
		``, `null`, `[]`, `7`, `{`, `{"a":1,"a":2}`, `{"a":1.0}`, `{"a":1e3}`, `{"a":9223372036854775808}`, "{\n\"a\":1}", "{\t\"a\":1}", `{"a":"\n"}`, `{"a":"ä"}`,
		`{"a":1} # b`, `{"` + strings.Repeat("k", longestKey+1) + `":1}`, `{"a":{"b":[1.5]}}`, "a: 1",
	} {
		assert.Nil(t, plainObject([]byte(body)), body)
	}
}

// sameAsYAML compares an object with what the library reads, if it is a plain one.
func sameAsYAML(t *testing.T, body []byte) {
	t.Helper()
	content := plainObject(body)
	if content == nil {
		return
	}
	var want map[string]any
	require.NoError(t, yaml.UnmarshalStrict(body, &want), "%q", body)
	got, err := json.Marshal(content)
	require.NoError(t, err)
	wanted, err := json.Marshal(want)
	require.NoError(t, err)
	require.Equal(t, string(wanted), string(got))
	require.Equal(t, want, content)
}

// FuzzPlainObject looks for objects that YAML reads in another way.
func FuzzPlainObject(f *testing.F) {
	for _, body := range []string{`{"a":[1,"b",null,true,{"c":-0}]}`, `{"~":"=","a":"0x1f","b":"1_000","c":"12:30:45"}`, `{"a":"'x'","? b":": - "}`, `{"a":"  x  "}`} {
		f.Add([]byte(body))
	}
	f.Fuzz(sameAsYAML)
}
