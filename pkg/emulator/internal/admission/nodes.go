package admission

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apiserver/pkg/admission"
)

// taintNodes is the plugin TaintNodesByCondition.
type taintNodes struct{ *admission.Handler }

var _ admission.MutationInterface = taintNodes{}

func newTaintNodes() taintNodes {
	return taintNodes{admission.NewHandler(admission.Create)}
}

// Admit implements admission.MutationInterface.
func (taintNodes) Admit(_ context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	node, ok := a.GetObject().(*corev1.Node)
	if !ok || !concerns(a, corev1.Resource("nodes")) {
		return nil
	}
	notReady := corev1.Taint{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule}
	if !slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.MatchTaint(&notReady) }) {
		node.Spec.Taints = append(node.Spec.Taints, notReady)
	}
	return nil
}
