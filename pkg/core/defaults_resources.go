package core

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// milli is the finest scale of a stored resource amount: thousandths.
const milli = -3

// roundUp rounds each amount up to the scale that the API keeps.
func roundUp(list corev1.ResourceList) {
	for name, amount := range list {
		amount.RoundUp(milli)
		list[name] = amount
	}
}

func roundUpRequirements(requirements *corev1.ResourceRequirements) {
	if requirements != nil {
		roundUp(requirements.Limits)
		roundUp(requirements.Requests)
	}
}

// defaultRequestsFromLimits requests what a container is limited to, where it does not say what it requests.
func defaultRequestsFromLimits(containers []corev1.Container) {
	for i := range containers {
		resources := &containers[i].Resources
		if resources.Limits == nil {
			continue
		}
		if resources.Requests == nil {
			resources.Requests = corev1.ResourceList{}
		}
		for name, amount := range resources.Limits {
			if _, set := resources.Requests[name]; !set {
				resources.Requests[name] = amount.DeepCopy()
			}
		}
	}
}

// defaultPodLevelResources completes the resources of a pod as a whole (KEP-2837) where they are given in part:
// huge page limits from those of the containers, requests from those of the containers and then from the limits.
func defaultPodLevelResources(spec *corev1.PodSpec) {
	whole := spec.Resources
	if whole == nil {
		return
	}
	if len(whole.Limits) > 0 || len(whole.Requests) > 0 {
		limits := aggregate(spec, func(c *corev1.Container) corev1.ResourceList { return c.Resources.Limits })
		for name, amount := range limits {
			if _, requested := whole.Requests[name]; isHugePages(name) && !requested {
				setIfAbsent(&whole.Limits, name, amount)
			}
		}
	}
	if len(whole.Limits) == 0 {
		return
	}
	requests := aggregate(spec, func(c *corev1.Container) corev1.ResourceList { return c.Resources.Requests })
	for name, amount := range requests {
		if isPodLevelResource(name) && !isHugePages(name) {
			setIfAbsent(&whole.Requests, name, amount)
		}
	}
	for name, amount := range whole.Limits {
		if isPodLevelResource(name) {
			setIfAbsent(&whole.Requests, name, amount)
		}
	}
}

func setIfAbsent(list *corev1.ResourceList, name corev1.ResourceName, amount resource.Quantity) {
	if *list == nil {
		*list = corev1.ResourceList{}
	}
	if _, set := (*list)[name]; !set {
		(*list)[name] = amount.DeepCopy()
	}
}

// aggregate is what a pod needs at its worst moment: the regular containers and sidecars together, or one init
// container beside the sidecars started before it, whichever is more, for each resource.
func aggregate(spec *corev1.PodSpec, of func(*corev1.Container) corev1.ResourceList) corev1.ResourceList {
	total, sidecars, peak := corev1.ResourceList{}, corev1.ResourceList{}, corev1.ResourceList{}
	for i := range spec.Containers {
		addTo(total, of(&spec.Containers[i]))
	}
	for i := range spec.InitContainers {
		c := &spec.InitContainers[i]
		if isSidecar(c) {
			addTo(total, of(c))
			addTo(sidecars, of(c))
			raiseTo(peak, sidecars)
			continue
		}
		during := sidecars.DeepCopy()
		addTo(during, of(c))
		raiseTo(peak, during)
	}
	raiseTo(total, peak)
	return total
}

func addTo(sum, more corev1.ResourceList) {
	for name, amount := range more {
		if have, set := sum[name]; set {
			have.Add(amount)
			sum[name] = have
		} else {
			sum[name] = amount.DeepCopy()
		}
	}
}

func raiseTo(list, floor corev1.ResourceList) {
	for name, amount := range floor {
		if have, set := list[name]; !set || amount.Cmp(have) > 0 {
			list[name] = amount.DeepCopy()
		}
	}
}

// isSidecar reports whether an init container keeps running beside the regular ones (KEP-753).
func isSidecar(c *corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

func isHugePages(name corev1.ResourceName) bool {
	return strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}

// isPodLevelResource reports whether spec.resources of a pod may name this resource.
func isPodLevelResource(name corev1.ResourceName) bool {
	return name == corev1.ResourceCPU || name == corev1.ResourceMemory || isHugePages(name)
}
