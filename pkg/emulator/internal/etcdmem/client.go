package etcdmem

import (
	"context"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/kubernetes"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"k8s.io/utils/clock"

	"github.com/musterkube/muster/pkg/emulator/internal/mvcc"
)

// DefaultProgressInterval is how often an idle watch that asked for progress notifications gets one. etcd sends one every
// ten minutes; the watch cache of a kube-apiserver, which those who watch through this client do without, sends bookmarks
// about once a minute.
const DefaultProgressInterval = time.Minute

// Options are the choices a client is made with. The zero value works.
type Options struct {
	// ProgressInterval is how often a watch that asked for progress notifications gets one while it has no events. The
	// default 0 means DefaultProgressInterval; a negative interval sends them only when RequestProgress is called.
	ProgressInterval time.Duration
	// Clock times progress notifications and the renewals of KeepAlive. The default is the real clock.
	Clock clock.WithTicker
}

// Client returns an etcd client of the store with the default options.
func Client(ctx context.Context, db *mvcc.DB) *kubernetes.Client {
	return NewClient(ctx, db, Options{})
}

// NewClient returns an etcd client of the store, for etcd3.New and etcd3.NewCompactor of k8s.io/apiserver. The client
// starts no goroutine until there is a watch or a KeepAlive. Close, or the end of ctx, ends those; Close also waits for
// them. It does not close the store: that belongs to whoever made it, who does so after closing its clients.
func NewClient(ctx context.Context, db *mvcc.DB, opts Options) *kubernetes.Client {
	if opts.ProgressInterval == 0 {
		opts.ProgressInterval = DefaultProgressInterval
	}
	if opts.Clock == nil {
		opts.Clock = clock.RealClock{}
	}
	c := clientv3.NewCtxClient(ctx)
	tasks := &tasks{cancelled: c.Ctx().Done(), closing: make(chan struct{})}
	c.KV = clientv3.NewKVFromKVClient(&kvServer{db: db}, nil)
	c.Watcher = &watchClient{db: db, opts: opts, tasks: tasks, streams: map[*stream]struct{}{}}
	c.Lease = &leaseClient{db: db, clock: opts.Clock, tasks: tasks}
	c.Cluster = clientv3.NewClusterFromClusterClient(pb.NewClusterClient(refusal{}), nil)
	c.Auth = clientv3.NewAuthFromAuthClient(pb.NewAuthClient(refusal{}), nil)
	c.Maintenance = clientv3.NewMaintenanceFromMaintenanceClient(pb.NewMaintenanceClient(refusal{}), nil)
	return &kubernetes.Client{Client: c, Kubernetes: &kubeClient{db: db}}
}

// tasks are the goroutines of one client.
type tasks struct {
	// cancelled is closed when the client's context ends.
	cancelled <-chan struct{}
	// closing is closed by close.
	closing chan struct{}

	mu     sync.Mutex
	closed bool
	wg     sync.WaitGroup
}

// start runs f in a goroutine, unless the client was closed, and says which.
func (t *tasks) start(f func()) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return false
	}
	t.wg.Go(f)
	return true
}

// close tells the goroutines to end and waits until they have. The second call only waits.
func (t *tasks) close() {
	t.mu.Lock()
	if !t.closed {
		t.closed = true
		close(t.closing)
	}
	t.mu.Unlock()
	t.wg.Wait()
}

// refusal is a connection to a server that supports no call.
type refusal struct{}

var _ grpc.ClientConnInterface = refusal{}

func (refusal) Invoke(_ context.Context, method string, _, _ any, _ ...grpc.CallOption) error {
	return status.Errorf(codes.Unimplemented, "etcdmem: %s is not supported by the in-memory store", method)
}

func (r refusal) NewStream(ctx context.Context, _ *grpc.StreamDesc, method string, _ ...grpc.CallOption) (grpc.ClientStream, error) {
	return nil, r.Invoke(ctx, method, nil, nil)
}
