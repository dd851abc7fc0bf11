package etcdmem

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.etcd.io/etcd/client/v3/kubernetes"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/apis/example"
	"k8s.io/apiserver/pkg/storage"

	"github.com/musterkube/muster/pkg/emulator/internal/mvcc"
)

// These tests see the in-memory store through the stock etcd3 store, where the conformance suite does not look.

func create(tb testing.TB, e *suiteEnv, name string) *example.Pod {
	tb.Helper()
	out := &example.Pod{}
	pod := &example.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}}
	require.NoError(tb, e.Create(tb.Context(), "/pods/ns/"+name, pod, out, 0))
	return out
}

func watchPods(tb testing.TB, e *suiteEnv, resourceVersion string) watch.Interface {
	tb.Helper()
	w, err := e.Watch(context.WithoutCancel(tb.Context()), "/pods/", storage.ListOptions{
		ResourceVersion: resourceVersion, Predicate: storage.Everything, Recursive: true,
	})
	require.NoError(tb, err)
	tb.Cleanup(w.Stop)
	return w
}

// requireExpired wants the error by which a client knows that it has to list again, and the end of the watch.
func requireExpired(t *testing.T, w watch.Interface) {
	t.Helper()
	for event := range w.ResultChan() {
		if event.Type != watch.Error {
			continue
		}
		status, ok := event.Object.(*metav1.Status)
		require.True(t, ok, "object is a %T", event.Object)
		assert.EqualValues(t, 410, status.Code)
		assert.Equal(t, metav1.StatusReasonExpired, status.Reason)
		return
	}
	require.Fail(t, "watch ended without an error")
}

func TestStoreTellsTheClientOfASlowWatchToListAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newSuiteEnvOf(t, mvcc.Options{MaxPending: 5}, false)
		w := watchPods(t, e, create(t, e, "first").ResourceVersion)
		synctest.Wait()
		// The store buffers some hundred events of its own before anything waits here.
		for i := range 1000 {
			create(t, e, fmt.Sprint("pod-", i))
			synctest.Wait()
		}
		requireExpired(t, w)
	})
}

func TestStoreTellsTheClientOfAForgottenRevisionToListAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newSuiteEnvOf(t, mvcc.Options{KeepEvents: 10}, false)
		first := create(t, e, "first")
		for i := range 20 {
			create(t, e, fmt.Sprint("pod-", i))
		}
		requireExpired(t, watchPods(t, e, first.ResourceVersion))
		list := &example.PodList{}
		err := e.GetList(t.Context(), "/pods/", storage.ListOptions{
			ResourceVersion: first.ResourceVersion, ResourceVersionMatch: metav1.ResourceVersionMatchExact,
			Predicate: storage.Everything, Recursive: true,
		}, list)
		require.ErrorContains(t, err, "The resourceVersion for the provided list is too old.")
	})
}

// TestStoreWithSizeEstimation has the store list its keys without values to estimate the size of a resource.
func TestStoreWithSizeEstimation(t *testing.T) {
	e := newSuiteEnvOf(t, mvcc.Options{}, false)
	require.NoError(t, e.EnableResourceSizeEstimation(func(ctx context.Context) ([]string, error) {
		response, err := e.client.Kubernetes.List(ctx, "/pods/", kubernetes.ListOptions{})
		var keys []string
		for _, kv := range response.Kvs {
			keys = append(keys, string(kv.Key))
		}
		return keys, err
	}))
	create(t, e, "a")
	create(t, e, "b")
	require.NoError(t, e.GetList(t.Context(), "/pods/", storage.ListOptions{Predicate: storage.Everything, Recursive: true}, &example.PodList{}))
	stats, err := e.Stats(t.Context())
	require.NoError(t, err)
	assert.EqualValues(t, 2, stats.ObjectCount)
	assert.Positive(t, stats.EstimatedAverageObjectSizeBytes)
}
