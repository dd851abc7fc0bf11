package configmap_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/musterkube/muster/pkg/emulator/internal/registry/registrytest"
	"github.com/musterkube/muster/pkg/features"
)

func configMaps(t *testing.T) registrytest.Client {
	t.Helper()
	return registrytest.New(t, features.Gates{}).Client(t, corev1.SchemeGroupVersion.WithResource("configmaps"), "default")
}

func TestValidation(t *testing.T) {
	for name, tc := range map[string]struct {
		data    map[string]string
		binary  map[string][]byte
		wantErr string
	}{
		"texts and bytes":       {data: map[string]string{"a": "b"}, binary: map[string][]byte{"c": {1}}},
		"a key of no file name": {data: map[string]string{"a/b": "c"}, wantErr: `data[a/b]: Invalid value: "a/b"`},
		"a key twice":           {data: map[string]string{"a": "b"}, binary: map[string][]byte{"a": {1}}, wantErr: "duplicate of key present in binaryData"},
		"a megabyte and more":   {data: map[string]string{"a": strings.Repeat("x", corev1.MaxSecretSize+1)}, wantErr: "Too long"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := configMaps(t).Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "default"}, Data: tc.data, BinaryData: tc.binary})
			if tc.wantErr == "" {
				assert.NoError(t, err)
				return
			}
			assert.ErrorContains(t, err, tc.wantErr)
		})
	}
}

func TestImmutable(t *testing.T) {
	client := configMaps(t)
	_, err := client.Create(&corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "default"}, Data: map[string]string{"a": "b"}, Immutable: new(true),
	})
	require.NoError(t, err)
	_, err = client.Update("c", "", func(obj runtime.Object) {
		obj.(*corev1.ConfigMap).Data["a"] = "c"
		obj.(*corev1.ConfigMap).BinaryData = map[string][]byte{"x": {1}}
		obj.(*corev1.ConfigMap).Immutable = nil
	})
	for _, path := range []string{"data", "binaryData", "immutable"} {
		assert.ErrorContains(t, err, path+": Forbidden: field is immutable when `immutable` is set")
	}
	_, err = client.Update("c", "", func(obj runtime.Object) { obj.(*corev1.ConfigMap).Labels = map[string]string{"l": "m"} })
	assert.NoError(t, err)
}

func TestTable(t *testing.T) {
	table := configMaps(t).Table(&corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "c"}, Data: map[string]string{"a": "b"}, BinaryData: map[string][]byte{"c": {1}},
	})
	assert.Equal(t, []any{"c", int64(2), "<unknown>"}, table.Rows[0].Cells)
}
