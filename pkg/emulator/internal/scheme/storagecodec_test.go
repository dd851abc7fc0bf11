package scheme

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
)

func storedPod() *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "p", Labels: map[string]string{"a": "b"},
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "m", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{}}`)}},
		},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}
}

// The short way must come to what the general codec comes to.
func TestStoredObjectsAreReadAsByTheGeneralCodec(t *testing.T) {
	gang := schedulingv1alpha2.PodGroupSchedulingPolicy{Gang: &schedulingv1alpha2.GangSchedulingPolicy{MinCount: 2}}
	for name, tc := range map[string]struct {
		version schema.GroupVersion
		obj     runtime.Object
	}{
		"a pod, with defaults":   {corev1.SchemeGroupVersion, storedPod()},
		"a Job, with defaults":   {batchv1.SchemeGroupVersion, &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "j"}}},
		"a PodGroup":             {schedulingv1alpha2.SchemeGroupVersion, &schedulingv1alpha2.PodGroup{Spec: schedulingv1alpha2.PodGroupSpec{SchedulingPolicy: gang}}},
		"an object with nothing": {corev1.SchemeGroupVersion, &corev1.ConfigMap{}},
	} {
		t.Run(name, func(t *testing.T) {
			codec := New().StorageCodec(tc.version).(storageCodec)
			data, err := runtime.Encode(codec, tc.obj)
			require.NoError(t, err)
			want, err := runtime.Decode(codec.Codec, data)
			require.NoError(t, err)
			want.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})

			for _, into := range []runtime.Object{nil, tc.obj.DeepCopyObject()} {
				got, kind, own := codec.decodeOwn(data, into)
				require.True(t, own)
				assert.Empty(t, cmp.Diff(want, got))
				assert.Equal(t, tc.version, kind.GroupVersion())
				if into != nil {
					assert.Same(t, into, got)
				}
			}
		})
	}
}

func TestWhatIsReadDoesNotShareMemory(t *testing.T) {
	codec := New().StorageCodec(corev1.SchemeGroupVersion)
	read := func(value string) *corev1.Secret {
		data, err := runtime.Encode(codec, &corev1.Secret{Data: map[string][]byte{"k": []byte(value)}})
		require.NoError(t, err)
		obj, err := runtime.Decode(codec, data)
		require.NoError(t, err)
		return obj.(*corev1.Secret)
	}
	first := read("first")
	read("other")
	assert.Equal(t, "first", string(first.Data["k"]))
}

func TestWhatIsUnusualIsLeftToTheGeneralCodec(t *testing.T) {
	codec := New().StorageCodec(corev1.SchemeGroupVersion)
	pod, err := runtime.Encode(codec, storedPod())
	require.NoError(t, err)
	for name, tc := range map[string]struct {
		data    string
		into    runtime.Object
		wantErr string
	}{
		"JSON":                  {`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"}}`, &corev1.Pod{}, ""},
		"another kind":          {string(pod), &corev1.Secret{}, "unknown conversion"},
		"an envelope cut short": {string(pod[:20]), &corev1.Pod{}, "unexpected EOF"},
		"an object cut short":   {strings.Replace(string(pod), "f:spec", "f:sp", 1), &corev1.Pod{}, "unexpected EOF"},
		"no object at all":      {"k8s\x00", &corev1.Pod{}, "empty body"},
	} {
		t.Run(name, func(t *testing.T) {
			obj, _, err := codec.Decode([]byte(tc.data), nil, tc.into)
			if tc.wantErr != "" {
				assert.ErrorContains(t, err, tc.wantErr)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, "p", obj.(*corev1.Pod).Name)
			assert.True(t, obj.GetObjectKind().GroupVersionKind().Empty())
		})
	}
}
