package scheduler

import (
	corev1 "k8s.io/api/core/v1"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/klog/v2"
)

// What a user reads in the PodScheduled condition about nodes that were turned down, as kube-scheduler words it.
const (
	reasonNodeUnschedulable = "node(s) were unschedulable"
	reasonNodeName          = "node(s) didn't match the requested node name"
	reasonTaint             = "node(s) had untolerated taint(s)"
	reasonAffinity          = "node(s) didn't match Pod's node affinity/selector"
	reasonPorts             = "node(s) didn't have free ports for the requested pod ports"
	reasonTooManyPods       = "Too many pods"
)

// refusal is why a node does not take a pod. A node that takes it has no reasons.
type refusal struct {
	reasons []string
	// final says that the node would not take the pod even if other pods left it.
	final bool
}

func (r refusal) fits() bool { return len(r.reasons) == 0 }

// filter says whether the node can take the pod, beside the pods that are on it and those of at least the pod's
// priority for which room is being made on it. The checks run in kube-scheduler's order, and the first that fails
// gives the reason.
func filter(p *podInfo, n *nodeInfo) refusal {
	switch {
	case n.object.Spec.Unschedulable && !tolerates(p, &corev1.Taint{
		Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule,
	}):
		return refusal{reasons: []string{reasonNodeUnschedulable}, final: true}
	case p.object.Spec.NodeName != "" && p.object.Spec.NodeName != n.name:
		return refusal{reasons: []string{reasonNodeName}, final: true}
	case !toleratesAll(p, n.object.Spec.Taints):
		return refusal{reasons: []string{reasonTaint}, final: true}
	case !matchesAffinity(p, n.object):
		return refusal{reasons: []string{reasonAffinity}, final: true}
	case !portsFree(p, n):
		return refusal{reasons: []string{reasonPorts}}
	}
	return filterResources(p, n)
}

func filterResources(p *podInfo, n *nodeInfo) refusal {
	used, count := &n.used, int64(len(n.pods))
	if len(n.nominated) > 0 {
		withNominated := resources{}
		withNominated.add(n.used)
		for _, other := range n.nominated {
			if other.uid() != p.uid() && other.priority >= p.priority {
				if _, here := n.pods[other.uid()]; !here {
					withNominated.add(other.requests)
					count++
				}
			}
		}
		used = &withNominated
	}
	var out refusal
	if count+1 > n.maxPods {
		out.reasons = append(out.reasons, reasonTooManyPods)
	}
	short, final := shortages(&p.requests, &n.capacity, used)
	out.reasons = append(out.reasons, short...)
	out.final = final
	return out
}

func matchesAffinity(p *podInfo, node *corev1.Node) bool {
	if p.affinity == nil {
		return true
	}
	// An affinity that does not parse matches nothing; the API server let it in for the sake of older pods.
	match, err := p.affinity.Match(node)
	return err == nil && match
}

// toleratesAll says whether the pod tolerates every taint that keeps pods away from a node. PreferNoSchedule does not.
func toleratesAll(p *podInfo, taints []corev1.Taint) bool {
	for i := range taints {
		effect := taints[i].Effect
		if (effect == corev1.TaintEffectNoSchedule || effect == corev1.TaintEffectNoExecute) && !tolerates(p, &taints[i]) {
			return false
		}
	}
	return true
}

func tolerates(p *podInfo, taint *corev1.Taint) bool {
	// Comparison operators in tolerations (KEP-5471) are alpha in 1.36 and off.
	return corev1helpers.TolerationsTolerateTaint(klog.Logger{}, p.object.Spec.Tolerations, taint, false)
}

func portsFree(p *podInfo, n *nodeInfo) bool {
	if len(p.ports) == 0 {
		return true
	}
	for _, other := range n.pods {
		for _, theirs := range other.ports {
			for _, ours := range p.ports {
				if portsClash(ours, theirs) {
					return false
				}
			}
		}
	}
	return true
}
