package emulator_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/generated/informers/externalversions"
	"github.com/musterkube/muster/pkg/emulator"
)

// describe is an event in a word or two.
func describe(event watch.Event) string {
	if status, ok := event.Object.(*metav1.Status); ok {
		return fmt.Sprintf("%s %d", event.Type, status.Code)
	}
	object := event.Object.(metav1.Object)
	return fmt.Sprintf("%s %s %s", event.Type, object.GetName(), object.GetLabels()["v"])
}

// label sets the label v of config map a and returns its new resource version.
func label(t *testing.T, server *emulator.Server, value string) string {
	t.Helper()
	patched, err := kube(t, server.Config()).CoreV1().ConfigMaps("default").Patch(t.Context(), "a", types.MergePatchType,
		[]byte(`{"metadata":{"labels":{"v":"`+value+`"}}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	return patched.ResourceVersion
}

func TestWatchResumesAtAResourceVersion(t *testing.T) {
	server := start(t, emulator.Options{})
	configMaps := kube(t, server.Config()).CoreV1().ConfigMaps("default")
	created, err := configMaps.Create(t.Context(), makeConfigMap("a"), metav1.CreateOptions{})
	require.NoError(t, err)
	label(t, server, "1")
	label(t, server, "2")
	require.NoError(t, configMaps.Delete(t.Context(), "a", metav1.DeleteOptions{}))

	watching, err := configMaps.Watch(t.Context(), metav1.ListOptions{ResourceVersion: created.ResourceVersion})
	require.NoError(t, err)
	defer watching.Stop()
	for _, want := range []string{"MODIFIED a 1", "MODIFIED a 2", "DELETED a 2"} {
		assert.Equal(t, want, describe(receive(t, watching.ResultChan())))
	}
}

func TestWatchWithASelectorSeesObjectsComeAndGo(t *testing.T) {
	server := start(t, emulator.Options{})
	configMaps := kube(t, server.Config()).CoreV1().ConfigMaps("default")
	created, err := configMaps.Create(t.Context(), makeConfigMap("a"), metav1.CreateOptions{})
	require.NoError(t, err)
	watching, err := configMaps.Watch(t.Context(), metav1.ListOptions{LabelSelector: "v=1", ResourceVersion: created.ResourceVersion})
	require.NoError(t, err)
	defer watching.Stop()
	label(t, server, "1")
	label(t, server, "2")
	assert.Equal(t, "ADDED a 1", describe(receive(t, watching.ResultChan())))
	assert.Equal(t, "DELETED a 1", describe(receive(t, watching.ResultChan())))
}

func TestWatchOfWhatWasCompacted(t *testing.T) {
	server := start(t, emulator.Options{})
	configMaps := kube(t, server.Config()).CoreV1().ConfigMaps("default")
	created, err := configMaps.Create(t.Context(), makeConfigMap("a"), metav1.CreateOptions{})
	require.NoError(t, err)
	label(t, server, "1")
	last := label(t, server, "2")
	require.NoError(t, server.Compact(t.Context()))

	watching, err := configMaps.Watch(t.Context(), metav1.ListOptions{ResourceVersion: created.ResourceVersion})
	require.NoError(t, err)
	assert.Equal(t, "ERROR 410", describe(receive(t, watching.ResultChan())))
	_, err = configMaps.List(t.Context(), metav1.ListOptions{ResourceVersion: created.ResourceVersion, ResourceVersionMatch: metav1.ResourceVersionMatchExact})
	assert.True(t, apierrors.IsResourceExpired(err), "%v", err)

	watching, err = configMaps.Watch(t.Context(), metav1.ListOptions{ResourceVersion: last})
	require.NoError(t, err)
	defer watching.Stop()
	label(t, server, "3")
	assert.Equal(t, "MODIFIED a 3", describe(receive(t, watching.ResultChan())))
}

func TestWatchListEndsItsInitialEventsWithABookmark(t *testing.T) {
	server := start(t, emulator.Options{})
	configMaps := kube(t, server.Config()).CoreV1().ConfigMaps("default")
	for _, name := range []string{"a", "b"} {
		_, err := configMaps.Create(t.Context(), makeConfigMap(name), metav1.CreateOptions{})
		require.NoError(t, err)
	}
	watching, err := configMaps.Watch(t.Context(), metav1.ListOptions{
		SendInitialEvents: new(true), ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, AllowWatchBookmarks: true,
	})
	require.NoError(t, err)
	defer watching.Stop()
	assert.Equal(t, "ADDED a ", describe(receive(t, watching.ResultChan())))
	assert.Equal(t, "ADDED b ", describe(receive(t, watching.ResultChan())))
	end := receive(t, watching.ResultChan())
	assert.Equal(t, watch.Bookmark, end.Type)
	assert.Equal(t, "true", end.Object.(*corev1.ConfigMap).Annotations[metav1.InitialEventsAnnotationKey])
}

func TestQuietWatchesGetBookmarks(t *testing.T) {
	cases := map[string]struct {
		allow bool
		want  []string
	}{
		"if they allow them":     {allow: true, want: []string{"BOOKMARK", "BOOKMARK"}},
		"but not if they do not": {},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := start(t, emulator.Options{})
				client := kube(t, server.Config())
				list, err := client.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{})
				require.NoError(t, err)
				watching, err := client.CoreV1().Pods("").Watch(t.Context(), metav1.ListOptions{
					ResourceVersion: list.ResourceVersion, AllowWatchBookmarks: tc.allow,
				})
				require.NoError(t, err)
				defer watching.Stop()
				_, err = client.CoreV1().ConfigMaps("default").Create(t.Context(), makeConfigMap("a"), metav1.CreateOptions{})
				require.NoError(t, err)
				stored := label(t, server, "1")

				ctx, cancel := context.WithTimeout(t.Context(), 150*time.Second)
				defer cancel()
				var got []string
				for ctx.Err() == nil {
					select {
					case event := <-watching.ResultChan():
						got = append(got, string(event.Type))
						assert.Equal(t, stored, event.Object.(*corev1.Pod).ResourceVersion, "a bookmark is as new as the server")
					case <-ctx.Done():
					}
				}
				assert.Equal(t, tc.want, got)
			})
		})
	}
}

func TestInformersOfEveryClient(t *testing.T) {
	server := start(t, emulator.Options{})
	_, err := muster(t, server.Config()).SchedulingV1alpha2().Workloads("default").Create(t.Context(), makeWorkload("before"), metav1.CreateOptions{})
	require.NoError(t, err)
	dynamicClient, err := dynamic.NewForConfig(server.Config())
	require.NoError(t, err)
	typedFactory := externalversions.NewSharedInformerFactory(muster(t, protobuf(server.Config())), 0)
	dynamicFactory := dynamicinformer.NewDynamicSharedInformerFactory(dynamicClient, 0)
	resource := schedulingv1alpha2.SchemeGroupVersion.WithResource("workloads")
	cases := map[string]struct {
		informer cache.SharedIndexInformer
		start    func(<-chan struct{})
		shutdown func()
	}{
		"the typed one":   {typedFactory.Scheduling().V1alpha2().Workloads().Informer(), typedFactory.Start, typedFactory.Shutdown},
		"the dynamic one": {dynamicFactory.ForResource(resource).Informer(), dynamicFactory.Start, dynamicFactory.Shutdown},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer tc.shutdown()
			defer cancel()
			seen := make(chan string, 10)
			_, err := tc.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
				AddFunc:    func(obj any) { seen <- "add " + obj.(metav1.Object).GetName() },
				UpdateFunc: func(_, obj any) { seen <- "update " + obj.(metav1.Object).GetLabels()["v"] },
				DeleteFunc: func(obj any) { seen <- "delete " + obj.(metav1.Object).GetName() },
			})
			require.NoError(t, err)
			tc.start(ctx.Done())
			require.True(t, cache.WaitForCacheSync(ctx.Done(), tc.informer.HasSynced))
			assert.Equal(t, "add before", receive(t, seen))

			workloads := muster(t, server.Config()).SchedulingV1alpha2().Workloads("default")
			_, err = workloads.Create(ctx, makeWorkload("w"), metav1.CreateOptions{})
			require.NoError(t, err)
			assert.Equal(t, "add w", receive(t, seen))
			_, err = workloads.Patch(ctx, "w", types.MergePatchType, []byte(`{"metadata":{"labels":{"v":"1"}}}`), metav1.PatchOptions{})
			require.NoError(t, err)
			assert.Equal(t, "update 1", receive(t, seen))
			require.NoError(t, workloads.Delete(ctx, "w", metav1.DeleteOptions{}))
			assert.Equal(t, "delete w", receive(t, seen))
		})
	}
}
