package etcd_test

import (
	"context"
	"crypto/x509"
	"fmt"
	"net/http"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.etcd.io/etcd/client/pkg/v3/transport"
	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/musterkube/muster/pkg/emulator"
)

func TestServersSeeOneAnother(t *testing.T) {
	_, clients := pair(t)
	watching, err := clients[1].CoreV1().ConfigMaps("default").Watch(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	defer watching.Stop()
	created := create(t, clients[0], "default", makeConfigMap("a"))
	got, err := clients[1].CoreV1().ConfigMaps("default").Get(t.Context(), "a", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, created, got)
	event := receive(t, watching)
	assert.Equal(t, watch.Added, event.Type)
	assert.Equal(t, created, event.Object)

	// Whoever comes second has to read again, wherever the first one was.
	got.Data = map[string]string{"by": "1"}
	updated, err := clients[1].CoreV1().ConfigMaps("default").Update(t.Context(), got, metav1.UpdateOptions{})
	require.NoError(t, err)
	created.Data = map[string]string{"by": "0"}
	_, err = clients[0].CoreV1().ConfigMaps("default").Update(t.Context(), created, metav1.UpdateOptions{})
	assert.True(t, apierrors.IsConflict(err), "%v", err)

	// A resource version of one server is good at the other.
	resumed, err := clients[0].CoreV1().ConfigMaps("default").Watch(t.Context(), metav1.ListOptions{ResourceVersion: created.ResourceVersion})
	require.NoError(t, err)
	defer resumed.Stop()
	event = receive(t, resumed)
	assert.Equal(t, watch.Modified, event.Type)
	assert.Equal(t, updated, event.Object)
	require.NoError(t, clients[0].CoreV1().ConfigMaps("default").Delete(t.Context(), "a", metav1.DeleteOptions{}))
	assert.Equal(t, watch.Deleted, receive(t, resumed).Type)
	assert.Equal(t, watch.Modified, receive(t, watching).Type)
	assert.Equal(t, watch.Deleted, receive(t, watching).Type)
}

func TestGarbageIsCollectedAcrossServers(t *testing.T) {
	for _, policy := range []metav1.DeletionPropagation{
		metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan,
	} {
		t.Run(string(policy), func(t *testing.T) {
			_, clients := pair(t)
			owner := create(t, clients[0], "default", makeConfigMap("owner"))
			bystander := create(t, clients[1], "default", makeConfigMap("bystander"))
			kept := []string{"bystander"}
			for i := range 20 {
				dependent := create(t, clients[1-i%2], "default", makeConfigMap(fmt.Sprintf("d%02d", i), owner))
				create(t, clients[i%2], "default", makeConfigMap(fmt.Sprintf("e%02d", i), dependent))
			}
			create(t, clients[1], "default", makeConfigMap("shared", owner, bystander))
			if policy == metav1.DeletePropagationOrphan {
				kept = append(names(t, clients[0], "default")[:41:41], "shared") // all but the owner
			} else {
				kept = append(kept, "shared")
			}
			require.NoError(t, clients[0].CoreV1().ConfigMaps("default").Delete(t.Context(), "owner", metav1.DeleteOptions{PropagationPolicy: &policy}))
			require.EventuallyWithT(t, func(c *assert.CollectT) {
				assert.Equal(c, kept, names(t, clients[1], "default"))
				shared, err := clients[1].CoreV1().ConfigMaps("default").Get(t.Context(), "shared", metav1.GetOptions{})
				require.NoError(c, err)
				assert.Len(c, shared.OwnerReferences, 1)
			}, patience, 5*time.Millisecond)
		})
	}
}

func TestNamespacesAreEmptiedAcrossServers(t *testing.T) {
	_, clients := pair(t)
	_, err := clients[0].CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ns"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	for i := range 20 {
		create(t, clients[i%2], "ns", makeConfigMap(fmt.Sprintf("c%d", i)))
	}
	held := makeConfigMap("held")
	held.Finalizers = []string{"example.com/hold"}
	create(t, clients[1], "ns", held)
	require.NoError(t, clients[0].CoreV1().Namespaces().Delete(t.Context(), "ns", metav1.DeleteOptions{}))
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		assert.Equal(c, []string{"held"}, names(t, clients[1], "ns"))
	}, patience, 5*time.Millisecond)
	_, err = clients[1].CoreV1().ConfigMaps("ns").Create(t.Context(), makeConfigMap("late"), metav1.CreateOptions{})
	assert.True(t, apierrors.IsForbidden(err), "%v", err)
	_, err = clients[1].CoreV1().ConfigMaps("ns").Patch(t.Context(), "held", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		_, err := clients[1].CoreV1().Namespaces().Get(t.Context(), "ns", metav1.GetOptions{})
		assert.True(c, apierrors.IsNotFound(err), "%v", err)
	}, patience, 5*time.Millisecond)
}

func TestLeadersAreElectedAcrossServers(t *testing.T) {
	_, clients := pair(t)
	leading := make(chan int, 10)
	var running sync.WaitGroup
	defer running.Wait()
	var ends [2]context.CancelFunc
	for i := range clients {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		ends[i] = cancel
		elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
			Lock: &resourcelock.LeaseLock{
				LeaseMeta: metav1.ObjectMeta{Namespace: "default", Name: "leader"}, Client: clients[i].CoordinationV1(),
				LockConfig: resourcelock.ResourceLockConfig{Identity: fmt.Sprintf("candidate-%d", i)},
			},
			LeaseDuration: patience, RenewDeadline: patience / 2, RetryPeriod: 50 * time.Millisecond,
			ReleaseOnCancel: true,
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(context.Context) { leading <- i },
				OnStoppedLeading: func() {},
			},
		})
		require.NoError(t, err)
		running.Go(func() { elector.Run(ctx) })
	}
	first := wait(t, leading)
	lease, err := clients[1-first].CoordinationV1().Leases("default").Get(t.Context(), "leader", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, fmt.Sprintf("candidate-%d", first), *lease.Spec.HolderIdentity)
	select {
	case <-leading:
		assert.Fail(t, "both lead")
	default:
	}
	ends[first]()
	assert.Equal(t, 1-first, wait(t, leading))
}

func wait(t *testing.T, from <-chan int) int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	select {
	case value := <-from:
		return value
	case <-ctx.Done():
		require.FailNow(t, "nothing came")
		panic("not reached")
	}
}

func TestObjectsOutliveTheServer(t *testing.T) {
	endpoint, _ := startEtcd(t, transport.TLSInfo{})
	first := start(t, emulator.Options{Etcd: []string{endpoint}})
	created := create(t, kube(t, first), "default", makeConfigMap("a"))
	first.Stop()
	requireNoGoroutines(t)
	second := start(t, emulator.Options{Etcd: []string{endpoint}})
	got, err := kube(t, second).CoreV1().ConfigMaps("default").Get(t.Context(), "a", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, created, got)
}

func TestServersStartAtOnce(t *testing.T) {
	endpoint, _ := startEtcd(t, transport.TLSInfo{})
	var starting sync.WaitGroup
	for range 6 {
		starting.Go(func() {
			server, err := emulator.Start(t.Context(), emulator.Options{Etcd: []string{endpoint}})
			if assert.NoError(t, err) {
				t.Cleanup(server.Stop)
			}
		})
	}
	starting.Wait()
	namespaces, err := kube(t, start(t, emulator.Options{Etcd: []string{endpoint}})).CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	assert.Len(t, namespaces.Items, 4)
}

func TestPrefixesKeepServersApart(t *testing.T) {
	endpoint, _ := startEtcd(t, transport.TLSInfo{})
	first := start(t, emulator.Options{Etcd: []string{endpoint}, EtcdPrefix: "/first/"})
	second := start(t, emulator.Options{Etcd: []string{endpoint}, EtcdPrefix: "second"})
	create(t, kube(t, first), "default", makeConfigMap("a"))
	assert.Empty(t, names(t, kube(t, second), "default"))
	assert.Equal(t, []string{"a"}, names(t, kube(t, first), "default"))
}

func TestEtcdOverTLS(t *testing.T) {
	security, err := transport.SelfCert(zap.NewNop(), filepath.Join(t.TempDir(), "certificates"), []string{"127.0.0.1:0"}, 1, x509.ExtKeyUsageClientAuth)
	require.NoError(t, err)
	security.TrustedCAFile, security.ClientCertAuth = security.CertFile, true
	endpoint, _ := startEtcd(t, security)
	server := start(t, emulator.Options{Etcd: []string{endpoint}, EtcdTLS: clientTLS(t, security)})
	create(t, kube(t, server), "default", makeConfigMap("a"))
	assert.Equal(t, []string{"a"}, names(t, kube(t, server), "default"))

	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err = emulator.Start(ctx, emulator.Options{Etcd: []string{endpoint}})
	require.ErrorContains(t, err, "certificate", "without EtcdTLS nobody vouches for the cluster")
}

func TestEtcdIsGone(t *testing.T) {
	endpoint, stop := startEtcd(t, transport.TLSInfo{})
	server := start(t, emulator.Options{Etcd: []string{endpoint}})
	client := kube(t, server)
	create(t, client, "default", makeConfigMap("a"))
	stop()

	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err := emulator.Start(ctx, emulator.Options{Etcd: []string{endpoint}})
	require.ErrorContains(t, err, "starting the API server emulator: reaching etcd at "+endpoint+": no answer yet: ")

	for _, verb := range []string{http.MethodGet, http.MethodPost} {
		request := client.CoreV1().RESTClient().Verb(verb).AbsPath("/api/v1/namespaces/default/configmaps").Param("timeout", "1s")
		if verb == http.MethodPost {
			request = request.Body(makeConfigMap("b"))
		}
		code := 0
		err := request.Do(t.Context()).StatusCode(&code).Error()
		require.Error(t, err)
		assert.GreaterOrEqual(t, code, 500, "%s: %v", verb, err)
	}
	err = client.CoreV1().RESTClient().Get().AbsPath("/readyz").Do(t.Context()).Error()
	require.ErrorContains(t, err, "etcd failed")
	require.Error(t, server.Compact(ctx))
	server.Stop()
	requireNoGoroutines(t)
}

func TestCompactionReachesEveryServer(t *testing.T) {
	servers, clients := pair(t)
	old := create(t, clients[0], "default", makeConfigMap("a"))
	create(t, clients[0], "default", makeConfigMap("b"))
	create(t, clients[1], "default", makeConfigMap("c"))
	require.NoError(t, servers[0].Compact(t.Context()))
	assert.Equal(t, int32(http.StatusGone), codeOfWatch(t, servers[1], old.ResourceVersion))
	_, err := clients[1].CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{
		ResourceVersion: old.ResourceVersion, ResourceVersionMatch: metav1.ResourceVersionMatchExact,
	})
	assert.True(t, apierrors.IsResourceExpired(err), "%v", err)
}

func TestEtcdForgetsByItself(t *testing.T) {
	endpoint, _ := startEtcd(t, transport.TLSInfo{})
	options := emulator.Options{Etcd: []string{endpoint}, History: emulator.History{Age: 100 * time.Millisecond}}
	server := start(t, options)
	start(t, options)
	client := kube(t, server)
	old := create(t, client, "default", makeConfigMap("a"))
	for i := 0; codeOfWatch(t, server, old.ResourceVersion) != http.StatusGone; i++ {
		// The first compaction is after twice the age.
		create(t, client, "default", makeConfigMap(fmt.Sprintf("b%d", i)))
	}
}

// codeOfWatch returns the code of the error with which a watch begins, 0 if it begins with an event.
func codeOfWatch(t *testing.T, server *emulator.Server, version string) int32 {
	t.Helper()
	watching, err := kube(t, server).CoreV1().ConfigMaps("default").Watch(t.Context(), metav1.ListOptions{ResourceVersion: version})
	require.NoError(t, err)
	defer watching.Stop()
	create(t, kube(t, server), "default", &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "event-"}})
	if status, ok := receive(t, watching).Object.(*metav1.Status); ok {
		return status.Code
	}
	return 0
}

func TestSnapshotsAreForServersInMemory(t *testing.T) {
	servers, _ := pair(t)
	_, err := servers[0].Snapshot()
	require.ErrorIs(t, err, emulator.ErrNotInMemory)
	memory := start(t, emulator.Options{})
	snapshot, err := memory.Snapshot()
	require.NoError(t, err)
	require.ErrorIs(t, servers[0].Restore(snapshot), emulator.ErrNotInMemory)
	assert.Empty(t, names(t, kube(t, servers[1]), "default"))
}
