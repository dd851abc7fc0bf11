package metadata

import (
	"maps"
	"slices"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ValidateLabels judges labels in the order of their keys.
func ValidateLabels(labels map[string]string, path *field.Path) field.ErrorList {
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

// ValidateAnnotations names the keys that are wrong, in their order, and last that all annotations together are too much.
func ValidateAnnotations(annotations map[string]string, path *field.Path) field.ErrorList {
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

// InOrder puts what ordered returns in the place of the errors about the field at path. They are the same errors.
func InOrder(errs field.ErrorList, path *field.Path, ordered func() field.ErrorList) field.ErrorList {
	if len(errs) == 0 {
		return errs
	}
	name := path.String()
	first := slices.IndexFunc(errs, func(err *field.Error) bool { return err.Field == name })
	if first < 0 {
		return errs
	}
	rest := slices.DeleteFunc(errs, func(err *field.Error) bool { return err.Field == name })
	return slices.Insert(rest, first, ordered()...)
}
