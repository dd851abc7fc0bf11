package emulator_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/musterkube/muster/pkg/emulator"
)

const (
	podTemplate  = `{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}`
	withSelector = `{"spec":{"selector":{"matchLabels":{"a":"b"}},"template":` + podTemplate + `}}`
	withClaim    = `{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"gpu.example.com"}}]}}`
)

// manifests has an object of each kind that has no test of its own here, by resource and version, with its kind.
func manifests() map[string][2]string {
	return map[string][2]string{
		"endpoints.v1":                      {"Endpoints", `{"subsets":[{"addresses":[{"ip":"10.0.0.1"}],"ports":[{"port":80}]}]}`},
		"limitranges.v1":                    {"LimitRange", `{"spec":{"limits":[{"type":"Container","max":{"cpu":"2"}}]}}`},
		"persistentvolumeclaims.v1":         {"PersistentVolumeClaim", `{"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}`},
		"persistentvolumes.v1":              {"PersistentVolume", `{"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"hostPath":{"path":"/x"}}}`},
		"podtemplates.v1":                   {"PodTemplate", `{"template":` + podTemplate + `}`},
		"replicationcontrollers.v1":         {"ReplicationController", `{"spec":{"template":` + podTemplate + `}}`},
		"resourcequotas.v1":                 {"ResourceQuota", `{"spec":{"hard":{"pods":"3"}}}`},
		"services.v1":                       {"Service", `{"spec":{"ports":[{"port":80}],"selector":{"a":"b"}}}`},
		"controllerrevisions.apps/v1":       {"ControllerRevision", `{"revision":1,"data":{"a":"b"}}`},
		"daemonsets.apps/v1":                {"DaemonSet", withSelector},
		"deployments.apps/v1":               {"Deployment", withSelector},
		"replicasets.apps/v1":               {"ReplicaSet", withSelector},
		"statefulsets.apps/v1":              {"StatefulSet", withSelector},
		"cronjobs.batch/v1":                 {"CronJob", `{"spec":{"schedule":"0 * * * *","jobTemplate":{"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}}}`},
		"poddisruptionbudgets.policy/v1":    {"PodDisruptionBudget", `{"spec":{"minAvailable":1,"selector":{"matchLabels":{"a":"b"}}}}`},
		"runtimeclasses.node.k8s.io/v1":     {"RuntimeClass", `{"handler":"runc"}`},
		"storageclasses.storage.k8s.io/v1":  {"StorageClass", `{"provisioner":"example.com/p"}`},
		"ingresses.networking.k8s.io/v1":    {"Ingress", `{"spec":{"defaultBackend":{"service":{"name":"s","port":{"number":80}}}}}`},
		"deviceclasses.resource.k8s.io/v1":  {"DeviceClass", `{"spec":{}}`},
		"resourceclaims.resource.k8s.io/v1": {"ResourceClaim", `{"spec":` + withClaim + `}`},
		"resourceslices.resource.k8s.io/v1": {"ResourceSlice", `{"spec":{"driver":"d.example.com","nodeName":"n","pool":{"name":"p","generation":1,"resourceSliceCount":1}}}`},

		"horizontalpodautoscalers.autoscaling/v2":   {"HorizontalPodAutoscaler", `{"spec":{"maxReplicas":3,"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"d"}}}`},
		"endpointslices.discovery.k8s.io/v1":        {"EndpointSlice", `{"addressType":"IPv4","endpoints":[{"addresses":["10.0.0.1"]}],"ports":[{"port":80}]}`},
		"ingressclasses.networking.k8s.io/v1":       {"IngressClass", `{"spec":{"controller":"example.com/c"}}`},
		"networkpolicies.networking.k8s.io/v1":      {"NetworkPolicy", `{"spec":{"podSelector":{}}}`},
		"resourceclaimtemplates.resource.k8s.io/v1": {"ResourceClaimTemplate", `{"spec":{"spec":` + withClaim + `}}`},
	}
}

// clusterScoped are those of them that live outside namespaces.
var clusterScoped = map[string]bool{"PersistentVolume": true, "RuntimeClass": true, "StorageClass": true, "DeviceClass": true, "ResourceSlice": true, "IngressClass": true}

// life returns the test of a kind that has a manifest.
func life[T any, P interface {
	*T
	metav1.Object
}, L runtime.Object](t *testing.T, manifest string, client typed[P, L]) func(*testing.T) {
	t.Helper()
	obj := P(new(T))
	require.NoError(t, json.Unmarshal([]byte(manifest), obj))
	obj.SetName("crud")
	return func(t *testing.T) {
		crud(client, obj)(t)
		gone(client, "crud")(t)
	}
}

// plainKindTests returns tests of the kinds that have a manifest, by resource and version.
func plainKindTests(t *testing.T, client kubernetes.Interface) map[string]func(*testing.T) {
	t.Helper()
	const ns = "default"
	m := func(resource string) string { return manifests()[resource][1] }
	core, apps, devices, networking := client.CoreV1(), client.AppsV1(), client.ResourceV1(), client.NetworkingV1()
	return map[string]func(*testing.T){
		"endpoints.v1":                              life[corev1.Endpoints](t, m("endpoints.v1"), core.Endpoints(ns)), //nolint:staticcheck // Served, though deprecated.
		"limitranges.v1":                            life[corev1.LimitRange](t, m("limitranges.v1"), core.LimitRanges(ns)),
		"persistentvolumeclaims.v1":                 life[corev1.PersistentVolumeClaim](t, m("persistentvolumeclaims.v1"), core.PersistentVolumeClaims(ns)),
		"persistentvolumes.v1":                      life[corev1.PersistentVolume](t, m("persistentvolumes.v1"), core.PersistentVolumes()),
		"podtemplates.v1":                           life[corev1.PodTemplate](t, m("podtemplates.v1"), core.PodTemplates(ns)),
		"replicationcontrollers.v1":                 life[corev1.ReplicationController](t, m("replicationcontrollers.v1"), core.ReplicationControllers(ns)),
		"resourcequotas.v1":                         life[corev1.ResourceQuota](t, m("resourcequotas.v1"), core.ResourceQuotas(ns)),
		"services.v1":                               life[corev1.Service](t, m("services.v1"), core.Services(ns)),
		"controllerrevisions.apps/v1":               life[appsv1.ControllerRevision](t, m("controllerrevisions.apps/v1"), apps.ControllerRevisions(ns)),
		"daemonsets.apps/v1":                        life[appsv1.DaemonSet](t, m("daemonsets.apps/v1"), apps.DaemonSets(ns)),
		"deployments.apps/v1":                       life[appsv1.Deployment](t, m("deployments.apps/v1"), apps.Deployments(ns)),
		"replicasets.apps/v1":                       life[appsv1.ReplicaSet](t, m("replicasets.apps/v1"), apps.ReplicaSets(ns)),
		"statefulsets.apps/v1":                      life[appsv1.StatefulSet](t, m("statefulsets.apps/v1"), apps.StatefulSets(ns)),
		"cronjobs.batch/v1":                         life[batchv1.CronJob](t, m("cronjobs.batch/v1"), client.BatchV1().CronJobs(ns)),
		"poddisruptionbudgets.policy/v1":            life[policyv1.PodDisruptionBudget](t, m("poddisruptionbudgets.policy/v1"), client.PolicyV1().PodDisruptionBudgets(ns)),
		"runtimeclasses.node.k8s.io/v1":             life[nodev1.RuntimeClass](t, m("runtimeclasses.node.k8s.io/v1"), client.NodeV1().RuntimeClasses()),
		"storageclasses.storage.k8s.io/v1":          life[storagev1.StorageClass](t, m("storageclasses.storage.k8s.io/v1"), client.StorageV1().StorageClasses()),
		"ingresses.networking.k8s.io/v1":            life[networkingv1.Ingress](t, m("ingresses.networking.k8s.io/v1"), networking.Ingresses(ns)),
		"ingressclasses.networking.k8s.io/v1":       life[networkingv1.IngressClass](t, m("ingressclasses.networking.k8s.io/v1"), networking.IngressClasses()),
		"networkpolicies.networking.k8s.io/v1":      life[networkingv1.NetworkPolicy](t, m("networkpolicies.networking.k8s.io/v1"), networking.NetworkPolicies(ns)),
		"deviceclasses.resource.k8s.io/v1":          life[resourcev1.DeviceClass](t, m("deviceclasses.resource.k8s.io/v1"), devices.DeviceClasses()),
		"resourceclaims.resource.k8s.io/v1":         life[resourcev1.ResourceClaim](t, m("resourceclaims.resource.k8s.io/v1"), devices.ResourceClaims(ns)),
		"resourceclaimtemplates.resource.k8s.io/v1": life[resourcev1.ResourceClaimTemplate](t, m("resourceclaimtemplates.resource.k8s.io/v1"), devices.ResourceClaimTemplates(ns)),
		"resourceslices.resource.k8s.io/v1":         life[resourcev1.ResourceSlice](t, m("resourceslices.resource.k8s.io/v1"), devices.ResourceSlices()),
		"endpointslices.discovery.k8s.io/v1":        life[discoveryv1.EndpointSlice](t, m("endpointslices.discovery.k8s.io/v1"), client.DiscoveryV1().EndpointSlices(ns)),
		"horizontalpodautoscalers.autoscaling/v2": life[autoscalingv2.HorizontalPodAutoscaler](t, m("horizontalpodautoscalers.autoscaling/v2"),
			client.AutoscalingV2().HorizontalPodAutoscalers(ns)),
	}
}

// applied is an object of a manifest with the client that applies it.
func applied(t *testing.T, config *rest.Config, name string, manifest [2]string, namespace string) (dynamic.ResourceInterface, *unstructured.Unstructured) {
	t.Helper()
	client, err := dynamic.NewForConfig(config)
	require.NoError(t, err)
	plural, version, _ := strings.Cut(name, ".")
	gv, err := schema.ParseGroupVersion(version)
	require.NoError(t, err)
	obj := &unstructured.Unstructured{}
	require.NoError(t, json.Unmarshal([]byte(manifest[1]), &obj.Object))
	obj.SetGroupVersionKind(gv.WithKind(manifest[0]))
	obj.SetName("applied")
	resources := client.Resource(gv.WithResource(plural))
	if clusterScoped[manifest[0]] {
		return resources, obj
	}
	obj.SetNamespace(namespace)
	return resources.Namespace(namespace), obj
}

func TestEveryKindIsApplied(t *testing.T) {
	server := start(t, emulator.Options{})
	for name, manifest := range manifests() {
		t.Run(name, func(t *testing.T) {
			client, obj := applied(t, server.Config(), name, manifest, "default")
			created, err := client.Apply(t.Context(), "applied", obj, metav1.ApplyOptions{FieldManager: "test"})
			require.NoError(t, err)
			require.Len(t, created.GetManagedFields(), 1)
			again, err := client.Apply(t.Context(), "applied", obj, metav1.ApplyOptions{FieldManager: "test"})
			require.NoError(t, err)
			assert.Equal(t, created.GetResourceVersion(), again.GetResourceVersion(), "nothing is left to do")
			labelled := obj.DeepCopy()
			labelled.SetLabels(map[string]string{"l": "m"})
			changed, err := client.Apply(t.Context(), "applied", labelled, metav1.ApplyOptions{FieldManager: "test"})
			require.NoError(t, err)
			assert.Equal(t, "m", changed.GetLabels()["l"])
			unlabelled, err := client.Apply(t.Context(), "applied", obj, metav1.ApplyOptions{FieldManager: "test"})
			require.NoError(t, err)
			assert.NotContains(t, unlabelled.GetLabels(), "l", "what is not applied any more goes")
		})
	}
}

func TestScale(t *testing.T) {
	server := start(t, emulator.Options{})
	for _, name := range []string{"deployments.apps/v1", "replicasets.apps/v1", "statefulsets.apps/v1", "replicationcontrollers.v1"} {
		t.Run(name, func(t *testing.T) {
			client, obj := applied(t, server.Config(), name, manifests()[name], "default")
			_, err := client.Create(t.Context(), obj, metav1.CreateOptions{})
			require.NoError(t, err)
			seen, err := client.Get(t.Context(), "applied", metav1.GetOptions{}, "scale")
			require.NoError(t, err)
			assert.Equal(t, "autoscaling/v1", seen.GetAPIVersion())
			var scale autoscalingv1.Scale
			require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(seen.Object, &scale))
			assert.Equal(t, int32(1), scale.Spec.Replicas)
			assert.Equal(t, "a=b", scale.Status.Selector)

			_, err = client.Patch(t.Context(), "applied", types.MergePatchType, []byte(`{"spec":{"replicas":5}}`), metav1.PatchOptions{}, "scale")
			require.NoError(t, err)
			scaled, err := client.Get(t.Context(), "applied", metav1.GetOptions{})
			require.NoError(t, err)
			replicas, _, err := unstructured.NestedInt64(scaled.Object, "spec", "replicas")
			require.NoError(t, err)
			assert.Equal(t, int64(5), replicas)
			assert.Equal(t, int64(2), scaled.GetGeneration())

			_, err = client.Update(t.Context(), seen, metav1.UpdateOptions{}, "scale")
			assert.True(t, apierrors.IsConflict(err), "an old resource version must conflict, got %v", err)
			_, err = client.Patch(t.Context(), "applied", types.MergePatchType, []byte(`{"spec":{"replicas":-1}}`), metav1.PatchOptions{}, "scale")
			assert.ErrorContains(t, err, "spec.replicas: Invalid value: -1: must be greater than or equal to 0")
		})
	}
}

func TestNamespacesAreEmptiedOfEveryKind(t *testing.T) {
	server := start(t, emulator.Options{})
	client := kube(t, server.Config())
	full, err := client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "full"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	watching, err := client.CoreV1().Namespaces().Watch(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=full", ResourceVersion: full.ResourceVersion})
	require.NoError(t, err)
	defer watching.Stop()
	for name, manifest := range manifests() {
		if clusterScoped[manifest[0]] {
			continue
		}
		resources, obj := applied(t, server.Config(), name, manifest, "full")
		_, err := resources.Create(t.Context(), obj, metav1.CreateOptions{})
		require.NoError(t, err, name)
	}
	require.NoError(t, client.CoreV1().Namespaces().Delete(t.Context(), "full", metav1.DeleteOptions{}))
	for event := range watching.ResultChan() {
		if event.Type == "DELETED" {
			return
		}
	}
	t.Fatal("the namespace is still there")
}

func TestDependentsOfDeploymentsGo(t *testing.T) {
	server := start(t, emulator.Options{})
	client := kube(t, server.Config())
	owners, owner := applied(t, server.Config(), "deployments.apps/v1", manifests()["deployments.apps/v1"], "default")
	created, err := owners.Create(t.Context(), owner, metav1.CreateOptions{})
	require.NoError(t, err)
	sets, set := applied(t, server.Config(), "replicasets.apps/v1", manifests()["replicasets.apps/v1"], "default")
	set.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "Deployment", Name: created.GetName(), UID: created.GetUID()}})
	made, err := sets.Create(t.Context(), set, metav1.CreateOptions{})
	require.NoError(t, err)
	// From a version on, or the watch may begin when the set is gone.
	watching, err := client.AppsV1().ReplicaSets("default").Watch(t.Context(), metav1.ListOptions{ResourceVersion: made.GetResourceVersion()})
	require.NoError(t, err)
	defer watching.Stop()
	require.NoError(t, owners.Delete(t.Context(), "applied", metav1.DeleteOptions{}))
	for event := range watching.ResultChan() {
		if event.Type == "DELETED" {
			return
		}
	}
	t.Fatal("the replica set is still there")
}

// addPlainKinds adds the tests of kinds that have a manifest.
func addPlainKinds(t *testing.T, tests map[string]func(*testing.T), client kubernetes.Interface) map[string]func(*testing.T) {
	t.Helper()
	maps.Copy(tests, plainKindTests(t, client))
	return tests
}
