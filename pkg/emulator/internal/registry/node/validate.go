package node

import (
	"maps"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	unversionedvalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/musterkube/muster/pkg/core"
)

func validate(node *corev1.Node) field.ErrorList {
	errs := core.ValidateObjectMeta(&node.ObjectMeta, false, apivalidation.NameIsDNSSubdomain, field.NewPath("metadata"))
	errs = append(errs, validateTaints(node.Spec.Taints)...)
	errs = append(errs, validateQuantities(node)...)
	return append(errs, validatePodCIDRs(node.Spec.PodCIDRs)...)
}

func validateUpdate(node, old *corev1.Node) field.ErrorList {
	errs := core.ValidateObjectMetaUpdate(&node.ObjectMeta, &old.ObjectMeta, field.NewPath("metadata"))
	errs = append(errs, validateQuantities(node)...)
	seen := map[corev1.NodeAddress]bool{}
	for i, address := range node.Status.Addresses {
		if seen[address] {
			errs = append(errs, field.Duplicate(field.NewPath("status", "addresses").Index(i), address))
		}
		seen[address] = true
	}
	spec := field.NewPath("spec")
	if len(old.Spec.PodCIDRs) > 0 && !slices.Equal(old.Spec.PodCIDRs, node.Spec.PodCIDRs) {
		errs = append(errs, field.Forbidden(spec.Child("podCIDRs"), `node updates may not change podCIDR except from "" to valid`))
	}
	if old.Spec.ProviderID != "" && old.Spec.ProviderID != node.Spec.ProviderID {
		errs = append(errs, field.Forbidden(spec.Child("providerID"), `node updates may not change providerID except from "" to valid`))
	}
	errs = append(errs, validateTaints(node.Spec.Taints)...)
	if node.Spec.DoNotUseExternalID != old.Spec.DoNotUseExternalID {
		errs = append(errs, field.Forbidden(spec.Child("externalID"), "may not be updated"))
	}
	return errs
}

// validateTaints reports taints under metadata, as Kubernetes does.
func validateTaints(taints []corev1.Taint) field.ErrorList {
	type identity struct {
		key    string
		effect corev1.TaintEffect
	}
	var errs field.ErrorList
	seen := map[identity]bool{}
	for i, taint := range taints {
		path := field.NewPath("metadata", "taints").Index(i)
		errs = append(errs, unversionedvalidation.ValidateLabelName(taint.Key, path.Child("key"))...)
		if messages := validation.IsValidLabelValue(taint.Value); len(messages) > 0 {
			errs = append(errs, field.Invalid(path.Child("value"), taint.Value, strings.Join(messages, ";")))
		}
		errs = append(errs, validateEffect(taint.Effect, path.Child("effect"))...)
		id := identity{taint.Key, taint.Effect}
		if seen[id] {
			// Printed under the names of the Go fields, as Kubernetes prints it.
			twice := field.Duplicate(path, struct {
				Key, Value string
				Effect     corev1.TaintEffect
				TimeAdded  *metav1.Time
			}{taint.Key, taint.Value, taint.Effect, taint.TimeAdded})
			twice.Detail = "taints must be unique by key and effect pair"
			errs = append(errs, twice)
		}
		seen[id] = true
	}
	return errs
}

func validateEffect(effect corev1.TaintEffect, path *field.Path) field.ErrorList {
	known := []corev1.TaintEffect{corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute}
	switch {
	case effect == "":
		return field.ErrorList{field.Required(path, "")}
	case !slices.Contains(known, effect):
		return field.ErrorList{field.NotSupported(path, effect, known)}
	}
	return nil
}

func validateQuantities(node *corev1.Node) field.ErrorList {
	var errs field.ErrorList
	for _, list := range []struct {
		name       string
		quantities corev1.ResourceList
	}{{"capacity", node.Status.Capacity}, {"allocatable", node.Status.Allocatable}} {
		for _, name := range slices.Sorted(maps.Keys(list.quantities)) {
			quantity, path := list.quantities[name], field.NewPath("status", list.name, string(name))
			if quantity.Sign() < 0 {
				errs = append(errs, field.Invalid(path, quantity.String(), apivalidation.IsNegativeErrorMsg))
			}
			if isCounted(name) && quantity.MilliValue()%1000 != 0 {
				errs = append(errs, field.Invalid(path, quantity, "must be an integer"))
			}
		}
	}
	return errs
}

// isCounted reports whether a resource comes in whole pieces: pods, and what nodes offer under domains of their own.
func isCounted(name corev1.ResourceName) bool {
	text := string(name)
	extended := strings.Contains(text, "/") && !strings.Contains(text, "kubernetes.io/") && !strings.HasPrefix(text, corev1.DefaultResourceRequestsPrefix)
	return name == corev1.ResourcePods || extended
}

// validatePodCIDRs asks for valid networks, at most one of each IP family.
func validatePodCIDRs(cidrs []string) field.ErrorList {
	var errs field.ErrorList
	path := field.NewPath("spec", "podCIDRs")
	families := map[bool]int{}
	for i, cidr := range cidrs {
		prefix, err := netip.ParsePrefix(cidr)
		if err != nil {
			errs = append(errs, field.Invalid(path.Index(i), cidr, "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"))
			continue
		}
		families[prefix.Addr().Is6()]++
	}
	if families[true] > 1 || families[false] > 1 {
		errs = append(errs, field.Invalid(path, cidrs, "may specify no more than one CIDR for each IP family"))
	}
	return errs
}
