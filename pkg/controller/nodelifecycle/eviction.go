package nodelifecycle

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// noExecute returns the taints of a node that pods have to tolerate to stay.
func noExecute(node *corev1.Node) []corev1.Taint {
	var taints []corev1.Taint
	for _, taint := range node.Spec.Taints {
		if taint.Effect == corev1.TaintEffectNoExecute {
			taints = append(taints, taint)
		}
	}
	return taints
}

// tolerates says for how long a pod with these tolerations may stay on a node with these taints; forever says that it
// may stay.
func tolerates(taints []corev1.Taint, tolerations []corev1.Toleration) (stay time.Duration, forever bool) {
	forever = true
	for i := range taints {
		tolerated := false
		for j := range tolerations {
			// Comparison operators in tolerations are an alpha feature of 1.36, and off.
			if !tolerations[j].ToleratesTaint(klog.Logger{}, &taints[i], false) {
				continue
			}
			tolerated = true
			if seconds := tolerations[j].TolerationSeconds; seconds != nil {
				limit := max(0, time.Duration(*seconds)*time.Second)
				if forever || limit < stay {
					stay, forever = limit, false
				}
			}
			break
		}
		if !tolerated {
			return 0, false
		}
	}
	return stay, forever
}

// work takes pods from the queue until it is shut down.
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

func (r *reconciler) process(ctx context.Context, name cache.ObjectName) {
	left, err := r.evictDue(ctx, name)
	switch {
	case err == nil:
		r.queue.Forget(name)
		if left > 0 {
			r.queue.AddAfter(name, left)
		}
	case ctx.Err() == nil:
		klog.FromContext(ctx).Error(err, "Evicting a pod failed; it is tried again", "pod", name)
		r.queue.AddRateLimited(name)
	}
}

// evictDue evicts a pod that has been for as long as it may on a node that it is to leave. It returns how long it may
// still stay, zero for as long as nothing changes.
func (r *reconciler) evictDue(ctx context.Context, name cache.ObjectName) (left time.Duration, err error) {
	object, exists, err := r.pods.GetIndexer().GetByKey(name.String())
	pod, ok := object.(*corev1.Pod)
	if err != nil || !exists || !ok || pod.DeletionTimestamp != nil {
		r.spare(name)
		return 0, err
	}
	node := r.nodeNamed(pod.Spec.NodeName)
	if node == nil {
		r.spare(name)
		return 0, nil
	}
	stay, forever := tolerates(noExecute(node), pod.Spec.Tolerations)
	if forever {
		r.spare(name)
		return 0, nil
	}
	now := r.opts.Clock.Now()
	r.mu.Lock()
	since, known := r.doomed[name]
	if !known {
		since = now
		r.doomed[name] = since
	}
	r.mu.Unlock()
	if left := since.Add(stay).Sub(now); left > 0 {
		return left, nil
	}
	return 0, r.evict(ctx, pod, now)
}

// spare forgets that a pod was to be evicted.
func (r *reconciler) spare(name cache.ObjectName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.doomed, name)
}

// evict marks a pod as one that does not end by itself, and deletes it.
func (r *reconciler) evict(ctx context.Context, pod *corev1.Pod, now time.Time) error {
	err := r.setPodCondition(ctx, pod, corev1.PodCondition{
		Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, ObservedGeneration: pod.Generation,
		Reason: "DeletionByTaintManager", Message: "Taint manager: deleting due to NoExecute taint",
		LastTransitionTime: metav1.NewTime(now),
	})
	if err != nil {
		return err
	}
	err = r.kube.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &pod.UID}})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("deleting pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	return nil
}
