package registry_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

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

func TestTheAPIHasAService(t *testing.T) {
	storages := registrytest.New(t, features.Gates{})
	services := storages.Client(t, corev1.SchemeGroupVersion.WithResource("services"), "default")
	obj, err := services.Get("kubernetes")
	require.NoError(t, err)
	service := obj.(*corev1.Service)
	assert.Equal(t, map[string]string{"component": "apiserver", "provider": "kubernetes"}, service.Labels)
	assert.Equal(t, corev1.ServiceSpec{
		Type: corev1.ServiceTypeClusterIP, ClusterIP: "10.96.0.1", ClusterIPs: []string{"10.96.0.1"},
		Ports:           []corev1.ServicePort{{Name: "https", Protocol: corev1.ProtocolTCP, Port: 443, TargetPort: intstr.FromInt32(6443)}},
		SessionAffinity: corev1.ServiceAffinityNone,
		IPFamilies:      []corev1.IPFamily{corev1.IPv4Protocol}, IPFamilyPolicy: new(corev1.IPFamilyPolicySingleStack),
		InternalTrafficPolicy: new(corev1.ServiceInternalTrafficPolicyCluster),
	}, service.Spec)
	require.Len(t, service.ManagedFields, 1)
	assert.Equal(t, "kube-apiserver", service.ManagedFields[0].Manager)

	other := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "other"},
		Spec: corev1.ServiceSpec{
			Type: corev1.ServiceTypeClusterIP, ClusterIP: "10.96.0.1", SessionAffinity: corev1.ServiceAffinityNone,
			Ports: []corev1.ServicePort{{Protocol: corev1.ProtocolTCP, Port: 80, TargetPort: intstr.FromInt32(80)}},
		},
	}
	_, err = services.Create(other)
	assert.ErrorContains(t, err, "failed to allocate IP 10.96.0.1: provided IP is already allocated")

	_, err = services.Update("kubernetes", "", func(obj runtime.Object) { obj.(*corev1.Service).Labels["component"] = "changed" })
	require.NoError(t, err)
	require.NoError(t, registry.Bootstrap(t.Context(), storages))
	obj, err = services.Get("kubernetes")
	require.NoError(t, err)
	assert.Equal(t, "changed", obj.(*corev1.Service).Labels["component"], "a service that is there stays as it is")
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
