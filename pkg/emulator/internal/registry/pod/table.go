package pod

import (
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/clock"

	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
)

func newTable(now clock.PassiveClock) rest.TableConvertor {
	spec, status := corev1.PodSpec{}.SwaggerDoc(), corev1.PodStatus{}.SwaggerDoc()
	return resource.NewTable([]metav1.TableColumnDefinition{
		resource.NameColumn(),
		resource.Column("Ready", "The aggregate readiness state of this pod for accepting traffic."),
		resource.Column("Status", "The aggregate status of the containers in this pod."),
		resource.Column("Restarts", "The number of times the containers in this pod have been restarted and when the last container in this pod has restarted."),
		resource.AgeColumn(),
		resource.WideColumn("IP", status["podIP"]),
		resource.WideColumn("Node", spec["nodeName"]),
		resource.WideColumn("Nominated Node", status["nominatedNodeName"]),
		resource.WideColumn("Readiness Gates", spec["readinessGates"]),
	}, func(pod *corev1.Pod) resource.Row {
		s := summarize(pod)
		restarts := strconv.Itoa(s.restarts)
		if s.restarts != 0 && !s.lastRestart.IsZero() {
			restarts = fmt.Sprintf("%d (%s ago)", s.restarts, resource.Since(now, s.lastRestart.Time))
		}
		podIP := ""
		if len(pod.Status.PodIPs) > 0 {
			podIP = pod.Status.PodIPs[0].IP
		}
		return resource.Row{
			Cells: []any{
				pod.Name, fmt.Sprintf("%d/%d", s.ready, s.total), s.reason, restarts, resource.Since(now, pod.CreationTimestamp.Time),
				resource.OrNone(podIP), resource.OrNone(pod.Spec.NodeName), resource.OrNone(pod.Status.NominatedNodeName), readinessGates(pod),
			},
			Conditions: rowConditions(pod),
		}
	})
}

// rowConditions mark pods that are over.
func rowConditions(pod *corev1.Pod) []metav1.TableRowCondition {
	message := ""
	switch pod.Status.Phase {
	case corev1.PodSucceeded:
		message = "The pod has completed successfully."
	case corev1.PodFailed:
		message = "The pod failed."
	default:
		return nil
	}
	return []metav1.TableRowCondition{{
		Type: metav1.RowCompleted, Status: metav1.ConditionTrue, Reason: string(pod.Status.Phase), Message: message,
	}}
}

// readinessGates says how many of the pod's readiness gates are open.
func readinessGates(pod *corev1.Pod) string {
	if len(pod.Spec.ReadinessGates) == 0 {
		return "<none>"
	}
	open := 0
	for _, gate := range pod.Spec.ReadinessGates {
		if conditionIsTrue(pod, gate.ConditionType) {
			open++
		}
	}
	return fmt.Sprintf("%d/%d", open, len(pod.Spec.ReadinessGates))
}
