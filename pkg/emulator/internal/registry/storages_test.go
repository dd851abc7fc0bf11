package registry_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/pkg/emulator/internal/registry"
	"github.com/musterkube/muster/pkg/emulator/internal/registry/registrytest"
	"github.com/musterkube/muster/pkg/features"
)

func TestStoragesNeedSomewhereToStore(t *testing.T) {
	_, err := registry.Storages(registry.Config{})
	assert.ErrorContains(t, err, "no RESTOptionsGetter")
}

func TestAlphaVersionGoesWithItsGate(t *testing.T) {
	assert.Contains(t, registrytest.New(t, features.Gates{}), schedulingv1alpha2.SchemeGroupVersion)
	assert.NotContains(t, registrytest.New(t, features.KubernetesDefaults()), schedulingv1alpha2.SchemeGroupVersion)
}

func TestBothEventAPIsShareOneStorage(t *testing.T) {
	storages := registrytest.New(t, features.Gates{})
	assert.Same(t, storages[corev1.SchemeGroupVersion]["events"], storages[eventsv1.SchemeGroupVersion]["events"])
}

func TestBootstrap(t *testing.T) {
	storages := registrytest.New(t, features.Gates{})
	namespaces := storages.Client(t, corev1.SchemeGroupVersion.WithResource("namespaces"), "")
	for _, name := range []string{"default", "kube-system", "kube-public", "kube-node-lease"} {
		obj, err := namespaces.Get(name)
		require.NoError(t, err)
		namespace := obj.(*corev1.Namespace)
		assert.Equal(t, corev1.NamespaceActive, namespace.Status.Phase)
		assert.Equal(t, []corev1.FinalizerName{corev1.FinalizerKubernetes}, namespace.Spec.Finalizers)
		assert.Equal(t, name, namespace.Labels[corev1.LabelMetadataName])
	}
	classes := storages.Client(t, schedulingv1.SchemeGroupVersion.WithResource("priorityclasses"), "")
	obj, err := classes.Get("system-node-critical")
	require.NoError(t, err)
	before := obj.(*schedulingv1.PriorityClass)
	assert.Equal(t, int32(2000001000), before.Value)
	require.Len(t, before.ManagedFields, 1)
	assert.Equal(t, "kube-apiserver", before.ManagedFields[0].Manager)

	require.NoError(t, registry.Bootstrap(t.Context(), storages), "a store that was filled before is taken as it is")
	obj, err = classes.Get("system-node-critical")
	require.NoError(t, err)
	assert.Equal(t, before.ResourceVersion, obj.(*schedulingv1.PriorityClass).ResourceVersion)

	_, _, err = classes.Delete("system-node-critical", &metav1.DeleteOptions{})
	assert.EqualError(t, err, `priorityclasses.scheduling.k8s.io "system-node-critical" is forbidden: this is a system priority class and cannot be deleted`)
}
