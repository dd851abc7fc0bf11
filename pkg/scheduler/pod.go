package scheduler

import (
	"cmp"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// podInfo is a pod that has not finished, with what the filters ask of it worked out once.
type podInfo struct {
	object   *corev1.Pod
	key      types.NamespacedName
	group    string // the PodGroup in the pod's namespace, empty for a pod on its own
	requests resources
	weight   weight
	priority int32
	created  time.Time
	instant  uint64 // parts pods that were created in the same second; those that came at once have it in common
	arrival  uint64 // parts those
	ports    []corev1.ContainerPort
	affinity *nodeaffinity.RequiredNodeAffinity // nil when any node will do
	kindText string                             // see kind; empty until it is asked for

	// node is where the pod is bound, or is about to be when assumed is set.
	node    string
	assumed bool
	// nominated is the node on which room is being made for the pod, empty when there is none.
	nominated string
}

// newPodInfo reads a pod. Without groups, spec.schedulingGroup means nothing.
func newPodInfo(pod *corev1.Pod, groups bool) *podInfo {
	p := &podInfo{
		key:     types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name},
		created: pod.CreationTimestamp.Time,
		node:    pod.Spec.NodeName,
	}
	if sg := pod.Spec.SchedulingGroup; groups && sg != nil && sg.PodGroupName != nil {
		p.group = *sg.PodGroupName
	}
	p.update(pod)
	return p
}

// update takes over a newer version of the same pod. Where the pod runs is the cluster's affair, not this function's.
func (p *podInfo) update(pod *corev1.Pod) {
	p.object = pod
	p.requests, p.weight = requestsOf(pod), weightOf(pod)
	p.priority = corev1helpers.PodPriority(pod)
	p.ports = hostPorts(pod)
	p.affinity, p.kindText = nil, ""
	if len(pod.Spec.NodeSelector) > 0 || pod.Spec.Affinity != nil && pod.Spec.Affinity.NodeAffinity != nil {
		p.affinity = new(nodeaffinity.GetRequiredNodeAffinity(pod))
	}
}

func (p *podInfo) uid() types.UID { return uidOf(p.object) }

// uidOf tells pods apart. Those that an API server has not seen have no UID, so that their names have to do.
func uidOf(pod *corev1.Pod) types.UID {
	if pod.UID != "" {
		return pod.UID
	}
	return types.UID(pod.Namespace + "/" + pod.Name)
}

func (p *podInfo) groupKey() types.NamespacedName {
	return types.NamespacedName{Namespace: p.key.Namespace, Name: p.group}
}

// eligible says whether the pod may be placed now, as far as the pod alone tells: it has no scheduling gates left
// (KEP-3521) and is not being deleted.
func (p *podInfo) eligible() bool {
	return len(p.object.Spec.SchedulingGates) == 0 && p.object.DeletionTimestamp == nil
}

// byUrgency orders pods as they are to be placed: by priority, the highest first, then the oldest first. Of pods that came
// in one instant it is chance which arrived first, unless they were made for one another's like: their names decide, so
// that equal clusters get equal answers.
func byUrgency(a, b *podInfo) int {
	return cmp.Or(
		cmp.Compare(b.priority, a.priority),
		a.created.Compare(b.created),
		cmp.Compare(a.instant, b.instant),
		cmp.Compare(a.key.Namespace, b.key.Namespace),
		cmp.Compare(a.stem(), b.stem()),
		cmp.Compare(a.arrival, b.arrival),
		cmp.Compare(a.key.Name, b.key.Name),
	)
}

// stem is the pod's name without what the API server has made up.
func (p *podInfo) stem() string { return cmp.Or(p.object.GenerateName, p.key.Name) }

// hostPorts lists the ports that the pod takes on its node's own addresses.
func hostPorts(pod *corev1.Pod) []corev1.ContainerPort {
	var ports []corev1.ContainerPort
	collect := func(container *corev1.Container) {
		for _, port := range container.Ports {
			if port.HostPort > 0 {
				ports = append(ports, port)
			}
		}
	}
	for i := range pod.Spec.InitContainers {
		if policy := pod.Spec.InitContainers[i].RestartPolicy; policy != nil && *policy == corev1.ContainerRestartPolicyAlways {
			collect(&pod.Spec.InitContainers[i])
		}
	}
	for i := range pod.Spec.Containers {
		collect(&pod.Spec.Containers[i])
	}
	return ports
}

// portsClash says whether two host ports cannot be on one node: same port and protocol, and the same address or one
// that stands for all.
func portsClash(a, b corev1.ContainerPort) bool {
	protocol := func(p corev1.ContainerPort) corev1.Protocol { return cmp.Or(p.Protocol, corev1.ProtocolTCP) }
	address := func(p corev1.ContainerPort) string { return cmp.Or(p.HostIP, "0.0.0.0") }
	if a.HostPort != b.HostPort || protocol(a) != protocol(b) {
		return false
	}
	return address(a) == address(b) || address(a) == "0.0.0.0" || address(b) == "0.0.0.0"
}
