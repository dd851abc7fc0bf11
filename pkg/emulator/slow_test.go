package emulator_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/musterkube/muster/pkg/emulator"
)

// ways returns configurations for clients of a server: one that stays in the process and one that comes by TLS.
func ways(t *testing.T, server *emulator.Server) map[string]*rest.Config {
	t.Helper()
	_, err := server.Listen(t.Context(), "127.0.0.1:0")
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, server.WriteKubeconfig(path))
	outside, err := clientcmd.BuildConfigFromFlags("", path)
	require.NoError(t, err)
	outside.QPS = -1
	return map[string]*rest.Config{"in memory": server.Config(), "over TLS": outside}
}

// unread begins a watch of the config maps of a namespace, of which nothing is read. The server has begun it, too.
func unread(t *testing.T, ctx context.Context, config *rest.Config) io.ReadCloser { //nolint:revive // t is first in tests
	t.Helper()
	body, err := kube(t, config).CoreV1().RESTClient().Get().Namespace("default").Resource("configmaps").Param("watch", "true").Stream(ctx)
	require.NoError(t, err)
	return body
}

// grow writes a config map so many times, with so many bytes, and does something after each.
func grow(t *testing.T, server *emulator.Server, writes, size int, after ...func()) {
	t.Helper()
	client := kube(t, protobuf(server.Config())).CoreV1().ConfigMaps("default")
	object, err := client.Get(t.Context(), "big", metav1.GetOptions{})
	if err != nil {
		object, err = client.Create(t.Context(), makeConfigMap("big"), metav1.CreateOptions{})
		require.NoError(t, err)
	}
	for i := range writes {
		object.Data = map[string]string{"number": fmt.Sprint(i), "ballast": strings.Repeat("x", size)}
		object, err = client.Update(t.Context(), object, metav1.UpdateOptions{})
		require.NoError(t, err)
		for _, do := range after {
			do()
		}
	}
}

// readOut reads what a watch has told: the numbers of its events, and the code of the error that ended it.
func readOut(t *testing.T, body io.Reader) (numbers []string, code int32) {
	t.Helper()
	decoder := json.NewDecoder(body)
	for {
		var event struct {
			Type   watch.EventType
			Object json.RawMessage
		}
		err := decoder.Decode(&event)
		if errors.Is(err, io.EOF) {
			return numbers, 0
		}
		require.NoError(t, err)
		if event.Type == watch.Error {
			var status metav1.Status
			require.NoError(t, json.Unmarshal(event.Object, &status))
			assert.Equal(t, metav1.StatusReasonExpired, status.Reason)
			return numbers, status.Code // clients end a watch here, too
		}
		var object corev1.ConfigMap
		require.NoError(t, json.Unmarshal(event.Object, &object))
		numbers = append(numbers, object.Data["number"])
	}
}

func TestAStuckWatcherIsCutOff(t *testing.T) {
	limits := map[string]emulator.History{
		"by the number of events": {Backlog: 50},
		"by their size":           {BacklogBytes: 2 << 20},
	}
	for name, history := range limits {
		t.Run(name, func(t *testing.T) {
			// The controllers read as watchers do, and may be cut off themselves with limits as low as these.
			server := start(t, emulator.Options{History: history, DisabledControllers: emulator.Controllers()})
			idle := server.Watchers()
			for way, config := range ways(t, server) {
				t.Run(way, func(t *testing.T) {
					const writes, size = 800, 20_000
					grow(t, server, 1, 1)
					body := unread(t, t.Context(), config)
					defer func() { _ = body.Close() }()
					require.Eventually(t, func() bool { return server.Watchers() == idle+1 }, time.Minute, time.Millisecond,
						"the watch has read what there is")
					attentive, err := kube(t, server.Config()).CoreV1().ConfigMaps("default").Watch(t.Context(), metav1.ListOptions{})
					require.NoError(t, err)
					defer attentive.Stop()
					assert.Equal(t, watch.Added, receive(t, attentive.ResultChan()).Type)
					// More than fits between the store and a client that does not read. Nobody waits for it.
					grow(t, server, writes, size, func() {
						require.Equal(t, watch.Modified, receive(t, attentive.ResultChan()).Type, "another watcher sees every event")
					})
					require.Eventually(t, func() bool { return server.Watchers() == idle+1 }, time.Minute, time.Millisecond,
						"the stuck watcher has left the store, the other has not")

					numbers, code := readOut(t, body)
					assert.EqualValues(t, 410, code, "what it gets after %d events", len(numbers))
					assert.Less(t, len(numbers), writes)
					for i, number := range numbers[1:] {
						require.Equal(t, fmt.Sprint(i), number, "up to there nothing is missing")
					}
				})
			}
		})
	}
}

func TestAClientThatGoesAwayFreesWhatItHeld(t *testing.T) {
	server := start(t, emulator.Options{})
	awaitIdle(t, server)
	ends := map[string]func(cancel func(), body io.ReadCloser, lines *connections){
		"by ending its context":    func(cancel func(), _ io.ReadCloser, _ *connections) { cancel() },
		"by closing the body":      func(_ func(), body io.ReadCloser, _ *connections) { _ = body.Close() },
		"by losing its connection": func(_ func(), _ io.ReadCloser, lines *connections) { lines.close() },
		"after reading a little": func(cancel func(), body io.ReadCloser, _ *connections) {
			_, _ = body.Read(make([]byte, 10))
			cancel()
		},
	}
	for way, config := range ways(t, server) {
		for how, end := range ends {
			if way == "in memory" && how == "by losing its connection" {
				continue // there is none
			}
			t.Run(way+" "+how, func(t *testing.T) {
				grow(t, server, 1, 1)
				idle, before := server.Watchers(), len(stacks())
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				config := rest.CopyConfig(config)
				lines := &connections{}
				if config.Transport == nil {
					config.Dial = lines.dial
				}
				var bodies []io.ReadCloser
				for range 10 {
					bodies = append(bodies, unread(t, ctx, config))
				}
				grow(t, server, 300, 20_000) // they are stuck, with a backlog
				assert.Equal(t, idle+10, server.Watchers())
				for _, body := range bodies {
					end(cancel, body, lines)
				}
				require.Eventually(t, func() bool { return server.Watchers() == idle }, time.Minute, time.Millisecond)
				lines.close()
				assert.Eventually(t, func() bool { return len(stacks()) <= before }, time.Minute, time.Millisecond,
					"goroutines are left: %d, %d before", len(stacks()), before)
			})
		}
	}
}

// connections are those of a client.
type connections struct {
	mu   sync.Mutex
	open []net.Conn
}

func (c *connections) dial(ctx context.Context, network, address string) (net.Conn, error) {
	opened, err := (&net.Dialer{}).DialContext(ctx, network, address)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil {
		c.open = append(c.open, opened)
	}
	return opened, err
}

func (c *connections) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, line := range c.open {
		_ = line.Close()
	}
	c.open = nil
}

func TestStuckWatchersAndHistoryTakeBoundedMemory(t *testing.T) {
	const mib, stuck, writes, size = 1 << 20, 4, 1500, 200_000
	server := start(t, emulator.Options{History: emulator.History{Bytes: 4 * mib, BacklogBytes: 4 * mib}})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	grow(t, server, 1, 1)
	for _, config := range ways(t, server) {
		for range stuck / 2 {
			body := unread(t, ctx, config)
			defer func() { _ = body.Close() }()
		}
	}
	before := heap()
	grow(t, server, writes, size)
	held := heap() - before
	t.Logf("%d MiB were written, %d MiB are held, of which history has %d KiB", writes*size/mib, held/mib, server.HistoryBytes()>>10)
	assert.LessOrEqual(t, server.HistoryBytes(), int64(5*mib))
	// A hundred events wait in the storage for each watcher, decoded, and as many encoded.
	assert.Less(t, held, int64(stuck*100*size*2+20*mib))
}

func heap() int64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.GC() // what the first one finalizes
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// TestNothingGrowsWithoutBound does for a server what a long life does: watches that come and go, events that expire,
// resource versions by the thousand.
// awaitIdle waits until nobody watches the store but the controllers of the server, which share one watch. They begin it
// a moment after a start or a restore.
func awaitIdle(t *testing.T, server *emulator.Server) {
	t.Helper()
	require.Eventually(t, func() bool { return server.Watchers() == 1 }, time.Minute, time.Millisecond)
}

func TestNothingGrowsWithoutBound(t *testing.T) {
	server := start(t, emulator.Options{History: emulator.History{Events: 500}})
	client := kube(t, protobuf(server.Config()))
	round := func() {
		for i := range 200 {
			watching, err := client.CoreV1().Pods("").Watch(t.Context(), metav1.ListOptions{})
			require.NoError(t, err)
			watching.Stop()
			name := fmt.Sprint("c", i)
			_, err = client.CoreV1().ConfigMaps("default").Create(t.Context(), makeConfigMap(name), metav1.CreateOptions{})
			require.NoError(t, err)
			require.NoError(t, client.CoreV1().ConfigMaps("default").Delete(t.Context(), name, metav1.DeleteOptions{}))
			_, err = client.CoreV1().Events("default").Create(t.Context(), &corev1.Event{
				ObjectMeta: objectMeta("e"), InvolvedObject: corev1.ObjectReference{Namespace: "default", Name: name},
			}, metav1.CreateOptions{})
			require.NoError(t, err)
			require.NoError(t, client.CoreV1().Events("default").Delete(t.Context(), "e", metav1.DeleteOptions{}))
		}
		snapshot := takeSnapshot(t, server)
		require.NoError(t, server.Restore(snapshot))
	}
	for range 3 {
		round()
	}
	before := heap()
	for range 10 {
		round()
	}
	awaitIdle(t, server)
	held := heap() - before
	t.Logf("%d KiB more after ten rounds", held>>10)
	assert.Less(t, held, int64(2<<20))
}
