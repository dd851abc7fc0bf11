package emulator_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"github.com/musterkube/muster/pkg/emulator"
	"github.com/musterkube/muster/pkg/features"
)

func TestIdleServerNeedsNoGoroutine(t *testing.T) {
	requireNoGoroutines(t)
	start(t, emulator.Options{DisabledControllers: emulator.Controllers()})
	assert.Empty(t, stacks())
}

func TestStopLeavesNoGoroutine(t *testing.T) {
	requireNoGoroutines(t)
	server, err := emulator.Start(t.Context(), emulator.Options{})
	require.NoError(t, err)

	client := kube(t, server.Config())
	watching, err := client.CoreV1().Pods("").Watch(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	_, err = client.CoreV1().Pods("default").Create(t.Context(), makePod("a"), metav1.CreateOptions{})
	require.NoError(t, err)
	assert.Equal(t, watch.Added, receive(t, watching.ResultChan()).Type)
	url, err := server.Listen(t.Context(), "127.0.0.1:0")
	require.NoError(t, err)
	require.NotEmpty(t, url)

	server.Stop()
	server.Stop()

	event, open := <-watching.ResultChan()
	assert.False(t, open, "a watch ends with the server, not with %v", event)
	requireNoGoroutines(t)
}

func TestManyServersInOneProcess(t *testing.T) {
	const count, pods = 16, 20
	var all sync.WaitGroup
	for i := range count {
		all.Go(func() {
			server, err := emulator.Start(t.Context(), emulator.Options{})
			if !assert.NoError(t, err) {
				return
			}
			defer server.Stop()
			client := kube(t, server.Config())
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			factory := informers.NewSharedInformerFactory(client, 0)
			seen := make(chan string, pods)
			_, err = factory.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
				AddFunc: func(obj any) { seen <- obj.(*corev1.Pod).Name },
			})
			assert.NoError(t, err)
			factory.Start(ctx.Done())
			factory.WaitForCacheSync(ctx.Done())
			for p := range pods {
				_, err := client.CoreV1().Pods("default").Create(ctx, makePod(fmt.Sprintf("s%d-p%d", i, p)), metav1.CreateOptions{})
				assert.NoError(t, err)
			}
			for p := range pods {
				assert.Equal(t, fmt.Sprintf("s%d-p%d", i, p), <-seen, "an informer must see the pods of its own server")
			}
			cancel()
			factory.Shutdown()
		})
	}
	all.Wait()
	requireNoGoroutines(t)
}

func TestRequestsAfterStop(t *testing.T) {
	server := start(t, emulator.Options{})
	client := kube(t, server.Config())
	handler := server.Handler()
	server.Stop()

	_, err := client.CoreV1().Pods("default").Get(t.Context(), "a", metav1.GetOptions{})
	require.ErrorIs(t, err, emulator.ErrStopped)
	assert.True(t, utilnet.IsConnectionRefused(err), "an informer must take it for a server that is away")

	recorder := httptest.NewRecorder()
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/v1/pods", nil)
	request.Header.Set("Authorization", "Bearer "+server.Config().BearerToken)
	handler.ServeHTTP(recorder, request)
	assert.Equal(t, http.StatusServiceUnavailable, recorder.Code)
	assert.Contains(t, recorder.Body.String(), "the API server emulator has been stopped")

	_, err = server.Listen(t.Context(), "127.0.0.1:0")
	require.ErrorIs(t, err, emulator.ErrStopped)
}

func TestTheContextOfStartDoesNotEndTheServer(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	server, err := emulator.Start(ctx, emulator.Options{})
	require.NoError(t, err)
	defer server.Stop()
	cancel()
	_, err = kube(t, server.Config()).CoreV1().Namespaces().Get(t.Context(), "default", metav1.GetOptions{})
	require.NoError(t, err)
}

func TestStartFailsCleanly(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	hurried, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	cases := map[string]struct {
		ctx     context.Context //nolint:containedctx // an input like the others
		options emulator.Options
		wantErr string
	}{
		"with a context that is over": {ctx: cancelled, wantErr: "context canceled"},
		"with an etcd that is not there": {
			ctx: hurried, options: emulator.Options{Etcd: []string{"http://" + closedPort(t)}},
			wantErr: "reaching etcd at http://127.0.0.1:",
		},
		"with an etcd, and a reason why it does not answer": {
			ctx: hurried, options: emulator.Options{Etcd: []string{"http://" + closedPort(t)}},
			wantErr: "connection refused",
		},
		"with a snapshot for an etcd": {
			options: emulator.Options{Etcd: []string{"http://127.0.0.1:2379"}, Restore: &emulator.Snapshot{}},
			wantErr: "Options.Restore: Forbidden: the objects of this server are in an etcd cluster, not in its memory",
		},
		"with bounds that an etcd does not have": {
			options: emulator.Options{Etcd: []string{"http://127.0.0.1:2379"}, History: emulator.History{Events: 1}},
			wantErr: "Options.History: Invalid value: ",
		},
		"with a prefix for no etcd": {
			options: emulator.Options{EtcdPrefix: "/elsewhere"},
			wantErr: `Options.EtcdPrefix: Invalid value: "/elsewhere": there are no endpoints in Options.Etcd to use it with`,
		},
		"with TLS for no etcd": {
			options: emulator.Options{EtcdTLS: &tls.Config{MinVersion: tls.VersionTLS12}},
			wantErr: "Options.EtcdTLS: Forbidden: there are no endpoints in Options.Etcd to use it with",
		},
		"with an empty prefix": {
			options: emulator.Options{Etcd: []string{"http://127.0.0.1:2379"}, EtcdPrefix: "/"},
			wantErr: `Options.EtcdPrefix: Invalid value: "/": must name something`,
		},
		"with a token that no header could carry": {
			options: emulator.Options{Token: "a b"},
			wantErr: "Options.Token: Invalid value: must not contain white space",
		},
		"with pods that tolerate less than nothing": {
			options: emulator.Options{TolerationSeconds: new(int64(-1))},
			wantErr: "Options.TolerationSeconds: Invalid value: -1: must not be negative",
		},
		"with gates that need one that is off": {
			options: emulator.Options{Gates: features.Gates{}.With(features.GenericWorkload, false)},
			wantErr: "GangScheduling needs GenericWorkload",
		},
		"with an admission plugin that there is not": {
			options: emulator.Options{DisabledAdmission: []string{"NoSuchPlugin"}},
			wantErr: `Options.DisabledAdmission[0]: Unsupported value: "NoSuchPlugin": supported values: "NamespaceLifecycle", `,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			ctx := tc.ctx
			if ctx == nil {
				ctx = t.Context()
			}
			server, err := emulator.Start(ctx, tc.options)
			require.ErrorContains(t, err, "starting the API server emulator: ")
			require.ErrorContains(t, err, tc.wantErr)
			assert.Nil(t, server)
		})
	}
	requireNoGoroutines(t)
}

// closedPort returns an address at which nobody listens.
func closedPort(t *testing.T) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = listener.Close() }()
	return listener.Addr().String()
}

func TestServersDifferByTheirGates(t *testing.T) {
	withAll := start(t, emulator.Options{})
	withNone := start(t, emulator.Options{Gates: features.KubernetesDefaults()})

	_, err := muster(t, withAll.Config()).SchedulingV1alpha2().Workloads("default").Create(t.Context(), makeWorkload("w"), metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = muster(t, withNone.Config()).SchedulingV1alpha2().Workloads("default").Create(t.Context(), makeWorkload("w"), metav1.CreateOptions{})
	require.True(t, apierrors.IsNotFound(err), "%v", err)

	group := "group"
	pod := makePod("p")
	pod.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: &group}
	kept, err := kube(t, withAll.Config()).CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{})
	require.NoError(t, err)
	assert.NotNil(t, kept.Spec.SchedulingGroup)
	dropped, err := kube(t, withNone.Config()).CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{})
	require.NoError(t, err)
	assert.Nil(t, dropped.Spec.SchedulingGroup)
}

func TestNothingIsLoggedByDefault(t *testing.T) {
	klogged.take()
	server := start(t, emulator.Options{})
	client := kube(t, server.Config())
	watching, err := client.CoreV1().Pods("").Watch(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	_, err = client.CoreV1().Pods("default").Create(t.Context(), makePod("a"), metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = client.CoreV1().Pods("default").Create(t.Context(), &corev1.Pod{}, metav1.CreateOptions{})
	require.Error(t, err)
	_, err = client.Discovery().ServerPreferredResources()
	require.NoError(t, err)
	_, err = client.Discovery().OpenAPISchema()
	require.NoError(t, err)
	receive(t, watching.ResultChan())
	server.Stop()
	assert.Empty(t, klogged.take())
}

func TestLoggerOfTheContext(t *testing.T) {
	var lines []string
	logger := logr.New(&sink{lines: &lines})
	server, err := emulator.Start(logr.NewContext(t.Context(), logger), emulator.Options{})
	require.NoError(t, err)
	defer server.Stop()
	// A handler that panics is what is sure to be logged; a request without a header map makes one do so.
	recorder := httptest.NewRecorder()
	server.Handler().ServeHTTP(recorder, (&http.Request{Method: http.MethodGet}).WithContext(t.Context()))
	assert.Equal(t, http.StatusInternalServerError, recorder.Code)
	assert.Contains(t, lines, "Request caused a panic")
}

// sink is a logr.LogSink that keeps messages.
type sink struct{ lines *[]string }

func (*sink) Init(logr.RuntimeInfo)                  {}
func (*sink) Enabled(int) bool                       { return true }
func (s *sink) Info(_ int, message string, _ ...any) { *s.lines = append(*s.lines, message) }
func (s *sink) Error(_ error, message string, _ ...any) {
	*s.lines = append(*s.lines, message)
}
func (s *sink) WithValues(...any) logr.LogSink { return s }
func (s *sink) WithName(string) logr.LogSink   { return s }
