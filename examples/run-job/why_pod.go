package main

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/pkg/core"
)

// podCheck looks at one thing that may keep a pod from its end, and says "" when that is not it.
type podCheck func(w *world, pod *corev1.Pod) string

// podChecks are tried in this order; the first that knows has the word.
func podChecks() []podCheck {
	return []podCheck{podDeletion, unknownNode, nodeNotReady, notStarted, gated, otherScheduler, missingGroup, unscheduled}
}

// podWaitsFor says what keeps a pod from its end, and "" when nothing is known that does.
func (w *world) podWaitsFor(pod *corev1.Pod) string {
	for _, check := range podChecks() {
		if why := check(w, pod); why != "" {
			return why
		}
	}
	return ""
}

func podDeletion(w *world, pod *corev1.Pod) string {
	if pod.DeletionTimestamp == nil {
		return ""
	}
	// Only the kubelet of its node can say that it has ended.
	return "being deleted" + because(strings.Join(slices.DeleteFunc([]string{finalizers(pod), nodeNotReady(w, pod)}, func(s string) bool { return s == "" }), "; "))
}

func unknownNode(w *world, pod *corev1.Pod) string {
	if pod.Spec.NodeName == "" || named[*corev1.Node](w, "", pod.Spec.NodeName) != nil {
		return ""
	}
	return fmt.Sprintf("node %q, which the pod is on, does not exist", pod.Spec.NodeName)
}

func nodeNotReady(w *world, pod *corev1.Pod) string {
	node := named[*corev1.Node](w, "", pod.Spec.NodeName)
	if node == nil {
		return ""
	}
	ready := nodeReady(node)
	if ready.Status == corev1.ConditionTrue {
		return ""
	}
	return fmt.Sprintf("node %s, which the pod is on, is not Ready%s", node.Name, because(joined(ready.Reason, ready.Message)))
}

func notStarted(_ *world, pod *corev1.Pod) string {
	if pod.Spec.NodeName == "" || pod.Status.Phase != corev1.PodPending {
		return ""
	}
	text := "on node " + pod.Spec.NodeName + ", not started yet"
	for _, statuses := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for _, s := range statuses {
			switch {
			case s.State.Running != nil && !isSidecar(pod, s.Name):
				return text + ": init container " + s.Name + " is running"
			case s.State.Waiting != nil && s.State.Waiting.Reason != "":
				return text + ": " + joined(s.State.Waiting.Reason, s.State.Waiting.Message)
			}
		}
	}
	return text
}

func gated(_ *world, pod *corev1.Pod) string {
	var names []string
	for _, gate := range pod.Spec.SchedulingGates {
		names = append(names, gate.Name)
	}
	if len(names) == 0 {
		return ""
	}
	return "held back by the scheduling gate " + few(names)
}

func otherScheduler(_ *world, pod *corev1.Pod) string {
	if name := pod.Spec.SchedulerName; pod.Spec.NodeName == "" && name != "" && name != corev1.DefaultSchedulerName {
		return fmt.Sprintf("spec.schedulerName asks for %q, which does not run here", name)
	}
	return ""
}

func missingGroup(w *world, pod *corev1.Pod) string {
	if pod.Spec.NodeName != "" || groupOf(pod) == "" || len(w.groupsOf(pod)) > 0 {
		return ""
	}
	return fmt.Sprintf("PodGroup %s/%s, which the pod names, does not exist", pod.Namespace, groupOf(pod))
}

// unscheduled is what the scheduler says, of the pod itself or else of its group.
func unscheduled(w *world, pod *corev1.Pod) string {
	if pod.Spec.NodeName != "" {
		return ""
	}
	if c := core.PodCondition(pod, corev1.PodScheduled); c != nil && c.Status == corev1.ConditionFalse {
		return c.Message
	}
	for _, group := range w.groupsOf(pod) {
		if w.gangText(group) != "" {
			return "" // that says it better
		}
		if i := conditionIndex(group.Status.Conditions, schedulingv1alpha2.PodGroupScheduled); i >= 0 && group.Status.Conditions[i].Status == metav1.ConditionFalse {
			return group.Status.Conditions[i].Message
		}
	}
	return "the scheduler has said nothing of it yet"
}
