package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// NotNegative wants a number or a time of zero or more.
func NotNegative[T ~int | ~int32 | ~int64](path *field.Path, value T) field.ErrorList {
	if value >= 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(path, value, "must not be negative")}
}

// NotAbove wants a time that does not exceed its bound, which is the value of the option of that name beside it. A bound
// below zero is for that option to answer for, and one of zero has a default.
func NotAbove(path *field.Path, value time.Duration, bound string, most time.Duration) field.ErrorList {
	if most <= 0 || value <= most {
		return nil
	}
	return field.ErrorList{field.Invalid(path, value, fmt.Sprintf("must not be more than %s, which is %s", bound, most))}
}

// OneOf wants one of the known values, or none, which is the default.
func OneOf[T ~string](path *field.Path, value T, known ...T) field.ErrorList {
	if value == "" || slices.Contains(known, value) {
		return nil
	}
	return field.ErrorList{field.NotSupported(path, value, known)}
}

// EachOf wants each name of a list to be one of the known ones.
func EachOf(path *field.Path, names, known []string) field.ErrorList {
	var faults field.ErrorList
	for i, name := range names {
		if !slices.Contains(known, name) {
			faults = append(faults, field.NotSupported(path.Index(i), name, known))
		}
	}
	return faults
}

// Namespace wants what can be the name of a namespace, or none, which means all.
func Namespace(path *field.Path, name string) field.ErrorList {
	if name == "" {
		return nil
	}
	return invalid(path, name, apivalidation.ValidateNamespaceName(name, false))
}

// Name wants what can be the name of a node, a Lease or of most other objects: a DNS subdomain (RFC 1123). What is said
// of none is up to the caller.
func Name(path *field.Path, name, ifEmpty string) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(path, ifEmpty)}
	}
	return invalid(path, name, apivalidation.NameIsDNSSubdomain(name, false))
}

// Gates wants each feature gate that is on to have the one that it needs. They are those of pkg/features.
func Gates(path *field.Path, gates interface{ Validate() error }) field.ErrorList {
	if err := gates.Validate(); err != nil {
		return field.ErrorList{field.Invalid(path, fmt.Sprint(gates), err.Error())}
	}
	return nil
}

// Labels wants what the API server takes as labels. The faults are in the order of the keys.
func Labels(path *field.Path, labels map[string]string) field.ErrorList {
	var faults field.ErrorList
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		faults = append(faults, metavalidation.ValidateLabels(map[string]string{key: labels[key]}, path)...)
	}
	return faults
}

// Taints wants what the API server takes as taints of a node.
func Taints(path *field.Path, taints []corev1.Taint) field.ErrorList {
	var faults field.ErrorList
	effects := []corev1.TaintEffect{corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute}
	seen := map[string]bool{}
	for i, taint := range taints {
		at := path.Index(i)
		faults = append(faults, metavalidation.ValidateLabelName(taint.Key, at.Child("Key"))...)
		faults = append(faults, invalid(at.Child("Value"), taint.Value, validation.IsValidLabelValue(taint.Value))...)
		if taint.Effect == "" {
			faults = append(faults, field.Required(at.Child("Effect"), "one of "+fmt.Sprint(effects)))
		}
		faults = append(faults, OneOf(at.Child("Effect"), taint.Effect, effects...)...)
		id := taint.Key + ":" + string(taint.Effect)
		if seen[id] {
			twice := field.Duplicate(at, id)
			twice.Detail = "taints must be unique by key and effect"
			faults = append(faults, twice)
		}
		seen[id] = true
	}
	return faults
}

// Capacity wants names of resources, and amounts of them that a node can have: zero or more, and whole ones of what comes
// in pieces.
func Capacity(path *field.Path, capacity corev1.ResourceList) field.ErrorList {
	var faults field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(capacity)) {
		at, amount := path.Key(string(name)), capacity[name]
		faults = append(faults, invalid(at, string(name), validation.IsQualifiedName(string(name)))...)
		if amount.Sign() < 0 {
			faults = append(faults, field.Invalid(at, amount.String(), "must not be negative"))
		}
		if counted(name) && amount.MilliValue()%1000 != 0 {
			faults = append(faults, field.Invalid(at, amount.String(), "must be a whole number"))
		}
	}
	return faults
}

// counted reports whether a resource comes in whole pieces: pods, and what nodes offer under domains of their own.
func counted(name corev1.ResourceName) bool {
	text := string(name)
	return name == corev1.ResourcePods || strings.Contains(text, "/") && !strings.Contains(text, corev1.ResourceDefaultNamespacePrefix)
}

func invalid(path *field.Path, value string, messages []string) field.ErrorList {
	var faults field.ErrorList
	for _, message := range messages {
		faults = append(faults, field.Invalid(path, value, message))
	}
	return faults
}
