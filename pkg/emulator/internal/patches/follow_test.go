package patches

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/warning"
)

// recorder takes warnings.
type recorder []string

func (r *recorder) AddWarning(_, text string) { *r = append(*r, text) }

// follow sends a patch and applies what the library would make of it: an object, or an error.
func follow(t *testing.T, r *http.Request, stored *corev1.Pod, answer error) (reached bool, warnings []string, err error) {
	t.Helper()
	var recorded recorder
	Handler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		ctx := warning.WithWarningRecorder(r.Context(), &recorded)
		info := rest.DefaultUpdatedObjectInfo(nil, func(context.Context, runtime.Object, runtime.Object) (runtime.Object, error) {
			reached = true
			return stored, answer
		})
		_, err = Follow(ctx, info).UpdatedObject(ctx, stored)
	}), 1<<20).ServeHTTP(httptest.NewRecorder(), r)
	return reached, recorded, err
}

func existing() *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "p", UID: "u"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c"}, {Name: "d"}}},
	}
}

func TestBrokenPatchIsRefusedOnceTheObjectIsThere(t *testing.T) {
	const merge = "application/merge-patch+json"
	reached, _, err := follow(t, newPatch(merge, "pods", "{"), existing(), nil)
	require.True(t, apierrors.IsBadRequest(err), "%v", err)
	assert.EqualError(t, err, "error decoding patch: unexpected end of JSON input")
	assert.False(t, reached)

	reached, _, err = follow(t, newPatch(merge, "pods", "{"), &corev1.Pod{}, nil)
	require.NoError(t, err)
	assert.True(t, reached, "the library says that there is nothing to patch")

	reached, _, err = follow(t, newPatch("application/apply-patch+yaml", "pods", "a: b: c"), &corev1.Pod{}, nil)
	assert.EqualError(t, err, "error decoding YAML: error converting YAML to JSON: yaml: mapping values are not allowed in this context")
	assert.False(t, reached, "what is applied may be new")
}

func TestErrorsOfApplyingSpeakOfYAML(t *testing.T) {
	for said, want := range map[string]string{
		"error decoding patch: x":        "error decoding YAML: x",
		"error strict decoding patch: x": "error strict decoding YAML: x",
		"error patching: x":              "error patching: x",
	} {
		_, _, err := follow(t, newPatch("application/apply-patch+yaml", "pods", "a: b"), existing(), apierrors.NewBadRequest(said))
		assert.EqualError(t, err, want)
		_, _, err = follow(t, newPatch("application/merge-patch+json", "pods", "{}"), existing(), apierrors.NewBadRequest(said))
		assert.EqualError(t, err, said, "other patches are JSON")
	}
}

func TestNewerFieldsOfAStrategicMergePatchAreUnknown(t *testing.T) {
	const body = `{"spec":{"zz":1,"containers":[{"name":"d","volumeMounts":[{"mountPath":"/a","bindMountOptions":"x"}]}],"hostname":"a","hostname":"a"}}`
	const kind = "application/strategic-merge-patch+json"
	const unknown = `unknown field "spec.containers[0].volumeMounts[0].bindMountOptions"`
	complaints := []string{`duplicate field "spec.hostname"`, unknown, `unknown field "spec.zz"`}
	// An element that is merged stays where it is: the path is that of the patched object.
	stored := existing()
	stored.Spec.Containers = stored.Spec.Containers[1:]

	_, _, err := follow(t, newPatch(kind, "pods", body), stored, nil)
	require.True(t, apierrors.IsInvalid(err), "%v", err)
	for _, complaint := range complaints {
		assert.ErrorContains(t, err, complaint)
	}
	assert.ErrorContains(t, err, "bindMountOptions:x", "the patch is shown as it was sent")

	r := newPatch(kind, "pods", body)
	r.URL.RawQuery = ""
	reached, warnings, err := follow(t, r, stored, nil)
	require.NoError(t, err)
	assert.True(t, reached)
	assert.Equal(t, complaints, warnings)

	r = newPatch(kind, "pods", body)
	r.URL.RawQuery = "fieldValidation=Ignore"
	reached, warnings, err = follow(t, r, stored, nil)
	require.NoError(t, err)
	assert.True(t, reached)
	assert.Empty(t, warnings)
}
