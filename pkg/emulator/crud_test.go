package emulator_test

import (
	"context"
	"maps"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/pkg/emulator"
)

// typed is what the typed client of a kind has for its main resource.
type typed[T metav1.Object, L runtime.Object] interface {
	Create(ctx context.Context, obj T, options metav1.CreateOptions) (T, error)
	Update(ctx context.Context, obj T, options metav1.UpdateOptions) (T, error)
	Delete(ctx context.Context, name string, options metav1.DeleteOptions) error
	Get(ctx context.Context, name string, options metav1.GetOptions) (T, error)
	List(ctx context.Context, options metav1.ListOptions) (L, error)
	Patch(ctx context.Context, name string, kind types.PatchType, data []byte, options metav1.PatchOptions, subresources ...string) (T, error)
}

// crud puts one object through its life.
func crud[T metav1.Object, L runtime.Object](client typed[T, L], obj T) func(*testing.T) {
	return func(t *testing.T) {
		ctx := t.Context()
		name := obj.GetName()
		obj.SetLabels(map[string]string{"step": "create"})
		created, err := client.Create(ctx, obj, metav1.CreateOptions{})
		require.NoError(t, err)
		assert.NotEmpty(t, created.GetUID())
		assert.NotEmpty(t, created.GetResourceVersion())
		assert.NotEmpty(t, created.GetManagedFields())
		_, err = client.Create(ctx, obj, metav1.CreateOptions{})
		require.True(t, apierrors.IsAlreadyExists(err), "%v", err)

		read, err := client.Get(ctx, name, metav1.GetOptions{})
		require.NoError(t, err)
		assert.Equal(t, created.GetUID(), read.GetUID())
		list, err := client.List(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + name})
		require.NoError(t, err)
		items, err := meta.ExtractList(list)
		require.NoError(t, err)
		require.Len(t, items, 1)

		read.SetLabels(map[string]string{"step": "update"})
		updated, err := client.Update(ctx, read, metav1.UpdateOptions{})
		require.NoError(t, err)
		assert.Equal(t, "update", updated.GetLabels()["step"])
		_, err = client.Update(ctx, read, metav1.UpdateOptions{})
		require.True(t, apierrors.IsConflict(err), "an old resource version must conflict, got %v", err)
		patched, err := client.Patch(ctx, name, types.MergePatchType, []byte(`{"metadata":{"labels":{"step":"patch"}}}`), metav1.PatchOptions{})
		require.NoError(t, err)
		assert.Equal(t, "patch", patched.GetLabels()["step"])

		// Finalizers of protection would keep the object; no controller runs that takes them away.
		_, err = client.Patch(ctx, name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
		require.NoError(t, err)
		require.NoError(t, client.Delete(ctx, name, metav1.DeleteOptions{
			GracePeriodSeconds: new(int64(0)),
			PropagationPolicy:  new(metav1.DeletePropagationBackground), // Jobs are orphaned otherwise, which takes a controller
		}))
	}
}

// gone checks that a deleted object is gone. Namespaces stay until a controller has emptied them.
func gone[T metav1.Object, L runtime.Object](client typed[T, L], name string) func(*testing.T) {
	return func(t *testing.T) {
		_, err := client.Get(t.Context(), name, metav1.GetOptions{})
		require.True(t, apierrors.IsNotFound(err), "%v", err)
	}
}

// kindTests returns a test for each served kind, by the name and version of its resource.
func kindTests(t *testing.T, config *rest.Config) map[string]func(*testing.T) {
	client, ours := kube(t, config), muster(t, config)
	const ns, name = "default", "crud"
	both := func(tests ...func(*testing.T)) func(*testing.T) {
		return func(t *testing.T) {
			for _, test := range tests {
				test(t)
			}
		}
	}
	var (
		configMaps      = client.CoreV1().ConfigMaps(ns)
		coreEvents      = client.CoreV1().Events(ns)
		namespaces      = client.CoreV1().Namespaces()
		nodes           = client.CoreV1().Nodes()
		pods            = client.CoreV1().Pods(ns)
		secrets         = client.CoreV1().Secrets(ns)
		serviceAccounts = client.CoreV1().ServiceAccounts(ns)
		jobs            = client.BatchV1().Jobs(ns)
		requests        = client.CertificatesV1().CertificateSigningRequests()
		leases          = client.CoordinationV1().Leases(ns)
		events          = client.EventsV1().Events(ns)
		roles           = client.RbacV1().Roles(ns)
		roleBindings    = client.RbacV1().RoleBindings(ns)
		clusterRoles    = client.RbacV1().ClusterRoles()
		clusterBindings = client.RbacV1().ClusterRoleBindings()
		classes         = client.SchedulingV1().PriorityClasses()
		podGroups       = ours.SchedulingV1alpha2().PodGroups(ns)
		workloads       = ours.SchedulingV1alpha2().Workloads(ns)
	)
	about := corev1.ObjectReference{Kind: "Pod", Namespace: ns, Name: "p"}
	return addPlainKinds(t, map[string]func(*testing.T){
		"configmaps.v1":      both(crud(configMaps, &corev1.ConfigMap{ObjectMeta: objectMeta(name), Data: map[string]string{"a": "b"}}), gone(configMaps, name)),
		"events.v1":          both(crud(coreEvents, &corev1.Event{ObjectMeta: objectMeta(name), InvolvedObject: about}), gone(coreEvents, name)),
		"namespaces.v1":      crud(namespaces, &corev1.Namespace{ObjectMeta: objectMeta(name)}),
		"nodes.v1":           both(crud(nodes, &corev1.Node{ObjectMeta: objectMeta(name)}), gone(nodes, name)),
		"pods.v1":            both(crud(pods, makePod(name)), gone(pods, name)),
		"secrets.v1":         both(crud(secrets, &corev1.Secret{ObjectMeta: objectMeta(name)}), gone(secrets, name)),
		"serviceaccounts.v1": both(crud(serviceAccounts, &corev1.ServiceAccount{ObjectMeta: objectMeta(name)}), gone(serviceAccounts, name)),
		"jobs.batch/v1":      both(crud(jobs, makeJob(name)), gone(jobs, name)),
		"certificatesigningrequests.certificates.k8s.io/v1": both(crud(requests, makeSigningRequest(t, name)), gone(requests, name)),
		"leases.coordination.k8s.io/v1": both(crud(leases, &coordinationv1.Lease{ObjectMeta: objectMeta(name)}),
			gone(leases, name)),
		"events.events.k8s.io/v1": both(crud(events, &eventsv1.Event{
			ObjectMeta: objectMeta(name), EventTime: metav1.NowMicro(), Regarding: about, Reason: "Testing", Action: "Test", Type: "Normal",
			ReportingController: "example.com/test", ReportingInstance: "test",
		}), gone(events, name)),
		"priorityclasses.scheduling.k8s.io/v1": both(crud(classes, &schedulingv1.PriorityClass{ObjectMeta: objectMeta(name), Value: 5}),
			gone(classes, name)),
		"roles.rbac.authorization.k8s.io/v1":        both(crud(roles, &rbacv1.Role{ObjectMeta: objectMeta(name)}), gone(roles, name)),
		"clusterroles.rbac.authorization.k8s.io/v1": both(crud(clusterRoles, &rbacv1.ClusterRole{ObjectMeta: objectMeta(name)}), gone(clusterRoles, name)),
		"rolebindings.rbac.authorization.k8s.io/v1": both(crud(roleBindings, &rbacv1.RoleBinding{
			ObjectMeta: objectMeta(name), RoleRef: rbacv1.RoleRef{Kind: "Role", Name: "r"},
		}), gone(roleBindings, name)),
		"clusterrolebindings.rbac.authorization.k8s.io/v1": both(crud(clusterBindings, &rbacv1.ClusterRoleBinding{
			ObjectMeta: objectMeta(name), RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: "r"},
		}), gone(clusterBindings, name)),
		"podgroups.scheduling.k8s.io/v1alpha2":              both(crud(podGroups, makePodGroup(name)), gone(podGroups, name)),
		"workloads.scheduling.k8s.io/v1alpha2":              both(crud(workloads, makeWorkload(name)), gone(workloads, name)),
		"customresourcedefinitions.apiextensions.k8s.io/v1": func(t *testing.T) { lifeOfADefinition(t, config) },
	}, client)
}

func TestLifeOfEveryKind(t *testing.T) {
	for encoding, configure := range map[string]func(*rest.Config) *rest.Config{"JSON": rest.CopyConfig, "protobuf": protobuf} {
		t.Run(encoding, func(t *testing.T) {
			server := start(t, emulator.Options{})
			tests := kindTests(t, configure(server.Config()))
			maps.Copy(tests, admissionKindTests(t, configure(server.Config())))
			for kind, test := range tests {
				t.Run(kind, test)
			}
			for _, resource := range servedResources(t, server.Config()) {
				assert.Contains(t, tests, resource, "a served kind is not tested")
			}
		})
	}
}

func TestProtobufAndJSONAgree(t *testing.T) {
	server := start(t, emulator.Options{})
	asJSON, asProtobuf := muster(t, server.Config()), muster(t, protobuf(server.Config()))
	workload := makeWorkload("w")
	workload.Spec.ControllerRef = &schedulingv1alpha2.TypedLocalObjectReference{APIGroup: "batch", Kind: "Job", Name: "j"}

	created, err := asProtobuf.SchedulingV1alpha2().Workloads("default").Create(t.Context(), workload, metav1.CreateOptions{})
	require.NoError(t, err)
	read, err := asJSON.SchedulingV1alpha2().Workloads("default").Get(t.Context(), "w", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, created.Spec.ControllerRef, read.Spec.ControllerRef)
	assert.Equal(t, created.Spec.PodGroupTemplates[0].SchedulingPolicy, read.Spec.PodGroupTemplates[0].SchedulingPolicy)
	assert.Equal(t, created.ResourceVersion, read.ResourceVersion)
}
