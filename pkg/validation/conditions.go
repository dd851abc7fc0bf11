package validation

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The longest texts of a condition, in bytes (metav1.Condition).
const (
	maxReasonLength  = 1024
	maxMessageLength = 32768
)

// validateConditions applies the rules of metav1.Condition as Kubernetes 1.36 words them. The function of that name in
// apimachinery words them as 1.37 does: another path for a type that comes twice, other texts for what is missing.
func validateConditions(conditions []metav1.Condition, path *field.Path) field.ErrorList {
	var faults field.ErrorList
	seen := make(map[string]bool, len(conditions))
	for i := range conditions {
		if seen[conditions[i].Type] {
			faults = append(faults, field.Duplicate(path.Index(i).Child("type"), conditions[i].Type))
		}
		seen[conditions[i].Type] = true
		faults = append(faults, validateCondition(&conditions[i], path.Index(i))...)
	}
	return faults
}

func validateCondition(condition *metav1.Condition, path *field.Path) field.ErrorList {
	faults := metav1validation.ValidateLabelName(condition.Type, path.Child("type"))
	switch condition.Status {
	case metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown:
	default:
		faults = append(faults, field.NotSupported(path.Child("status"), condition.Status,
			[]metav1.ConditionStatus{metav1.ConditionFalse, metav1.ConditionTrue, metav1.ConditionUnknown}))
	}
	if condition.ObservedGeneration < 0 {
		faults = append(faults, field.Invalid(path.Child("observedGeneration"), condition.ObservedGeneration, "must be greater than or equal to zero"))
	}
	if condition.LastTransitionTime.IsZero() {
		faults = append(faults, field.Required(path.Child("lastTransitionTime"), ""))
	}
	faults = append(faults, validateReason(condition.Reason, path.Child("reason"))...)
	if len(condition.Message) > maxMessageLength {
		faults = append(faults, field.TooLong(path.Child("message"), "", maxMessageLength))
	}
	return faults
}

func validateReason(reason string, path *field.Path) field.ErrorList {
	if reason == "" {
		return field.ErrorList{field.Required(path, "")}
	}
	var faults field.ErrorList
	for _, fault := range metav1validation.IsValidConditionReason(reason) {
		faults = append(faults, field.Invalid(path, reason, fault))
	}
	if len(reason) > maxReasonLength {
		faults = append(faults, field.TooLong(path, "", maxReasonLength))
	}
	return faults
}
