package emulator_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	"github.com/musterkube/muster/pkg/emulator"
)

// owned is a config map that goes with another.
func owned(name string, owner *corev1.ConfigMap) *corev1.ConfigMap {
	object := makeConfigMap(name)
	object.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID}}
	return object
}

func createConfigMap(t *testing.T, client kubernetes.Interface, object *corev1.ConfigMap) *corev1.ConfigMap {
	t.Helper()
	created, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), object, metav1.CreateOptions{})
	require.NoError(t, err)
	return created
}

func takeSnapshot(t *testing.T, server *emulator.Server) *emulator.Snapshot {
	t.Helper()
	snapshot, err := server.Snapshot()
	require.NoError(t, err)
	return snapshot
}

// contentOf returns what there is, as name=value, and the resource version of the list.
func contentOf(t *testing.T, client kubernetes.Interface) ([]string, int64) {
	t.Helper()
	list, err := client.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	found := []string{}
	for i := range list.Items {
		found = append(found, list.Items[i].Name+"="+list.Items[i].Labels["v"])
	}
	return found, versionOf(t, list.ResourceVersion)
}

func versionOf(t *testing.T, text string) int64 {
	t.Helper()
	version, err := strconv.ParseInt(text, 10, 64)
	require.NoError(t, err)
	return version
}

func TestRestoreSetsTheServerBack(t *testing.T) {
	server := start(t, emulator.Options{})
	client := kube(t, server.Config())
	createConfigMap(t, client, makeConfigMap("a"))
	same := createConfigMap(t, client, makeConfigMap("same"))
	gone := createConfigMap(t, client, makeConfigMap("gone"))
	snapshot := takeSnapshot(t, server)
	// Four namespaces, two priority classes and a service are there from the start.
	assert.Equal(t, 10, snapshot.Len())
	_, version := contentOf(t, client)
	assert.Equal(t, strconv.FormatInt(version, 10), snapshot.ResourceVersion())
	page, err := client.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{Limit: 1})
	require.NoError(t, err)

	changed := label(t, server, "1")
	createConfigMap(t, client, makeConfigMap("new"))
	require.NoError(t, client.CoreV1().ConfigMaps("default").Delete(t.Context(), "gone", metav1.DeleteOptions{}))
	_, before := contentOf(t, client)
	require.NoError(t, server.Restore(snapshot))

	found, after := contentOf(t, client)
	assert.Equal(t, []string{"a=", "gone=", "same="}, found)
	assert.Greater(t, after, before, "resource versions do not go back")
	again, err := client.CoreV1().ConfigMaps("default").Get(t.Context(), "a", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Greater(t, versionOf(t, again.ResourceVersion), versionOf(t, changed), "nor do those of an object")
	kept, err := client.CoreV1().ConfigMaps("default").Get(t.Context(), "same", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, same.ResourceVersion, kept.ResourceVersion, "what is as it was keeps its own")
	back, err := client.CoreV1().ConfigMaps("default").Get(t.Context(), "gone", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, gone.UID, back.UID)

	// Nobody goes on from before.
	stale := again.DeepCopy()
	stale.ResourceVersion = changed
	_, err = client.CoreV1().ConfigMaps("default").Update(t.Context(), stale, metav1.UpdateOptions{})
	assert.True(t, apierrors.IsConflict(err), "%v", err)
	_, err = client.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{Limit: 1, Continue: page.Continue})
	assert.True(t, apierrors.IsResourceExpired(err), "%v", err)
	_, err = client.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{
		ResourceVersion: snapshot.ResourceVersion(), ResourceVersionMatch: metav1.ResourceVersionMatchExact,
	})
	assert.True(t, apierrors.IsResourceExpired(err), "%v", err)
	label(t, server, "2")
	require.NoError(t, server.Restore(snapshot))
	found, _ = contentOf(t, client)
	assert.Equal(t, []string{"a=", "gone=", "same="}, found, "as often as one likes")
}

func TestWatchesEndWith410AtARestore(t *testing.T) {
	server := start(t, emulator.Options{})
	client := kube(t, server.Config())
	createConfigMap(t, client, makeConfigMap("a"))
	snapshot := takeSnapshot(t, server)
	last := label(t, server, "1")

	idle, err := client.CoreV1().Pods("").Watch(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	defer idle.Stop()
	running, err := client.CoreV1().ConfigMaps("default").Watch(t.Context(), metav1.ListOptions{ResourceVersion: last})
	require.NoError(t, err)
	defer running.Stop()
	require.NoError(t, server.Restore(snapshot))
	assert.Equal(t, "ERROR 410", describe(receive(t, running.ResultChan())))
	assert.Equal(t, "ERROR 410", describe(receive(t, idle.ResultChan())))
	_, open := <-running.ResultChan()
	assert.False(t, open)

	for _, version := range []string{snapshot.ResourceVersion(), last} {
		late, err := client.CoreV1().ConfigMaps("default").Watch(t.Context(), metav1.ListOptions{ResourceVersion: version})
		require.NoError(t, err)
		assert.Equal(t, "ERROR 410", describe(receive(t, late.ResultChan())), "from %s, though that was the newest", version)
		late.Stop()
	}
	_, now := contentOf(t, client)
	fresh, err := client.CoreV1().ConfigMaps("default").Watch(t.Context(), metav1.ListOptions{ResourceVersion: strconv.FormatInt(now, 10)})
	require.NoError(t, err)
	defer fresh.Stop()
	label(t, server, "2")
	assert.Equal(t, "MODIFIED a 2", describe(receive(t, fresh.ResultChan())))
}

func TestInformersFollowARestore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := start(t, emulator.Options{})
		client := kube(t, server.Config())
		createConfigMap(t, client, makeConfigMap("a"))
		createConfigMap(t, client, makeConfigMap("b"))
		snapshot := takeSnapshot(t, server)
		factory := informers.NewSharedInformerFactory(client, 0)
		lister := factory.Core().V1().ConfigMaps().Lister()
		informer := factory.Core().V1().ConfigMaps().Informer()
		stop := make(chan struct{})
		factory.Start(stop)
		defer factory.Shutdown()
		defer close(stop)
		require.True(t, cache.WaitForCacheSync(stop, informer.HasSynced))
		for round := range 5 {
			label(t, server, strconv.Itoa(round))
			require.NoError(t, client.CoreV1().ConfigMaps("default").Delete(t.Context(), "b", metav1.DeleteOptions{}))
			createConfigMap(t, client, makeConfigMap("c"))
			synctest.Wait()
			_, err := lister.ConfigMaps("default").Get("c")
			require.NoError(t, err)
			require.NoError(t, server.Restore(snapshot))
			// The back-off doubles each time, unless two minutes went by.
			clock.RealClock{}.Sleep(2*time.Minute + time.Second)
			synctest.Wait()
			got, err := lister.ConfigMaps("default").Get("a")
			require.NoError(t, err)
			assert.Empty(t, got.Labels)
			_, err = lister.ConfigMaps("default").Get("b")
			require.NoError(t, err)
			_, err = lister.ConfigMaps("default").Get("c")
			require.True(t, apierrors.IsNotFound(err), "%v", err)
		}
	})
}

func TestControllersFollowARestore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := start(t, emulator.Options{})
		client := kube(t, server.Config())
		owner := createConfigMap(t, client, makeConfigMap("owner"))
		createConfigMap(t, client, owned("dependent", owner))
		_, err := client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: objectMeta("ns")}, metav1.CreateOptions{})
		require.NoError(t, err)
		_, err = client.CoreV1().ConfigMaps("ns").Create(t.Context(), makeConfigMap("content"), metav1.CreateOptions{})
		require.NoError(t, err)
		snapshot := takeSnapshot(t, server)
		for range 5 {
			require.NoError(t, client.CoreV1().ConfigMaps("default").Delete(t.Context(), "owner", metav1.DeleteOptions{}))
			require.NoError(t, client.CoreV1().Namespaces().Delete(t.Context(), "ns", metav1.DeleteOptions{}))
			synctest.Wait()
			found, _ := contentOf(t, client)
			assert.Empty(t, found, "the dependent is collected")
			_, err = client.CoreV1().Namespaces().Get(t.Context(), "ns", metav1.GetOptions{})
			assert.True(t, apierrors.IsNotFound(err), "%v", err)

			require.NoError(t, server.Restore(snapshot))
			synctest.Wait()
			clock.RealClock{}.Sleep(time.Minute)
			found, _ = contentOf(t, client)
			assert.Equal(t, []string{"dependent=", "owner="}, found, "the owner is back, and is not taken for one that is gone")
			// What is made now is judged by what there is now.
			createConfigMap(t, client, owned("another", owner))
			synctest.Wait()
			found, _ = contentOf(t, client)
			assert.Equal(t, []string{"another=", "dependent=", "owner="}, found)
		}
	})
}

// TestRestoreWhileControllersAreAtWork has controllers in the middle of deleting what a restore brings back.
func TestRestoreWhileControllersAreAtWork(t *testing.T) {
	server := start(t, emulator.Options{})
	client := kube(t, server.Config())
	owner := createConfigMap(t, client, makeConfigMap("owner"))
	const dependents = 50
	for i := range dependents {
		createConfigMap(t, client, owned(fmt.Sprintf("d%d", i), owner))
	}
	snapshot := takeSnapshot(t, server)
	for range 20 {
		require.NoError(t, client.CoreV1().ConfigMaps("default").Delete(t.Context(), "owner", metav1.DeleteOptions{}))
		require.NoError(t, server.Restore(snapshot))
		// A collection that is asked for now ends after one that might still be under way.
		marker := createConfigMap(t, client, owned("marker", &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "nobody", UID: "nobody"}}))
		require.Eventually(t, func() bool {
			_, err := client.CoreV1().ConfigMaps("default").Get(t.Context(), marker.Name, metav1.GetOptions{})
			return apierrors.IsNotFound(err)
		}, time.Minute, time.Millisecond)
		found, _ := contentOf(t, client)
		require.Len(t, found, dependents+1)
	}
}

func TestRestoreAmongConcurrentWritesAndRestores(t *testing.T) {
	server := start(t, emulator.Options{})
	client := kube(t, server.Config())
	for i := range 10 {
		createConfigMap(t, client, makeConfigMap(fmt.Sprintf("c%d", i)))
	}
	snapshot := takeSnapshot(t, server)
	var working sync.WaitGroup
	for worker := range 4 {
		working.Go(func() {
			last := int64(0)
			for i := range 50 {
				name := fmt.Sprintf("c%d", (worker+i)%10)
				_, err := client.CoreV1().ConfigMaps("default").Patch(t.Context(), name, types.MergePatchType,
					[]byte(fmt.Sprintf(`{"metadata":{"labels":{"v":"%d"}}}`, i)), metav1.PatchOptions{})
				if !apierrors.IsConflict(err) {
					assert.NoError(t, err)
				}
				list, err := client.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
				if assert.NoError(t, err) {
					assert.Len(t, list.Items, 10)
					now, err := strconv.ParseInt(list.ResourceVersion, 10, 64)
					assert.NoError(t, err)
					assert.GreaterOrEqual(t, now, last, "resource versions do not go back")
					last = now
				}
			}
		})
	}
	for range 2 {
		working.Go(func() {
			for range 20 {
				assert.NoError(t, server.Restore(snapshot))
			}
		})
	}
	working.Wait()
	require.NoError(t, server.Restore(snapshot))
	assert.Equal(t, snapshot.Len(), takeSnapshot(t, server).Len())
}

func TestEventsAreWrittenAfterARestore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := start(t, emulator.Options{})
		client := kube(t, server.Config())
		event := func(name string) *corev1.Event {
			return &corev1.Event{
				ObjectMeta: objectMeta(name), Reason: "Tested", Type: corev1.EventTypeNormal, Message: "m",
				InvolvedObject: corev1.ObjectReference{Kind: "Pod", Namespace: "default", Name: "p"},
			}
		}
		empty := takeSnapshot(t, server)
		_, err := client.CoreV1().Events("default").Create(t.Context(), event("first"), metav1.CreateOptions{})
		require.NoError(t, err)
		withEvent := takeSnapshot(t, server)
		clock.RealClock{}.Sleep(30 * time.Minute)
		for _, snapshot := range []*emulator.Snapshot{empty, withEvent} {
			require.NoError(t, server.Restore(snapshot))
			// The storage attaches several events to one lease, which a restore must leave it.
			_, err = client.CoreV1().Events("default").Create(t.Context(), event("second"), metav1.CreateOptions{})
			require.NoError(t, err)
		}
		clock.RealClock{}.Sleep(time.Hour + 10*time.Minute)
		list, err := client.CoreV1().Events("default").List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		assert.Empty(t, list.Items, "events expire as they did")
	})
}

func TestManyServersFromOneSnapshotThroughAFile(t *testing.T) {
	first := start(t, emulator.Options{})
	client := kube(t, first.Config())
	created := createConfigMap(t, client, makeConfigMap("a"))
	_, err := muster(t, first.Config()).SchedulingV1alpha2().Workloads("default").Create(t.Context(), makeWorkload("w"), metav1.CreateOptions{})
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "state")
	require.NoError(t, takeSnapshot(t, first).WriteFile(path))
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm(), "it may have secrets in it")

	snapshot, err := emulator.ReadSnapshotFile(path)
	require.NoError(t, err)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			server, err := emulator.Start(t.Context(), emulator.Options{Restore: snapshot})
			if !assert.NoError(t, err) {
				return
			}
			defer server.Stop()
			client, err := kubernetes.NewForConfig(server.Config())
			assert.NoError(t, err)
			got, err := client.CoreV1().ConfigMaps("default").Get(t.Context(), "a", metav1.GetOptions{})
			assert.NoError(t, err)
			assert.Equal(t, created, got, "as it was, resource version and all")
			_, err = muster(t, server.Config()).SchedulingV1alpha2().Workloads("default").Get(t.Context(), "w", metav1.GetOptions{})
			assert.NoError(t, err)
			_, err = client.CoreV1().ConfigMaps("default").Create(t.Context(), makeConfigMap(fmt.Sprint("own", i)), metav1.CreateOptions{})
			assert.NoError(t, err)
			list, err := client.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
			assert.NoError(t, err)
			assert.Len(t, list.Items, 2, "one's own, and nobody else's")
			assert.NoError(t, server.Restore(snapshot))
			list, err = client.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
			assert.NoError(t, err)
			assert.Len(t, list.Items, 1)
		})
	}
	all.Wait()
	// Another server's snapshot restores one that went its own way.
	createConfigMap(t, client, makeConfigMap("b"))
	other := start(t, emulator.Options{})
	createConfigMap(t, kube(t, other.Config()), makeConfigMap("z"))
	require.NoError(t, other.Restore(snapshot))
	found, _ := contentOf(t, kube(t, other.Config()))
	assert.Equal(t, []string{"a="}, found)
}

func TestRewindTellsWatches(t *testing.T) {
	server := start(t, emulator.Options{})
	client := kube(t, server.Config())
	for _, name := range []string{"a", "gone", "replaced", "same"} {
		createConfigMap(t, client, makeConfigMap(name))
	}
	snapshot := takeSnapshot(t, server)
	original, _ := contentOf(t, client)
	for range 3 {
		label(t, server, "1")
		createConfigMap(t, client, makeConfigMap("new"))
		for _, name := range []string{"gone", "replaced"} {
			require.NoError(t, client.CoreV1().ConfigMaps("default").Delete(t.Context(), name, metav1.DeleteOptions{}))
		}
		createConfigMap(t, client, makeConfigMap("replaced"))
		_, before := contentOf(t, client)
		watching, err := client.CoreV1().ConfigMaps("default").Watch(t.Context(), metav1.ListOptions{ResourceVersion: strconv.FormatInt(before, 10)})
		require.NoError(t, err)

		require.NoError(t, server.Rewind(snapshot))

		last := before
		for _, want := range []string{"DELETED new ", "DELETED replaced ", "MODIFIED a ", "ADDED gone ", "ADDED replaced "} {
			event := receive(t, watching.ResultChan())
			assert.Equal(t, want, describe(event))
			version := versionOf(t, event.Object.(metav1.Object).GetResourceVersion())
			assert.Equal(t, last+1, version, "each has a resource version of its own, to resume from")
			last = version
		}
		watching.Stop()
		found, after := contentOf(t, client)
		assert.Equal(t, original, found)
		assert.Equal(t, last, after)
		require.NoError(t, server.Rewind(snapshot))
		_, again := contentOf(t, client)
		assert.Equal(t, after, again, "there is nothing to change")
	}
}

func TestControllersAndInformersFollowARewind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := start(t, emulator.Options{})
		client := kube(t, server.Config())
		owner := createConfigMap(t, client, makeConfigMap("owner"))
		createConfigMap(t, client, owned("dependent", owner))
		snapshot := takeSnapshot(t, server)
		factory := informers.NewSharedInformerFactory(client, 0)
		informer := factory.Core().V1().ConfigMaps().Informer()
		stop := make(chan struct{})
		factory.Start(stop)
		defer factory.Shutdown()
		defer close(stop)
		require.True(t, cache.WaitForCacheSync(stop, informer.HasSynced))
		for range 5 {
			require.NoError(t, client.CoreV1().ConfigMaps("default").Delete(t.Context(), "owner", metav1.DeleteOptions{}))
			synctest.Wait()
			assert.Empty(t, informer.GetStore().ListKeys())
			require.NoError(t, server.Rewind(snapshot))
			synctest.Wait()
			assert.ElementsMatch(t, []string{"default/owner", "default/dependent"}, informer.GetStore().ListKeys(), "with no time gone by")
		}
	})
}

func TestUnusableSnapshots(t *testing.T) {
	server := start(t, emulator.Options{})
	snapshot := takeSnapshot(t, server)
	directory := t.TempDir()
	var good bytes.Buffer
	_, err := snapshot.WriteTo(&good)
	require.NoError(t, err)
	path := filepath.Join(directory, "damaged")
	require.NoError(t, os.WriteFile(path, good.Bytes()[:good.Len()/2], 0o600))
	_, err = emulator.ReadSnapshotFile(path)
	require.ErrorIs(t, err, emulator.ErrBadSnapshot)
	assert.EqualError(t, err, "reading a snapshot from "+path+": not a usable snapshot: it is damaged or cut short, for its checksum is wrong")
	_, err = emulator.ReadSnapshot(bytes.NewReader([]byte("apiVersion: v1")))
	require.ErrorIs(t, err, emulator.ErrBadSnapshot)
	_, err = emulator.ReadSnapshotFile(filepath.Join(directory, "none"))
	require.ErrorIs(t, err, os.ErrNotExist)

	server.Stop()
	_, err = server.Snapshot()
	require.ErrorIs(t, err, emulator.ErrStopped)
	require.ErrorIs(t, server.Restore(snapshot), emulator.ErrStopped)
}

func BenchmarkRestore(b *testing.B) {
	for _, count := range []int{100, 1000, 10_000} {
		b.Run(fmt.Sprintf("%d objects, 10 changed", count), func(b *testing.B) {
			server := start(b, emulator.Options{})
			client := kube(b, protobuf(server.Config()))
			for i := range count {
				_, err := client.CoreV1().ConfigMaps("default").Create(b.Context(), makeConfigMap(fmt.Sprint("c", i)), metav1.CreateOptions{})
				require.NoError(b, err)
			}
			snapshot, err := server.Snapshot()
			require.NoError(b, err)
			for b.Loop() {
				b.StopTimer()
				for i := range 10 {
					require.NoError(b, client.CoreV1().ConfigMaps("default").Delete(b.Context(), fmt.Sprint("c", i), metav1.DeleteOptions{}))
				}
				b.StartTimer()
				require.NoError(b, server.Restore(snapshot))
			}
		})
	}
}
