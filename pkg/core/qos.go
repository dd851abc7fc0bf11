package core

import corev1 "k8s.io/api/core/v1"

// QOSClass computes the quality of service class of pod from the cpu and memory that its spec requests and limits
// (k8s.io/api core/v1 PodStatus.QOSClass): Guaranteed when every container limits both and the requests equal the
// limits, BestEffort when nothing is requested or limited, Burstable otherwise. Resources of the pod as a whole
// (KEP-2837) stand in for those of its containers. It does not look at status.qosClass.
func QOSClass(pod *corev1.Pod) corev1.PodQOSClass {
	requests, limits := corev1.ResourceList{}, corev1.ResourceList{}
	limited := true
	count := func(resources *corev1.ResourceRequirements, needsLimits bool) {
		addTo(requests, computeOnly(resources.Requests))
		own := computeOnly(resources.Limits)
		addTo(limits, own)
		if needsLimits && len(own) < 2 {
			limited = false
		}
	}
	if whole := pod.Spec.Resources; whole != nil {
		count(whole, len(whole.Limits) > 0)
	} else {
		for _, list := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
			for i := range list {
				count(&list[i].Resources, true)
			}
		}
	}
	if len(requests) == 0 && len(limits) == 0 {
		return corev1.PodQOSBestEffort
	}
	if !limited || len(requests) != len(limits) {
		return corev1.PodQOSBurstable
	}
	for name, amount := range requests {
		if limit, set := limits[name]; !set || limit.Cmp(amount) != 0 {
			return corev1.PodQOSBurstable
		}
	}
	return corev1.PodQOSGuaranteed
}

// computeOnly keeps the amounts that a quality of service class looks at: cpu and memory above zero.
func computeOnly(list corev1.ResourceList) corev1.ResourceList {
	kept := corev1.ResourceList{}
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		if amount, set := list[name]; set && amount.Sign() == 1 {
			kept[name] = amount
		}
	}
	return kept
}
