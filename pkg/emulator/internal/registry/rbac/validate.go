package rbac

import (
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	unversionedvalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/musterkube/muster/pkg/core"
)

// nameIsPathSegment lets everything pass that can stand in a URL: names of roles have colons, for one.
func nameIsPathSegment(name string, _ bool) []string { return content.IsPathSegmentName(name) }

func validateRole(role *rbacv1.Role) field.ErrorList {
	errs := core.ValidateObjectMeta(&role.ObjectMeta, true, nameIsPathSegment, metadata)
	for i, rule := range role.Rules {
		errs = append(errs, validateRule(rule, true, field.NewPath("rules").Index(i))...)
	}
	return errs
}

func validateClusterRole(role *rbacv1.ClusterRole, lenient bool) field.ErrorList {
	errs := core.ValidateObjectMeta(&role.ObjectMeta, false, nameIsPathSegment, metadata)
	for i, rule := range role.Rules {
		errs = append(errs, validateRule(rule, false, field.NewPath("rules").Index(i))...)
	}
	path := field.NewPath("aggregationRule", "clusterRoleSelectors")
	if role.AggregationRule != nil && len(role.AggregationRule.ClusterRoleSelectors) == 0 {
		errs = append(errs, field.Required(path, "at least one clusterRoleSelector required if aggregationRule is non-nil"))
	}
	return append(errs, validateSelectors(role.AggregationRule, lenient)...)
}

// validateSelectors checks which roles are aggregated. Lenient lets invalid values of labels pass.
func validateSelectors(rule *rbacv1.AggregationRule, lenient bool) field.ErrorList {
	if rule == nil {
		return nil
	}
	var errs field.ErrorList
	options := unversionedvalidation.LabelSelectorValidationOptions{AllowInvalidLabelValueInSelector: lenient}
	for i := range rule.ClusterRoleSelectors {
		selector := &rule.ClusterRoleSelectors[i]
		path := field.NewPath("aggregationRule", "clusterRoleSelectors").Index(i)
		errs = append(errs, unversionedvalidation.ValidateLabelSelector(selector, options, path)...)
		if _, err := metav1.LabelSelectorAsSelector(selector); err != nil {
			// The value is the selector that could not be made: Kubernetes prints none.
			errs = append(errs, field.Invalid(path, labels.Selector(nil), "invalid label selector."))
		}
	}
	return errs
}

func validateRule(rule rbacv1.PolicyRule, inNamespace bool, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(rule.Verbs) == 0 {
		errs = append(errs, field.Required(path.Child("verbs"), "verbs must contain at least one value"))
	}
	if len(rule.NonResourceURLs) > 0 {
		urls := path.Child("nonResourceURLs")
		if inNamespace {
			errs = append(errs, field.Invalid(urls, rule.NonResourceURLs, "namespaced rules cannot apply to non-resource URLs"))
		}
		if len(rule.APIGroups) > 0 || len(rule.Resources) > 0 || len(rule.ResourceNames) > 0 {
			errs = append(errs, field.Invalid(urls, rule.NonResourceURLs, "rules cannot apply to both regular resources and non-resource URLs"))
		}
		return errs
	}
	if len(rule.APIGroups) == 0 {
		errs = append(errs, field.Required(path.Child("apiGroups"), "resource rules must supply at least one api group"))
	}
	if len(rule.Resources) == 0 {
		errs = append(errs, field.Required(path.Child("resources"), "resource rules must supply at least one resource"))
	}
	return errs
}

// validateBinding checks a binding of either kind.
func validateBinding(meta *metav1.ObjectMeta, role rbacv1.RoleRef, subjects []rbacv1.Subject, inNamespace bool) field.ErrorList {
	errs := core.ValidateObjectMeta(meta, inNamespace, nameIsPathSegment, metadata)
	path := field.NewPath("roleRef")
	if role.APIGroup != rbacv1.GroupName {
		errs = append(errs, field.NotSupported(path.Child("apiGroup"), role.APIGroup, []string{rbacv1.GroupName}))
	}
	kinds := []string{"ClusterRole"}
	if inNamespace {
		kinds = []string{"Role", "ClusterRole"}
	}
	if !slices.Contains(kinds, role.Kind) {
		errs = append(errs, field.NotSupported(path.Child("kind"), role.Kind, kinds))
	}
	if role.Name == "" {
		errs = append(errs, field.Required(path.Child("name"), ""))
	} else {
		for _, message := range content.IsPathSegmentName(role.Name) {
			errs = append(errs, field.Invalid(path.Child("name"), role.Name, message))
		}
	}
	for i, subject := range subjects {
		errs = append(errs, validateSubject(subject, inNamespace, field.NewPath("subjects").Index(i))...)
	}
	return errs
}

func validateSubject(subject rbacv1.Subject, inNamespace bool, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if subject.Name == "" {
		errs = append(errs, field.Required(path.Child("name"), ""))
	}
	group := path.Child("apiGroup")
	switch subject.Kind {
	case rbacv1.ServiceAccountKind:
		if subject.Name != "" {
			for _, message := range apivalidation.ValidateServiceAccountName(subject.Name, false) {
				errs = append(errs, field.Invalid(path.Child("name"), subject.Name, message))
			}
		}
		if subject.APIGroup != "" {
			errs = append(errs, field.NotSupported(group, subject.APIGroup, []string{""}))
		}
		if !inNamespace && subject.Namespace == "" {
			errs = append(errs, field.Required(path.Child("namespace"), ""))
		}
	case rbacv1.UserKind, rbacv1.GroupKind:
		if subject.APIGroup != rbacv1.GroupName {
			errs = append(errs, field.NotSupported(group, subject.APIGroup, []string{rbacv1.GroupName}))
		}
	default:
		errs = append(errs, field.NotSupported(path.Child("kind"), subject.Kind,
			[]string{rbacv1.ServiceAccountKind, rbacv1.UserKind, rbacv1.GroupKind}))
	}
	return errs
}

// roleRef prints as the internal type of Kubernetes does, which shows in messages.
type roleRef struct{ APIGroup, Kind, Name string }

// validateSameRole refuses to point a binding at another role: whoever may do so would have to be asked anew.
func validateSameRole(changed, stored rbacv1.RoleRef) field.ErrorList {
	if changed == stored {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("roleRef"), roleRef{changed.APIGroup, changed.Kind, changed.Name}, "cannot change roleRef")}
}
