package core

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

// validateNarrowing checks that a pod which is still held back by gates asks for fewer nodes than before, not for
// others (KEP-3838).
func validateNarrowing(spec, old *corev1.PodSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for key, value := range old.NodeSelector {
		if now, kept := spec.NodeSelector[key]; !kept || now != value {
			errs = append(errs, field.Invalid(path.Child("nodeSelector"), spec.NodeSelector,
				"only additions to spec.nodeSelector are allowed (no mutations or deletions)"))
			break
		}
	}
	was, is := requiredTerms(old), requiredTerms(spec)
	if len(was) == 0 || equality.Semantic.DeepEqual(nodeAffinityOf(spec), nodeAffinityOf(old)) {
		return errs
	}
	termsPath := path.Child("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")
	if len(was) != len(is) {
		return append(errs, field.Invalid(termsPath, is, "no additions/deletions to non-empty NodeSelectorTerms list are allowed"))
	}
	for i := range was {
		if !narrows(&is[i], &was[i]) {
			errs = append(errs, field.Invalid(termsPath.Index(i), is[i], "only additions are allowed (no mutations or deletions)"))
		}
	}
	return errs
}

// narrows reports whether term holds all of old, in its order, and perhaps more. An empty term matches no node, and
// must stay empty.
func narrows(term, old *corev1.NodeSelectorTerm) bool {
	if len(old.MatchExpressions) == 0 && len(old.MatchFields) == 0 {
		return len(term.MatchExpressions) == 0 && len(term.MatchFields) == 0
	}
	return startsWith(term.MatchExpressions, old.MatchExpressions) && startsWith(term.MatchFields, old.MatchFields)
}

func startsWith(list, start []corev1.NodeSelectorRequirement) bool {
	return len(list) >= len(start) && equality.Semantic.DeepEqual(list[:len(start)], start)
}

func nodeAffinityOf(spec *corev1.PodSpec) *corev1.NodeAffinity {
	if spec.Affinity == nil {
		return nil
	}
	return spec.Affinity.NodeAffinity
}

func requiredTerms(spec *corev1.PodSpec) []corev1.NodeSelectorTerm {
	affinity := nodeAffinityOf(spec)
	if affinity == nil || affinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return nil
	}
	return affinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
}

// restoreNodeChoice sets node selector and node affinity back to the old ones.
func restoreNodeChoice(rest, old *corev1.PodSpec) {
	rest.NodeSelector = old.NodeSelector
	was, is := nodeAffinityOf(old), nodeAffinityOf(rest)
	if equality.Semantic.DeepEqual(is, was) {
		return
	}
	switch {
	case rest.Affinity == nil:
		rest.Affinity = &corev1.Affinity{NodeAffinity: was}
	case old.Affinity == nil && rest.Affinity.PodAffinity == nil && rest.Affinity.PodAntiAffinity == nil:
		rest.Affinity = nil
	default:
		rest.Affinity.NodeAffinity = was
	}
}
