package scheduler

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcehelper "k8s.io/component-helpers/resource"
)

// resources is an amount of everything that a node has and a pod asks for, in the units in which Kubernetes compares
// them: CPU in thousandths of a core, the rest in whole units (bytes, devices). Pods are counted apart.
type resources struct {
	milliCPU, memory, storage int64
	// scalars holds extended resources and huge pages; nil when there are none.
	scalars map[corev1.ResourceName]int64
}

// requestsOf returns what a pod takes from its node: containers together, or its largest init container if that is
// more, sidecars with both, plus spec.overhead and pod-level resources.
func requestsOf(pod *corev1.Pod) resources {
	return resourcesOf(resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{}))
}

func resourcesOf(list corev1.ResourceList) resources {
	var r resources
	for name, quantity := range list {
		switch name {
		case corev1.ResourceCPU:
			r.milliCPU = quantity.MilliValue()
		case corev1.ResourceMemory:
			r.memory = quantity.Value()
		case corev1.ResourceEphemeralStorage:
			r.storage = quantity.Value()
		case corev1.ResourcePods:
		default:
			if value := quantity.Value(); value != 0 {
				if r.scalars == nil {
					r.scalars = map[corev1.ResourceName]int64{}
				}
				r.scalars[name] = value
			}
		}
	}
	return r
}

func (r *resources) add(other resources) { r.addTimes(other, 1) }

func (r *resources) subtract(other resources) { r.addTimes(other, -1) }

func (r *resources) addTimes(other resources, sign int64) {
	r.milliCPU += sign * other.milliCPU
	r.memory += sign * other.memory
	r.storage += sign * other.storage
	if r.scalars == nil && len(other.scalars) > 0 {
		r.scalars = map[corev1.ResourceName]int64{}
	}
	for name, value := range other.scalars {
		r.scalars[name] += sign * value
	}
}

// shortages compares a request with what a node can give in all and what is taken of it. It returns one reason for each
// resource that does not suffice, and whether the node would not do even if it were empty.
func shortages(request, capacity, used *resources) (reasons []string, final bool) {
	compare := func(reason string, request, capacity, used int64) {
		if request > 0 && request > capacity-used {
			reasons = append(reasons, reason)
			final = final || request > capacity
		}
	}
	compare("Insufficient cpu", request.milliCPU, capacity.milliCPU, used.milliCPU)
	compare("Insufficient memory", request.memory, capacity.memory, used.memory)
	compare("Insufficient ephemeral-storage", request.storage, capacity.storage, used.storage)
	if len(request.scalars) > 0 {
		for _, name := range slices.Sorted(maps.Keys(request.scalars)) {
			compare("Insufficient "+string(name), request.scalars[name], capacity.scalars[name], used.scalars[name])
		}
	}
	return reasons, final
}
