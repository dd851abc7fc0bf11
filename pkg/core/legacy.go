package core

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// This file holds what an API server makes of older spellings when it reads a pod. Kubernetes does it by converting to
// an internal version and back, apart from defaults; who reads a pod meets both.

// settleServiceAccount keeps spec.serviceAccount the alias of spec.serviceAccountName that it is. The latter wins.
func settleServiceAccount(spec *corev1.PodSpec) {
	if spec.ServiceAccountName == "" {
		spec.ServiceAccountName = spec.DeprecatedServiceAccount
	}
	spec.DeprecatedServiceAccount = spec.ServiceAccountName
}

// settleGracePeriod makes 1 of a negative grace period. Templates keep it: their specs may have been stored so.
func settleGracePeriod(spec *corev1.PodSpec) {
	if grace := spec.TerminationGracePeriodSeconds; grace != nil && *grace < 0 {
		spec.TerminationGracePeriodSeconds = new(int64(1))
	}
}

// settlePodIPs makes status.podIP and the first of status.podIPs the same. The former wins where both are given.
func settlePodIPs(status *corev1.PodStatus) {
	if status.PodIP != "" && (len(status.PodIPs) == 0 || status.PodIPs[0].IP != status.PodIP) {
		status.PodIPs = []corev1.PodIP{{IP: status.PodIP}}
	}
	if len(status.PodIPs) > 0 {
		status.PodIP = status.PodIPs[0].IP
	}
}

// withoutInitAnnotations drops the annotations that stood in for init containers before Kubernetes 1.8.
func withoutInitAnnotations(annotations map[string]string) map[string]string {
	old := []string{
		"pod.beta.kubernetes.io/init-containers", "pod.alpha.kubernetes.io/init-containers",
		"pod.beta.kubernetes.io/init-container-statuses", "pod.alpha.kubernetes.io/init-container-statuses",
	}
	isOld := func(key, _ string) bool { return slices.Contains(old, key) }
	for key := range annotations {
		if isOld(key, "") {
			annotations = maps.Clone(annotations)
			maps.DeleteFunc(annotations, isOld)
			break
		}
	}
	return annotations
}
