package job

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	batchlisters "k8s.io/client-go/listers/batch/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/generated/informers/externalversions"
	"github.com/musterkube/muster/pkg/features"
)

// reconciler is one run of a controller: caches, queues and memory.
type reconciler struct {
	*Controller
	limits limits
	memory *memory
	events *eventWriter

	kubeInformers       informers.SharedInformerFactory
	schedulingInformers externalversions.SharedInformerFactory
	synced              []cache.DoneChecker

	jobs               batchlisters.JobLister
	pods               corelisters.PodLister
	jobStore, podStore cache.Indexer
	// workloads and podGroups are nil when the gate WorkloadWithJob is off.
	workloads, podGroups cache.Indexer

	queue   workqueue.TypedRateLimitingInterface[jobKey]
	orphans workqueue.TypedRateLimitingInterface[orphanKey]
	// stale paces syncs that come before the caches have caught up.
	stale workqueue.TypedRateLimiter[jobKey]
}

// The pace of syncs that wait for a cache.
const (
	firstStaleRetry = 2 * time.Millisecond
	lastStaleRetry  = time.Second
)

// The indexes of the caches.
const (
	// podsByJob finds pods by namespace and the UID of the Job that controls them; the UID is empty for pods that
	// nothing controls.
	podsByJob = "job"
	// podsHeld finds the pods of a namespace that have the tracking finalizer.
	podsHeld = "held"
	// workloadsByJob finds Workloads by namespace and name of the Job in spec.controllerRef.
	workloadsByJob = "job"
	// podGroupsByWorkload finds PodGroups by namespace and name of the Workload in spec.podGroupTemplateRef.
	podGroupsByWorkload = "workload"
	// podGroupsByJob finds PodGroups by namespace and the UID of the Job that controls them.
	podGroupsByJob = "job"
)

func newReconciler(c *Controller) *reconciler {
	r := &reconciler{
		Controller: c,
		limits:     c.opts.limits(),
		memory:     newMemory(c.opts.Clock, c.opts.ExpectationTimeout),
		events:     newEventWriter(c.kube.CoreV1(), c.opts.Clock),
		queue:      newQueue[jobKey](queueJobs, c),
		orphans:    newQueue[orphanKey](queueOrphans, c),
		stale:      workqueue.NewTypedItemExponentialFailureRateLimiter[jobKey](firstStaleRetry, lastStaleRetry),
	}
	r.kubeInformers = informers.NewSharedInformerFactoryWithOptions(c.kube, 0,
		informers.WithNamespace(c.opts.Namespace), informers.WithTransform(dropManagedFields))
	jobs, pods := r.kubeInformers.Batch().V1().Jobs(), r.kubeInformers.Core().V1().Pods()
	r.jobs, r.pods = jobs.Lister(), pods.Lister()
	r.jobStore, r.podStore = jobs.Informer().GetIndexer(), pods.Informer().GetIndexer()
	r.addIndexes(pods.Informer(), cache.Indexers{podsByJob: indexPodByJob, podsHeld: indexHeldPod})
	r.addHandler(jobs.Informer(), r.jobHandler())
	r.addHandler(pods.Informer(), r.podHandler())

	if c.opts.Gates.Enabled(features.WorkloadWithJob) {
		r.schedulingInformers = externalversions.NewSharedInformerFactoryWithOptions(c.scheduling, 0,
			externalversions.WithNamespace(c.opts.Namespace), externalversions.WithTransform(dropManagedFields))
		scheduling := r.schedulingInformers.Scheduling().V1alpha2()
		workloads, podGroups := scheduling.Workloads().Informer(), scheduling.PodGroups().Informer()
		r.addIndexes(workloads, cache.Indexers{workloadsByJob: indexWorkload})
		r.addIndexes(podGroups, cache.Indexers{podGroupsByWorkload: indexPodGroup, podGroupsByJob: indexPodGroupByJob})
		if r.better.gangChoice {
			r.addHandler(workloads, r.gangHandler())
			r.addHandler(podGroups, r.gangHandler())
		}
		r.workloads, r.podGroups = workloads.GetIndexer(), podGroups.GetIndexer()
		r.synced = append(r.synced, workloads.HasSyncedChecker(), podGroups.HasSyncedChecker())
	}
	return r
}

// The names of the queues in metrics, as in Kubernetes.
const (
	queueJobs    = "job"
	queueOrphans = "job_orphan_pod"
)

func newQueue[K comparable](name string, c *Controller) workqueue.TypedRateLimitingInterface[K] {
	return workqueue.NewTypedRateLimitingQueueWithConfig(
		workqueue.NewTypedItemExponentialFailureRateLimiter[K](c.opts.RetryBackoff, c.opts.MaxRetryBackoff),
		workqueue.TypedRateLimitingQueueConfig[K]{Name: name, MetricsProvider: c.metrics.queues(), Clock: c.opts.Clock})
}

// addIndexes cannot fail on an informer that is new and has not been started.
func (r *reconciler) addIndexes(informer cache.SharedIndexInformer, indexers cache.Indexers) {
	_ = informer.AddIndexers(indexers)
}

// addHandler cannot fail on an informer that has not been started.
func (r *reconciler) addHandler(informer cache.SharedIndexInformer, handler cache.ResourceEventHandler) {
	if registration, err := informer.AddEventHandler(handler); err == nil {
		r.synced = append(r.synced, registration.HasSyncedChecker())
	}
}

// dropManagedFields spares the memory of fields that nothing here reads.
func dropManagedFields(object any) (any, error) {
	if accessor, err := meta.Accessor(object); err == nil {
		accessor.SetManagedFields(nil)
	}
	return object, nil
}

func (r *reconciler) startCaches(ctx context.Context) {
	r.kubeInformers.StartWithContext(ctx)
	if r.schedulingInformers != nil {
		r.schedulingInformers.StartWithContext(ctx)
	}
}

// stopCaches waits for the caches, whose context has ended.
func (r *reconciler) stopCaches() {
	r.kubeInformers.Shutdown()
	if r.schedulingInformers != nil {
		r.schedulingInformers.Shutdown()
	}
}

func (r *reconciler) shutDownQueues() {
	r.queue.ShutDown()
	r.orphans.ShutDown()
}

// podsOf returns the pods that the Job of that UID controls; those that nothing controls for an empty UID.
func (r *reconciler) podsOf(namespace string, uid types.UID) ([]*corev1.Pod, error) {
	return byIndex[*corev1.Pod](r.podStore, podsByJob, indexKey(namespace, string(uid)))
}

// byIndex returns the objects that an index of a cache has under a key.
func byIndex[T any](store cache.Indexer, index, key string) ([]T, error) {
	found, err := store.ByIndex(index, key)
	if err != nil {
		return nil, fmt.Errorf("looking up %s in index %s: %w", key, index, err)
	}
	objects := make([]T, 0, len(found))
	for _, object := range found {
		if typed, ok := object.(T); ok {
			objects = append(objects, typed)
		}
	}
	return objects, nil
}

func indexKey(namespace, value string) string { return namespace + "/" + value }

func indexPodByJob(object any) ([]string, error) {
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return nil, nil
	}
	owner := metav1.GetControllerOfNoCopy(pod)
	switch {
	case owner == nil:
		return []string{indexKey(pod.Namespace, "")}, nil
	case owner.Kind == jobKind.Kind:
		return []string{indexKey(pod.Namespace, string(owner.UID))}, nil
	default:
		return nil, nil
	}
}

func indexHeldPod(object any) ([]string, error) {
	if pod, ok := object.(*corev1.Pod); ok && hasFinalizer(pod) {
		return []string{pod.Namespace}, nil
	}
	return nil, nil
}

func indexWorkload(object any) ([]string, error) {
	workload, ok := object.(*schedulingv1alpha2.Workload)
	if !ok {
		return nil, nil
	}
	ref := workload.Spec.ControllerRef
	if ref == nil || ref.APIGroup != jobKind.Group || ref.Kind != jobKind.Kind || ref.Name == "" {
		return nil, nil
	}
	return []string{indexKey(workload.Namespace, ref.Name)}, nil
}

func indexPodGroup(object any) ([]string, error) {
	group, ok := object.(*schedulingv1alpha2.PodGroup)
	if !ok {
		return nil, nil
	}
	ref := group.Spec.PodGroupTemplateRef
	if ref == nil || ref.Workload == nil || ref.Workload.WorkloadName == "" {
		return nil, nil
	}
	return []string{indexKey(group.Namespace, ref.Workload.WorkloadName)}, nil
}

func indexPodGroupByJob(object any) ([]string, error) {
	group, ok := object.(*schedulingv1alpha2.PodGroup)
	if !ok {
		return nil, nil
	}
	owner := metav1.GetControllerOfNoCopy(group)
	if owner == nil || owner.Kind != jobKind.Kind {
		return nil, nil
	}
	return []string{indexKey(group.Namespace, string(owner.UID))}, nil
}
