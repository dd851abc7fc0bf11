package kubelet

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// serves says whether the kubelet plays the pods of a node.
func (k *Kubelet) serves(name string) bool {
	return len(k.options.Nodes) == 0 || k.registered(name) != nil
}

// registered returns the node of that name in the options, nil if there is none.
func (k *Kubelet) registered(name string) *Node {
	at := slices.IndexFunc(k.options.Nodes, func(node Node) bool { return node.Name == name })
	if at < 0 {
		return nil
	}
	return &k.options.Nodes[at]
}

// register makes the Node object, or leaves the one that is there, and its status.
func (k *Kubelet) register(ctx context.Context, node Node) error {
	labels := map[string]string{
		corev1.LabelHostname:   node.Name,
		corev1.LabelOSStable:   "linux",
		corev1.LabelArchStable: "amd64",
	}
	maps.Copy(labels, node.Labels)
	object, err := k.kube.CoreV1().Nodes().Create(ctx, &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: node.Name, Labels: labels},
		Spec:       corev1.NodeSpec{Taints: node.Taints},
	}, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		object, err = k.kube.CoreV1().Nodes().Get(ctx, node.Name, metav1.GetOptions{})
	}
	if err != nil {
		return fmt.Errorf("registering node %s: %w", node.Name, err)
	}
	return k.serveNode(ctx, object)
}

// syncNode looks after one node, from the watch's point of view.
func (k *Kubelet) syncNode(ctx context.Context, key task) error {
	node, err := k.nodes.Get(key.Name)
	if apierrors.IsNotFound(err) || !k.serves(key.Name) || k.isLost(key.Name) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("looking up node %s: %w", key.Name, err)
	}
	return k.serveNode(ctx, node)
}

// serveNode keeps a node ready: its conditions, addresses and capacity, and no taint that says it is not.
func (k *Kubelet) serveNode(ctx context.Context, node *corev1.Node) error {
	status := k.nodeStatus(node)
	if !equality.Semantic.DeepEqual(&node.Status, status) {
		after := &corev1.Node{Status: *status}
		if err := k.patchNode(ctx, node.Name, &corev1.Node{Status: node.Status}, after, "status"); err != nil {
			return err
		}
	}
	taints := slices.DeleteFunc(slices.Clone(node.Spec.Taints), func(taint corev1.Taint) bool {
		return taint.Key == corev1.TaintNodeNotReady
	})
	if len(taints) == len(node.Spec.Taints) {
		return nil
	}
	// The API server puts the taint on every new node; where there is no node controller, nobody else takes it off.
	before := &corev1.Node{Spec: corev1.NodeSpec{Taints: node.Spec.Taints}}
	return k.patchNode(ctx, node.Name, before, &corev1.Node{Spec: corev1.NodeSpec{Taints: taints}})
}

func (k *Kubelet) patchNode(ctx context.Context, name string, before, after *corev1.Node, subresources ...string) error {
	patch, err := nodePatch(before, after)
	if err == nil {
		_, err = k.kube.CoreV1().Nodes().Patch(ctx, name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, subresources...)
	}
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("updating node %s: %w", name, err)
	}
	return nil
}

func nodePatch(before, after *corev1.Node) ([]byte, error) {
	from, err := json.Marshal(before)
	if err != nil {
		return nil, err
	}
	to, err := json.Marshal(after)
	if err != nil {
		return nil, err
	}
	return strategicpatch.CreateTwoWayMergePatch(from, to, corev1.Node{})
}

// nodeStatus returns the status that the node should have. A node that the kubelet did not register keeps its capacity.
func (k *Kubelet) nodeStatus(node *corev1.Node) *corev1.NodeStatus {
	status := node.Status.DeepCopy()
	if own := k.registered(node.Name); own != nil {
		capacity := corev1.ResourceList{
			corev1.ResourceCPU:              resource.MustParse("4"),
			corev1.ResourceMemory:           resource.MustParse("16Gi"),
			corev1.ResourceEphemeralStorage: resource.MustParse("100Gi"),
			corev1.ResourcePods:             resource.MustParse("110"),
		}
		maps.Copy(capacity, own.Capacity)
		status.Capacity, status.Allocatable = capacity, capacity.DeepCopy()
	}
	if len(status.Allocatable) == 0 {
		status.Allocatable = status.Capacity.DeepCopy()
	}
	if len(status.Addresses) == 0 {
		status.Addresses = []corev1.NodeAddress{
			{Type: corev1.NodeInternalIP, Address: nodeAddress(node.Name)},
			{Type: corev1.NodeHostName, Address: node.Name},
		}
	}
	k.setNodeCondition(status, corev1.NodeMemoryPressure, corev1.ConditionFalse, "KubeletHasSufficientMemory", "kubelet has sufficient memory available")
	k.setNodeCondition(status, corev1.NodeDiskPressure, corev1.ConditionFalse, "KubeletHasNoDiskPressure", "kubelet has no disk pressure")
	k.setNodeCondition(status, corev1.NodePIDPressure, corev1.ConditionFalse, "KubeletHasSufficientPID", "kubelet has sufficient PID available")
	k.setNodeCondition(status, corev1.NodeReady, corev1.ConditionTrue, "KubeletReady", "kubelet is posting ready status")
	return status
}

// setNodeCondition leaves a condition that has the right status alone, whoever wrote it.
func (k *Kubelet) setNodeCondition(status *corev1.NodeStatus, conditionType corev1.NodeConditionType, is corev1.ConditionStatus, reason, message string) {
	at := slices.IndexFunc(status.Conditions, func(c corev1.NodeCondition) bool { return c.Type == conditionType })
	if at >= 0 && status.Conditions[at].Status == is {
		return
	}
	now := metav1.NewTime(k.clock.Now())
	condition := corev1.NodeCondition{
		Type: conditionType, Status: is, Reason: reason, Message: message, LastHeartbeatTime: now, LastTransitionTime: now,
	}
	if at < 0 {
		status.Conditions = append(status.Conditions, condition)
		return
	}
	status.Conditions[at] = condition
}

// hostIP is the address that the pods of a node report as their host's.
func hostIP(node *corev1.Node) string {
	for _, address := range node.Status.Addresses {
		if address.Type == corev1.NodeInternalIP {
			return address.Address
		}
	}
	return nodeAddress(node.Name)
}

// nodeAddress makes up an address for a node, the same each time: in 10.128.0.0/9, away from those of the pods.
func nodeAddress(name string) string {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(name)) // a hash has no errors
	sum := hash.Sum32()
	return netip.AddrFrom4([4]byte{10, 128 | byte(sum>>16), byte(sum >> 8), byte(sum)}).String()
}

// addresses gives out the addresses of pods: 10.0.0.1 and on, none to two pods at once.
type addresses struct {
	last  uint32
	taken map[string]bool
}

// podAddresses is the size of 10.0.0.0/9.
const podAddresses = 1 << 23

func newAddresses() *addresses {
	return &addresses{taken: map[string]bool{}}
}

// take returns the pod's address, which is the one in its status if it has one.
func (a *addresses) take(pod *corev1.Pod) string {
	address := pod.Status.PodIP
	for range podAddresses {
		if address != "" {
			break
		}
		a.last = (a.last + 1) % podAddresses
		next := netip.AddrFrom4([4]byte{10, byte(a.last >> 16), byte(a.last >> 8), byte(a.last)}).String()
		if !a.taken[next] {
			address = next
		}
	}
	a.taken[address] = true
	return address
}

func (a *addresses) release(address string) { delete(a.taken, address) }
