package nodelifecycle

import (
	"context"
	"errors"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
)

// byNode is the index of pods by the node that they are bound to.
const byNode = "node"

// evictors is how many pods are looked at at a time.
const evictors = 4

// reconciler is one run of a controller: what it knows, and its queue.
type reconciler struct {
	*Controller
	factories []informers.SharedInformerFactory
	nodes     cache.SharedIndexInformer
	leases    cache.SharedIndexInformer
	pods      cache.SharedIndexInformer
	synced    []cache.DoneChecker
	queue     workqueue.TypedRateLimitingInterface[cache.ObjectName]
	// changed has something in it if a node may need other taints.
	changed chan struct{}

	// Of the monitor alone: what was heard of nodes, which were ready, when one of a zone may be tainted next, and whether
	// no node at all was ready the last time.
	signs   map[string]sign
	ready   map[string]bool
	next    map[string]time.Time
	blacked bool

	// doomed has, for each pod that is to be deleted, since when that is known.
	mu     sync.Mutex
	doomed map[cache.ObjectName]time.Time
}

func newReconciler(c *Controller) *reconciler {
	all := informers.NewSharedInformerFactoryWithOptions(c.kube, 0, informers.WithTransform(trim))
	ofNodes := informers.NewSharedInformerFactoryWithOptions(c.kube, 0, informers.WithTransform(trim),
		informers.WithNamespace(corev1.NamespaceNodeLease))
	r := &reconciler{
		Controller: c,
		factories:  []informers.SharedInformerFactory{all, ofNodes},
		nodes:      all.Core().V1().Nodes().Informer(),
		pods:       all.Core().V1().Pods().Informer(),
		leases:     ofNodes.Coordination().V1().Leases().Informer(),
		queue: workqueue.NewTypedRateLimitingQueueWithConfig(
			workqueue.DefaultTypedControllerRateLimiter[cache.ObjectName](),
			workqueue.TypedRateLimitingQueueConfig[cache.ObjectName]{Name: "taint_eviction", Clock: c.opts.Clock}),
		changed: make(chan struct{}, 1),
		signs:   map[string]sign{}, ready: map[string]bool{}, next: map[string]time.Time{},
		doomed: map[cache.ObjectName]time.Time{},
	}
	return r
}

// listen registers what happens when something changes. It cannot fail on informers that have not been started.
func (r *reconciler) listen() error {
	errIndex := r.pods.AddIndexers(cache.Indexers{byNode: func(object any) ([]string, error) {
		if pod, ok := object.(*corev1.Pod); ok && pod.Spec.NodeName != "" {
			return []string{pod.Spec.NodeName}, nil
		}
		return nil, nil
	}})
	pods, errPods := r.pods.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    r.podChanged,
		UpdateFunc: func(_, after any) { r.podChanged(after) },
		DeleteFunc: r.podChanged,
	})
	nodes, errNodes := r.nodes.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { r.nodeChanged(nil, object) },
		UpdateFunc: r.nodeChanged,
	})
	if err := errors.Join(errIndex, errPods, errNodes); err != nil {
		return err
	}
	r.synced = []cache.DoneChecker{pods.HasSyncedChecker(), nodes.HasSyncedChecker(), r.leases.HasSyncedChecker()}
	return nil
}

// run works until ctx ends and everything has stopped.
func (r *reconciler) run(ctx context.Context) {
	if err := r.listen(); err != nil {
		klog.FromContext(ctx).Error(err, "Listening for nodes and pods failed")
	}
	for _, factory := range r.factories {
		factory.StartWithContext(ctx)
	}
	var working sync.WaitGroup
	if cache.WaitFor(ctx, "", r.synced...) {
		working.Go(func() { r.monitor(ctx) })
		for range evictors {
			working.Go(func() { r.work(ctx) })
		}
	}
	<-ctx.Done()
	r.queue.ShutDown()
	working.Wait()
	for _, factory := range r.factories {
		factory.Shutdown()
	}
}

func (r *reconciler) podChanged(object any) {
	if tombstone, missed := object.(cache.DeletedFinalStateUnknown); missed {
		object = tombstone.Obj
	}
	if pod, ok := object.(*corev1.Pod); ok && pod.Spec.NodeName != "" {
		r.queue.Add(cache.MetaObjectToName(pod))
	}
}

func (r *reconciler) nodeChanged(before, after any) {
	select {
	case r.changed <- struct{}{}:
	default:
	}
	node, ok := after.(*corev1.Node)
	if !ok {
		return
	}
	if old, ok := before.(*corev1.Node); ok && len(noExecute(old)) == 0 && len(noExecute(node)) == 0 {
		return
	}
	for _, pod := range r.podsOf(node.Name) {
		r.queue.Add(cache.MetaObjectToName(pod))
	}
}

func (r *reconciler) podsOf(node string) []*corev1.Pod {
	objects, err := r.pods.GetIndexer().ByIndex(byNode, node)
	if err != nil {
		return nil // there is such an index
	}
	var pods []*corev1.Pod
	for _, object := range objects {
		if pod, ok := object.(*corev1.Pod); ok {
			pods = append(pods, pod)
		}
	}
	return pods
}

// nodeNamed returns the node of that name, nil if there is none.
func (r *reconciler) nodeNamed(name string) *corev1.Node {
	object, exists, err := r.nodes.GetIndexer().GetByKey(name)
	if node, ok := object.(*corev1.Node); ok && exists && err == nil {
		return node
	}
	return nil
}

// leaseOf returns the Lease of a node, nil if there is none.
func (r *reconciler) leaseOf(node string) *coordinationv1.Lease {
	object, exists, err := r.leases.GetIndexer().GetByKey(corev1.NamespaceNodeLease + "/" + node)
	if lease, ok := object.(*coordinationv1.Lease); ok && exists && err == nil {
		return lease
	}
	return nil
}

// trim drops from an object in the cache what decisions do not rest on.
func trim(object any) (any, error) {
	if accessor, ok := object.(metav1.Object); ok {
		accessor.SetManagedFields(nil)
	}
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return object, nil
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: pod.Name, Namespace: pod.Namespace, UID: pod.UID, ResourceVersion: pod.ResourceVersion, Generation: pod.Generation,
			DeletionTimestamp: pod.DeletionTimestamp,
		},
		Spec:   corev1.PodSpec{NodeName: pod.Spec.NodeName, Tolerations: pod.Spec.Tolerations},
		Status: corev1.PodStatus{Conditions: pod.Status.Conditions},
	}, nil
}
