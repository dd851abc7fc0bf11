package emulator_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/musterkube/muster/pkg/emulator"
)

var (
	configMaps = corev1.SchemeGroupVersion.WithResource("configmaps")
	namespaces = corev1.SchemeGroupVersion.WithResource("namespaces")
)

// await returns the first state of an object that is as wanted; an object that is gone has the state nil.
func await(tb testing.TB, config *rest.Config, resource schema.GroupVersionResource, namespace, name string, wanted func(*metav1.PartialObjectMetadata) bool) {
	tb.Helper()
	resources, err := metadata.NewForConfig(config)
	require.NoError(tb, err)
	client := resources.Resource(resource).Namespace(namespace)
	object, err := client.Get(tb.Context(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		require.True(tb, wanted(nil), "%s %s/%s is gone", resource.Resource, namespace, name)
		return
	}
	require.NoError(tb, err)
	if wanted(object) {
		return
	}
	changes, err := client.Watch(tb.Context(), metav1.ListOptions{FieldSelector: "metadata.name=" + name, ResourceVersion: object.ResourceVersion})
	require.NoError(tb, err)
	defer changes.Stop()
	for change := range changes.ResultChan() {
		state, _ := change.Object.(*metav1.PartialObjectMetadata)
		if change.Type == watch.Deleted {
			state = nil
		}
		if wanted(state) {
			return
		}
		require.NotNil(tb, state, "%s %s/%s is gone", resource.Resource, namespace, name)
	}
	require.FailNow(tb, "the watch ended", "%s %s/%s", resource.Resource, namespace, name)
}

func isGone(object *metav1.PartialObjectMetadata) bool { return object == nil }

// family makes config maps that own one another.
type family struct {
	tb     testing.TB
	config *rest.Config
	client kubernetes.Interface
}

func newFamily(tb testing.TB, options emulator.Options) family {
	tb.Helper()
	server := start(tb, options)
	return family{tb, server.Config(), kube(tb, server.Config())}
}

func (f family) create(name string, finalizers []string, owners ...metav1.OwnerReference) *corev1.ConfigMap {
	f.tb.Helper()
	made, err := f.client.CoreV1().ConfigMaps("default").Create(f.tb.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: name, Finalizers: finalizers, OwnerReferences: owners},
	}, metav1.CreateOptions{})
	require.NoError(f.tb, err)
	return made
}

func (f family) delete(name string, policy metav1.DeletionPropagation) {
	f.tb.Helper()
	require.NoError(f.tb, f.client.CoreV1().ConfigMaps("default").Delete(f.tb.Context(), name, metav1.DeleteOptions{PropagationPolicy: &policy}))
}

func (f family) get(name string) *corev1.ConfigMap {
	f.tb.Helper()
	found, err := f.client.CoreV1().ConfigMaps("default").Get(f.tb.Context(), name, metav1.GetOptions{})
	require.NoError(f.tb, err)
	return found
}

func (f family) await(name string, wanted func(*metav1.PartialObjectMetadata) bool) {
	f.tb.Helper()
	await(f.tb, f.config, configMaps, "default", name, wanted)
}

// dropFinalizers lets an object go.
func (f family) dropFinalizers(name string) {
	f.tb.Helper()
	_, err := f.client.CoreV1().ConfigMaps("default").Patch(f.tb.Context(), name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	require.NoError(f.tb, err)
}

func ownedBy(owner *corev1.ConfigMap, blocking bool) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID, BlockOwnerDeletion: &blocking}
}

func TestBackgroundDeletionTakesTheDependents(t *testing.T) {
	f := newFamily(t, emulator.Options{})
	owner := f.create("owner", nil)
	child := f.create("child", nil, ownedBy(owner, true))
	f.create("grandchild", nil, ownedBy(child, false))
	f.create("stranger", nil)
	f.delete("owner", metav1.DeletePropagationBackground)
	f.await("child", isGone)
	f.await("grandchild", isGone)
	assert.Nil(t, f.get("stranger").DeletionTimestamp)
}

func TestForegroundDeletionWaitsForWhatBlocks(t *testing.T) {
	f := newFamily(t, emulator.Options{})
	owner := f.create("owner", nil)
	f.create("blocking", []string{"example.com/hold"}, ownedBy(owner, true))
	f.create("other", []string{"example.com/hold"}, ownedBy(owner, false))
	f.delete("owner", metav1.DeletePropagationForeground)
	deleting := func(object *metav1.PartialObjectMetadata) bool {
		return object != nil && object.DeletionTimestamp != nil
	}
	f.await("blocking", deleting)
	f.await("other", deleting)
	assert.Equal(t, []string{metav1.FinalizerDeleteDependents}, f.get("owner").Finalizers)
	f.dropFinalizers("blocking")
	f.await("owner", isGone)
	assert.NotNil(t, f.get("other").DeletionTimestamp, "it does not block, and still has a finalizer")
}

func TestOrphaningKeepsTheDependents(t *testing.T) {
	f := newFamily(t, emulator.Options{})
	owner, second := f.create("owner", nil), f.create("second", nil)
	f.create("child", nil, ownedBy(owner, true))
	f.create("shared", nil, ownedBy(owner, true), ownedBy(second, false))
	f.delete("owner", metav1.DeletePropagationOrphan)
	f.await("owner", isGone)
	assert.Empty(t, f.get("child").OwnerReferences)
	assert.Equal(t, []metav1.OwnerReference{ownedBy(second, false)}, f.get("shared").OwnerReferences)
}

func TestReferencesToNobody(t *testing.T) {
	f := newFamily(t, emulator.Options{})
	owner := f.create("owner", nil)
	never := ownedBy(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "never", UID: "11111111-1111-1111-1111-111111111111"}}, true)
	namesake := ownedBy(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owner", UID: "22222222-2222-2222-2222-222222222222"}}, true)
	f.create("of-nobody", nil, never)
	f.create("of-a-namesake", nil, namesake)
	f.create("of-both", nil, never, ownedBy(owner, false))
	f.await("of-nobody", isGone)
	f.await("of-a-namesake", isGone)
	f.await("of-both", func(object *metav1.PartialObjectMetadata) bool {
		return object != nil && len(object.OwnerReferences) == 1 && object.OwnerReferences[0].UID == owner.UID
	})
}

func TestOwnersInOtherNamespacesDoNotCount(t *testing.T) {
	f := newFamily(t, emulator.Options{})
	owner, err := f.client.CoreV1().ConfigMaps("kube-system").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: objectMeta("far")}, metav1.CreateOptions{})
	require.NoError(t, err)
	f.create("child", nil, ownedBy(owner, true))
	f.await("child", isGone)
	events, err := f.client.CoreV1().Events("default").List(t.Context(), metav1.ListOptions{FieldSelector: "reason=OwnerRefInvalidNamespace"})
	require.NoError(t, err)
	require.Len(t, events.Items, 1)
	assert.Equal(t, fmt.Sprintf(`ownerRef [v1/ConfigMap, namespace: default, name: far, uid: %s] does not exist in namespace "default"`, owner.UID), events.Items[0].Message)
}

func TestOwnersOfTheWholeClusterCount(t *testing.T) {
	f := newFamily(t, emulator.Options{})
	class, err := f.client.SchedulingV1().PriorityClasses().Create(t.Context(), &schedulingv1.PriorityClass{ObjectMeta: objectMeta("high"), Value: 1}, metav1.CreateOptions{})
	require.NoError(t, err)
	f.create("child", nil, metav1.OwnerReference{APIVersion: "scheduling.k8s.io/v1", Kind: "PriorityClass", Name: "high", UID: class.UID})

	// An object of the cluster cannot be owned by one in a namespace: nobody could say in which.
	owner := f.create("owner", nil)
	_, err = f.client.SchedulingV1().PriorityClasses().Create(t.Context(), &schedulingv1.PriorityClass{
		ObjectMeta: metav1.ObjectMeta{Name: "owned", OwnerReferences: []metav1.OwnerReference{ownedBy(owner, true)}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	f.delete("owner", metav1.DeletePropagationBackground)
	require.NoError(t, f.client.SchedulingV1().PriorityClasses().Delete(t.Context(), "high", metav1.DeleteOptions{}))
	f.await("child", isGone)
}

func TestCircleOfOwnersIsDeleted(t *testing.T) {
	for _, policy := range []metav1.DeletionPropagation{metav1.DeletePropagationForeground, metav1.DeletePropagationBackground} {
		t.Run(string(policy), func(t *testing.T) {
			f := newFamily(t, emulator.Options{})
			a := f.create("a", nil)
			b := f.create("b", nil, ownedBy(a, true))
			a.OwnerReferences = []metav1.OwnerReference{ownedBy(b, true)}
			_, err := f.client.CoreV1().ConfigMaps("default").Update(t.Context(), a, metav1.UpdateOptions{})
			require.NoError(t, err)
			f.delete("a", policy)
			f.await("a", isGone)
			f.await("b", isGone)
		})
	}
}

func TestWithoutGarbageCollectionDependentsStay(t *testing.T) {
	f := newFamily(t, emulator.Options{DisabledControllers: []string{emulator.ControllerGarbageCollector}})
	owner := f.create("owner", nil)
	f.create("child", nil, ownedBy(owner, true))
	f.delete("owner", metav1.DeletePropagationForeground)
	assert.NotNil(t, f.get("owner").DeletionTimestamp)
	assert.Nil(t, f.get("child").DeletionTimestamp)
	_, err := emulator.Start(t.Context(), emulator.Options{DisabledControllers: []string{"gc"}})
	assert.ErrorContains(t, err, `Options.DisabledControllers[0]: Unsupported value: "gc": supported values: "garbage-collector", "namespace", "clusterrole-aggregation"`)
}

func makeNamespace(tb testing.TB, client kubernetes.Interface, name string) {
	tb.Helper()
	_, err := client.CoreV1().Namespaces().Create(tb.Context(), &corev1.Namespace{ObjectMeta: objectMeta(name)}, metav1.CreateOptions{})
	require.NoError(tb, err)
}

func TestDeletedNamespaceIsEmptiedAndGoes(t *testing.T) {
	config := start(t, emulator.Options{}).Config()
	client := kube(t, config)
	makeNamespace(t, client, "doomed")
	held := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "held", Finalizers: []string{"example.com/hold"}}}
	_, err := client.CoreV1().ConfigMaps("doomed").Create(t.Context(), held, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = client.CoreV1().Secrets("doomed").Create(t.Context(), &corev1.Secret{ObjectMeta: objectMeta("s")}, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = client.CoreV1().Pods("doomed").Create(t.Context(), makePod("p"), metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = client.BatchV1().Jobs("doomed").Create(t.Context(), makeJob("j"), metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = muster(t, config).SchedulingV1alpha2().Workloads("doomed").Create(t.Context(), makeWorkload("w"), metav1.CreateOptions{})
	require.NoError(t, err)

	require.NoError(t, client.CoreV1().Namespaces().Delete(t.Context(), "doomed", metav1.DeleteOptions{}))
	namespace := awaitCondition(t, client, "doomed", corev1.NamespaceFinalizersRemaining, corev1.ConditionTrue)
	messages := map[corev1.NamespaceConditionType]string{}
	for _, condition := range namespace.Status.Conditions {
		messages[condition.Type] = condition.Message
	}
	assert.Equal(t, map[corev1.NamespaceConditionType]string{
		corev1.NamespaceDeletionDiscoveryFailure: "All resources successfully discovered",
		corev1.NamespaceDeletionGVParsingFailure: "All legacy kube types successfully parsed",
		corev1.NamespaceDeletionContentFailure:   "All content successfully deleted, may be waiting on finalization",
		corev1.NamespaceContentRemaining:         "Some resources are remaining: configmaps. has 1 resource instances",
		corev1.NamespaceFinalizersRemaining:      "Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances",
	}, messages)

	_, err = client.CoreV1().ConfigMaps("doomed").Patch(t.Context(), "held", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	await(t, config, namespaces, "", "doomed", isGone)
}

// awaitCondition returns the namespace once it has a condition.
func awaitCondition(t *testing.T, client kubernetes.Interface, name string, kind corev1.NamespaceConditionType, status corev1.ConditionStatus) *corev1.Namespace {
	t.Helper()
	changes, err := client.CoreV1().Namespaces().Watch(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=" + name})
	require.NoError(t, err)
	defer changes.Stop()
	for change := range changes.ResultChan() {
		namespace, ok := change.Object.(*corev1.Namespace)
		require.True(t, ok)
		for _, condition := range namespace.Status.Conditions {
			if condition.Type == kind && condition.Status == status {
				return namespace
			}
		}
		require.NotEqual(t, watch.Deleted, change.Type, "it is gone without the condition")
	}
	require.FailNow(t, "the watch ended")
	return nil
}

func BenchmarkCollect1000Dependents(b *testing.B) {
	for _, policy := range []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground} {
		b.Run(string(policy), func(b *testing.B) {
			f := newFamily(b, emulator.Options{})
			for b.Loop() {
				b.StopTimer()
				owner := f.create("owner", nil)
				for i := range 1000 {
					f.create(fmt.Sprintf("child-%d", i), nil, ownedBy(owner, true))
				}
				b.StartTimer()
				f.delete("owner", policy)
				awaitNone(b.Context(), b, f.client, "default")
			}
		})
	}
}

func BenchmarkDeleteNamespaceOf1000Objects(b *testing.B) {
	f := newFamily(b, emulator.Options{})
	for b.Loop() {
		b.StopTimer()
		makeNamespace(b, f.client, "doomed")
		for i := range 1000 {
			_, err := f.client.CoreV1().ConfigMaps("doomed").Create(b.Context(), &corev1.ConfigMap{ObjectMeta: objectMeta(fmt.Sprintf("c-%d", i))}, metav1.CreateOptions{})
			require.NoError(b, err)
		}
		b.StartTimer()
		require.NoError(b, f.client.CoreV1().Namespaces().Delete(b.Context(), "doomed", metav1.DeleteOptions{}))
		await(b, f.config, namespaces, "", "doomed", isGone)
	}
}

// awaitNone returns when a namespace has no config map any more.
func awaitNone(ctx context.Context, tb testing.TB, client kubernetes.Interface, namespace string) {
	tb.Helper()
	list, err := client.CoreV1().ConfigMaps(namespace).List(ctx, metav1.ListOptions{})
	require.NoError(tb, err)
	left := map[types.UID]bool{}
	for _, item := range list.Items {
		left[item.UID] = true
	}
	changes, err := client.CoreV1().ConfigMaps(namespace).Watch(ctx, metav1.ListOptions{ResourceVersion: list.ResourceVersion})
	require.NoError(tb, err)
	defer changes.Stop()
	for len(left) > 0 {
		change := <-changes.ResultChan()
		if change.Type == watch.Deleted {
			delete(left, change.Object.(*corev1.ConfigMap).UID)
		}
	}
}
