package review

import (
	"fmt"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var spec = field.NewPath("spec")

// pathAttributes prints as the internal type of Kubernetes does, which shows in messages.
type pathAttributes struct{ Path, Verb string }

func printed(attributes *authorizationv1.NonResourceAttributes) *pathAttributes {
	if attributes == nil {
		return nil
	}
	return &pathAttributes{attributes.Path, attributes.Verb}
}

func validateAnybody(question *anybody) field.ErrorList {
	errs := validateSpec(question.Spec)
	if !isEmpty(question.ObjectMeta) {
		errs = append(errs, field.Invalid(field.NewPath("metadata"), question.ObjectMeta, `must be empty`))
	}
	return errs
}

func validateSelf(question *self) field.ErrorList {
	errs := validateOneOf(question.Spec.ResourceAttributes, question.Spec.NonResourceAttributes)
	errs = append(errs, validateSelectors(question.Spec.ResourceAttributes)...)
	if !isEmpty(question.ObjectMeta) {
		errs = append(errs, field.Invalid(field.NewPath("metadata"), question.ObjectMeta, `must be empty`))
	}
	return errs
}

func validateLocal(question *local) field.ErrorList {
	errs := validateSpec(question.Spec)
	rest := question.ObjectMeta
	rest.Namespace = ""
	if !isEmpty(rest) {
		errs = append(errs, field.Invalid(field.NewPath("metadata"), question.ObjectMeta, `must be empty except for namespace`))
	}
	if resource := question.Spec.ResourceAttributes; resource != nil && resource.Namespace != question.Namespace {
		errs = append(errs, field.Invalid(spec.Child("resourceAttributes", "namespace"), resource.Namespace, `must match metadata.namespace`))
	}
	if path := question.Spec.NonResourceAttributes; path != nil {
		errs = append(errs, field.Invalid(spec.Child("nonResourceAttributes"), printed(path), `disallowed on this kind of request`))
	}
	return errs
}

// isEmpty tells whether nothing is set but who set it.
func isEmpty(meta metav1.ObjectMeta) bool {
	meta.ManagedFields = nil
	return equality.Semantic.DeepEqual(metav1.ObjectMeta{}, meta)
}

func validateSpec(s authorizationv1.SubjectAccessReviewSpec) field.ErrorList {
	errs := validateOneOf(s.ResourceAttributes, s.NonResourceAttributes)
	if s.User == "" && len(s.Groups) == 0 {
		errs = append(errs, field.Invalid(spec.Child("user"), s.User, `at least one of user or group must be specified`))
	}
	return append(errs, validateSelectors(s.ResourceAttributes)...)
}

func validateOneOf(resource *authorizationv1.ResourceAttributes, path *authorizationv1.NonResourceAttributes) field.ErrorList {
	switch {
	case resource != nil && path != nil:
		return field.ErrorList{field.Invalid(spec.Child("nonResourceAttributes"), printed(path), `cannot be specified in combination with resourceAttributes`)}
	case resource == nil && path == nil:
		return field.ErrorList{field.Invalid(spec.Child("resourceAttributes"), printed(path),
			`exactly one of nonResourceAttributes or resourceAttributes must be specified`)}
	}
	return nil
}

// validateSelectors lets operators pass that nobody knows: a newer client may know them.
func validateSelectors(resource *authorizationv1.ResourceAttributes) field.ErrorList {
	if resource == nil {
		return nil
	}
	var errs field.ErrorList
	if selector := resource.FieldSelector; selector != nil {
		path := spec.Child("resourceAttributes", "fieldSelector")
		errs = append(errs, validateForm(selector.RawSelector, len(selector.Requirements), path)...)
		options := metav1validation.FieldSelectorValidationOptions{AllowUnknownOperatorInRequirement: true}
		for i, requirement := range selector.Requirements {
			errs = append(errs, metav1validation.ValidateFieldSelectorRequirement(requirement, options, path.Child("requirements").Index(i))...)
		}
	}
	if selector := resource.LabelSelector; selector != nil {
		path := spec.Child("resourceAttributes", "labelSelector")
		errs = append(errs, validateForm(selector.RawSelector, len(selector.Requirements), path)...)
		options := metav1validation.LabelSelectorValidationOptions{AllowUnknownOperatorInRequirement: true}
		for i, requirement := range selector.Requirements {
			errs = append(errs, metav1validation.ValidateLabelSelectorRequirement(requirement, options, path.Child("requirements").Index(i))...)
		}
	}
	return errs
}

// validateForm wants a selector in one of its two forms.
func validateForm(raw string, requirements int, path *field.Path) field.ErrorList {
	switch {
	case raw != "" && requirements > 0:
		return field.ErrorList{field.Invalid(path.Child("rawSelector"), raw, "may not specified at the same time as requirements")}
	case raw == "" && requirements == 0:
		return field.ErrorList{field.Required(path.Child("requirements"), fmt.Sprintf("when %s is specified, requirements or rawSelector is required", path))}
	}
	return nil
}
