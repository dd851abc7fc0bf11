package admissionregistration

import (
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/musterkube/muster/pkg/core"
)

// actions are what a binding may do about a validation that fails.
var actions = []admissionregistrationv1.ValidationAction{admissionregistrationv1.Audit, admissionregistrationv1.Deny, admissionregistrationv1.Warn}

func validateValidatingBinding(binding *admissionregistrationv1.ValidatingAdmissionPolicyBinding) field.ErrorList {
	spec := &binding.Spec
	errs := validateBinding(&binding.ObjectMeta, spec.PolicyName, spec.ParamRef, spec.MatchResources)
	return append(errs, validateActions(spec.ValidationActions, field.NewPath("spec", "validationActions"))...)
}

func validateMutatingBinding(binding *admissionregistrationv1.MutatingAdmissionPolicyBinding) field.ErrorList {
	spec := &binding.Spec
	errs := validateBinding(&binding.ObjectMeta, spec.PolicyName, spec.ParamRef, spec.MatchResources)
	return append(errs, validateMutatingOperations(spec.MatchResources, field.NewPath("spec", "matchResources"))...)
}

// validateBinding validates what both kinds of bindings have.
func validateBinding(meta *metav1.ObjectMeta, policy string, ref *admissionregistrationv1.ParamRef, match *admissionregistrationv1.MatchResources) field.ErrorList {
	errs := core.ValidateObjectMeta(meta, false, apivalidation.NameIsDNSSubdomain, field.NewPath("metadata"))
	path := field.NewPath("spec")
	if policy == "" {
		errs = append(errs, field.Required(path.Child("policyName"), ""))
	} else {
		for _, message := range apivalidation.NameIsDNSSubdomain(policy, false) {
			errs = append(errs, field.Invalid(path.Child("policyName"), policy, message))
		}
	}
	errs = append(errs, validateParamRef(ref, path.Child("paramRef"))...)
	return append(errs, validateMatch(match, path.Child("matchResources"))...)
}

func validateParamRef(ref *admissionregistrationv1.ParamRef, path *field.Path) field.ErrorList {
	if ref == nil {
		return nil
	}
	var errs field.ErrorList
	if ref.Name != "" {
		for _, message := range content.IsPathSegmentName(ref.Name) {
			errs = append(errs, field.Invalid(path.Child("name"), ref.Name, message))
		}
	}
	const exclusive = "name and selector are mutually exclusive"
	if ref.Name != "" && ref.Selector != nil {
		errs = append(errs, field.Forbidden(path.Child("name"), exclusive))
	}
	errs = append(errs, core.ValidateLabelSelector(ref.Selector, metavalidation.LabelSelectorValidationOptions{}, path.Child("selector"))...)
	if ref.Name != "" && ref.Selector != nil {
		errs = append(errs, field.Forbidden(path.Child("selector"), exclusive))
	}
	if ref.Name == "" && ref.Selector == nil {
		errs = append(errs, field.Required(path, "one of name or selector must be specified"))
	}
	allowed := []admissionregistrationv1.ParameterNotFoundActionType{admissionregistrationv1.DenyAction, admissionregistrationv1.AllowAction}
	switch action := ref.ParameterNotFoundAction; {
	case action == nil || *action == "":
		errs = append(errs, field.Required(path.Child("parameterNotFoundAction"), ""))
	case !slices.Contains(allowed, *action):
		errs = append(errs, field.NotSupported(path.Child("parameterNotFoundAction"), *action, allowed))
	}
	return errs
}

func validateActions(given []admissionregistrationv1.ValidationAction, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range given {
		errs = append(errs, oneOf(path.Index(i), &given[i], actions)...)
		if slices.Contains(given[:i], given[i]) {
			errs = append(errs, field.Duplicate(path.Index(i), given[i]))
		}
	}
	if slices.Contains(given, admissionregistrationv1.Deny) && slices.Contains(given, admissionregistrationv1.Warn) {
		errs = append(errs, field.Invalid(path, given,
			"must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)"))
	}
	if len(given) == 0 {
		errs = append(errs, field.Required(path, "at least one validation action is required"))
	}
	return errs
}
