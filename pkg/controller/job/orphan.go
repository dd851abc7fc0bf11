package job

import (
	"context"
	"errors"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/klog/v2"

	"github.com/musterkube/muster/pkg/batch"
)

// orphanKey is work for the orphan workers, which take the tracking finalizer from pods that no Job will count: one pod
// by name, or all that match a selector.
type orphanKey struct {
	namespace, name, selector string
	// since is how far the cache of pods must have come, so that it shows the finalizers that syncs have taken.
	since string
}

func orphanPod(pod *corev1.Pod) orphanKey {
	return orphanKey{namespace: pod.Namespace, name: pod.Name}
}

// finishedOrphanDelay is how long after the end of a Job its pods are looked at once more.
const finishedOrphanDelay = time.Second

// orphanPodsOf queues the pods of a Job that has finished or is gone.
func (r *reconciler) orphanPodsOf(job *batchv1.Job, delay time.Duration) {
	selector, err := metav1.LabelSelectorAsSelector(job.Spec.Selector)
	if err != nil {
		return // The API server lets no such selector pass.
	}
	r.addOrphans(orphanKey{namespace: job.Namespace, selector: selector.String()}, delay)
}

// addOrphans queues a key, to be worked on after a while when the cache shows all that was written to pods so far.
func (r *reconciler) addOrphans(key orphanKey, delay time.Duration) {
	key.since = r.memory.lastPodVersion()
	r.orphans.AddAfter(key, delay)
}

// processOrphan clears the pods of a key and sees to it that what failed comes again.
func (r *reconciler) processOrphan(ctx context.Context, key orphanKey) {
	err := r.syncOrphans(ctx, key)
	switch {
	case err == nil:
		r.orphans.Forget(key)
	case ctx.Err() != nil:
		// Requests fail because the controller ends.
	case errors.Is(err, errStale), apierrors.IsConflict(err):
		// The cache is behind, and will not be for long.
		klog.FromContext(ctx).V(4).Info("Putting off orphaned pods", "namespace", key.namespace, "pod", key.name, "selector", key.selector, "reason", err)
		r.orphans.AddRateLimited(key)
	default:
		klog.FromContext(ctx).Error(err, "Clearing orphaned pods failed", "namespace", key.namespace, "pod", key.name, "selector", key.selector)
		r.orphans.AddRateLimited(key)
	}
}

func (r *reconciler) syncOrphans(ctx context.Context, key orphanKey) error {
	if err := isBehind(r.podStore, "pods", key.since); err != nil {
		return err
	}
	if key.name != "" {
		pod, err := r.pods.Pods(key.namespace).Get(key.name)
		if err != nil {
			return ignoreNotFound(err)
		}
		return r.clearOrphan(ctx, pod)
	}
	selector, err := labels.Parse(key.selector)
	if err != nil {
		return fmt.Errorf("reading selector %q: %w", key.selector, err)
	}
	held, err := byIndex[*corev1.Pod](r.podStore, podsHeld, key.namespace)
	if err != nil {
		return err
	}
	var errs []error
	for _, pod := range held {
		if selector.Matches(labels.Set(pod.Labels)) {
			errs = append(errs, r.clearOrphan(ctx, pod))
		}
	}
	return errors.Join(errs...)
}

// clearOrphan takes the finalizer from pod, unless a Job will, or another controller may want to.
func (r *reconciler) clearOrphan(ctx context.Context, pod *corev1.Pod) error {
	if !hasFinalizer(pod) {
		return nil
	}
	if owner := metav1.GetControllerOfNoCopy(pod); owner != nil {
		if owner.Kind != jobKind.Kind || owner.APIVersion != batchv1.SchemeGroupVersion.String() {
			return nil
		}
		counts, err := r.counts(ctx, pod.Namespace, owner)
		if err != nil || counts {
			return err
		}
	}
	// With the version nothing happens to a pod that a Job has adopted since.
	_, err := r.patchPod(ctx, pod, finalizerPatch(pod.UID, pod.ResourceVersion))
	return ignoreNotFound(err)
}

// counts reports whether the Job that owner refers to may still count its pods: it has not finished, or belongs to
// another controller. A Job that the cache does not have may only be too new for it, so the API server is asked.
func (r *reconciler) counts(ctx context.Context, namespace string, owner *metav1.OwnerReference) (bool, error) {
	job := r.resolve(namespace, owner)
	if job == nil {
		live, err := r.kube.BatchV1().Jobs(namespace).Get(ctx, owner.Name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			return false, nil
		case err != nil:
			return false, fmt.Errorf("reading job %s/%s: %w", namespace, owner.Name, err)
		case live.UID != owner.UID:
			return false, nil
		}
		job = live
	}
	_, finished := batch.Finished(job)
	return !finished || !r.manages(job), nil
}
