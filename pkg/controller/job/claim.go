package job

import (
	"context"
	"errors"
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// claimPods returns the pods that are the Job's: those that it controls and that match its selector. It adopts pods
// that match and that nothing controls, and releases those that it controls and that do not match any more. Errors of
// several pods come as one.
func (r *reconciler) claimPods(ctx context.Context, key jobKey, job *batchv1.Job) ([]*corev1.Pod, error) {
	selector, err := metav1.LabelSelectorAsSelector(job.Spec.Selector)
	if err != nil {
		return nil, fmt.Errorf("reading the selector: %w", err)
	}
	owned, err := r.podsOf(job.Namespace, job.UID)
	if err != nil {
		return nil, err
	}
	unowned, err := r.podsOf(job.Namespace, "")
	if err != nil {
		return nil, err
	}
	claimed := make([]*corev1.Pod, 0, len(owned))
	var errs []error
	for _, pod := range owned {
		switch {
		case selector.Matches(labels.Set(pod.Labels)):
			claimed = append(claimed, pod)
		case job.DeletionTimestamp == nil:
			errs = append(errs, r.releaseOther(ctx, job, pod))
		}
	}
	adoption := adoption{reconciler: r, key: key, job: job}
	for _, pod := range unowned {
		if job.DeletionTimestamp != nil || pod.DeletionTimestamp != nil || !selector.Matches(labels.Set(pod.Labels)) {
			continue
		}
		adopted, err := adoption.adopt(ctx, pod)
		if adopted != nil {
			claimed = append(claimed, adopted)
		}
		errs = append(errs, err)
	}
	return claimed, errors.Join(errs...)
}

// releaseOther gives up a pod: the Job is not its owner any more, and does not track it.
func (r *reconciler) releaseOther(ctx context.Context, job *batchv1.Job, pod *corev1.Pod) error {
	_, err := r.patchPod(ctx, pod, map[string]any{"metadata": map[string]any{
		"uid":                                 pod.UID,
		"ownerReferences":                     []any{map[string]any{"$patch": "delete", "uid": job.UID}},
		"$deleteFromPrimitiveList/finalizers": []string{batchv1.JobTrackingFinalizer},
	}})
	if apierrors.IsNotFound(err) || apierrors.IsInvalid(err) {
		// The pod is gone, or has no such owner, or is another one of that name.
		return nil
	}
	return err
}

// adoption takes over the pods that nothing controls, in one sync.
type adoption struct {
	*reconciler
	key jobKey
	job *batchv1.Job
	// allowed is the answer of the API server to whether the Job still exists; it is asked once, before the first pod.
	allowed *error
}

// adopt makes the Job the controller of pod and returns the pod as it is then, nil if it is gone.
func (a *adoption) adopt(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
	if a.allowed == nil {
		a.allowed = new(a.recheck(ctx))
	}
	if *a.allowed != nil {
		return nil, fmt.Errorf("adopting pod %s/%s: %w", pod.Namespace, pod.Name, *a.allowed)
	}
	patched, err := a.patchPod(ctx, pod, map[string]any{"metadata": map[string]any{
		"uid":             pod.UID,
		"ownerReferences": []metav1.OwnerReference{*metav1.NewControllerRef(a.job, jobKind)},
		"finalizers":      []string{batchv1.JobTrackingFinalizer},
	}})
	if err != nil {
		return nil, ignoreNotFound(err)
	}
	a.memory.wrotePod(a.key, patched.ResourceVersion)
	if hasFinalizer(pod) {
		return pod, nil
	}
	// The rest of the sync goes by the pod as it was seen, with the finalizer that it has now.
	pod = pod.DeepCopy()
	pod.Finalizers = append(slices.Clip(pod.Finalizers), batchv1.JobTrackingFinalizer)
	return pod, nil
}

// recheck asks the API server whether the Job is still there and is not being deleted. The cache may not know yet that
// the Job was deleted, with its pods orphaned on purpose.
func (a *adoption) recheck(ctx context.Context) error {
	fresh, err := a.kube.BatchV1().Jobs(a.job.Namespace).Get(ctx, a.job.Name, metav1.GetOptions{})
	switch {
	case err != nil:
		return fmt.Errorf("reading job %s: %w", a.key, err)
	case fresh.UID != a.job.UID:
		return fmt.Errorf("job %s is gone: it has UID %s, not %s", a.key, fresh.UID, a.job.UID)
	case fresh.DeletionTimestamp != nil:
		return fmt.Errorf("job %s has been deleted at %s", a.key, fresh.DeletionTimestamp)
	default:
		return nil
	}
}
