package nodelifecycle

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// conditionTaint is the taint that a condition of a node stands for.
type conditionTaint struct {
	condition corev1.NodeConditionType
	status    corev1.ConditionStatus
	key       string
}

func conditionTaints() []conditionTaint {
	return []conditionTaint{
		{corev1.NodeReady, corev1.ConditionFalse, corev1.TaintNodeNotReady},
		{corev1.NodeReady, corev1.ConditionUnknown, corev1.TaintNodeUnreachable},
		{corev1.NodeMemoryPressure, corev1.ConditionTrue, corev1.TaintNodeMemoryPressure},
		{corev1.NodeDiskPressure, corev1.ConditionTrue, corev1.TaintNodeDiskPressure},
		{corev1.NodeNetworkUnavailable, corev1.ConditionTrue, corev1.TaintNodeNetworkUnavailable},
		{corev1.NodePIDPressure, corev1.ConditionTrue, corev1.TaintNodePIDPressure},
	}
}

// executing returns the key of the taint NoExecute that the node is to have, empty for none.
func executing(node *corev1.Node) string {
	switch readiness(node) {
	case corev1.ConditionFalse:
		return corev1.TaintNodeNotReady
	case corev1.ConditionUnknown:
		return corev1.TaintNodeUnreachable
	}
	return ""
}

// executes says whether the node has a taint NoExecute for not being ready or reachable.
func executes(node *corev1.Node) bool {
	return slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool {
		return t.Effect == corev1.TaintEffectNoExecute && (t.Key == corev1.TaintNodeNotReady || t.Key == corev1.TaintNodeUnreachable)
	})
}

// wantedTaints returns the taints that the node is to have: those of its conditions, the given key with NoExecute if it
// is not empty, and those of others.
func wantedTaints(node *corev1.Node, execute string, now time.Time) []corev1.Taint {
	owned := map[string]bool{corev1.TaintNodeUnschedulable: true}
	wanted := map[corev1.Taint]bool{}
	if node.Spec.Unschedulable {
		wanted[corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}] = true
	}
	var order []corev1.Taint
	for _, t := range conditionTaints() {
		owned[t.key] = true
		if slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
			return c.Type == t.condition && c.Status == t.status
		}) {
			wanted[corev1.Taint{Key: t.key, Effect: corev1.TaintEffectNoSchedule}] = true
		}
	}
	if execute != "" {
		wanted[corev1.Taint{Key: execute, Effect: corev1.TaintEffectNoExecute}] = true
	}
	for _, taint := range node.Spec.Taints {
		kind := corev1.Taint{Key: taint.Key, Effect: taint.Effect}
		ours := owned[taint.Key] && taint.Effect == corev1.TaintEffectNoSchedule || taint.Effect == corev1.TaintEffectNoExecute &&
			(taint.Key == corev1.TaintNodeNotReady || taint.Key == corev1.TaintNodeUnreachable)
		if !ours || wanted[kind] {
			order = append(order, taint)
		}
		delete(wanted, kind)
	}
	for _, effect := range []corev1.TaintEffect{corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute} {
		for _, key := range append([]string{corev1.TaintNodeUnschedulable}, keysOf(conditionTaints())...) {
			if wanted[corev1.Taint{Key: key, Effect: effect}] {
				order = append(order, corev1.Taint{Key: key, Effect: effect, TimeAdded: new(metav1.NewTime(now))})
			}
		}
	}
	return order
}

func keysOf(taints []conditionTaint) []string {
	var keys []string
	for _, t := range taints {
		keys = append(keys, t.key)
	}
	return keys
}
