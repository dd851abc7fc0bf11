package scheme

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
)

func TestNewerFieldsExist(t *testing.T) {
	for _, fields := range Newer() {
		for _, name := range fields.Names {
			assert.True(t, hasJSONField(fields.Type, name), "%v has no field %q: is the table out of date?", fields.Type, name)
		}
		assert.True(t, strings.HasPrefix(fields.Model(), "io.k8s.api."), fields.Model())
	}
}

func hasJSONField(t reflect.Type, name string) bool {
	for f := range t.Fields() {
		if tag, _, _ := strings.Cut(f.Tag.Get("json"), ","); tag == name {
			return true
		}
	}
	return false
}

func TestNewerPaths(t *testing.T) {
	jobs := NewerPaths[batchv1.Job]()
	assert.Contains(t, jobs, "spec.scheduling")
	assert.Contains(t, jobs, "spec.template.spec.evictionResponders")
	assert.Contains(t, jobs, "spec.template.spec.containers[].livenessProbe.grpc.mode")
	assert.Contains(t, jobs, "spec.template.spec.volumes[].projected.sources[].serviceAccountToken.user")
	assert.Contains(t, NewerPaths[corev1.Pod](), "status.volumeHealth")
	assert.Contains(t, NewerPaths[corev1.Node](), "spec.podPreemptionPolicy")
	assert.Empty(t, NewerPaths[schedulingv1alpha2.Workload]())
}

// decode decodes the body of a request as the handlers do.
func decode(t *testing.T, mediaType string, strict bool, body string) (runtime.Object, error) {
	t.Helper()
	info, ok := runtime.SerializerInfoForMediaType(New().Serializer.SupportedMediaTypes(), mediaType)
	require.True(t, ok)
	decoder := info.Serializer
	if strict {
		decoder = info.StrictSerializer
	}
	obj, _, err := New().Serializer.DecoderToVersion(decoder, runtime.InternalGroupVersioner).Decode([]byte(body), nil, nil)
	return obj, err
}

func TestStrictDecodingReportsNewerFields(t *testing.T) {
	for name, tc := range map[string]struct {
		mediaType, body string
		want            string
	}{
		"a newer field is unknown": {
			body: `{"apiVersion":"batch/v1","kind":"Job","spec":{"scheduling":{"schedulingPolicy":{"basic":{}}}}}`,
			want: `strict decoding error: unknown field "spec.scheduling"`,
		},
		"even if it is null": {
			body: `{"apiVersion":"batch/v1","kind":"Job","spec":{"scheduling":null}}`,
			want: `strict decoding error: unknown field "spec.scheduling"`,
		},
		"elements of lists are counted": {
			body: `{"apiVersion":"v1","kind":"Pod","spec":{"containers":[{"name":"a"},{"name":"b","volumeMounts":[{"bindMountOptions":["x"]}]}]}}`,
			want: `strict decoding error: unknown field "spec.containers[1].volumeMounts[0].bindMountOptions"`,
		},
		"what is in an unknown field is not looked at": {
			body: `{"apiVersion":"v1","kind":"Pod","spec":{"evictionResponders":[{"name":"x","priority":1}]},"status":{"volumeHealth":[]}}`,
			want: `strict decoding error: unknown field "spec.evictionResponders", unknown field "status.volumeHealth"`,
		},
		"older fields of the same name are known": {
			body: `{"apiVersion":"v1","kind":"Pod","spec":{"containers":[{"name":"a","ports":[{"containerPort":1,"protocol":"TCP"}]}],"volumes":[{"name":"v","configMap":{"items":[{"key":"k","path":"p","mode":420}]}}]}}`,
		},
		"keys of maps are no fields": {
			body: `{"apiVersion":"batch/v1","kind":"Job","metadata":{"labels":{"scheduling":"x"}},"spec":{"template":{"spec":{"nodeSelector":{"user":"y"}}}}}`,
		},
		"it stands beside what is unknown to everyone": {
			body: `{"apiVersion":"batch/v1","kind":"Job","spec":{"scheduling":{},"nonsense":1}}`,
			want: `strict decoding error: unknown field "spec.nonsense", unknown field "spec.scheduling"`,
		},
		"YAML is read as well": {
			mediaType: runtime.ContentTypeYAML,
			body:      "apiVersion: batch/v1\nkind: Job\nspec:\n  scheduling: {}\n",
			want:      `strict decoding error: unknown field "spec.scheduling"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.mediaType == "" {
				tc.mediaType = runtime.ContentTypeJSON
			}
			obj, err := decode(t, tc.mediaType, true, tc.body)
			require.NotNil(t, obj, "a warning must not cost the object")
			if tc.want == "" {
				assert.NoError(t, err)
				return
			}
			assert.EqualError(t, err, tc.want)
			assert.True(t, runtime.IsStrictDecodingError(err))
		})
	}
}

func TestNewerFieldsAreDropped(t *testing.T) {
	const body = `{"apiVersion":"v1","kind":"Pod","spec":{"evictionResponders":[{"name":"x","priority":1}],"containers":[` +
		`{"name":"a","livenessProbe":{"httpGet":{"port":80,"protocol":"HTTP2"}},"volumeMounts":[{"name":"v","bindMountOptions":["x"]}]}]}}`
	for name, strict := range map[string]bool{"by lenient decoding": false, "by strict decoding, which may only warn": true} {
		t.Run(name, func(t *testing.T) {
			obj, _ := decode(t, runtime.ContentTypeJSON, strict, body)
			pod := obj.(*corev1.Pod)
			assert.Nil(t, pod.Spec.EvictionResponders)
			assert.Nil(t, pod.Spec.Containers[0].LivenessProbe.HTTPGet.Protocol)
			assert.Nil(t, pod.Spec.Containers[0].VolumeMounts[0].BindMountOptions)
			assert.Equal(t, "v", pod.Spec.Containers[0].VolumeMounts[0].Name)
		})
	}
	t.Run("from protobuf", func(t *testing.T) {
		pod := &corev1.Pod{Spec: corev1.PodSpec{EvictionResponders: []corev1.EvictionResponder{{Name: "x"}}}}
		codec := New().StorageCodec(corev1.SchemeGroupVersion)
		data, err := runtime.Encode(codec, pod)
		require.NoError(t, err)
		obj, err := runtime.Decode(codec, data)
		require.NoError(t, err)
		assert.Nil(t, obj.(*corev1.Pod).Spec.EvictionResponders)
	})
}

// An unknown field can have any value, also one that the Go type cannot hold.
func TestNewerFieldMayHaveAnyValue(t *testing.T) {
	for mediaType, body := range map[string]string{
		runtime.ContentTypeJSON: `{"apiVersion":"v1","kind":"Pod","spec":{"evictionResponders":"x","activeDeadlineSeconds":9007199254740993}}`,
		runtime.ContentTypeYAML: "apiVersion: v1\nkind: Pod\nspec:\n  evictionResponders: x\n  activeDeadlineSeconds: 9007199254740993\n",
	} {
		t.Run(mediaType, func(t *testing.T) {
			info, _ := runtime.SerializerInfoForMediaType(New().Serializer.SupportedMediaTypes(), mediaType)
			obj, _, err := info.StrictSerializer.Decode([]byte(body), nil, &corev1.Pod{})
			assert.EqualError(t, err, `strict decoding error: unknown field "spec.evictionResponders"`)
			require.NotNil(t, obj)
			assert.Equal(t, new(int64(9007199254740993)), obj.(*corev1.Pod).Spec.ActiveDeadlineSeconds)
		})
	}
	info, _ := runtime.SerializerInfoForMediaType(New().Serializer.SupportedMediaTypes(), runtime.ContentTypeJSON)
	_, _, err := info.StrictSerializer.Decode([]byte(`{"apiVersion":"v1","kind":"Pod","spec":{"evictionResponders":"x","hostname":1}}`), nil, &corev1.Pod{})
	assert.ErrorContains(t, err, "cannot unmarshal number into Go struct field PodSpec.spec.hostname", "the rest has to fit")
}

func TestRemoveNewerFields(t *testing.T) {
	content := map[string]any{
		"metadata": map[string]any{"labels": map[string]any{"scheduling": "x"}},
		"spec": map[string]any{
			"scheduling": nil,
			"template":   map[string]any{"spec": map[string]any{"containers": []any{"x", map[string]any{"volumeMounts": []any{map[string]any{"name": "v", "bindMountOptions": 1}}}}}},
		},
		"status": 7,
	}
	assert.Equal(t, []string{"spec.scheduling", "spec.template.spec.containers[1].volumeMounts[0].bindMountOptions"},
		RemoveNewerFields(&batchv1.Job{}, content))
	assert.Equal(t, map[string]any{
		"metadata": map[string]any{"labels": map[string]any{"scheduling": "x"}},
		"spec": map[string]any{
			"template": map[string]any{"spec": map[string]any{"containers": []any{"x", map[string]any{"volumeMounts": []any{map[string]any{"name": "v"}}}}}},
		},
		"status": 7,
	}, content)
	assert.Empty(t, RemoveNewerFields(&corev1.ConfigMap{}, map[string]any{"user": 1}), "a kind without newer fields")
}

func TestObjectsOfAnotherKindAreRefused(t *testing.T) {
	info, _ := runtime.SerializerInfoForMediaType(New().Serializer.SupportedMediaTypes(), runtime.ContentTypeJSON)
	decoder := New().Serializer.DecoderToVersion(info.Serializer, runtime.InternalGroupVersioner)
	_, _, err := decoder.Decode([]byte(`{"apiVersion":"scheduling.k8s.io/v1alpha2","kind":"PodGroup"}`), nil, &schedulingv1alpha2.Workload{})
	assert.EqualError(t, err, "converting (v1alpha2.PodGroup) to (scheduling.Workload): unknown conversion")
}
