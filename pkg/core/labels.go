package core

import (
	"maps"
	"slices"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// This file gives errors about maps an order: that of the keys. Kubernetes lists them as it meets them in a walk through
// the map, which is never the same twice.

// ValidateLabelSelector validates a selector as a kube-apiserver does, its labels in the order of their keys.
func ValidateLabelSelector(
	selector *metav1.LabelSelector, options metavalidation.LabelSelectorValidationOptions, path *field.Path,
) field.ErrorList {
	if selector == nil {
		return nil
	}
	labels := path.Child("matchLabels")
	errs := metavalidation.ValidateLabelSelector(selector, options, path)
	return inOrder(errs, labels, func() field.ErrorList { return validateLabels(selector.MatchLabels, labels) })
}

func validateLabels(labels map[string]string, path *field.Path) field.ErrorList {
	errs := metavalidation.ValidateLabels(labels, path)
	if len(errs) < 2 {
		return errs
	}
	errs = nil
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		errs = append(errs, metavalidation.ValidateLabels(map[string]string{key: labels[key]}, path)...)
	}
	return errs
}

// validateAnnotations names the keys that are wrong, and last that all annotations together are too much.
func validateAnnotations(annotations map[string]string, path *field.Path) field.ErrorList {
	errs := apivalidation.ValidateAnnotations(annotations, path)
	if len(errs) < 2 {
		return errs
	}
	errs = nil
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		errs = append(errs, apivalidation.ValidateAnnotations(map[string]string{key: ""}, path)...)
	}
	if apivalidation.ValidateAnnotationsSize(annotations) != nil {
		errs = append(errs, field.TooLong(path, "", apivalidation.TotalAnnotationSizeLimitB))
	}
	return errs
}

// inOrder puts what ordered returns in the place of the errors of a field. They are the same errors.
func inOrder(errs field.ErrorList, path *field.Path, ordered func() field.ErrorList) field.ErrorList {
	name := path.String()
	first := slices.IndexFunc(errs, func(err *field.Error) bool { return err.Field == name })
	if first < 0 {
		return errs
	}
	rest := slices.DeleteFunc(errs, func(err *field.Error) bool { return err.Field == name })
	return slices.Insert(rest, first, ordered()...)
}
