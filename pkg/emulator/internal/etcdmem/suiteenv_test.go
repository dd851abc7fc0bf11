package etcdmem

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.etcd.io/etcd/client/v3/kubernetes"
	"k8s.io/apimachinery/pkg/api/apitesting"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/apis/example"
	examplev1 "k8s.io/apiserver/pkg/apis/example/v1"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/etcd3"
	storagetesting "k8s.io/apiserver/pkg/storage/testing"
	"k8s.io/apiserver/pkg/storage/value"
	"k8s.io/utils/clock"

	"github.com/musterkube/muster/pkg/emulator/internal/mvcc"
)

// valuePrefix is what the suite's transformer puts in front of every stored value.
const valuePrefix = "test!"

var (
	errSynthetic = errors.New("synthetic error")
	pods         = schema.GroupResource{Resource: "pods"}
)

// suiteEnv is a stock etcd3 store on an in-memory store, with the handles that the conformance suite wants.
type suiteEnv struct {
	storage.Interface
	client      *kubernetes.Client
	codec       *breakableCodec
	prefixer    *storagetesting.PrefixTransformer
	transformer *switchTransformer
	kv          *storagetesting.KVRecorder
	lists       *storagetesting.KubernetesRecorder
	// direct counts the lists that do not go through clientv3.KV.
	direct *listCounter
}

// newSuiteEnv makes the environment on a store with the default options. viaKV has the store's reads and writes made
// through clientv3.KV, as with a client of a real etcd, instead of this package's own kubernetes.Interface.
func newSuiteEnv(tb testing.TB, viaKV bool) *suiteEnv {
	tb.Helper()
	return newSuiteEnvOf(tb, mvcc.Options{}, viaKV)
}

func newSuiteEnvOf(tb testing.TB, opts mvcc.Options, viaKV bool) *suiteEnv {
	tb.Helper()
	db, err := mvcc.New(opts)
	require.NoError(tb, err)
	// Not the test's context: the suite's watches are to outlast it until the client is closed.
	client := NewClient(context.WithoutCancel(tb.Context()), db, Options{ProgressInterval: time.Second})
	e := &suiteEnv{client: client, codec: newCodec(tb), direct: &listCounter{Interface: client.Kubernetes}}
	client.Kubernetes = e.direct
	if viaKV {
		client.Kubernetes = client
	}
	e.lists = storagetesting.NewKubernetesRecorder(client.Kubernetes)
	e.kv = storagetesting.NewKVRecorder(client.KV, e.lists)
	client.KV, client.Kubernetes = e.kv, e.lists
	e.prefixer = storagetesting.NewPrefixTransformer([]byte(valuePrefix), false)
	e.transformer = newSwitchTransformer(e.prefixer)
	compactor := etcd3.NewCompactor(client.Client, 0, clock.RealClock{}, nil)
	versioner := storage.APIObjectVersioner{}
	store, err := etcd3.New(client, compactor, e.codec,
		func() runtime.Object { return &example.Pod{} }, func() runtime.Object { return &example.PodList{} },
		"", "/pods/", pods, e.transformer,
		etcd3.LeaseManagerConfig{ReuseDurationSeconds: 1, MaxObjectCount: 1000},
		etcd3.NewDefaultDecoder(e.codec, versioner), versioner)
	require.NoError(tb, err)
	e.Interface = store
	tb.Cleanup(func() {
		store.Close()
		compactor.Stop()
		assert.ErrorIs(tb, client.Close(), context.Canceled)
		db.Close()
	})
	return e
}

func newCodec(tb testing.TB) *breakableCodec {
	tb.Helper()
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, metav1.SchemeGroupVersion)
	require.NoError(tb, example.AddToScheme(scheme))
	require.NoError(tb, examplev1.AddToScheme(scheme))
	return &breakableCodec{Codec: apitesting.TestCodec(serializer.NewCodecFactory(scheme), examplev1.SchemeGroupVersion)}
}

// tolerant adds the deletion of corrupt objects, as the API server does with AllowUnsafeMalformedObjectDeletion.
func (e *suiteEnv) tolerant() *suiteEnv {
	e.Interface = etcd3.NewStoreWithUnsafeCorruptObjectDeletion(e.Interface, pods)
	return e
}

// UpdatePrefixTransformer serves storagetesting.InterfaceWithPrefixTransformer.
func (e *suiteEnv) UpdatePrefixTransformer(modify storagetesting.PrefixTransformerModifier) func() {
	changed := *e.prefixer
	return e.transformer.replace(modify(&changed))
}

// UpdateTransformer serves storagetesting.InterfaceWithTransformerOverride.
func (e *suiteEnv) UpdateTransformer(modify storagetesting.TransformerModifier) func() {
	return e.transformer.replace(modify(*e.transformer.current.Load()))
}

// checkStored verifies what lies in the store under a key.
func (e *suiteEnv) checkStored(ctx context.Context, t *testing.T, key string) {
	t.Helper()
	response, err := e.client.KV.Get(ctx, key)
	require.NoError(t, err)
	require.Len(t, response.Kvs, 1, "values under %s", key)
	obj, err := runtime.Decode(e.codec, response.Kvs[0].Value[len(valuePrefix):])
	require.NoError(t, err)
	assert.Empty(t, obj.(*example.Pod).ResourceVersion, "stored resourceVersion")
}

// increaseRV makes a revision that has nothing to do with the tested objects.
func (e *suiteEnv) increaseRV(ctx context.Context, t *testing.T) int64 {
	t.Helper()
	response, err := e.client.Put(ctx, "increaseRV", "ok")
	require.NoError(t, err)
	return response.Header.Revision
}

// compact compacts as an API server does, and waits until the store has heard of it.
func (e *suiteEnv) compact(ctx context.Context, t *testing.T, resourceVersion string) {
	t.Helper()
	rv, err := storage.APIObjectVersioner{}.ParseResourceVersion(resourceVersion)
	require.NoError(t, err)
	version, _, compacted, err := etcd3.Compact(ctx, e.client.Client, 0, int64(rv))
	require.NoError(t, err)
	if compacted != int64(rv) {
		// The key that says how often was compacted was not as a first compaction finds it.
		_, _, _, err = etcd3.Compact(ctx, e.client.Client, version, int64(rv))
		require.NoError(t, err)
	}
	require.Eventually(t, func() bool { return e.CompactRevision() == int64(rv) }, 10*time.Second, 10*time.Millisecond,
		"waiting for the store to observe the compaction at %d", rv)
}

// checkReads verifies how many objects a list read, in how few requests: pages double in size until they are full.
func (e *suiteEnv) checkReads(t *testing.T, pageSize, wantObjects uint64) {
	t.Helper()
	assert.Equal(t, wantObjects, e.prefixer.GetReadsAndReset(), "objects read")
	wantRequests := uint64(1)
	if limit := pageSize; limit != 0 {
		for sum := uint64(1); sum < wantObjects; wantRequests++ {
			limit = min(2*limit, 10_000)
			sum += limit
		}
	}
	requests := e.kv.GetReadsAndReset() + e.kv.GetStreamReadsAndReset() + e.direct.lists.Swap(0)
	assert.Equal(t, wantRequests, requests, "requests made")
}

// listCounter counts lists.
type listCounter struct {
	kubernetes.Interface
	lists atomic.Uint64
}

func (c *listCounter) List(ctx context.Context, prefix string, opts kubernetes.ListOptions) (kubernetes.ListResponse, error) {
	c.lists.Add(1)
	return c.Interface.List(ctx, prefix, opts)
}

// switchTransformer lets a test replace the transformer of a store, which cannot be reached from outside its package.
type switchTransformer struct {
	current atomic.Pointer[value.Transformer]
}

func newSwitchTransformer(t value.Transformer) *switchTransformer {
	s := &switchTransformer{}
	s.current.Store(&t)
	return s
}

// replace puts another transformer in, and returns a function that brings the present one back.
func (s *switchTransformer) replace(t value.Transformer) func() {
	old := s.current.Swap(&t)
	return func() { s.current.Store(old) }
}

func (s *switchTransformer) TransformFromStorage(ctx context.Context, data []byte, dataCtx value.Context) ([]byte, bool, error) {
	return (*s.current.Load()).TransformFromStorage(ctx, data, dataCtx)
}

func (s *switchTransformer) TransformToStorage(ctx context.Context, data []byte, dataCtx value.Context) ([]byte, error) {
	return (*s.current.Load()).TransformToStorage(ctx, data, dataCtx)
}

// breakTransformer makes reads through the transformer fail, or work again.
func (e *suiteEnv) breakTransformer(broken bool) {
	var t value.Transformer = e.prefixer
	if broken {
		t = brokenTransformer{}
	}
	e.transformer.replace(t)
}

type brokenTransformer struct{}

func (brokenTransformer) TransformFromStorage(context.Context, []byte, value.Context) ([]byte, bool, error) {
	return nil, false, errSynthetic
}

func (brokenTransformer) TransformToStorage(context.Context, []byte, value.Context) ([]byte, error) {
	return nil, errSynthetic
}

// corruptError is the error by which the etcd3 store knows corrupt data. Its type is private; its maker is not.
func corruptError(ctx context.Context) error {
	_, _, err := etcd3.WithCorruptObjErrorHandlingTransformer(brokenTransformer{}).TransformFromStorage(ctx, nil, nil)
	return err
}

// breakableCodec is a codec whose decoding can be made to fail.
type breakableCodec struct {
	runtime.Codec
	broken atomic.Bool
}

func (c *breakableCodec) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	if c.broken.Load() {
		return nil, nil, errSynthetic
	}
	return c.Codec.Decode(data, defaults, into)
}

// bookmarking is a store whose watches ask for progress notifications when their clients allow bookmarks.
type bookmarking struct {
	storage.Interface
}

func (b bookmarking) Watch(ctx context.Context, key string, opts storage.ListOptions) (watch.Interface, error) {
	opts.ProgressNotify = opts.Predicate.AllowWatchBookmarks
	return b.Interface.Watch(ctx, key, opts)
}
