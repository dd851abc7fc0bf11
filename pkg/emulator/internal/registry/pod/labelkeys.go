package pod

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// expandLabelKeys turns the keys that affinities and spread constraints take from the pod's own labels (matchLabelKeys,
// mismatchLabelKeys: KEP-3633, KEP-3243) into the selectors beside them, which schedulers read.
func expandLabelKeys(pod *corev1.Pod) {
	for i := range pod.Spec.TopologySpreadConstraints {
		constraint := &pod.Spec.TopologySpreadConstraints[i]
		require(constraint.LabelSelector, constraint.MatchLabelKeys, metav1.LabelSelectorOpIn, pod.Labels)
	}
	affinity := pod.Spec.Affinity
	if affinity == nil {
		return
	}
	if with := affinity.PodAffinity; with != nil {
		expandTerms(with.RequiredDuringSchedulingIgnoredDuringExecution, with.PreferredDuringSchedulingIgnoredDuringExecution, pod.Labels)
	}
	if without := affinity.PodAntiAffinity; without != nil {
		expandTerms(without.RequiredDuringSchedulingIgnoredDuringExecution, without.PreferredDuringSchedulingIgnoredDuringExecution, pod.Labels)
	}
}

func expandTerms(required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm, labels map[string]string) {
	for i := range preferred {
		expandTerm(&preferred[i].PodAffinityTerm, labels)
	}
	for i := range required {
		expandTerm(&required[i], labels)
	}
}

func expandTerm(term *corev1.PodAffinityTerm, labels map[string]string) {
	require(term.LabelSelector, term.MatchLabelKeys, metav1.LabelSelectorOpIn, labels)
	require(term.LabelSelector, term.MismatchLabelKeys, metav1.LabelSelectorOpNotIn, labels)
}

// require adds a requirement to selector for each key that labels have. A selector of nil selects nothing, so that there
// is nothing to narrow.
func require(selector *metav1.LabelSelector, keys []string, operator metav1.LabelSelectorOperator, labels map[string]string) {
	if selector == nil {
		return
	}
	for _, key := range keys {
		if value, ok := labels[key]; ok {
			selector.MatchExpressions = append(selector.MatchExpressions, metav1.LabelSelectorRequirement{
				Key: key, Operator: operator, Values: []string{value},
			})
		}
	}
}
