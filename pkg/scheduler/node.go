package scheduler

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// nodeInfo is a node with the pods that are on it, bound or about to be.
type nodeInfo struct {
	name string
	// object is nil while pods name a node that has not been seen.
	object   *corev1.Node
	capacity resources
	maxPods  int64
	used     resources
	weight   weight
	pods     map[types.UID]*podInfo
	// nominated are pods for which room is being made here by preemption; they do not run here yet.
	nominated map[types.UID]*podInfo
	// version moves with everything that a pod asks the node about.
	version uint64
	// at is the node's place in the cluster's order, if it exists.
	at int
}

func newNodeInfo(name string) *nodeInfo {
	return &nodeInfo{name: name, pods: map[types.UID]*podInfo{}, nominated: map[types.UID]*podInfo{}}
}

// set takes over the Node object; what counts is status.allocatable.
func (n *nodeInfo) set(node *corev1.Node) {
	if n.object == nil || nodeMatters(n.object, node) {
		n.version++
	}
	n.object = node
	n.capacity = resourcesOf(node.Status.Allocatable)
	n.maxPods = node.Status.Allocatable.Pods().Value()
}

func (n *nodeInfo) add(p *podInfo) {
	if _, here := n.pods[p.uid()]; here {
		return
	}
	n.version++
	n.pods[p.uid()] = p
	n.used.add(p.requests)
	n.weight = n.weight.plus(p.weight, 1)
}

func (n *nodeInfo) remove(p *podInfo) {
	if _, here := n.pods[p.uid()]; !here {
		return
	}
	n.version++
	delete(n.pods, p.uid())
	n.used.subtract(p.requests)
	n.weight = n.weight.plus(p.weight, -1)
}

// idle says whether nothing would be lost by forgetting the node.
func (n *nodeInfo) idle() bool {
	return n.object == nil && len(n.pods) == 0 && len(n.nominated) == 0
}
