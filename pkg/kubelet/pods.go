package kubelet

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/musterkube/muster/pkg/core"
)

// abandonGrace is how long processes have to end whose pod was removed from under them.
const abandonGrace = 2 * time.Second

// syncPod brings one pod to where it should be now, and sees to it that it is looked at again when more is due.
func (k *Kubelet) syncPod(ctx context.Context, key task) error {
	pod, err := k.pods.Pods(key.Namespace).Get(key.Name)
	if k.outOfReach(key, pod) {
		return nil
	}
	if apierrors.IsNotFound(err) {
		k.forget(key)
		return nil
	}
	if err != nil {
		return fmt.Errorf("looking up pod %s: %w", key, err)
	}
	r := k.runOf(ctx, key, pod)
	if r == nil {
		return nil
	}
	if beingRemoved(r.pod) {
		return nil
	}
	now := k.clock.Now()
	next := r.advance(now)
	if !core.PodFinished(r.pod) {
		if err := k.writeStatus(ctx, r, r.status(now)); err != nil {
			return err
		}
	}
	if r.phase != "" {
		return k.finishDeletion(ctx, r.pod)
	}
	if !next.IsZero() {
		k.queue.AddAfter(key, next.Sub(k.clock.Now()))
	}
	return nil
}

// runOf returns the run of a pod, which begins if the pod is new; nil if the pod is not on a node that the kubelet
// serves. A pod that was taken on is played to its end even if its node goes. The pod that the run keeps is the newer of
// what the watch has seen and what the kubelet has written.
func (k *Kubelet) runOf(ctx context.Context, key task, pod *corev1.Pod) *run {
	k.mu.Lock()
	r := k.runs[key]
	k.mu.Unlock()
	if r != nil && r.pod.UID == pod.UID {
		if newer(pod, r.pod) {
			r.pod = pod
		}
		return r
	}
	k.forget(key)
	if pod.Spec.NodeName == "" || !k.serves(pod.Spec.NodeName) {
		return nil
	}
	node, err := k.nodes.Get(pod.Spec.NodeName)
	if err != nil {
		return nil // the pod is looked at again when there is such a node
	}
	launch := func(r *run, c *container) (start, error) { return k.startContainer(ctx, r, c) }
	r = newRun(pod, k.clock.Now(), k.options.StartDelay, k.processes == nil, launch)
	r.node, r.hostIP = pod.Spec.NodeName, hostIP(node)
	k.mu.Lock()
	defer k.mu.Unlock()
	r.podIP = k.addresses.take(pod)
	k.runs[key] = r
	return r
}

// outOfReach says whether a pod is on a lost node, or was when it was last looked at. pod is nil for one that is gone.
func (k *Kubelet) outOfReach(key task, pod *corev1.Pod) bool {
	k.mu.Lock()
	r := k.runs[key]
	k.mu.Unlock()
	if r != nil && (pod == nil || pod.UID == r.pod.UID) {
		return k.isLost(r.node)
	}
	return pod != nil && pod.Spec.NodeName != "" && k.isLost(pod.Spec.NodeName)
}

func (k *Kubelet) forget(key task) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if r := k.runs[key]; r != nil {
		k.addresses.release(r.podIP)
		delete(k.runs, key)
		for _, c := range r.containers {
			k.logs.drop(r.pod.UID, c.spec.Name, c.restarts)
		}
		r.abandon(k.clock.Now(), abandonGrace)
	}
}

// newer says whether the first version of an object is not older than the second.
func newer(a, b *corev1.Pod) bool {
	versionA, errA := strconv.ParseUint(a.ResourceVersion, 10, 64)
	versionB, errB := strconv.ParseUint(b.ResourceVersion, 10, 64)
	return errA != nil || errB != nil || versionA >= versionB
}

// writeStatus writes what differs from the pod's status. A pod that is gone, or was replaced by another of its name, is
// left alone.
func (k *Kubelet) writeStatus(ctx context.Context, r *run, status *corev1.PodStatus) error {
	patch, err := statusPatch(r.pod, status)
	if err != nil {
		return fmt.Errorf("writing status of pod %s/%s: %w", r.pod.Namespace, r.pod.Name, err)
	}
	if patch == nil {
		return nil
	}
	written, err := k.kube.CoreV1().Pods(r.pod.Namespace).Patch(
		ctx, r.pod.Name, types.StrategicMergePatchType, patch,
		metav1.PatchOptions{FieldValidation: metav1.FieldValidationIgnore}, "status") // fields that are known to be right
	switch {
	case err == nil:
		r.pod = written
	case !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) && !isOfAnother(err):
		return fmt.Errorf("writing status of pod %s/%s: %w", r.pod.Namespace, r.pod.Name, err)
	}
	return nil
}

// isOfAnother says whether a patch was refused because it names another UID than the stored object has.
func isOfAnother(err error) bool {
	cause, found := apierrors.StatusCause(err, metav1.CauseTypeFieldValueInvalid)
	return apierrors.IsInvalid(err) && found && cause.Field == "metadata.uid"
}

// statusPatch returns the strategic merge patch that gives the pod its new status, nil if there is nothing to change.
// It names the pod's UID, so that it fits no other pod. Times are compared as they are stored, in whole seconds.
func statusPatch(pod *corev1.Pod, status *corev1.PodStatus) ([]byte, error) {
	before, err := json.Marshal(corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: pod.UID}, Status: pod.Status})
	if err != nil {
		return nil, err
	}
	after, err := json.Marshal(corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: pod.UID}, Status: *status})
	if err != nil {
		return nil, err
	}
	if bytes.Equal(before, after) {
		return nil, nil
	}
	anonymous, err := json.Marshal(corev1.Pod{Status: pod.Status})
	if err != nil {
		return nil, err
	}
	return strategicpatch.CreateTwoWayMergePatch(anonymous, after, corev1.Pod{})
}

// beingRemoved says whether the API server is about to remove the pod by itself. It must not be written any more: a write
// makes the server remove it once more, and by then another pod may have its name.
func beingRemoved(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp != nil && len(pod.Finalizers) == 0 &&
		pod.DeletionGracePeriodSeconds != nil && *pod.DeletionGracePeriodSeconds == 0
}

// finishDeletion removes a pod that is over and was to be deleted. If its grace period is zero, the API server does so
// itself once the finalizers are gone.
func (k *Kubelet) finishDeletion(ctx context.Context, pod *corev1.Pod) error {
	if pod.DeletionTimestamp == nil || pod.DeletionGracePeriodSeconds != nil && *pod.DeletionGracePeriodSeconds == 0 {
		return nil
	}
	err := k.kube.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{
		GracePeriodSeconds: new(int64(0)),
		Preconditions:      &metav1.Preconditions{UID: &pod.UID},
	})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("deleting pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	return nil
}
