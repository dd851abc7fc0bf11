package podgroupprotection

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	schedulinginformers "github.com/musterkube/muster/generated/informers/externalversions/scheduling/v1alpha2"
)

// podsByGroup is the index of the pods that hold a PodGroup, by the name of the PodGroup.
const podsByGroup = "group"

// reconciler is one run of a controller: its caches and its queue.
type reconciler struct {
	*Controller
	live   *headcount
	groups watched
	// pods are watched from when the first PodGroup waits on. Where none is ever deleted, which is where most pods are,
	// none is decoded or kept.
	pods      watched
	watchPods sync.Once
	queue     workqueue.TypedRateLimitingInterface[cache.ObjectName]
	// caches are the goroutines that keep the caches up to date.
	caches sync.WaitGroup
}

// watched is a kind of object that is watched, with what tells that the controller has heard of the first ones.
type watched struct {
	cache.SharedIndexInformer
	heard cache.DoneChecker
}

func newReconciler(c *Controller) *reconciler {
	r := &reconciler{
		Controller: c,
		live:       &headcount{kube: c.kube},
		queue: workqueue.NewTypedRateLimitingQueueWithConfig(
			workqueue.DefaultTypedControllerRateLimiter[cache.ObjectName](),
			workqueue.TypedRateLimitingQueueConfig[cache.ObjectName]{Name: "podgroupprotection", Clock: c.opts.Clock}),
	}
	r.groups = watch(schedulinginformers.NewPodGroupInformer(c.scheduling, c.opts.Namespace, 0, nil), cache.ResourceEventHandlerFuncs{
		AddFunc:    r.groupSeen,
		UpdateFunc: func(_, after any) { r.groupSeen(after) },
	})
	pods := coreinformers.NewPodInformer(c.kube, c.opts.Namespace, 0, cache.Indexers{podsByGroup: indexPod})
	_ = pods.SetTransform(trimPod) // cannot fail on an informer that has not been started
	r.pods = watch(pods, cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { r.podSeen(nil, object) },
		UpdateFunc: r.podSeen,
		DeleteFunc: func(object any) { r.podSeen(object, nil) },
	})
	return r
}

// watch has handler hear of what informer, which has not been started, will tell. That cannot fail on such an informer.
func watch(informer cache.SharedIndexInformer, handler cache.ResourceEventHandler) watched {
	w := watched{informer, informer.HasSyncedChecker()}
	if registration, err := informer.AddEventHandler(handler); err == nil {
		w.heard = registration.HasSyncedChecker()
	}
	return w
}

// run works until ctx ends and everything has stopped.
func (r *reconciler) run(ctx context.Context) {
	var workers sync.WaitGroup
	r.caches.Go(func() { r.groups.RunWithContext(ctx) })
	if cache.WaitFor(ctx, "", r.groups.heard) {
		for range r.opts.Workers {
			workers.Go(func() { r.work(ctx) })
		}
	}
	<-ctx.Done()
	r.queue.ShutDown()
	workers.Wait()
	r.caches.Wait()
}

// knowsPods has pods be watched, if they are not yet, and waits until it is known which there are. It returns false if ctx
// ends before.
func (r *reconciler) knowsPods(ctx context.Context) bool {
	r.watchPods.Do(func() { r.caches.Go(func() { r.pods.RunWithContext(ctx) }) })
	return cache.WaitFor(ctx, "", r.pods.heard)
}

// groupSeen queues a PodGroup that waits to be set free.
func (r *reconciler) groupSeen(object any) {
	if group, ok := object.(*schedulingv1alpha2.PodGroup); ok && isCandidate(group) {
		r.queue.Add(cache.MetaObjectToName(group))
	}
}

// podSeen queues the PodGroups that a change of a pod may have set free.
func (r *reconciler) podSeen(before, after any) {
	for _, group := range mayBeFree(podIn(before), podIn(after)) {
		r.queue.Add(group)
	}
}

// podIn returns the pod of an event, nil if there is none. Of a deletion that was missed it is the last state known.
func podIn(object any) *corev1.Pod {
	if unknown, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = unknown.Obj
	}
	pod, _ := object.(*corev1.Pod)
	return pod
}

// work takes PodGroups from the queue until it is shut down.
func (r *reconciler) work(ctx context.Context) {
	for {
		name, shutdown := r.queue.Get()
		if shutdown {
			return
		}
		r.process(ctx, name)
		r.queue.Done(name)
	}
}

// process looks at a PodGroup, and sees to it that what failed is tried again.
func (r *reconciler) process(ctx context.Context, name cache.ObjectName) {
	switch err := r.reconcile(ctx, name); {
	case err == nil:
		r.queue.Forget(name)
	case ctx.Err() != nil:
		// Requests fail because the controller ends.
	case apierrors.IsConflict(err):
		klog.FromContext(ctx).V(4).Info("PodGroup has changed, looking again", "podGroup", name)
		r.queue.AddRateLimited(name)
	default:
		klog.FromContext(ctx).Error(err, "Releasing PodGroup failed, trying again", "podGroup", name)
		r.queue.AddRateLimited(name)
	}
}

// reconcile takes the finalizer off the PodGroup of that name if it is being deleted and no pod holds it.
func (r *reconciler) reconcile(ctx context.Context, name cache.ObjectName) error {
	object, exists, err := r.groups.GetIndexer().GetByKey(name.String())
	if err != nil {
		return fmt.Errorf("looking up podgroup %s: %w", name, err)
	}
	group, ok := object.(*schedulingv1alpha2.PodGroup)
	if !exists || !ok || !isCandidate(group) || !r.knowsPods(ctx) {
		return nil
	}
	inUse, err := r.isInUse(ctx, group)
	if err != nil || inUse {
		return err
	}
	options := metav1.UpdateOptions{FieldManager: manager}
	_, err = r.scheduling.SchedulingV1alpha2().PodGroups(name.Namespace).Update(ctx, released(group), options)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("removing the finalizer of podgroup %s: %w", name, err)
	}
	klog.FromContext(ctx).V(2).Info("Released PodGroup", "podGroup", name)
	return nil
}

// isInUse reports whether a pod holds group. If the cache shows none, and has not come as far as the deletion of group,
// the API server is asked.
func (r *reconciler) isInUse(ctx context.Context, group *schedulingv1alpha2.PodGroup) (bool, error) {
	store, name := r.pods.GetIndexer(), cache.MetaObjectToName(group)
	// The version must be read first: the cache may go on in between.
	seen := store.LastStoreSyncResourceVersion()
	holders, err := store.IndexKeys(podsByGroup, name.String())
	if err != nil {
		return false, fmt.Errorf("looking up the pods of podgroup %s: %w", name, err)
	}
	if len(holders) > 0 {
		klog.FromContext(ctx).V(4).Info("PodGroup is in use", "podGroup", name, "pod", holders[0], "pods", len(holders))
		return true, nil
	}
	if covers(seen, group.ResourceVersion) {
		return false, nil
	}
	return r.live.isHeld(ctx, group)
}

func indexPod(object any) ([]string, error) {
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return nil, nil
	}
	group, holds := heldBy(pod)
	if !holds {
		return nil, nil
	}
	return []string{group.String()}, nil
}

// trimPod keeps of a pod in the cache what decisions rest on. There may be very many pods.
func trimPod(object any) (any, error) {
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return object, nil
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: pod.Name, Namespace: pod.Namespace, UID: pod.UID, ResourceVersion: pod.ResourceVersion},
		Spec:       corev1.PodSpec{SchedulingGroup: pod.Spec.SchedulingGroup},
		Status:     corev1.PodStatus{Phase: pod.Status.Phase},
	}, nil
}
