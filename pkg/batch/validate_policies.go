package batch

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func validateFailurePolicy(spec *batchv1.JobSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	rules := spec.PodFailurePolicy.Rules
	rulesPath := path.Child("rules")
	if len(rules) > maxFailureRules {
		errs = append(errs, field.TooMany(rulesPath, len(rules), maxFailureRules))
	}
	containers := sets.New[string]()
	for _, list := range [][]corev1.Container{spec.Template.Spec.Containers, spec.Template.Spec.InitContainers} {
		for i := range list {
			containers.Insert(list[i].Name)
		}
	}
	for i := range rules {
		errs = append(errs, validateFailureRule(spec, &rules[i], rulesPath.Index(i), containers)...)
	}
	return errs
}

func validateFailureRule(spec *batchv1.JobSpec, rule *batchv1.PodFailurePolicyRule, path *field.Path, containers sets.Set[string]) field.ErrorList {
	var errs field.ErrorList
	actions := []batchv1.PodFailurePolicyAction{
		batchv1.PodFailurePolicyActionCount, batchv1.PodFailurePolicyActionFailIndex,
		batchv1.PodFailurePolicyActionFailJob, batchv1.PodFailurePolicyActionIgnore,
	}
	if rule.Action == batchv1.PodFailurePolicyActionFailIndex && spec.BackoffLimitPerIndex == nil {
		errs = append(errs, field.Invalid(path.Child("action"), rule.Action, "requires the backoffLimitPerIndex to be set"))
	}
	errs = append(errs, requiredOneOf(rule.Action, actions, path.Child("action"))...)
	if rule.OnExitCodes != nil {
		errs = append(errs, validateExitCodes(rule.OnExitCodes, path.Child("onExitCodes"), containers)...)
	}
	errs = append(errs, validateConditionPatterns(rule.OnPodConditions, path.Child("onPodConditions"))...)
	switch {
	case rule.OnExitCodes != nil && len(rule.OnPodConditions) > 0:
		errs = append(errs, field.Invalid(path, field.OmitValueType{}, "specifying both OnExitCodes and OnPodConditions is not supported"))
	case rule.OnExitCodes == nil && len(rule.OnPodConditions) == 0:
		errs = append(errs, field.Invalid(path, field.OmitValueType{}, "specifying one of OnExitCodes and OnPodConditions is required"))
	}
	return errs
}

// requiredOneOf reports a value that is missing or not among the supported ones.
func requiredOneOf[T ~string](value T, supported []T, path *field.Path) field.ErrorList {
	if value == "" {
		return field.ErrorList{field.Required(path, fmt.Sprintf("valid values: %q", supported))}
	}
	return oneOf(value, supported, path)
}

func validateConditionPatterns(patterns []batchv1.PodFailurePolicyOnPodConditionsPattern, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(patterns) > maxConditionPatterns {
		errs = append(errs, field.TooMany(path, len(patterns), maxConditionPatterns))
	}
	statuses := []corev1.ConditionStatus{corev1.ConditionFalse, corev1.ConditionTrue, corev1.ConditionUnknown}
	for i, pattern := range patterns {
		for _, detail := range validation.IsQualifiedName(string(pattern.Type)) {
			errs = append(errs, field.Invalid(path.Index(i).Child("type"), string(pattern.Type), detail))
		}
		errs = append(errs, requiredOneOf(pattern.Status, statuses, path.Index(i).Child("status"))...)
	}
	return errs
}

func validateExitCodes(want *batchv1.PodFailurePolicyOnExitCodesRequirement, path *field.Path, containers sets.Set[string]) field.ErrorList {
	operators := []batchv1.PodFailurePolicyOnExitCodesOperator{
		batchv1.PodFailurePolicyOnExitCodesOpIn, batchv1.PodFailurePolicyOnExitCodesOpNotIn,
	}
	errs := requiredOneOf(want.Operator, operators, path.Child("operator"))
	if want.ContainerName != nil && !containers.Has(*want.ContainerName) {
		errs = append(errs, field.Invalid(path.Child("containerName"), *want.ContainerName,
			"must be one of the container or initContainer names in the pod template"))
	}
	valuesPath := path.Child("values")
	switch {
	case len(want.Values) == 0:
		errs = append(errs, field.Invalid(valuesPath, want.Values, "at least one value is required"))
	case len(want.Values) > maxExitCodes:
		errs = append(errs, field.TooMany(valuesPath, len(want.Values), maxExitCodes))
	}
	seen := sets.New[int32]()
	for i, code := range want.Values {
		if code == 0 && want.Operator == batchv1.PodFailurePolicyOnExitCodesOpIn {
			errs = append(errs, field.Invalid(valuesPath.Index(i), code, "must not be 0 for the In operator"))
		}
		if seen.Has(code) {
			errs = append(errs, field.Duplicate(valuesPath.Index(i), code))
		}
		seen.Insert(code)
	}
	if !slices.IsSorted(want.Values) {
		errs = append(errs, field.Invalid(valuesPath, want.Values, "must be ordered"))
	}
	return errs
}

func validateSuccessPolicy(spec *batchv1.JobSpec, path *field.Path) field.ErrorList {
	if !isIndexed(spec) {
		return field.ErrorList{field.Invalid(path, *spec.SuccessPolicy, requiresIndexed)}
	}
	var errs field.ErrorList
	rules := spec.SuccessPolicy.Rules
	rulesPath := path.Child("rules")
	switch {
	case len(rules) == 0:
		errs = append(errs, field.Required(rulesPath, "at least one rules must be specified when the successPolicy is specified"))
	case len(rules) > maxSuccessRules:
		errs = append(errs, field.TooMany(rulesPath, len(rules), maxSuccessRules))
	}
	for i := range rules {
		errs = append(errs, validateSuccessRule(&rules[i], spec.Completions, rulesPath.Index(i))...)
	}
	return errs
}

// validateSuccessRule checks one rule. Without completions there is nothing to hold indexes and counts against:
// Kubernetes 1.36 itself panics then, here the error on spec.completions has to do.
func validateSuccessRule(rule *batchv1.SuccessPolicyRule, completions *int32, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if rule.SucceededCount == nil && rule.SucceededIndexes == nil {
		errs = append(errs, field.Required(path, "at least one of succeededCount or succeededIndexes must be specified"))
	}
	listed := 0
	if rule.SucceededIndexes != nil {
		indexesPath := path.Child("succeededIndexes")
		if len(*rule.SucceededIndexes) > maxSucceededIndexesLength {
			errs = append(errs, field.TooLong(indexesPath, "", maxSucceededIndexesLength))
		}
		if completions != nil {
			indexes, err := parseIndexSet(*rule.SucceededIndexes, int(*completions))
			if err != nil {
				errs = append(errs, field.Invalid(indexesPath, *rule.SucceededIndexes, fmt.Sprintf("error parsing succeededIndexes: %s", err)))
			}
			listed = indexes.Len()
		}
	}
	if rule.SucceededCount == nil {
		return errs
	}
	count, countPath := *rule.SucceededCount, path.Child("succeededCount")
	errs = append(errs, apivalidation.ValidateNonnegativeField(int64(count), countPath)...)
	if completions == nil {
		return errs
	}
	if count > *completions {
		errs = append(errs, field.Invalid(countPath, count,
			fmt.Sprintf("must be less than or equal to %d (the number of specified completions)", *completions)))
	}
	if rule.SucceededIndexes != nil && int(count) > listed {
		errs = append(errs, field.Invalid(countPath, count,
			fmt.Sprintf("must be less than or equal to %d (the number of indexes in the specified succeededIndexes field)", listed)))
	}
	return errs
}
