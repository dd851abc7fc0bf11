package job

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/musterkube/muster/pkg/core"
)

// applyPods makes or deletes the pods of a plan.
func (r *reconciler) applyPods(ctx context.Context, key jobKey, s *snapshot, d *decision) podResult {
	switch plan := &d.pods; {
	case plan.counted:
		return r.deletePods(plan.delete, func(pod *corev1.Pod) error { return r.deletePod(ctx, s.job, pod) })
	case len(plan.delete) > 0:
		return r.deleteUncounted(ctx, key, s.job, plan.delete)
	case len(plan.create) > 0:
		return r.createPods(ctx, key, s, d)
	default:
		return podResult{}
	}
}

// deleteUncounted deletes pods after it has taken their finalizer, so that their end is not counted.
func (r *reconciler) deleteUncounted(ctx context.Context, key jobKey, job *batchv1.Job, pods []*corev1.Pod) podResult {
	r.memory.expectDeletions(key, len(pods))
	if r.opts.AtMostOnce {
		r.memory.dismiss(key, pods)
	}
	return r.deletePods(pods, func(pod *corev1.Pod) error {
		err := r.removeFinalizer(ctx, key, pod)
		if err != nil && !apierrors.IsNotFound(err) {
			err = fmt.Errorf("removing completion finalizer: %w", err)
		}
		if err == nil {
			err = r.deletePod(ctx, job, pod)
		}
		if err != nil {
			// No event will tell of this deletion.
			r.memory.deletionObserved(key)
		}
		return err
	})
}

// deletePods calls remove for all pods at a time. A pod that is gone already counts as deleted.
func (r *reconciler) deletePods(pods []*corev1.Pod, remove func(*corev1.Pod) error) podResult {
	errs := r.inParallel(len(pods), func(i int) error { return ignoreNotFound(remove(pods[i])) })
	result := podResult{err: firstError(errs)}
	for i, err := range errs {
		if err != nil {
			continue
		}
		result.deleted++
		if core.PodReady(pods[i]) {
			result.deletedReady++
		}
	}
	return result
}

// deletePod deletes a pod, that one and no other of its name, and tells of it.
func (r *reconciler) deletePod(ctx context.Context, job *batchv1.Job, pod *corev1.Pod) error {
	err := r.kube.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(pod.UID))})
	switch {
	case err == nil:
		r.events.tell(ctx, job, podDeleted(pod.Name))
		return nil
	case apierrors.IsNotFound(err):
		return err
	default:
		r.events.tell(ctx, job, podNotDeleted(err))
		return fmt.Errorf("deleting pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
}

// createPods makes pods in batches of 1, 2, 4 and so on. Where all of them would fail, for want of quota for instance,
// one request and one event say so rather than hundreds. After a batch with an error the rest is left to a later sync.
func (r *reconciler) createPods(ctx context.Context, key jobKey, s *snapshot, d *decision) podResult {
	planned := d.pods.create
	template, err := podTemplate(s.job, s.gang.name())
	if err != nil {
		return podResult{err: err}
	}
	r.memory.expectCreations(key, len(planned))
	var result podResult
	failed := 0
	for size := 1; len(planned) > 0; size *= 2 {
		size = min(size, len(planned))
		errs := r.inParallel(size, func(i int) error { return r.createPod(ctx, key, s.job, template, planned[i]) })
		planned = planned[size:]
		for _, err := range errs {
			if err != nil {
				failed++
			} else {
				result.created++
			}
		}
		if result.err = firstError(errs); result.err != nil {
			break
		}
	}
	for range failed + len(planned) {
		// No event will tell of a pod that was not made.
		r.memory.creationObserved(key)
	}
	r.metrics.podsCreated(creationReason(s.job, d.tally), int(result.created), failed)
	return result
}

// createPod makes one pod and tells of it. In a namespace that is being deleted nothing can be made, and nothing needs
// to be said: the pod then passes for made, and is expected until the Job goes too.
func (r *reconciler) createPod(ctx context.Context, key jobKey, job *batchv1.Job, template *corev1.Pod, planned newPod) error {
	pod, err := r.kube.CoreV1().Pods(job.Namespace).Create(ctx, fromTemplate(template, job, planned), metav1.CreateOptions{})
	switch {
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return nil
	case err != nil:
		if isUncertain(err) {
			r.memory.change(key, func(record *jobRecord) { record.uncertain = true })
		}
		r.events.tell(ctx, job, podNotCreated(err))
		return fmt.Errorf("creating pod: %w", err)
	}
	r.memory.wrotePod(key, pod.ResourceVersion)
	r.events.tell(ctx, job, podCreated(pod.Name))
	return nil
}

// creationReason says why pods were made, as the metrics of Kubernetes put it.
func creationReason(job *batchv1.Job, t *tally) string {
	switch failed := t.failed > 0; {
	case failed && valueOf(job.Spec.PodReplacementPolicy) == batchv1.Failed:
		return "recreate_failed"
	case failed || t.terminating > 0:
		return "recreate_terminating_or_failed"
	default:
		return "new"
	}
}

// removeFinalizer takes the tracking finalizer from a pod. One without it is left alone.
func (r *reconciler) removeFinalizer(ctx context.Context, key jobKey, pod *corev1.Pod) error {
	if !hasFinalizer(pod) {
		return nil
	}
	patched, err := r.patchPod(ctx, pod, finalizerPatch(pod.UID, ""))
	if err == nil {
		r.memory.wrotePod(key, patched.ResourceVersion)
	}
	return err
}

// finalizerPatch removes the tracking finalizer from the pod of that UID, and nothing from another of the same name. A
// version, if there is one, limits it to the pod as it was then.
func finalizerPatch(uid types.UID, version string) map[string]any {
	metadata := map[string]any{
		"uid":                                 uid,
		"$deleteFromPrimitiveList/finalizers": []string{batchv1.JobTrackingFinalizer},
	}
	if version != "" {
		metadata["resourceVersion"] = version
	}
	return map[string]any{"metadata": metadata}
}

// unchecked are the options of patches whose fields are known to be right: the server need not look for unknown ones.
func unchecked() metav1.PatchOptions {
	return metav1.PatchOptions{FieldValidation: metav1.FieldValidationIgnore}
}

func (r *reconciler) patchPod(ctx context.Context, pod *corev1.Pod, patch map[string]any) (*corev1.Pod, error) {
	body, err := json.Marshal(patch)
	if err != nil {
		return nil, fmt.Errorf("encoding a patch of pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	patched, err := r.kube.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.StrategicMergePatchType, body, unchecked())
	if err != nil {
		return nil, fmt.Errorf("patching pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	return patched, nil
}

// fairShare is how many requests of one sync are under way at a time. Clients that are throttled serve requests in the
// order in which they come, so that a sync which sends hundreds at once holds up all the others.
const fairShare = 8

// inParallel calls f for 0 to n-1, as many at the same time as one sync may, and returns what each call returned.
func (r *reconciler) inParallel(n int, f func(int) error) []error {
	errs := make([]error, n)
	if n == 1 {
		errs[0] = f(0)
		return errs
	}
	workers := n
	if r.better.fairRequests {
		workers = min(n, fairShare)
	}
	var calls sync.WaitGroup
	var next atomic.Int64
	for range workers {
		calls.Go(func() {
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				errs[i] = f(int(i))
			}
		})
	}
	calls.Wait()
	return errs
}
