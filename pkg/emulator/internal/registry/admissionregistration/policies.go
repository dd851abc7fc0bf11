package admissionregistration

import (
	"fmt"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating/patch"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/client-go/util/jsonpath"

	"github.com/musterkube/muster/pkg/core"
)

// The bounds of audit annotations.
const (
	maxAnnotations      = 20
	maxAnnotationLength = 5 << 10
)

// reasons are those that a validation may refuse with.
var reasons = []metav1.StatusReason{metav1.StatusReasonForbidden, metav1.StatusReasonInvalid, metav1.StatusReasonRequestEntityTooLarge}

// validateValidatingPolicy validates a policy; old is nil for a new one.
func validateValidatingPolicy(policy, old *admissionregistrationv1.ValidatingAdmissionPolicy) field.ErrorList {
	errs := core.ValidateObjectMeta(&policy.ObjectMeta, false, apivalidation.NameIsDNSSubdomain, field.NewPath("metadata"))
	spec, path, stored := &policy.Spec, field.NewPath("spec"), map[string]bool{}
	sameConditions := false
	if old != nil {
		stored = storedExpressions(&old.Spec)
		sameConditions = sameMatching(spec.ParamKind, old.Spec.ParamKind, spec.MatchConditions, old.Spec.MatchConditions)
	}
	errs = append(errs, validateSubject(spec.FailurePolicy, spec.ParamKind, spec.MatchConstraints, path)...)
	if !sameConditions {
		errs = append(errs, validateConditions(spec.MatchConditions, spec.ParamKind != nil, stored, path.Child("matchConditions"))...)
	}
	c, err := newCompiler(len(spec.Variables) > 0, spec.ParamKind != nil, stored)
	if err != nil {
		return append(errs, field.InternalError(path, err))
	}
	for i, variable := range spec.Variables {
		errs = append(errs, validateVariable(c, variable, path.Child("variables").Index(i))...)
	}
	if len(spec.Validations) == 0 && len(spec.AuditAnnotations) == 0 {
		const message = "validations or auditAnnotations must contain at least one item"
		return append(errs, field.Required(path.Child("validations"), message), field.Required(path.Child("auditAnnotations"), message))
	}
	for i, rule := range spec.Validations {
		errs = append(errs, validateValidation(c, rule, path.Child("validations").Index(i))...)
	}
	return append(errs, validateAnnotations(c, policy.Name, spec.AuditAnnotations, path.Child("auditAnnotations"))...)
}

// storedExpressions are those that an update need not defend anew.
func storedExpressions(spec *admissionregistrationv1.ValidatingAdmissionPolicySpec) map[string]bool {
	stored := map[string]bool{}
	for _, condition := range spec.MatchConditions {
		stored[condition.Expression] = true
	}
	for _, rule := range spec.Validations {
		stored[rule.Expression], stored[rule.MessageExpression] = true, true
	}
	for _, annotation := range spec.AuditAnnotations {
		stored[annotation.ValueExpression] = true
	}
	return stored
}

// sameMatching tells whether match conditions that were valid must still be.
func sameMatching(kind, oldKind *admissionregistrationv1.ParamKind, conditions, old []admissionregistrationv1.MatchCondition) bool {
	return equality.Semantic.DeepEqual(kind, oldKind) && equality.Semantic.DeepEqual(conditions, old)
}

// validateSubject validates what policies of both kinds begin with.
func validateSubject(failure *admissionregistrationv1.FailurePolicyType, params *admissionregistrationv1.ParamKind,
	match *admissionregistrationv1.MatchResources, path *field.Path) field.ErrorList {
	errs := requiredOneOf(path.Child("failurePolicy"), failure, failurePolicies)
	if params != nil {
		errs = append(errs, validateParamKind(params, path.Child("paramKind"))...)
	}
	if match == nil {
		return append(errs, field.Required(path.Child("matchConstraints"), ""))
	}
	errs = append(errs, validateMatch(match, path.Child("matchConstraints"))...)
	if len(match.ResourceRules) == 0 {
		errs = append(errs, field.Required(path.Child("matchConstraints", "resourceRules"), ""))
	}
	return errs
}

func validateParamKind(kind *admissionregistrationv1.ParamKind, path *field.Path) field.ErrorList {
	errs := validateAPIVersion(kind.APIVersion, path.Child("apiVersion"))
	if kind.Kind == "" {
		return append(errs, field.Required(path.Child("kind"), ""))
	}
	if messages := validation.IsDNS1035Label(strings.ToLower(kind.Kind)); len(messages) > 0 {
		errs = append(errs, field.Invalid(path.Child("kind"), kind.Kind, "may have mixed case, but should otherwise match: "+strings.Join(messages, ",")))
	}
	return errs
}

func validateAPIVersion(apiVersion string, path *field.Path) field.ErrorList {
	if apiVersion == "" {
		return field.ErrorList{field.Required(path, "")}
	}
	group, version, found := strings.Cut(apiVersion, "/")
	switch {
	case !found:
		group, version = "", apiVersion
	case apiVersion != "/" && strings.Contains(version, "/"):
		return field.ErrorList{field.Invalid(path, apiVersion, fmt.Sprintf("unexpected GroupVersion string: %v", apiVersion))}
	}
	var errs field.ErrorList
	if group != "" {
		if messages := validation.IsDNS1123Subdomain(group); len(messages) > 0 {
			errs = append(errs, field.Invalid(path, group, strings.Join(messages, ",")))
		}
	}
	if version == "" {
		return append(errs, field.Invalid(path, apiVersion, "version must be specified"))
	}
	if messages := validation.IsDNS1035Label(version); len(messages) > 0 {
		errs = append(errs, field.Invalid(path, version, strings.Join(messages, ",")))
	}
	return errs
}

func validateValidation(c compiler, rule admissionregistrationv1.Validation, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if strings.TrimSpace(rule.Expression) == "" {
		errs = append(errs, field.Required(path.Child("expression"), "expression is not specified"))
	} else {
		errs = append(errs, c.check(path.Child("expression"), &validating.ValidationCondition{Expression: rule.Expression},
			plugincel.OptionalVariableDeclarations{HasAuthorizer: true})...)
	}
	switch {
	case rule.MessageExpression == "":
	case strings.TrimSpace(rule.MessageExpression) == "":
		errs = append(errs, field.Invalid(path.Child("messageExpression"), rule.MessageExpression, "must be non-empty if specified"))
	default:
		errs = append(errs, c.check(path.Child("messageExpression"), &validating.MessageExpressionCondition{MessageExpression: rule.MessageExpression},
			plugincel.OptionalVariableDeclarations{})...)
	}
	switch message := strings.TrimSpace(rule.Message); {
	case rule.Message != "" && message == "":
		errs = append(errs, field.Invalid(path.Child("message"), rule.Message, "must be non-empty if specified"))
	case strings.ContainsAny(message, "\n\r"):
		errs = append(errs, field.Invalid(path.Child("message"), rule.Message, "must not contain line breaks"))
	}
	return append(errs, oneOf(path.Child("reason"), rule.Reason, reasons)...)
}

func validateAnnotations(c compiler, policy string, annotations []admissionregistrationv1.AuditAnnotation, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(annotations) > maxAnnotations {
		// Kubernetes prints its internal type, which has no JSON names.
		printed := make([]struct{ Key, ValueExpression string }, len(annotations))
		for i, annotation := range annotations {
			printed[i].Key, printed[i].ValueExpression = annotation.Key, annotation.ValueExpression
		}
		errs = append(errs, field.Invalid(path, printed, fmt.Sprintf("must not have more than %d auditAnnotations", maxAnnotations)))
	}
	keys := map[string]bool{}
	for i, annotation := range annotations {
		errs = append(errs, validateAnnotation(c, policy, annotation, path.Index(i))...)
		if keys[annotation.Key] {
			errs = append(errs, field.Duplicate(path.Index(i).Child("key"), annotation.Key))
		}
		keys[annotation.Key] = true
	}
	return errs
}

func validateAnnotation(c compiler, policy string, annotation admissionregistrationv1.AuditAnnotation, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if policy == "" {
		errs = append(errs, field.Invalid(path.Child("key"), annotation.Key, "requires metadata.name be non-empty"))
	} else {
		errs = append(errs, validateQualifiedName(policy+"/"+annotation.Key, path.Child("key"))...)
	}
	expression := strings.TrimSpace(annotation.ValueExpression)
	switch {
	case expression == "":
		return append(errs, field.Required(path.Child("valueExpression"), "valueExpression is not specified"))
	case len(expression) > maxAnnotationLength:
		return append(errs, field.Required(path.Child("valueExpression"), fmt.Sprintf("must not exceed %d bytes in length", maxAnnotationLength)))
	}
	return append(errs, c.check(path.Child("valueExpression"), &validating.AuditAnnotationCondition{ValueExpression: expression},
		plugincel.OptionalVariableDeclarations{HasAuthorizer: true})...)
}

// validateMutatingPolicy validates a policy; old is nil for a new one.
func validateMutatingPolicy(policy, old *admissionregistrationv1.MutatingAdmissionPolicy) field.ErrorList {
	errs := core.ValidateObjectMeta(&policy.ObjectMeta, false, apivalidation.NameIsDNSSubdomain, field.NewPath("metadata"))
	spec, path, stored := &policy.Spec, field.NewPath("spec"), map[string]bool{}
	sameConditions := false
	if old != nil {
		stored = storedMutations(&old.Spec)
		sameConditions = sameMatching(spec.ParamKind, old.Spec.ParamKind, spec.MatchConditions, old.Spec.MatchConditions)
	}
	errs = append(errs, validateSubject(spec.FailurePolicy, spec.ParamKind, spec.MatchConstraints, path)...)
	errs = append(errs, validateMutatingOperations(spec.MatchConstraints, path.Child("matchConstraints"))...)
	if !sameConditions {
		errs = append(errs, validateConditions(spec.MatchConditions, spec.ParamKind != nil, stored, path.Child("matchConditions"))...)
	}
	c, err := newCompiler(true, spec.ParamKind != nil, stored)
	if err != nil {
		return append(errs, field.InternalError(path, err))
	}
	for i, variable := range spec.Variables {
		errs = append(errs, validateVariable(c, variable, path.Child("variables").Index(i))...)
	}
	if len(spec.Mutations) == 0 {
		errs = append(errs, field.Required(path.Child("mutations"), "mutations must contain at least one item"))
	}
	for i := range spec.Mutations {
		errs = append(errs, validateMutation(c, &spec.Mutations[i], path.Child("mutations").Index(i))...)
	}
	if spec.ReinvocationPolicy == "" {
		return append(errs, field.Required(path.Child("reinvocationPolicy"), ""))
	}
	return append(errs, oneOf(path.Child("reinvocationPolicy"), &spec.ReinvocationPolicy, reinvocationPolicies)...)
}

func storedMutations(spec *admissionregistrationv1.MutatingAdmissionPolicySpec) map[string]bool {
	stored := map[string]bool{}
	for _, condition := range spec.MatchConditions {
		stored[condition.Expression] = true
	}
	for _, mutation := range spec.Mutations {
		if mutation.ApplyConfiguration != nil {
			stored[mutation.ApplyConfiguration.Expression] = true
		}
		if mutation.JSONPatch != nil {
			stored[mutation.JSONPatch.Expression] = true
		}
	}
	return stored
}

func validateMutation(c compiler, mutation *admissionregistrationv1.Mutation, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch mutation.PatchType {
	case "":
		return field.ErrorList{field.Required(path.Child("patchType"), "")}
	case admissionregistrationv1.PatchTypeJSONPatch:
		if mutation.JSONPatch == nil {
			errs = append(errs, field.Required(path.Child("jsonPatch"), "must be specified when patchType is JSONPatch"))
		} else {
			expression := strings.TrimSpace(mutation.JSONPatch.Expression)
			errs = append(errs, checkMutation(c, path.Child("jsonPatch", "expression"), &patch.JSONPatchCondition{Expression: expression})...)
		}
		if mutation.ApplyConfiguration != nil {
			errs = append(errs, field.Invalid(path.Child("applyConfiguration"), "{applyConfiguration}", "must not be specified when patchType is JSONPatch"))
		}
	case admissionregistrationv1.PatchTypeApplyConfiguration:
		if mutation.ApplyConfiguration == nil {
			errs = append(errs, field.Required(path.Child("applyConfiguration"), "must be specified when patchType is ApplyConfiguration"))
		} else {
			expression := strings.TrimSpace(mutation.ApplyConfiguration.Expression)
			errs = append(errs, checkMutation(c, path.Child("applyConfiguration", "expression"), &patch.ApplyConfigurationCondition{Expression: expression})...)
		}
		if mutation.JSONPatch != nil {
			errs = append(errs, field.Invalid(path.Child("jsonPatch"), "{jsonPatch}", "must not be specified when patchType is ApplyConfiguration"))
		}
	default:
		types := []admissionregistrationv1.PatchType{admissionregistrationv1.PatchTypeApplyConfiguration, admissionregistrationv1.PatchTypeJSONPatch}
		errs = append(errs, field.NotSupported(path.Child("patchType"), mutation.PatchType, types))
	}
	return errs
}

func checkMutation(c compiler, path *field.Path, expression plugincel.ExpressionAccessor) field.ErrorList {
	if expression.GetExpression() == "" {
		return field.ErrorList{field.Required(path, "")}
	}
	return c.check(path, expression, plugincel.OptionalVariableDeclarations{HasAuthorizer: true, HasPatchTypes: true})
}

// validatePolicyStatus validates what a controller says of a policy.
func validatePolicyStatus(status *admissionregistrationv1.ValidatingAdmissionPolicyStatus, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if status.TypeChecking != nil {
		for i, warning := range status.TypeChecking.ExpressionWarnings {
			at := path.Child("typeChecking", "expressionWarnings").Index(i)
			if warning.Warning == "" {
				errs = append(errs, field.Required(at.Child("warning"), ""))
			}
			errs = append(errs, validateFieldRef(strings.TrimSpace(warning.FieldRef), at.Child("fieldRef"))...)
		}
	}
	return append(errs, validateStatusConditions(status.Conditions, path.Child("conditions"))...)
}

// validateStatusConditions validates conditions. The library says as of 1.37 that an empty status is missing.
func validateStatusConditions(conditions []metav1.Condition, path *field.Path) field.ErrorList {
	errs := metavalidation.ValidateConditions(conditions, path)
	for i := range conditions {
		at := path.Index(i).Child("status")
		for j, err := range errs {
			if err.Type == field.ErrorTypeRequired && err.Field == at.String() {
				errs[j] = field.NotSupported(at, conditions[i].Status, []metav1.ConditionStatus{metav1.ConditionFalse, metav1.ConditionTrue, metav1.ConditionUnknown})
			}
		}
	}
	return errs
}

func validateFieldRef(ref string, path *field.Path) field.ErrorList {
	if ref == "" {
		return field.ErrorList{field.Required(path, "")}
	}
	if err := jsonpath.New("spec").Parse("{" + ref + "}"); err != nil {
		return field.ErrorList{field.Invalid(path, ref, fmt.Sprintf("invalid JSONPath: %v", err))}
	}
	return nil
}
