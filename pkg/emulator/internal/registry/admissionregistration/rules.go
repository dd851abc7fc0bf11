package admissionregistration

import (
	"fmt"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/musterkube/muster/pkg/core"
)

// wildcard stands for all groups, versions, resources, subresources or operations.
const wildcard = "*"

// What enumerated fields may be.
var (
	failurePolicies      = []admissionregistrationv1.FailurePolicyType{admissionregistrationv1.Fail, admissionregistrationv1.Ignore}
	matchPolicies        = []admissionregistrationv1.MatchPolicyType{admissionregistrationv1.Equivalent, admissionregistrationv1.Exact}
	noSideEffects        = []admissionregistrationv1.SideEffectClass{admissionregistrationv1.SideEffectClassNone, admissionregistrationv1.SideEffectClassNoneOnDryRun}
	sideEffects          = append(slices.Clone(noSideEffects), admissionregistrationv1.SideEffectClassSome, admissionregistrationv1.SideEffectClassUnknown)
	reinvocationPolicies = []admissionregistrationv1.ReinvocationPolicyType{admissionregistrationv1.IfNeededReinvocationPolicy, admissionregistrationv1.NeverReinvocationPolicy}
	scopes               = []admissionregistrationv1.ScopeType{admissionregistrationv1.AllScopes, admissionregistrationv1.ClusterScope, admissionregistrationv1.NamespacedScope}
	mutatingOperations   = []admissionregistrationv1.OperationType{
		admissionregistrationv1.OperationAll, admissionregistrationv1.Connect, admissionregistrationv1.Create, admissionregistrationv1.Update,
	}
	operations = append(slices.Clone(mutatingOperations), admissionregistrationv1.Delete)
)

// oneOf refuses a value that is set and not among those allowed.
func oneOf[T ~string](path *field.Path, value *T, allowed []T) field.ErrorList {
	if value == nil || slices.Contains(allowed, *value) {
		return nil
	}
	return field.ErrorList{field.NotSupported(path, *value, texts(allowed))}
}

// requiredOneOf is oneOf for a value that must be set.
func requiredOneOf[T ~string](path *field.Path, value *T, allowed []T) field.ErrorList {
	if value == nil {
		return field.ErrorList{field.Required(path, "")}
	}
	return oneOf(path, value, allowed)
}

// texts returns values as strings, sorted as they are listed in errors.
func texts[T ~string](values []T) []string {
	all := make([]string, 0, len(values))
	for _, value := range values {
		all = append(all, string(value))
	}
	slices.Sort(all)
	return all
}

// validateRule validates a rule of a webhook or a policy.
func validateRule(rule *admissionregistrationv1.RuleWithOperations, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(rule.Operations) == 0 {
		errs = append(errs, field.Required(path.Child("operations"), ""))
	}
	if len(rule.Operations) > 1 && slices.Contains(rule.Operations, wildcard) {
		errs = append(errs, field.Invalid(path.Child("operations"), rule.Operations, "if '*' is present, must not specify other operations"))
	}
	for i := range rule.Operations {
		errs = append(errs, oneOf(path.Child("operations").Index(i), &rule.Operations[i], operations)...)
	}
	errs = append(errs, validateNames(rule.APIGroups, "API groups", path.Child("apiGroups"))...)
	errs = append(errs, validateNames(rule.APIVersions, "API versions", path.Child("apiVersions"))...)
	for i, version := range rule.APIVersions {
		if version == "" {
			errs = append(errs, field.Required(path.Child("apiVersions").Index(i), ""))
		}
	}
	errs = append(errs, validateResources(rule.Resources, path.Child("resources"))...)
	return append(errs, oneOf(path.Child("scope"), rule.Scope, scopes)...)
}

// validateNames wants names or the wildcard.
func validateNames(names []string, what string, path *field.Path) field.ErrorList {
	if len(names) == 0 {
		return field.ErrorList{field.Required(path, "")}
	}
	if len(names) > 1 && slices.Contains(names, wildcard) {
		return field.ErrorList{field.Invalid(path, names, fmt.Sprintf("if '*' is present, must not specify other %s", what))}
	}
	return nil
}

// validateResources refuses names that the ones before them cover.
func validateResources(resources []string, path *field.Path) field.ErrorList {
	if len(resources) == 0 {
		return field.ErrorList{field.Required(path, "")}
	}
	var errs field.ErrorList
	allSubresources, allResources := map[string]bool{}, map[string]bool{}
	plain := false // as in Kubernetes, the last name without a subresource decides
	for i, name := range resources {
		if name == "" {
			errs = append(errs, field.Required(path.Index(i), ""))
			continue
		}
		resource, subresource, found := strings.Cut(name, "/")
		if !found {
			plain = name != wildcard
			continue
		}
		if allSubresources[resource] {
			errs = append(errs, field.Invalid(path.Index(i), name, fmt.Sprintf("if '%s/*' is present, must not specify %s", resource, name)))
		}
		if allResources[subresource] {
			errs = append(errs, field.Invalid(path.Index(i), name, fmt.Sprintf("if '*/%s' is present, must not specify %s", subresource, name)))
		}
		if subresource == wildcard {
			allSubresources[resource] = true
		}
		if resource == wildcard {
			allResources[subresource] = true
		}
	}
	if len(resources) > 1 && slices.Contains(resources, "*/*") {
		errs = append(errs, field.Invalid(path, resources, "if '*/*' is present, must not specify other resources"))
	}
	if plain && slices.Contains(resources, wildcard) {
		errs = append(errs, field.Invalid(path, resources, "if '*' is present, must not specify other resources without subresources"))
	}
	return errs
}

// validateMatch validates what a policy or a binding matches; nil is everything.
func validateMatch(match *admissionregistrationv1.MatchResources, path *field.Path) field.ErrorList {
	if match == nil {
		return nil
	}
	errs := requiredOneOf(path.Child("matchPolicy"), match.MatchPolicy, matchPolicies)
	if match.NamespaceSelector == nil {
		errs = append(errs, field.Required(path.Child("namespaceSelector"), ""))
	}
	errs = append(errs, core.ValidateLabelSelector(match.NamespaceSelector, metavalidation.LabelSelectorValidationOptions{}, path.Child("namespaceSelector"))...)
	if match.ObjectSelector == nil {
		errs = append(errs, field.Required(path.Child("objectSelector"), ""))
	}
	errs = append(errs, core.ValidateLabelSelector(match.ObjectSelector, metavalidation.LabelSelectorValidationOptions{}, path.Child("objectSelector"))...)
	for i := range match.ResourceRules {
		errs = append(errs, validateNamedRule(&match.ResourceRules[i], path.Child("resourceRules").Index(i))...)
	}
	for i := range match.ExcludeResourceRules {
		errs = append(errs, validateNamedRule(&match.ExcludeResourceRules[i], path.Child("excludeResourceRules").Index(i))...)
	}
	return errs
}

func validateNamedRule(rule *admissionregistrationv1.NamedRuleWithOperations, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, name := range rule.ResourceNames {
		at := path.Child("resourceNames").Index(i)
		for _, message := range content.IsPathSegmentName(name) {
			errs = append(errs, field.Invalid(at, name, message))
		}
		if slices.Contains(rule.ResourceNames[:i], name) {
			errs = append(errs, field.Duplicate(at, name))
		}
	}
	return append(errs, validateRule(&rule.RuleWithOperations, path)...)
}

// validateMutatingOperations refuses DELETE, whose requests have nothing to mutate.
func validateMutatingOperations(match *admissionregistrationv1.MatchResources, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if match == nil {
		return nil
	}
	for _, rule := range match.ResourceRules {
		for i := range rule.Operations {
			errs = append(errs, oneOf(path.Child("resourceRules", "operations"), &rule.Operations[i], mutatingOperations)...)
		}
	}
	return errs
}
