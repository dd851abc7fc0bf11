package wrappers

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NodeWrapper is a Node in the making.
type NodeWrapper struct{ node *corev1.Node }

// MakeNode starts a Node that is Ready and has the label kubernetes.io/hostname, but no resources.
func MakeNode(name string) *NodeWrapper {
	w := &NodeWrapper{&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}}
	return w.Label(corev1.LabelHostname, name).Ready(corev1.ConditionTrue)
}

// Obj returns the Node itself, not a copy.
func (w *NodeWrapper) Obj() *corev1.Node { return w.node }

// Clone returns a wrapper of a copy.
func (w *NodeWrapper) Clone() *NodeWrapper { return &NodeWrapper{w.node.DeepCopy()} }

// Do hands the Node to a function, for what there is no method for.
func (w *NodeWrapper) Do(change func(*corev1.Node)) *NodeWrapper {
	change(w.node)
	return w
}

// Label adds a label, in place of one of the same key.
func (w *NodeWrapper) Label(key, value string) *NodeWrapper {
	metadata{&w.node.ObjectMeta}.label(key, value)
	return w
}

// Annotation adds an annotation, in place of one of the same key.
func (w *NodeWrapper) Annotation(key, value string) *NodeWrapper {
	metadata{&w.node.ObjectMeta}.annotation(key, value)
	return w
}

// Capacity sets what the Node has, all of it allocatable, from names and quantities in turn as for [Resources]. Pods need a
// resource "pods" to be placed.
func (w *NodeWrapper) Capacity(pairs ...string) *NodeWrapper {
	w.node.Status.Capacity = Resources(pairs...)
	w.node.Status.Allocatable = maps.Clone(w.node.Status.Capacity)
	return w
}

// Taint adds a taint, which keeps off pods that do not tolerate it.
func (w *NodeWrapper) Taint(key, value string, effect corev1.TaintEffect) *NodeWrapper {
	w.node.Spec.Taints = append(w.node.Spec.Taints, corev1.Taint{Key: key, Value: value, Effect: effect})
	return w
}

// Unschedulable cordons the Node: spec.unschedulable.
func (w *NodeWrapper) Unschedulable() *NodeWrapper { w.node.Spec.Unschedulable = true; return w }

// Ready sets the condition Ready.
func (w *NodeWrapper) Ready(status corev1.ConditionStatus) *NodeWrapper {
	w.node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: status}}
	return w
}
