package core

import (
	"fmt"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/diff"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const updatableFields = "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`," +
	"`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations)," +
	"`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"

// ValidatePodUpdate says what an API server of Kubernetes 1.36 holds against replacing the stored pod old by pod,
// status apart (see [ValidatePodStatusUpdate]). Both must have their defaults, and pod must have gone through
// [PreparePodForUpdate].
//
// Of the spec, images may change; tolerations may be added; scheduling gates may be removed; the deadline may be set
// or come closer. While a pod has scheduling gates (KEP-3521), its node selector and required node affinity may be
// narrowed. Anything else is refused with a comparison of both specs.
func ValidatePodUpdate(pod, old *corev1.Pod, opts Options) field.ErrorList {
	if pod == nil || old == nil {
		return field.ErrorList{field.Required(field.NewPath(""), "there is no Pod")}
	}
	rules := specRules{opts: opts, pod: &pod.ObjectMeta}
	rules.forgive(&old.Spec, &old.ObjectMeta)
	metaPath, specPath := field.NewPath("metadata"), field.NewPath("spec")
	errs := ValidateObjectMetaUpdate(&pod.ObjectMeta, &old.ObjectMeta, metaPath)
	errs = append(errs, validateWholePod(pod, old, opts)...)
	errs = append(errs, validateAnnotationUpdate(pod, old, metaPath.Child("annotations"), rules)...)
	for _, list := range []struct {
		name     string
		new, old []corev1.Container
	}{{"containers", pod.Spec.Containers, old.Spec.Containers}, {"initContainers", pod.Spec.InitContainers, old.Spec.InitContainers}} {
		if len(list.new) != len(list.old) {
			return append(errs, field.Forbidden(specPath.Child(list.name), "pod updates may not add or remove containers"))
		}
		errs = append(errs, validateNewImages(list.new, specPath.Child(list.name))...)
	}
	deadlineErrs, beyond := validateDeadlineUpdate(&pod.Spec, &old.Spec, specPath.Child("activeDeadlineSeconds"))
	errs = append(errs, deadlineErrs...)
	if beyond {
		return errs
	}
	errs = append(errs, validateTolerationUpdate(pod.Spec.Tolerations, old.Spec.Tolerations, specPath.Child("tolerations"), rules)...)
	errs = append(errs, validateGateUpdate(pod.Spec.SchedulingGates, old.Spec.SchedulingGates, specPath.Child("schedulingGates"))...)
	return append(errs, validateRestUnchanged(&pod.Spec, &old.Spec, specPath)...)
}

// validateAnnotationUpdate checks the annotations of a changed pod, and those that cannot change.
func validateAnnotationUpdate(pod, old *corev1.Pod, path *field.Path, rules specRules) field.ErrorList {
	var errs field.ErrorList
	forbid := func(key, verb string) {
		switch {
		case strings.HasPrefix(key, appArmorContainer):
			errs = append(errs, field.Forbidden(path.Key(key), "may not "+verb+" AppArmor annotations"))
		case key == corev1.MirrorPodAnnotationKey:
			errs = append(errs, field.Forbidden(path.Key(key), "may not "+verb+" mirror pod annotation"))
		}
	}
	for _, key := range sortedKeys(old.Annotations) {
		if value, kept := pod.Annotations[key]; !kept || value != old.Annotations[key] {
			forbid(key, "remove or update")
		}
	}
	for _, key := range sortedKeys(pod.Annotations) {
		if _, had := old.Annotations[key]; !had {
			forbid(key, "add")
		}
	}
	return append(errs, validatePodAnnotations(pod.Annotations, &pod.Spec, path, rules)...)
}

func validateNewImages(containers []corev1.Container, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range containers {
		errs = append(errs, requireText(containers[i].Image, path.Index(i).Child("image"))...)
		errs = append(errs, validateImageTrimmed(&containers[i], path.Index(i))...)
	}
	return errs
}

// validateDeadlineUpdate lets a deadline be set, or come closer. beyond says that nothing more is worth checking.
func validateDeadlineUpdate(spec, old *corev1.PodSpec, path *field.Path) (errs field.ErrorList, beyond bool) {
	is, was := spec.ActiveDeadlineSeconds, old.ActiveDeadlineSeconds
	switch {
	case is == nil && was == nil:
		return nil, false
	case is == nil:
		return field.ErrorList{field.Invalid(path, is, "must not update from a positive integer to nil value")}, false
	case *is < 0 || *is > math.MaxInt32:
		return field.ErrorList{field.Invalid(path, *is, validation.InclusiveRangeError(0, math.MaxInt32))}, true
	case was != nil && *was < *is:
		return field.ErrorList{field.Invalid(path, *is, "must be less than or equal to previous value")}, true
	}
	return nil, false
}

// validateTolerationUpdate lets tolerations be added, and their seconds change.
func validateTolerationUpdate(tolerations, old []corev1.Toleration, path *field.Path, rules specRules) field.ErrorList {
	for i := range old {
		if !slices.ContainsFunc(tolerations, func(t corev1.Toleration) bool {
			return t.Key == old[i].Key && t.Operator == old[i].Operator && t.Value == old[i].Value && t.Effect == old[i].Effect
		}) {
			return field.ErrorList{field.Forbidden(path, "existing toleration can not be modified except its tolerationSeconds")}
		}
	}
	return validateTolerations(tolerations, path, rules)
}

// validateGateUpdate lets gates be removed. A new one that comes twice is reported where it comes last.
func validateGateUpdate(gates, old []corev1.PodSchedulingGate, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, gate := range gates {
		if !slices.Contains(old, gate) && !slices.Contains(gates[i+1:], gate) {
			errs = append(errs, field.Forbidden(path.Index(i).Child("name"),
				fmt.Sprintf("only deletion is allowed, but found new scheduling gate '%s'", gate.Name)))
		}
	}
	return errs
}

// validateRestUnchanged writes back in a copy of the new spec what may change, and compares it with the old one.
func validateRestUnchanged(spec, old *corev1.PodSpec, path *field.Path) field.ErrorList {
	if equality.Semantic.DeepEqual(spec, old) {
		return nil
	}
	var errs field.ErrorList
	rest := spec.DeepCopy()
	for i := range rest.Containers {
		rest.Containers[i].Image = old.Containers[i].Image
	}
	for i := range rest.InitContainers {
		rest.InitContainers[i].Image = old.InitContainers[i].Image
	}
	if len(rest.Containers) == 0 {
		rest.Containers = nil // not the empty list that a request may hold: the comparison is printed
	}
	if len(rest.InitContainers) == 0 {
		rest.InitContainers = nil
	}
	rest.ActiveDeadlineSeconds = old.ActiveDeadlineSeconds
	rest.SchedulingGates = old.SchedulingGates
	rest.Tolerations = old.Tolerations
	if was, is := old.TerminationGracePeriodSeconds, rest.TerminationGracePeriodSeconds; was != nil && *was < 0 && is != nil && *is == 1 {
		rest.TerminationGracePeriodSeconds = was
	}
	if len(old.SchedulingGates) > 0 {
		errs = append(errs, validateNarrowing(rest, old, path)...)
		restoreNodeChoice(rest, old)
	}
	if !equality.Semantic.DeepEqual(rest, old) {
		errs = append(errs, field.Forbidden(path, fmt.Sprintf("%s\n%v", updatableFields, diff.Diff(internalJSON(old), internalJSON(rest)))))
	}
	return errs
}
