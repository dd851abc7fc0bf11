package etcd_test

import (
	"context"
	"crypto/tls"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.etcd.io/etcd/client/pkg/v3/transport"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"

	"github.com/musterkube/muster/pkg/emulator"
)

// patience is how long a test waits for what should come soon.
const patience = time.Minute

// startEtcd returns the endpoint of an etcd of the test's own, which speaks TLS if there are certificates for it, and what
// ends it before the test does.
func startEtcd(t *testing.T, security transport.TLSInfo) (endpoint string, stop func()) {
	t.Helper()
	directory := t.TempDir()
	config := embed.NewConfig()
	config.Dir = directory
	config.UnsafeNoFsync = true
	config.TickMs, config.ElectionMs = 10, 100 // it is its own only voter
	config.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
	client := url.URL{Scheme: "unix", Path: filepath.Join(directory, "client")}
	if !security.Empty() {
		client = url.URL{Scheme: "https", Host: "127.0.0.1:0"} // a socket has no name that a certificate could be for
		config.ClientTLSInfo = security
	}
	peer := url.URL{Scheme: "unix", Path: filepath.Join(directory, "peer")}
	config.ListenClientUrls, config.AdvertiseClientUrls = []url.URL{client}, []url.URL{client}
	config.ListenPeerUrls, config.AdvertisePeerUrls = []url.URL{peer}, []url.URL{peer}
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	server, err := embed.StartEtcd(config)
	require.NoError(t, err)
	stop = sync.OnceFunc(server.Close)
	t.Cleanup(stop)
	select {
	case <-server.Server.ReadyNotify():
	case err := <-server.Err():
		require.NoError(t, err)
	}
	if client.Host != "" {
		client.Host = server.Clients[0].Addr().String()
	}
	return client.String(), stop
}

// start returns a server that is stopped with the test.
func start(t *testing.T, options emulator.Options) *emulator.Server {
	t.Helper()
	server, err := emulator.Start(t.Context(), options)
	require.NoError(t, err)
	t.Cleanup(server.Stop)
	return server
}

// pair returns two servers on one etcd, and clients of them.
func pair(t *testing.T) (servers [2]*emulator.Server, clients [2]kubernetes.Interface) {
	t.Helper()
	endpoint, _ := startEtcd(t, transport.TLSInfo{})
	for i := range servers {
		servers[i] = start(t, emulator.Options{Etcd: []string{endpoint}})
		clients[i] = kube(t, servers[i])
	}
	return servers, clients
}

func kube(t *testing.T, server *emulator.Server) kubernetes.Interface {
	t.Helper()
	client, err := kubernetes.NewForConfig(server.Config())
	require.NoError(t, err)
	return client
}

func makeConfigMap(name string, owners ...*corev1.ConfigMap) *corev1.ConfigMap {
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
	for _, owner := range owners {
		object.OwnerReferences = append(object.OwnerReferences, metav1.OwnerReference{
			APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID, BlockOwnerDeletion: new(true),
		})
	}
	return object
}

func create(t *testing.T, client kubernetes.Interface, namespace string, object *corev1.ConfigMap) *corev1.ConfigMap {
	t.Helper()
	created, err := client.CoreV1().ConfigMaps(namespace).Create(t.Context(), object, metav1.CreateOptions{})
	require.NoError(t, err)
	return created
}

// names returns the config maps of a namespace.
func names(t *testing.T, client kubernetes.Interface, namespace string) []string {
	t.Helper()
	list, err := client.CoreV1().ConfigMaps(namespace).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	found := []string{}
	for i := range list.Items {
		found = append(found, list.Items[i].Name)
	}
	return found
}

func receive(t *testing.T, watching watch.Interface) watch.Event {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	select {
	case event, open := <-watching.ResultChan():
		require.True(t, open, "the watch has ended")
		return event
	case <-ctx.Done():
		require.FailNow(t, "no event came")
		panic("not reached")
	}
}

// requireNoGoroutines waits until no goroutine of an emulator or of etcd's client is left.
func requireNoGoroutines(t *testing.T) {
	t.Helper()
	var left []string
	ok := assert.Eventually(t, func() bool {
		left = nil
		buffer := make([]byte, 4<<20)
		for stack := range strings.SplitSeq(string(buffer[:runtime.Stack(buffer, true)]), "\n\n") {
			for _, code := range []string{"muster/pkg/emulator", "etcd/client/v3", "k8s.io/apiserver", "k8s.io/client-go"} {
				if strings.Contains(stack, code) && !strings.Contains(stack, "testing.tRunner") && !strings.Contains(stack, "requireNoGoroutines") &&
					!strings.Contains(stack, "etcd/server/v3") {
					left = append(left, stack)
					break
				}
			}
		}
		return len(left) == 0
	}, patience, 10*time.Millisecond)
	require.True(t, ok, "goroutines are left:\n%s", strings.Join(left, "\n\n"))
}

func clientTLS(t *testing.T, security transport.TLSInfo) *tls.Config {
	t.Helper()
	config, err := security.ClientConfig()
	require.NoError(t, err)
	return config
}
