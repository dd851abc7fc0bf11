package nodelifecycle

import (
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// sign is the last that was heard of a node, and when that was noticed.
type sign struct {
	renewed, heartbeat time.Time
	seen               time.Time
}

// hear returns the sign of a node after a look at it. Times that the node wrote are only compared with one another, as
// its clock may be another.
func hear(node *corev1.Node, lease *coordinationv1.Lease, last *sign, now time.Time) sign {
	var next sign
	if lease != nil && lease.Spec.RenewTime != nil {
		next.renewed = lease.Spec.RenewTime.Time
	}
	ready := readyCondition(&node.Status)
	if ready != nil && ready.Status != corev1.ConditionUnknown {
		next.heartbeat = ready.LastHeartbeatTime.Time
	}
	switch {
	case last == nil && ready == nil && next.renewed.IsZero():
		next.seen = node.CreationTimestamp.Time
	case last == nil || next.renewed.After(last.renewed) || next.heartbeat.After(last.heartbeat):
		next.seen = now
	default:
		next.seen = last.seen
	}
	if last != nil && next.heartbeat.Before(last.heartbeat) {
		next.heartbeat = last.heartbeat
	}
	return next
}

func readyCondition(status *corev1.NodeStatus) *corev1.NodeCondition {
	at := slices.IndexFunc(status.Conditions, func(c corev1.NodeCondition) bool { return c.Type == corev1.NodeReady })
	if at < 0 {
		return nil
	}
	return &status.Conditions[at]
}

// readiness is the status of a node's condition Ready.
func readiness(node *corev1.Node) corev1.ConditionStatus {
	if ready := readyCondition(&node.Status); ready != nil {
		return ready.Status
	}
	return ""
}

// silence returns the conditions of a node that is not heard of, nil if they say so already.
func silence(node *corev1.Node, now time.Time) []corev1.NodeCondition {
	var changed []corev1.NodeCondition
	for _, conditionType := range []corev1.NodeConditionType{
		corev1.NodeReady, corev1.NodeMemoryPressure, corev1.NodeDiskPressure, corev1.NodePIDPressure,
	} {
		at := slices.IndexFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool { return c.Type == conditionType })
		condition := corev1.NodeCondition{
			Type: conditionType, LastHeartbeatTime: node.CreationTimestamp,
			Reason: "NodeStatusNeverUpdated", Message: "Kubelet never posted node status.",
		}
		if at >= 0 {
			condition = node.Status.Conditions[at]
			if condition.Status == corev1.ConditionUnknown {
				continue
			}
			condition.Reason, condition.Message = "NodeStatusUnknown", "Kubelet stopped posting node status."
		}
		condition.Status, condition.LastTransitionTime = corev1.ConditionUnknown, metav1.NewTime(now)
		changed = append(changed, condition)
	}
	return changed
}
