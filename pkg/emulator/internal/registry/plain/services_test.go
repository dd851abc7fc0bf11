package plain_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/musterkube/muster/pkg/emulator/internal/registry/registrytest"
	"github.com/musterkube/muster/pkg/emulator/internal/scheme"
	"github.com/musterkube/muster/pkg/features"
)

func makeService(name string, change func(spec *corev1.ServiceSpec)) *corev1.Service {
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"},
		Spec:       corev1.ServiceSpec{Selector: map[string]string{"a": "b"}, Ports: []corev1.ServicePort{{Port: 80}}},
	}
	change(&service.Spec)
	scheme.New().Default(service)
	return service
}

func services(t *testing.T) registrytest.Client {
	t.Helper()
	return registrytest.New(t, features.Gates{}).Client(t, corev1.SchemeGroupVersion.WithResource("services"), "default")
}

func TestServicesGetAddresses(t *testing.T) {
	client := services(t)
	as := func(name string, change func(spec *corev1.ServiceSpec)) *corev1.Service {
		created, err := client.Create(makeService(name, change))
		require.NoError(t, err)
		return created.(*corev1.Service)
	}
	first := as("first", func(*corev1.ServiceSpec) {})
	assert.Equal(t, "10.96.0.2", first.Spec.ClusterIP)
	assert.Equal(t, []string{"10.96.0.2"}, first.Spec.ClusterIPs)
	assert.Equal(t, []corev1.IPFamily{corev1.IPv4Protocol}, first.Spec.IPFamilies)
	assert.Equal(t, "10.96.0.3", as("second", func(*corev1.ServiceSpec) {}).Spec.ClusterIP)
	assert.Equal(t, "None", as("headless", func(spec *corev1.ServiceSpec) { spec.ClusterIP = "None" }).Spec.ClusterIP)
	assert.Equal(t, "10.97.0.1", as("asked", func(spec *corev1.ServiceSpec) { spec.ClusterIP = "10.97.0.1" }).Spec.ClusterIP)
	nodePort := as("ports", func(spec *corev1.ServiceSpec) { spec.Type = corev1.ServiceTypeNodePort })
	assert.Equal(t, int32(30000), nodePort.Spec.Ports[0].NodePort)
	balancer := as("balancer", func(spec *corev1.ServiceSpec) {
		spec.Type, spec.ExternalTrafficPolicy = corev1.ServiceTypeLoadBalancer, corev1.ServiceExternalTrafficPolicyLocal
	})
	assert.Equal(t, int32(30001), balancer.Spec.Ports[0].NodePort)
	assert.Equal(t, int32(30002), balancer.Spec.HealthCheckNodePort)

	for name, change := range map[string]func(spec *corev1.ServiceSpec){
		"provided IP is already allocated":                          func(spec *corev1.ServiceSpec) { spec.ClusterIP = "10.96.0.2" },
		"the provided network does not match the current range":     func(spec *corev1.ServiceSpec) { spec.ClusterIP = "10.1.0.2" },
		"provided port is already allocated":                        func(spec *corev1.ServiceSpec) { spec.Type, spec.Ports[0].NodePort = corev1.ServiceTypeNodePort, 30000 },
		"The range of valid ports is 30000-32767":                   func(spec *corev1.ServiceSpec) { spec.Type, spec.Ports[0].NodePort = corev1.ServiceTypeNodePort, 80 },
		"not configured on this cluster":                            func(spec *corev1.ServiceSpec) { spec.IPFamilies = []corev1.IPFamily{corev1.IPv6Protocol} },
		"spec.ports: Required value":                                func(spec *corev1.ServiceSpec) { spec.Ports = nil },
		"may not be used when `type` is 'ClusterIP'":                func(spec *corev1.ServiceSpec) { spec.Ports[0].NodePort = 30010 },
		"may not be set to 'None' for NodePort services":            func(spec *corev1.ServiceSpec) { spec.Type, spec.ClusterIP = corev1.ServiceTypeNodePort, "None" },
		"spec.externalName: Required value":                         func(spec *corev1.ServiceSpec) { spec.Type = corev1.ServiceTypeExternalName },
		"may only be set for externally-accessible services":        func(spec *corev1.ServiceSpec) { spec.ExternalTrafficPolicy = "Local" },
		"must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::f": func(spec *corev1.ServiceSpec) { spec.ClusterIP = "x" },
	} {
		_, err := client.Create(makeService("refused", change))
		require.True(t, apierrors.IsInvalid(err), "%s: %v", name, err)
		assert.ErrorContains(t, err, name)
	}

	_, _, err := client.Delete("first", &metav1.DeleteOptions{})
	require.NoError(t, err)
	assert.Equal(t, "10.96.0.2", as("third", func(*corev1.ServiceSpec) {}).Spec.ClusterIP, "what a service had is free when it is gone")
}

func TestServicesKeepTheirAddresses(t *testing.T) {
	client := services(t)
	_, err := client.Create(makeService("s", func(*corev1.ServiceSpec) {}))
	require.NoError(t, err)
	change := func(change func(spec *corev1.ServiceSpec)) (*corev1.Service, error) {
		updated, err := client.Update("s", "", func(obj runtime.Object) {
			change(&obj.(*corev1.Service).Spec)
			scheme.New().Default(obj)
		})
		if err != nil {
			return nil, err
		}
		return updated.(*corev1.Service), nil
	}
	updated, err := change(func(spec *corev1.ServiceSpec) { spec.ClusterIP, spec.ClusterIPs = "", nil })
	require.NoError(t, err)
	assert.Equal(t, "10.96.0.2", updated.Spec.ClusterIP, "who leaves it out keeps it")
	_, err = change(func(spec *corev1.ServiceSpec) { spec.ClusterIP = "None" })
	assert.ErrorContains(t, err, "spec.clusterIPs[0]: Invalid value: [\"None\"]: may not change once set")
	updated, err = change(func(spec *corev1.ServiceSpec) { spec.Type = corev1.ServiceTypeNodePort })
	require.NoError(t, err)
	assert.Equal(t, int32(30000), updated.Spec.Ports[0].NodePort)
	updated, err = change(func(spec *corev1.ServiceSpec) { spec.Type = corev1.ServiceTypeClusterIP })
	require.NoError(t, err)
	assert.Zero(t, updated.Spec.Ports[0].NodePort)
	updated, err = change(func(spec *corev1.ServiceSpec) {
		spec.Type, spec.ExternalName = corev1.ServiceTypeExternalName, "a.example.com"
	})
	require.NoError(t, err)
	assert.Empty(t, updated.Spec.ClusterIP)
}

func TestStatefulSetsChangeLittle(t *testing.T) {
	forEach(t, func(t *testing.T, s *try) {
		if s.kind.Kind != "StatefulSet" {
			t.Skip("about StatefulSets")
		}
		s.create(t)
		_, err := s.client.Update("x", "", func(obj runtime.Object) { merge(t, obj, `{"spec":{"serviceName":"other"}}`) })
		assert.EqualError(t, err, `StatefulSet.apps "x" is invalid: spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', `+
			`'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden`)
	})
}

// Manifests that are refused, with the words of Kubernetes 1.36.
func TestRefusals(t *testing.T) {
	refused := map[string]map[string]string{
		"Deployment": {
			`{"spec":{"template":` + template + `}}`:                                                        "spec.selector: Required value",
			`{"spec":{"selector":{"matchLabels":{"x":"y"}},"template":` + template + `}}`:                   "spec.template.metadata.labels: Invalid value: {\"a\":\"b\"}: `selector` does not match template `labels`",
			`{"spec":{"strategy":{"type":"Recreate","rollingUpdate":{}},` + selected + `}}`:                 "spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'",
			`{"spec":{"strategy":{"rollingUpdate":{"maxUnavailable":0,"maxSurge":"0%"}},` + selected + `}}`: "spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0",
		},
		"DaemonSet": {`{"spec":{"updateStrategy":{"rollingUpdate":{"maxUnavailable":0}},` + selected + `}}`: "spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0"},
		"CronJob": {
			`{"spec":{"schedule":"x","jobTemplate":{"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}}}`:    "spec.schedule: Invalid value: \"x\": expected exactly 5 fields, found 1: [x]",
			`{"spec":{"schedule":"TZ=0","jobTemplate":{"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}}}`: "spec.schedule: Invalid value: \"TZ=0\": invalid schedule format",
		},
		"PodDisruptionBudget":   {`{"spec":{"minAvailable":"101%"}}`: "spec.minAvailable: Invalid value: \"101%\": must not be greater than 100%"},
		"PersistentVolumeClaim": {`{"spec":{"accessModes":["ReadWriteOnce"]}}`: "spec.resources[storage]: Required value"},
		"RuntimeClass":          {`{}`: "handler: Required value"},
		"EndpointSlice":         {`{"addressType":"IPv4","endpoints":[{"addresses":["::1"]}],"ports":[]}`: "must be an IPv4 address"},
	}
	forEach(t, func(t *testing.T, s *try) {
		for manifest, want := range refused[s.kind.Kind] {
			_, err := s.client.Create(s.decode(t, manifest))
			require.True(t, apierrors.IsInvalid(err), "%v", err)
			assert.ErrorContains(t, err, want)
		}
	})
}
