package scheduler

import (
	"math"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"
)

// What a container that does not say how much CPU or memory it wants counts as when nodes are compared, as with
// kube-scheduler.
const (
	presumedMilliCPU = 100
	presumedMemory   = 200 << 20
)

// best is the most that one part of a score can be.
const best = 100

// weight is an amount of CPU and memory by which nodes are compared.
type weight struct{ milliCPU, memory int64 }

// weightOf returns what the pod counts for when nodes are compared.
func weightOf(pod *corev1.Pod) weight {
	requests := resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{
		NonMissingContainerRequests: corev1.ResourceList{
			corev1.ResourceCPU:    *resource.NewMilliQuantity(presumedMilliCPU, resource.DecimalSI),
			corev1.ResourceMemory: *resource.NewQuantity(presumedMemory, resource.BinarySI),
		},
	})
	return weight{requests.Cpu().MilliValue(), requests.Memory().Value()}
}

func (w weight) plus(other weight, sign int64) weight {
	return weight{w.milliCPU + sign*other.milliCPU, w.memory + sign*other.memory}
}

// score is how well the pod would be placed on the node: the less of the node is taken, and the more evenly its CPU and
// memory are, the better. These are the parts of kube-scheduler's score that are no preferences of the pod or the node.
func score(p *podInfo, n *nodeInfo) int64 {
	capacity := weight{n.capacity.milliCPU, n.capacity.memory}
	free := mean(n.weight.plus(p.weight, 1), capacity, func(taken, capacity int64) int64 { return (capacity - taken) * best / capacity })
	if p.requests.milliCPU == 0 && p.requests.memory == 0 {
		return free
	}
	before := weight{n.used.milliCPU, n.used.memory}
	after := before.plus(weight{p.requests.milliCPU, p.requests.memory}, 1)
	return free + best/2 + (best/2+balance(after, capacity)-balance(before, capacity))/2
}

// mean is the mean of a share of the CPU and a share of the memory. A resource of which more is taken than there is has
// a share of 0, and one that the node does not have does not count.
func mean(taken, capacity weight, share func(taken, capacity int64) int64) int64 {
	var sum, count int64
	for _, r := range [2][2]int64{{taken.milliCPU, capacity.milliCPU}, {taken.memory, capacity.memory}} {
		if r[1] == 0 {
			continue
		}
		count++
		if r[0] <= r[1] {
			sum += share(r[0], r[1])
		}
	}
	if count == 0 {
		return 0
	}
	return sum / count
}

// balance is 100 if as large a part of the CPU is taken as of the memory, and 50 if all of one and nothing of the other.
func balance(taken, capacity weight) int64 {
	if capacity.milliCPU == 0 || capacity.memory == 0 {
		return best
	}
	cpu := min(1, float64(taken.milliCPU)/float64(capacity.milliCPU))
	memory := min(1, float64(taken.memory)/float64(capacity.memory))
	return int64((1 - math.Abs(cpu-memory)/2) * best)
}

// fullness is how much of some nodes would be taken with the pods of a trial: a group that leaves little over is well
// placed.
func fullness(nodes []*nodeInfo, t *trial) int64 {
	var taken, capacity weight
	for _, n := range nodes {
		taken = taken.plus(n.weight, 1)
		capacity = capacity.plus(weight{n.capacity.milliCPU, n.capacity.memory}, 1)
	}
	for _, result := range t.pods {
		if result.node != nil {
			taken = taken.plus(result.pod.weight, 1)
		}
	}
	taken = weight{min(taken.milliCPU, capacity.milliCPU), min(taken.memory, capacity.memory)}
	return mean(taken, capacity, func(taken, capacity int64) int64 { return taken * best / capacity })
}
