package core

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	// maxRestartRules and maxRestartExitCodes bound the restart rules of one container (KEP-5307).
	maxRestartRules     = 20
	maxRestartExitCodes = 255
)

// validateRestartPolicy checks the restart policy of one container and the rules that refine it (KEP-5307).
func validateRestartPolicy(container *corev1.Container, isInit bool, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	rules := container.RestartPolicyRules
	switch policy := container.RestartPolicy; {
	case policy != nil:
		errs = append(errs, oneOf(*policy, []corev1.ContainerRestartPolicy{
			corev1.ContainerRestartPolicyAlways, corev1.ContainerRestartPolicyNever, corev1.ContainerRestartPolicyOnFailure,
		}, path.Child("restartPolicy"))...)
	case len(rules) == 0:
		return nil
	default:
		errs = append(errs, field.Required(path.Child("restartPolicy"), "must specify restartPolicy when restart rules are used"))
		if isInit {
			return errs
		}
	}
	rulesPath := path.Child("restartPolicyRules")
	if len(rules) > maxRestartRules {
		errs = append(errs, field.TooMany(rulesPath, len(rules), maxRestartRules))
	}
	for i := range rules {
		errs = append(errs, validateRestartRule(&rules[i], rulesPath.Index(i))...)
	}
	return errs
}

func validateRestartRule(rule *corev1.ContainerRestartRule, path *field.Path) field.ErrorList {
	errs := oneOf(rule.Action, []corev1.ContainerRestartRuleAction{
		corev1.ContainerRestartRuleActionRestart, corev1.ContainerRestartRuleActionRestartAllContainers,
	}, path.Child("action"))
	codesPath := path.Child("exitCodes")
	if rule.ExitCodes == nil {
		return append(errs, field.Required(codesPath, "must be specified"))
	}
	errs = append(errs, oneOf(rule.ExitCodes.Operator, []corev1.ContainerRestartRuleOnExitCodesOperator{
		corev1.ContainerRestartRuleOnExitCodesOpIn, corev1.ContainerRestartRuleOnExitCodesOpNotIn,
	}, codesPath.Child("operator"))...)
	if len(rule.ExitCodes.Values) > maxRestartExitCodes {
		errs = append(errs, field.TooMany(codesPath.Child("values"), len(rule.ExitCodes.Values), maxRestartExitCodes))
	}
	return errs
}

// validateResizePolicy checks what happens to a container whose resources change while it runs (KEP-1287).
func validateResizePolicy(policies []corev1.ContainerResizePolicy, podPolicy corev1.RestartPolicy, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	seen := sets.New[corev1.ResourceName]()
	for i, policy := range policies {
		if seen.Has(policy.ResourceName) {
			errs = append(errs, field.Duplicate(path.Index(i), policy.ResourceName))
		}
		seen.Insert(policy.ResourceName)
		errs = append(errs, requiredOneOf(policy.ResourceName, []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}, path)...)
		errs = append(errs, requiredOneOf(policy.RestartPolicy,
			[]corev1.ResourceResizeRestartPolicy{corev1.NotRequired, corev1.RestartContainer}, path)...)
		if podPolicy == corev1.RestartPolicyNever && policy.RestartPolicy != corev1.NotRequired {
			errs = append(errs, field.Invalid(path, policy.RestartPolicy, "must be 'NotRequired' when pod `restartPolicy` is 'Never'"))
		}
	}
	return errs
}
