package namespace_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/musterkube/muster/pkg/emulator/internal/registry/registrytest"
	"github.com/musterkube/muster/pkg/features"
)

func namespaces(t *testing.T) registrytest.Client {
	t.Helper()
	client := registrytest.New(t, features.Gates{}).Client(t, corev1.SchemeGroupVersion.WithResource("namespaces"), "")
	_, err := client.Create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Status: corev1.NamespaceStatus{Phase: corev1.NamespaceTerminating}})
	require.NoError(t, err)
	return client
}

func get(t *testing.T, client registrytest.Client) *corev1.Namespace {
	t.Helper()
	obj, err := client.Get("n")
	require.NoError(t, err)
	return obj.(*corev1.Namespace)
}

func TestCreate(t *testing.T) {
	client := namespaces(t)
	namespace := get(t, client)
	assert.Equal(t, corev1.NamespaceActive, namespace.Status.Phase)
	assert.Equal(t, []corev1.FinalizerName{corev1.FinalizerKubernetes}, namespace.Spec.Finalizers)

	obj, err := client.Create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "g-"}})
	require.NoError(t, err)
	generated := obj.(*corev1.Namespace)
	assert.Equal(t, generated.Name, generated.Labels[corev1.LabelMetadataName], "the label follows the generated name")

	_, err = client.Create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "no.dots"}})
	assert.True(t, apierrors.IsInvalid(err), "%v", err)
}

func TestDeleteTakesTheNamespaceAfterItsFinalizers(t *testing.T) {
	client := namespaces(t)
	_, gone, err := client.Delete("n", &metav1.DeleteOptions{})
	require.NoError(t, err)
	assert.False(t, gone)
	namespace := get(t, client)
	assert.Equal(t, corev1.NamespaceTerminating, namespace.Status.Phase)
	require.NotNil(t, namespace.DeletionTimestamp)
	before := namespace.ResourceVersion

	_, gone, err = client.Delete("n", &metav1.DeleteOptions{})
	require.NoError(t, err)
	assert.False(t, gone)
	assert.Equal(t, before, get(t, client).ResourceVersion, "a second delete waits like the first")

	_, err = client.Update("n", "", func(obj runtime.Object) { obj.(*corev1.Namespace).Spec.Finalizers = nil })
	require.NoError(t, err)
	assert.Len(t, get(t, client).Spec.Finalizers, 1, "finalizers change through finalize alone")

	_, err = client.Update("n", "finalize", func(obj runtime.Object) { obj.(*corev1.Namespace).Spec.Finalizers = nil })
	require.NoError(t, err)
	_, err = client.Get("n")
	assert.True(t, apierrors.IsNotFound(err), "the last finalizer takes the namespace with it")
}

func TestDeleteHeedsPreconditionsAndPropagation(t *testing.T) {
	client := namespaces(t)
	_, _, err := client.Delete("n", &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: new(types.UID("another"))}})
	assert.True(t, apierrors.IsConflict(err), "%v", err)
	_, _, err = client.Delete("n", &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{ResourceVersion: new("1")}})
	assert.True(t, apierrors.IsConflict(err), "%v", err)
	_, _, err = client.Delete("absent", &metav1.DeleteOptions{})
	assert.True(t, apierrors.IsNotFound(err), "%v", err)
	assert.Nil(t, get(t, client).DeletionTimestamp)

	_, _, err = client.Delete("n", &metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationForeground)})
	require.NoError(t, err)
	assert.Equal(t, []string{metav1.FinalizerDeleteDependents}, get(t, client).Finalizers)
}

func TestPhaseGoesWithDeletion(t *testing.T) {
	client := namespaces(t)
	_, err := client.Update("n", "status", func(obj runtime.Object) { obj.(*corev1.Namespace).Status.Phase = corev1.NamespaceTerminating })
	assert.ErrorContains(t, err, "may only be 'Active' if `deletionTimestamp` is empty")
	_, _, err = client.Delete("n", &metav1.DeleteOptions{})
	require.NoError(t, err)
	_, err = client.Update("n", "status", func(obj runtime.Object) { obj.(*corev1.Namespace).Status.Phase = corev1.NamespaceActive })
	assert.ErrorContains(t, err, "may only be 'Terminating' if `deletionTimestamp` is not empty")
}

func TestSelectByPhaseAndName(t *testing.T) {
	client := namespaces(t)
	for selector, want := range map[string]int{"status.phase=Active": 5, "name=n": 1, "metadata.name=n": 1, "status.phase=Terminating": 0} {
		list, err := client.List(fields.ParseSelectorOrDie(selector))
		require.NoError(t, err)
		assert.Len(t, list.(*corev1.NamespaceList).Items, want, selector)
	}
}

func TestTable(t *testing.T) {
	client := namespaces(t)
	table := client.Table(get(t, client))
	assert.Equal(t, []any{"n", "Active"}, table.Rows[0].Cells[:2])
	assert.Len(t, table.ColumnDefinitions, 3)
}
