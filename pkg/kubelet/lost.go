package kubelet

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// AnnotationLost on a node has it lost while the value is "true", as [Kubelet.Lose] does.
const AnnotationLost = "kubelet.muster.dev/lost"

// Lose cuts a node off, until [Kubelet.Restore]: its kubelet neither hears from the API server nor reports to it. The
// node's Lease is not renewed and its status not kept, so that a node controller finds it unreachable after a while. Its
// containers run on, but what becomes of them is not reported, no other is started, and none is stopped. A name that is
// no node's has no effect.
func (k *Kubelet) Lose(node string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.lost[node] = true
}

// Restore ends what [Kubelet.Lose] began: the node reports at once how it and its pods are now. Containers that were to
// end meanwhile have ended when they were to; those of pods that were deleted are told to end now.
func (k *Kubelet) Restore(node string) {
	k.mu.Lock()
	delete(k.lost, node)
	keys := k.tasksOf(node)
	queue := k.queue
	k.mu.Unlock()
	if queue == nil {
		return // it does not run yet, and will look at everything when it does
	}
	for _, key := range keys {
		queue.Add(key)
	}
}

// tasksOf returns what is to be looked at on a node: itself, the pods that are there, and those that it still runs.
func (k *Kubelet) tasksOf(node string) []task {
	keys := []task{{Name: node}}
	for key, r := range k.runs {
		if r.node == node {
			keys = append(keys, key)
		}
	}
	if k.pods == nil {
		return keys
	}
	pods, err := k.pods.List(labels.Everything())
	if err != nil {
		return keys // the lister of an informer has no errors
	}
	for _, pod := range pods {
		key := task{Namespace: pod.Namespace, Name: pod.Name}
		if pod.Spec.NodeName == node && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// isLost says whether a node is out of reach.
func (k *Kubelet) isLost(name string) bool {
	k.mu.Lock()
	lost, nodes := k.lost[name], k.nodes
	k.mu.Unlock()
	if lost || nodes == nil {
		return lost
	}
	node, err := nodes.Get(name)
	return err == nil && lostByAnnotation(node)
}

func lostByAnnotation(node *corev1.Node) bool { return node.Annotations[AnnotationLost] == "true" }

// nodeUpdated looks after a node that changed, and after its pods if it was found again.
func (k *Kubelet) nodeUpdated(before, after any) {
	old, okOld := before.(*corev1.Node)
	node, ok := after.(*corev1.Node)
	if ok && okOld && lostByAnnotation(old) && !lostByAnnotation(node) {
		k.nodeChanged(after)
		return
	}
	k.enqueue(after)
}
