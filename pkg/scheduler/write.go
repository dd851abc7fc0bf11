package scheduler

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
)

// noteLimit is the longest message of an event, in bytes.
const noteLimit = 1024

// writer carries decisions out.
type writer struct {
	scheduler *Scheduler
	recorder  record.EventRecorder
}

// write carries a decision out and returns the pods that could not be bound. Other failures are logged: the next cycle
// tries again what they were about.
func (w *writer) write(ctx context.Context, d *Decision) []*corev1.Pod {
	var mu sync.Mutex
	var failed []*corev1.Pod
	w.each(ctx, len(d.Bindings), func(i int) {
		if err := w.bind(ctx, d.Bindings[i]); err != nil {
			logUnlessDone(ctx, err)
			mu.Lock()
			defer mu.Unlock()
			failed = append(failed, d.Bindings[i].Pod)
		}
	})
	w.each(ctx, len(d.Evictions), func(i int) {
		logUnlessDone(ctx, w.evict(ctx, d.Evictions[i]))
	})
	w.each(ctx, len(d.Rejections), func(i int) {
		logUnlessDone(ctx, w.reject(ctx, d.Rejections[i]))
	})
	if d.Condition != nil && (len(d.Bindings) == 0 || len(failed) < len(d.Bindings)) {
		logUnlessDone(ctx, w.setCondition(ctx, d.PodGroup, *d.Condition))
	}
	return failed
}

// each calls do for 0 to n-1, several at once, and returns when all have returned.
func (w *writer) each(ctx context.Context, n int, do func(i int)) {
	var group sync.WaitGroup
	defer group.Wait()
	for i := range n {
		select {
		case w.scheduler.tokens <- struct{}{}:
		case <-ctx.Done():
			// Let do find out: its requests fail at once.
			do(i)
			continue
		}
		group.Go(func() {
			defer func() { <-w.scheduler.tokens }()
			do(i)
		})
	}
}

func logUnlessDone(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil {
		klog.FromContext(ctx).Error(err, "Carrying out a scheduling decision failed")
	}
}

func (w *writer) bind(ctx context.Context, b Binding) error {
	err := w.scheduler.kube.CoreV1().Pods(b.Pod.Namespace).Bind(ctx, &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Namespace: b.Pod.Namespace, Name: b.Pod.Name, UID: b.Pod.UID},
		Target:     corev1.ObjectReference{Kind: "Node", Name: b.Node},
	}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("binding pod %s/%s to node %s: %w", b.Pod.Namespace, b.Pod.Name, b.Node, err)
	}
	w.recorder.Eventf(b.Pod, corev1.EventTypeNormal, reasonScheduled,
		"Successfully assigned %v/%v to %v", b.Pod.Namespace, b.Pod.Name, b.Node)
	return nil
}

// reject tells a pod, in its PodScheduled condition and by an event, why it was not placed.
func (w *writer) reject(ctx context.Context, r Rejection) error {
	note := r.Message
	if len(note) > noteLimit {
		note = note[:noteLimit-4] + " ..."
	}
	if w.scheduler.policy.parity || !alreadyTold(r) {
		w.recorder.Event(r.Pod, corev1.EventTypeWarning, "FailedScheduling", note)
	}
	status := r.Pod.Status.DeepCopy()
	w.setPodCondition(status, corev1.PodCondition{
		Type:               corev1.PodScheduled,
		ObservedGeneration: r.Pod.Generation,
		Status:             corev1.ConditionFalse,
		Reason:             r.Reason,
		Message:            r.Message,
	})
	status.NominatedNodeName = r.NominatedNode
	return w.patchPodStatus(ctx, r.Pod, status)
}

// alreadyTold says whether the pod's condition has it all. A gang that waits in a full cluster is tried every ten seconds;
// an event each time would tell nothing new, and in a large cluster be most of what is written.
func alreadyTold(r Rejection) bool {
	return slices.ContainsFunc(r.Pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == r.Reason && c.Message == r.Message
	})
}

// evict deletes a pod to make room, after noting in its conditions why it goes, which is what pod failure policies of
// Jobs look at (KEP-3329).
func (w *writer) evict(ctx context.Context, e Eviction) error {
	if e.Pod.DeletionTimestamp != nil {
		return nil
	}
	status := e.Pod.Status.DeepCopy()
	w.setPodCondition(status, corev1.PodCondition{
		Type:               corev1.DisruptionTarget,
		ObservedGeneration: e.Pod.Generation,
		Status:             corev1.ConditionTrue,
		Reason:             corev1.PodReasonPreemptionByScheduler,
		Message:            fmt.Sprintf("%s: preempting to accommodate a higher priority %s", w.scheduler.policy.schedulerName, e.For),
	})
	if err := w.patchPodStatus(ctx, e.Pod, status); err != nil {
		return err
	}
	err := w.scheduler.kube.CoreV1().Pods(e.Pod.Namespace).Delete(ctx, e.Pod.Name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &e.Pod.UID},
	})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("evicting pod %s/%s: %w", e.Pod.Namespace, e.Pod.Name, err)
	}
	w.recorder.Eventf(e.Pod, corev1.EventTypeNormal, "Preempted", "Preempted by %s %s on node %s", e.For, e.ForUID, e.From)
	return nil
}

// setPodCondition replaces the condition of its type. The time of transition moves only when the status does.
func (w *writer) setPodCondition(status *corev1.PodStatus, condition corev1.PodCondition) {
	condition.LastTransitionTime = metav1.NewTime(w.scheduler.clock.Now())
	at := slices.IndexFunc(status.Conditions, func(c corev1.PodCondition) bool { return c.Type == condition.Type })
	if at < 0 {
		status.Conditions = append(status.Conditions, condition)
		return
	}
	if status.Conditions[at].Status == condition.Status {
		condition.LastTransitionTime = status.Conditions[at].LastTransitionTime
	}
	status.Conditions[at] = condition
}

// patchPodStatus writes what differs from the pod's own status. A pod that is gone, or has been replaced by another of
// its name, is left alone.
func (w *writer) patchPodStatus(ctx context.Context, pod *corev1.Pod, status *corev1.PodStatus) error {
	if equality.Semantic.DeepEqual(&pod.Status, status) {
		return nil
	}
	meta := metav1.ObjectMeta{UID: pod.UID}
	patch, err := mergePatch(corev1.Pod{Status: pod.Status}, corev1.Pod{ObjectMeta: meta, Status: *status})
	if err == nil {
		_, err = w.scheduler.kube.CoreV1().Pods(pod.Namespace).Patch(
			ctx, pod.Name, types.StrategicMergePatchType, patch, unchecked(), "status")
	}
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("writing status of pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	return nil
}

// setCondition writes the PodGroupScheduled condition. Once true it stays so: pods that come later are extra pods or
// replacements, and the group as such is scheduled.
func (w *writer) setCondition(ctx context.Context, key types.NamespacedName, condition metav1.Condition) error {
	s := w.scheduler
	s.mu.Lock()
	var group *schedulingv1alpha2.PodGroup
	if g := s.cluster.groups[key]; g != nil {
		group = g.object
	}
	s.mu.Unlock()
	if group == nil {
		return nil
	}
	if condition.Status != metav1.ConditionTrue && apimeta.IsStatusConditionTrue(group.Status.Conditions, condition.Type) {
		return nil
	}
	condition.ObservedGeneration = group.Generation
	condition.LastTransitionTime = metav1.NewTime(s.clock.Now())
	status := group.Status.DeepCopy()
	if !apimeta.SetStatusCondition(&status.Conditions, condition) {
		return nil
	}
	meta := metav1.ObjectMeta{UID: group.UID}
	patch, err := mergePatch(
		schedulingv1alpha2.PodGroup{Status: group.Status},
		schedulingv1alpha2.PodGroup{ObjectMeta: meta, Status: *status})
	if err != nil {
		return fmt.Errorf("writing status of pod group %s: %w", key, err)
	}
	written, err := s.muster.SchedulingV1alpha2().PodGroups(key.Namespace).Patch(
		ctx, key.Name, types.StrategicMergePatchType, patch, unchecked(), "status")
	if err != nil {
		if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
			return nil
		}
		return fmt.Errorf("writing status of pod group %s: %w", key, err)
	}
	s.groupWritten(group, written)
	return nil
}

// mergePatch returns the strategic merge patch from one object to the other, which has a UID so that the patch only
// applies to the object that it was made for.
func mergePatch[T any](from, to T) ([]byte, error) {
	before, err := json.Marshal(from)
	if err != nil {
		return nil, err
	}
	after, err := json.Marshal(to)
	if err != nil {
		return nil, err
	}
	return strategicpatch.CreateTwoWayMergePatch(before, after, from)
}

// unchecked are the options of patches whose fields are known to be right: the server need not look for unknown ones.
func unchecked() metav1.PatchOptions {
	return metav1.PatchOptions{FieldValidation: metav1.FieldValidationIgnore}
}
