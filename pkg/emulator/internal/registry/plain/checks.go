package plain

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/musterkube/muster/pkg/core"
)

// nonNegative wants a number that is not below zero.
func nonNegative[N ~int32 | ~int64 | ~int](n N, path *field.Path) field.ErrorList {
	return apivalidation.ValidateNonnegativeField(int64(n), path)
}

// nonNegativePointer is nonNegative for a number that may be absent.
func nonNegativePointer[N ~int32 | ~int64](n *N, path *field.Path) field.ErrorList {
	if n == nil {
		return nil
	}
	return nonNegative(*n, path)
}

// immutable wants a field to stay what it was.
func immutable(changed, stored any, path *field.Path) field.ErrorList {
	return apivalidation.ValidateImmutableField(changed, stored, path)
}

// oneOf wants a value to be one of those that are supported, and names them in order.
func oneOf[S ~string](value S, path *field.Path, supported ...S) field.ErrorList {
	if slices.Contains(supported, value) {
		return nil
	}
	return field.ErrorList{field.NotSupported(path, value, slices.Sorted(slices.Values(supported)))}
}

// dnsLabel and dnsSubdomain want names as they are in DNS.
func dnsLabel(name string, path *field.Path) field.ErrorList {
	return invalid(name, path, validation.IsDNS1123Label(name))
}

func dnsSubdomain(name string, path *field.Path) field.ErrorList {
	return invalid(name, path, validation.IsDNS1123Subdomain(name))
}

// invalid makes errors of messages about a value.
func invalid(value any, path *field.Path, messages []string) field.ErrorList {
	var errs field.ErrorList
	for _, message := range messages {
		errs = append(errs, field.Invalid(path, value, message))
	}
	return errs
}

// intOrPercent wants a number that is not below zero, or a percentage.
func intOrPercent(value intstr.IntOrString, path *field.Path) field.ErrorList {
	switch value.Type {
	case intstr.String:
		return invalid(value, path, validation.IsValidPercent(value.StrVal))
	case intstr.Int:
		return nonNegative(value.IntValue(), path)
	}
	return field.ErrorList{field.Invalid(path, value, "must be an integer or percentage (e.g '5%%')")}
}

// atMostAll wants a percentage not to be above 100%.
func atMostAll(value intstr.IntOrString, path *field.Path) field.ErrorList {
	if value.Type == intstr.String && len(validation.IsValidPercent(value.StrVal)) == 0 && amount(value) > 100 {
		return field.ErrorList{field.Invalid(path, value, "must not be greater than 100%")}
	}
	return nil
}

// amount returns the number, that before the sign for a percentage.
func amount(value intstr.IntOrString) int {
	if value.Type == intstr.String {
		percent := intstr.Parse(strings.TrimSuffix(value.StrVal, "%"))
		return percent.IntValue()
	}
	return value.IntValue()
}

// selector checks a label selector.
func selector(s *metav1.LabelSelector, path *field.Path) field.ErrorList {
	return core.ValidateLabelSelector(s, metavalidation.LabelSelectorValidationOptions{}, path)
}

// notDecremented wants a counter not to go back.
func notDecremented(changed, stored *int32, path *field.Path) field.ErrorList {
	if stored == nil || (changed != nil && *changed >= *stored) {
		return nil
	}
	value := int32(0)
	if changed != nil {
		value = *changed
	}
	return field.ErrorList{field.Invalid(path, value, "cannot be decremented")}
}

// atMost wants a count not to be greater than another, of which the message tells.
func atMost(count, limit int32, path *field.Path, message string) field.ErrorList {
	if count <= limit {
		return nil
	}
	return field.ErrorList{field.Invalid(path, count, message)}
}

// same tells whether two values are equal to the API: nil and empty are the same.
func same(a, b any) bool { return equality.Semantic.DeepEqual(a, b) }

// tooMany is what those are told who count more replicas of some sort than there are.
const tooMany = "cannot be greater than status.replicas"
