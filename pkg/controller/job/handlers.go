package job

import (
	"reflect"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/pkg/batch"
	"github.com/musterkube/muster/pkg/core"
)

// jobHandler turns events of Jobs into syncs.
func (r *reconciler) jobHandler() cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) {
			if job, ok := object.(*batchv1.Job); ok {
				r.jobAdded(job)
			}
		},
		UpdateFunc: func(before, after any) {
			old, wasJob := before.(*batchv1.Job)
			if job, ok := after.(*batchv1.Job); ok && wasJob {
				r.jobUpdated(old, job)
			}
		},
		DeleteFunc: func(object any) {
			if job, ok := lastState[*batchv1.Job](object); ok {
				r.jobDeleted(job)
			}
		},
	}
}

// lastState returns the object of a deletion, which may be known only as it was before the deletion was missed.
func lastState[T any](object any) (T, bool) {
	if unknown, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = unknown.Obj
	}
	typed, ok := object.(T)
	return typed, ok
}

// queueKey returns the key under which job is synced. With the UID in it the sync of a Job never waits for one of a Job
// of the same name that is gone, whose requests may still be under way.
func (r *reconciler) queueKey(job *batchv1.Job) jobKey {
	key := keyOf(job)
	if !r.better.ownQueue {
		key.uid = ""
	}
	return key
}

func (r *reconciler) jobAdded(job *batchv1.Job) {
	if !r.manages(job) {
		r.metrics.managedByOther(batch.ManagedBy(job))
		if r.better.tellsWhyItWaits {
			r.queue.Add(r.queueKey(job))
		}
		return
	}
	r.queue.Add(r.queueKey(job))
}

func (r *reconciler) jobUpdated(old, job *batchv1.Job) {
	if old.UID != job.UID {
		// Deletion and creation came in one: the watch was interrupted.
		r.jobDeleted(old)
		r.jobAdded(job)
		return
	}
	if !r.manages(job) {
		return
	}
	if _, finished := batch.Finished(job); finished {
		// Nothing is left to remember. Pods should have lost their finalizer before; what went wrong is caught when the
		// news of that has had time to come.
		r.memory.forget(keyOf(job))
		r.orphanPodsOf(job, finishedOrphanDelay)
		return
	}
	delay := r.opts.SyncDelay
	if old.Generation != job.Generation {
		delay = 0
	}
	// A deadline that was set or changed needs no more than that sync, which sees to the next one.
	r.queue.AddAfter(r.queueKey(job), delay)
}

func (r *reconciler) jobDeleted(job *batchv1.Job) {
	// A sync that is under way may bring the record back; the one that follows drops it.
	r.memory.forget(keyOf(job))
	if !r.manages(job) {
		return
	}
	r.queue.Add(r.queueKey(job))
	r.orphanPodsOf(job, 0)
}

// podHandler turns events of pods into syncs of their Jobs.
func (r *reconciler) podHandler() cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) {
			if pod, ok := object.(*corev1.Pod); ok {
				r.podAdded(pod)
			}
		},
		UpdateFunc: func(before, after any) {
			old, wasPod := before.(*corev1.Pod)
			if pod, ok := after.(*corev1.Pod); ok && wasPod {
				r.podUpdated(old, pod)
			}
		},
		DeleteFunc: func(object any) {
			if pod, ok := lastState[*corev1.Pod](object); ok {
				r.tellTracked(pod, nil)
				r.podDeleted(pod, true)
			}
		},
	}
}

func (r *reconciler) podAdded(pod *corev1.Pod) {
	r.tellTracked(nil, pod)
	if pod.DeletionTimestamp != nil {
		// After a restart a pod may be new here and on its way out. No sync waits for its creation.
		r.podDeleted(pod, false)
		return
	}
	owner := metav1.GetControllerOfNoCopy(pod)
	if owner == nil {
		r.orphanAppeared(pod, true)
		return
	}
	job := r.resolve(pod.Namespace, owner)
	switch {
	case job == nil:
		r.orphanLeft(pod, false)
	case r.manages(job):
		r.memory.creationObserved(keyOf(job))
		r.podChanged(job, pod)
	}
}

func (r *reconciler) podUpdated(old, pod *corev1.Pod) {
	r.tellTracked(old, pod)
	if old.ResourceVersion == pod.ResourceVersion {
		return
	}
	if old.UID != pod.UID {
		// Deletion and creation came in one: the watch was interrupted.
		r.podDeleted(old, true)
		r.podAdded(pod)
		return
	}
	if pod.DeletionTimestamp != nil {
		r.podDeleted(pod, false)
		return
	}
	owner, oldOwner := metav1.GetControllerOfNoCopy(pod), metav1.GetControllerOfNoCopy(old)
	ownerChanged := !reflect.DeepEqual(owner, oldOwner)
	if ownerChanged && oldOwner != nil {
		r.podSeen(pod, oldOwner)
	}
	if owner != nil {
		r.podSeen(pod, owner)
		return
	}
	r.orphanAppeared(pod, ownerChanged || !reflect.DeepEqual(old.Labels, pod.Labels))
}

// podSeen syncs the Job that owner refers to, if there is one.
func (r *reconciler) podSeen(pod *corev1.Pod, owner *metav1.OwnerReference) {
	job := r.resolve(pod.Namespace, owner)
	if job == nil {
		r.orphanLeft(pod, false)
		return
	}
	if !r.manages(job) {
		return
	}
	// Whether the pod had the finalizer before does not count: several updates may have come as one.
	if !hasFinalizer(pod) {
		r.memory.removalObserved(keyOf(job), pod.UID)
	}
	r.podChanged(job, pod)
}

// podChanged syncs job after a while. A finished Job is not synced: what holds its pods still is cleared at once.
func (r *reconciler) podChanged(job *batchv1.Job, pod *corev1.Pod) {
	if _, finished := batch.Finished(job); finished {
		if hasFinalizer(pod) {
			r.addOrphans(orphanPod(pod), 0)
		}
		return
	}
	r.queue.AddAfter(r.queueKey(job), r.opts.SyncDelay)
}

// orphanAppeared sees to a pod that nothing controls: the finalizer goes, and Jobs may want to adopt it.
func (r *reconciler) orphanAppeared(pod *corev1.Pod, adoptable bool) {
	if hasFinalizer(pod) {
		r.addOrphans(orphanPod(pod), 0)
	}
	if !adoptable {
		return
	}
	// The error says that no Job matches.
	jobs, _ := r.jobs.GetPodJobs(pod)
	for i := range jobs {
		if r.manages(&jobs[i]) {
			r.queue.AddAfter(r.queueKey(&jobs[i]), r.opts.SyncDelay)
		}
	}
}

// podDeleted sees to a pod that is being deleted or, if gone, has been.
func (r *reconciler) podDeleted(pod *corev1.Pod, gone bool) {
	owner := metav1.GetControllerOfNoCopy(pod)
	if owner == nil {
		r.orphanLeft(pod, gone)
		return
	}
	job := r.resolve(pod.Namespace, owner)
	if job == nil {
		r.orphanLeft(pod, gone)
		return
	}
	if !r.manages(job) {
		return
	}
	if _, finished := batch.Finished(job); finished {
		r.orphanLeft(pod, gone)
		return
	}
	r.memory.deletionObserved(keyOf(job))
	if gone && r.opts.AtMostOnce && !core.PodFinished(pod) {
		r.memory.podLost(keyOf(job), pod)
	}
	if gone || !hasFinalizer(pod) {
		r.memory.removalObserved(keyOf(job), pod.UID)
	}
	r.queue.AddAfter(r.queueKey(job), r.opts.SyncDelay)
}

// orphanLeft clears the finalizer of a pod that no sync will see to: its Job has ended, or is not known here. A Job that
// is not known may only be too new, or not be listed yet when the controller starts; the orphan workers find out.
func (r *reconciler) orphanLeft(pod *corev1.Pod, gone bool) {
	if !gone && hasFinalizer(pod) {
		r.addOrphans(orphanPod(pod), 0)
	}
}

// gangHandler turns events of Workloads and PodGroups into syncs of the Jobs that they are made for.
func (r *reconciler) gangHandler() cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    r.gangChanged,
		UpdateFunc: func(_, after any) { r.gangChanged(after) },
		DeleteFunc: func(object any) {
			if unknown, ok := object.(cache.DeletedFinalStateUnknown); ok {
				object = unknown.Obj
			}
			r.gangChanged(object)
		},
	}
}

// gangChanged syncs the Job of a Workload or PodGroup.
func (r *reconciler) gangChanged(object any) {
	var job *batchv1.Job
	switch object := object.(type) {
	case *schedulingv1alpha2.Workload:
		job = r.jobOfWorkload(object)
	case *schedulingv1alpha2.PodGroup:
		if owner := metav1.GetControllerOfNoCopy(object); owner != nil {
			job = r.resolve(object.Namespace, owner)
			break
		}
		found, _, _ := r.workloads.GetByKey(object.Namespace + "/" + workloadOf(object))
		if workload, ok := found.(*schedulingv1alpha2.Workload); ok {
			job = r.jobOfWorkload(workload)
		}
	}
	if job == nil || !r.manages(job) {
		return
	}
	if _, finished := batch.Finished(job); !finished {
		r.queue.AddAfter(r.queueKey(job), r.opts.SyncDelay)
	}
}

// jobOfWorkload returns the Job that a Workload names, nil if there is none.
func (r *reconciler) jobOfWorkload(workload *schedulingv1alpha2.Workload) *batchv1.Job {
	keys, _ := indexWorkload(workload)
	if len(keys) == 0 {
		return nil
	}
	job, err := r.jobs.Jobs(workload.Namespace).Get(workload.Spec.ControllerRef.Name)
	if err != nil {
		return nil
	}
	return job
}

// resolve returns the Job that an owner reference means, nil if the cache has none of that kind, name and UID.
func (r *reconciler) resolve(namespace string, owner *metav1.OwnerReference) *batchv1.Job {
	if owner.Kind != jobKind.Kind {
		return nil
	}
	job, err := r.jobs.Jobs(namespace).Get(owner.Name)
	if err != nil || job.UID != owner.UID {
		return nil
	}
	return job
}

// tellTracked counts finished pods that come to have the finalizer and those that lose it.
func (r *reconciler) tellTracked(old, pod *corev1.Pod) {
	tracked := func(pod *corev1.Pod) bool { return pod != nil && core.PodFinished(pod) && hasFinalizer(pod) }
	if was, is := tracked(old), tracked(pod); was != is {
		r.metrics.finishedPodTracked(is)
	}
}
