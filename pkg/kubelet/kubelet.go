package kubelet

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/musterkube/muster/pkg/internal/guard"
)

// workers is how many pods are looked after at once.
const workers = 8

// Kubelet plays pods. Make one with [New].
type Kubelet struct {
	kube    kubernetes.Interface
	options Options
	clock   clock.WithTicker
	queue   workqueue.TypedRateLimitingInterface[task]
	pods    corelisters.PodLister
	nodes   corelisters.NodeLister
	history *history
	logs    *logs
	// processes are what containers run as, nil if they are played.
	processes *processes

	// asking keeps the script to one question at a time.
	asking sync.Mutex
	// mu guards what follows.
	mu        sync.Mutex
	runs      map[types.NamespacedName]*run
	addresses *addresses
	// lost are the nodes of [Kubelet.Lose].
	lost map[string]bool

	// begun says that Run was called.
	begun guard.Once
}

// task is a pod, or a node if there is no namespace, that is to be looked at.
type task = types.NamespacedName

// New makes a kubelet for the API server of cfg. It sends nothing before [Kubelet.Run]. Requests are not throttled
// unless cfg.QPS says so.
//
// Options that make no sense are an error that names all of them: see [Options.Validate]. So is a cfg that no client can
// be made of.
func New(cfg *rest.Config, options Options) (*Kubelet, error) {
	if cfg == nil {
		return nil, errors.New("making kubelet: there is no rest.Config")
	}
	if err := options.Validate(); err != nil {
		return nil, fmt.Errorf("making kubelet: %w", err)
	}
	cfg = rest.CopyConfig(cfg)
	if cfg.UserAgent == "" {
		cfg.UserAgent = "muster-kubelet"
	}
	if cfg.QPS == 0 {
		cfg.QPS = -1
	}
	if cfg.ContentType == "" {
		cfg.ContentType = runtime.ContentTypeProtobuf
		cfg.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	}
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return nil, fmt.Errorf("making kubelet: %w", err)
	}
	kube, err := kubernetes.NewForConfigAndClient(cfg, client)
	if err != nil {
		return nil, fmt.Errorf("making kubelet: %w", err)
	}
	return newKubelet(kube, options), nil
}

func newKubelet(kube kubernetes.Interface, options Options) *Kubelet {
	if options.Script == nil {
		options.Script = Fixed{}
	}
	if options.Clock == nil {
		options.Clock = clock.RealClock{}
	}
	if options.LogLimit == 0 {
		options.LogLimit = 1 << 20
	}
	if options.LeaseInterval == 0 {
		options.LeaseInterval = 10 * time.Second
	}
	k := &Kubelet{
		kube:      kube,
		options:   options,
		clock:     options.Clock,
		history:   newHistory(),
		logs:      newLogs(),
		runs:      map[types.NamespacedName]*run{},
		addresses: newAddresses(),
		lost:      map[string]bool{},
	}
	if options.Runtime.processes != nil {
		k.processes = newProcesses()
	}
	return k
}

// Run registers the nodes and plays pods until ctx is done, and returns nil then, after everything that it started has
// ended. It returns an error if it cannot start. A Kubelet runs once: another call is an error.
func (k *Kubelet) Run(ctx context.Context) error {
	if k == nil || k.kube == nil {
		return errors.New("starting kubelet: it was not made by New")
	}
	if err := k.begun.Enter("starting kubelet"); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ctx = klog.NewContext(ctx, klog.LoggerWithName(klog.FromContext(ctx), "kubelet"))
	for _, node := range k.options.Nodes {
		if err := k.register(ctx, node); err != nil {
			return fmt.Errorf("starting kubelet: %w", err)
		}
	}
	queue := workqueue.NewTypedRateLimitingQueueWithConfig(
		workqueue.NewTypedItemExponentialFailureRateLimiter[task](100*time.Millisecond, 10*time.Second),
		workqueue.TypedRateLimitingQueueConfig[task]{Name: "kubelet", Clock: k.clock})
	k.mu.Lock()
	k.queue = queue
	k.mu.Unlock()
	stopInformers, err := k.watch(ctx)
	defer stopInformers()
	defer k.queue.ShutDown()
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return fmt.Errorf("starting kubelet: %w", err)
	}
	var working sync.WaitGroup
	for range workers {
		working.Go(func() { k.work(ctx) })
	}
	if k.options.LeaseInterval > 0 {
		working.Go(func() { k.heartbeat(ctx) })
	}
	<-ctx.Done()
	k.queue.ShutDown()
	working.Wait()
	k.stopContainers()
	return nil
}

// stopContainers ends what still runs: no process may outlive the kubelet, and who follows a log is to come to its end.
func (k *Kubelet) stopContainers() {
	if k.processes != nil {
		k.processes.stop(k.options.Runtime.processes.StopGrace)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, r := range k.runs {
		r.abandon(k.clock.Now(), 0)
	}
}

func (k *Kubelet) work(ctx context.Context) {
	for {
		item, stopped := k.queue.Get()
		if stopped {
			return
		}
		k.attend(ctx, item)
	}
}

func (k *Kubelet) attend(ctx context.Context, item task) {
	defer k.queue.Done(item)
	sync := k.syncPod
	if item.Namespace == "" {
		sync = k.syncNode
	}
	if err := sync(ctx, item); err != nil {
		if ctx.Err() == nil {
			klog.FromContext(ctx).Error(err, "Looking after a pod or node failed; it is tried again")
			k.queue.AddRateLimited(item)
		}
		return
	}
	k.queue.Forget(item)
}
