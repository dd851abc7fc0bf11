package serviceaccount_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/musterkube/muster/pkg/emulator/internal/registry/registrytest"
	"github.com/musterkube/muster/pkg/features"
)

func TestReferencesAreNames(t *testing.T) {
	client := registrytest.New(t, features.Gates{}).Client(t, corev1.SchemeGroupVersion.WithResource("serviceaccounts"), "default")
	secrets := []corev1.ObjectReference{{Name: "s", Namespace: "elsewhere", Kind: "Secret"}}
	obj, err := client.Create(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "default"}, Secrets: secrets})
	require.NoError(t, err)
	assert.Equal(t, []corev1.ObjectReference{{Name: "s"}}, obj.(*corev1.ServiceAccount).Secrets)

	obj, err = client.Update("a", "", func(obj runtime.Object) {
		obj.(*corev1.ServiceAccount).Secrets = []corev1.ObjectReference{{Name: "t", Kind: "Secret"}}
	})
	require.NoError(t, err)
	assert.Equal(t, []corev1.ObjectReference{{Name: "t"}}, obj.(*corev1.ServiceAccount).Secrets)
	assert.Equal(t, "a", client.Table(obj).Rows[0].Cells[0])

	deleted, gone, err := client.Delete("a", &metav1.DeleteOptions{})
	require.NoError(t, err)
	assert.True(t, gone)
	assert.IsType(t, &corev1.ServiceAccount{}, deleted)
}
