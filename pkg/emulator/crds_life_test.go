package emulator_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"

	"github.com/musterkube/muster/pkg/emulator"
)

func ownedByWidget(owner *unstructured.Unstructured) []metav1.OwnerReference {
	return []metav1.OwnerReference{{
		APIVersion: owner.GetAPIVersion(), Kind: owner.GetKind(), Name: owner.GetName(), UID: owner.GetUID(), BlockOwnerDeletion: new(true),
	}}
}

func TestGarbageCollectionOfCustomResources(t *testing.T) {
	for _, policy := range []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground} {
		t.Run(string(policy), func(t *testing.T) {
			server := start(t, emulator.Options{})
			createCRD(t, server.Config(), makeCRD()) // after the collector has started
			client := custom(t, server.Config())
			top, err := createWidget(t.Context(), client, "top", map[string]any{"size": int64(1)})
			require.NoError(t, err)
			_, err = kube(t, server.Config()).CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{Name: "child", OwnerReferences: ownedByWidget(top)},
			}, metav1.CreateOptions{})
			require.NoError(t, err)
			below := makeWidget("below", map[string]any{"size": int64(1)})
			below.SetOwnerReferences(ownedByWidget(top))
			_, err = client.Resource(widgets).Namespace("default").Create(t.Context(), below, metav1.CreateOptions{})
			require.NoError(t, err)

			require.NoError(t, client.Resource(widgets).Namespace("default").Delete(t.Context(), "top", metav1.DeleteOptions{PropagationPolicy: &policy}))
			await(t, server.Config(), configMaps, "default", "child", isGone)
			await(t, server.Config(), widgets, "default", "below", isGone)
			await(t, server.Config(), widgets, "default", "top", isGone)
		})
	}
}

func TestOwnersOfAnOlderVersionAreFound(t *testing.T) {
	server := start(t, emulator.Options{CRDs: []*apiextensionsv1.CustomResourceDefinition{makeCRD()}})
	client := custom(t, server.Config())
	owner, err := createWidget(t.Context(), client, "owner", map[string]any{"size": int64(1)})
	require.NoError(t, err)
	owner.SetAPIVersion("example.com/v1beta1")
	child := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "child", OwnerReferences: ownedByWidget(owner)}}
	_, err = kube(t, server.Config()).CoreV1().ConfigMaps("default").Create(t.Context(), child, metav1.CreateOptions{})
	require.NoError(t, err)
	require.NoError(t, client.Resource(widgets).Namespace("default").Delete(t.Context(), "owner", metav1.DeleteOptions{}))
	await(t, server.Config(), configMaps, "default", "child", isGone)
}

func TestNamespaceWithCustomResourcesEmpties(t *testing.T) {
	server := start(t, emulator.Options{})
	client := kube(t, server.Config())
	_, err := client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: objectMeta("ns")}, metav1.CreateOptions{})
	require.NoError(t, err)
	createCRD(t, server.Config(), makeCRD())
	inNamespace := custom(t, server.Config()).Resource(widgets).Namespace("ns")
	held := makeWidget("held", map[string]any{"size": int64(1)})
	held.SetFinalizers([]string{"example.com/hold"})
	for _, widget := range []*unstructured.Unstructured{held, makeWidget("free", map[string]any{"size": int64(1)})} {
		_, err = inNamespace.Create(t.Context(), widget, metav1.CreateOptions{})
		require.NoError(t, err)
	}
	require.NoError(t, client.CoreV1().Namespaces().Delete(t.Context(), "ns", metav1.DeleteOptions{}))
	await(t, server.Config(), widgets, "ns", "free", isGone)

	_, err = inNamespace.Create(t.Context(), makeWidget("late", map[string]any{"size": int64(1)}), metav1.CreateOptions{})
	require.True(t, apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause), "%v", err)
	_, err = inNamespace.Patch(t.Context(), "held", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	await(t, server.Config(), namespaces, "", "ns", isGone)
}

func TestCustomResourcesNeedTheirNamespace(t *testing.T) {
	server := start(t, emulator.Options{CRDs: []*apiextensionsv1.CustomResourceDefinition{makeCRD()}})
	_, err := custom(t, server.Config()).Resource(widgets).Namespace("nowhere").
		Create(t.Context(), makeWidget("w", map[string]any{"size": int64(1)}), metav1.CreateOptions{})
	require.True(t, apierrors.IsNotFound(err), "%v", err)
	assert.ErrorContains(t, err, `namespaces "nowhere" not found`)
}

func TestObjectsGoWithTheirDefinition(t *testing.T) {
	server := start(t, emulator.Options{})
	createCRD(t, server.Config(), makeCRD())
	client := custom(t, server.Config())
	var last *unstructured.Unstructured
	for i := range 3 {
		var err error
		last, err = createWidget(t.Context(), client, fmt.Sprintf("w%d", i), map[string]any{"size": int64(1)})
		require.NoError(t, err)
	}
	changes, err := client.Resource(widgets).Watch(t.Context(), metav1.ListOptions{ResourceVersion: last.GetResourceVersion()})
	require.NoError(t, err)
	defer changes.Stop()
	require.NoError(t, definitions(t, server.Config()).ApiextensionsV1().CustomResourceDefinitions().Delete(t.Context(), "widgets.example.com", metav1.DeleteOptions{}))
	for range 3 {
		assert.Equal(t, watch.Deleted, receive(t, changes.ResultChan()).Type)
	}
	await(t, server.Config(), crds, "", "widgets.example.com", isGone)
	_, open := <-changes.ResultChan()
	assert.False(t, open, "a watch of what is not served any more ends")
	assert.Eventually(t, func() bool {
		_, err := client.Resource(widgets).List(t.Context(), metav1.ListOptions{})
		return apierrors.IsNotFound(err)
	}, eventually, tick)

	createCRD(t, server.Config(), makeCRD())
	list, err := client.Resource(widgets).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	assert.Empty(t, list.Items)
}

func TestChangeOfADefinition(t *testing.T) {
	server := start(t, emulator.Options{})
	crd := createCRD(t, server.Config(), makeCRD())
	client := custom(t, server.Config())
	_, err := createWidget(t.Context(), client, "w", map[string]any{"size": int64(1), "added": "x"})
	require.NoError(t, err)
	changes, err := client.Resource(widgets).Watch(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	defer changes.Stop()

	for _, version := range crd.Spec.Versions {
		version.Schema.OpenAPIV3Schema.Properties["spec"].Properties["added"] = apiextensionsv1.JSONSchemaProps{Type: "string"}
	}
	_, err = definitions(t, server.Config()).ApiextensionsV1().CustomResourceDefinitions().Update(t.Context(), crd, metav1.UpdateOptions{})
	require.NoError(t, err)
	assert.Eventually(t, func() bool {
		patched, err := client.Resource(widgets).Namespace("default").Patch(t.Context(), "w", types.MergePatchType, []byte(`{"spec":{"added":"y"}}`), metav1.PatchOptions{})
		return err == nil && patched.Object["spec"].(map[string]any)["added"] == "y"
	}, eventually, tick)
	for range changes.ResultChan() { // its events would be those of the old schema
	}
}

func TestIdleServerNeedsNoGoroutineUntilThereAreDefinitions(t *testing.T) {
	requireNoGoroutines(t)
	server := start(t, emulator.Options{DisabledControllers: emulator.Controllers()})
	for _, path := range []string{"/apis", "/apis/example.com/v1/widgets", "/openapi/v3", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"} {
		raw(t, server.Config(), http.MethodGet, path, "", nil)
	}
	requireNoGoroutines(t)
	createCRD(t, server.Config(), makeCRD())
	assert.NotEmpty(t, stacks())
	server.Stop()
	requireNoGoroutines(t)
}

func TestStopInTheMiddleOfDefinitions(t *testing.T) {
	requireNoGoroutines(t)
	for range 10 {
		server, err := emulator.Start(t.Context(), emulator.Options{})
		require.NoError(t, err)
		client := definitions(t, server.Config()).ApiextensionsV1().CustomResourceDefinitions()
		_, err = client.Create(t.Context(), makeCRD(), metav1.CreateOptions{})
		require.NoError(t, err)
		server.Stop()
	}
	server := start(t, emulator.Options{CRDs: []*apiextensionsv1.CustomResourceDefinition{makeCRD()}})
	_, err := createWidget(t.Context(), custom(t, server.Config()), "w", map[string]any{"size": int64(1)})
	require.NoError(t, err)
	changes, err := custom(t, server.Config()).Resource(widgets).Watch(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.NoError(t, definitions(t, server.Config()).ApiextensionsV1().CustomResourceDefinitions().Delete(t.Context(), "widgets.example.com", metav1.DeleteOptions{}))
	server.Stop()
	for range changes.ResultChan() {
	}
	requireNoGoroutines(t)
}

func TestCustomResourcesInVirtualTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := start(t, emulator.Options{CRDPaths: []string{"testdata/crds/kueue.x-k8s.io_topologies.yaml"}})
		begin := time.Now() //nolint:forbidigo // the bubble's clock is the one to ask
		createCRD(t, server.Config(), makeCRD())
		client := custom(t, server.Config())
		informers := dynamicinformer.NewDynamicSharedInformerFactory(client, 0)
		added := 0
		_, err := informers.ForResource(widgets).Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) { added++ }})
		require.NoError(t, err)
		stop := make(chan struct{})
		informers.Start(stop)
		informers.WaitForCacheSync(stop)
		waited := time.Since(begin) //nolint:forbidigo // as above
		_, err = createWidget(t.Context(), client, "w", map[string]any{"size": int64(1)})
		require.NoError(t, err)
		synctest.Wait()
		assert.Equal(t, 1, added)
		assert.Equal(t, waited, time.Since(begin), "the first object takes no time") //nolint:forbidigo // as above

		time.Sleep(time.Hour) //nolint:forbidigo // virtual time
		update(t, client)
		deleted := time.Now() //nolint:forbidigo // as above
		require.NoError(t, definitions(t, server.Config()).ApiextensionsV1().CustomResourceDefinitions().Delete(t.Context(), "widgets.example.com", metav1.DeleteOptions{}))
		synctest.Wait()
		_, err = definitions(t, server.Config()).ApiextensionsV1().CustomResourceDefinitions().Get(t.Context(), "widgets.example.com", metav1.GetOptions{})
		require.True(t, apierrors.IsNotFound(err), "%v", err)
		assert.Zero(t, time.Since(deleted), "a definition goes without delay, with its objects") //nolint:forbidigo // as above
		close(stop)
		informers.Shutdown()
	})
}

func update(t *testing.T, client dynamic.Interface) {
	t.Helper()
	_, err := client.Resource(widgets).Namespace("default").Patch(t.Context(), "w", types.MergePatchType, []byte(`{"spec":{"size":2}}`), metav1.PatchOptions{})
	require.NoError(t, err)
}

// Only that the library's controllers start and stop is logged, at a verbosity that cannot be turned off.
func TestLittleIsLoggedOfDefinitions(t *testing.T) {
	klogged.take()
	server := start(t, emulator.Options{})
	createCRD(t, server.Config(), makeCRD())
	_, err := createWidget(t.Context(), custom(t, server.Config()), "w", map[string]any{"size": int64(1)})
	require.NoError(t, err)
	server.Stop()
	requireNoGoroutines(t)
	for line := range strings.Lines(klogged.take()) {
		assert.Regexp(t, `\] (Starting|Shutting down) \w+Controller\n$`, line)
	}
}
