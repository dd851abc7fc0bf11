package rbac

import (
	"cmp"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Aggregate returns the rules that aggregated ClusterRoles should have, by name, where they have others: those of all
// roles that one of their selectors selects, each once, in the order of the roles' names. Roles that aggregate may be
// aggregated in turn. A role whose selectors cannot be read keeps the rules that it has.
func Aggregate(roles []*rbacv1.ClusterRole) map[string][]rbacv1.PolicyRule {
	roles = slices.SortedFunc(slices.Values(roles), func(a, b *rbacv1.ClusterRole) int { return cmp.Compare(a.Name, b.Name) })
	current := make(map[string][]rbacv1.PolicyRule, len(roles))
	for _, role := range roles {
		current[role.Name] = role.Rules
	}
	changed := map[string][]rbacv1.PolicyRule{}
	// What one round changes may matter to another role in the next. Each round settles one more level of aggregation,
	// of which there are no more than roles; roles in a circle settle when each has the rules of all.
	for range roles {
		settled := true
		for _, role := range roles {
			selectors, ok := selectorsOf(role)
			if !ok {
				continue
			}
			rules := union(role, selectors, roles, current)
			if !equality.Semantic.DeepEqual(rules, current[role.Name]) {
				current[role.Name], changed[role.Name], settled = rules, rules, false
			}
		}
		if settled {
			break
		}
	}
	for _, role := range roles {
		if rules, ok := changed[role.Name]; ok && equality.Semantic.DeepEqual(rules, role.Rules) {
			delete(changed, role.Name)
		}
	}
	return changed
}

// selectorsOf returns the selectors of a role that aggregates others.
func selectorsOf(role *rbacv1.ClusterRole) ([]labels.Selector, bool) {
	if role.AggregationRule == nil {
		return nil, false
	}
	selectors := make([]labels.Selector, 0, len(role.AggregationRule.ClusterRoleSelectors))
	for i := range role.AggregationRule.ClusterRoleSelectors {
		selector, err := metav1.LabelSelectorAsSelector(&role.AggregationRule.ClusterRoleSelectors[i])
		if err != nil {
			return nil, false
		}
		selectors = append(selectors, selector)
	}
	return selectors, true
}

// union returns the rules of the roles that selectors select, role itself aside, each rule once.
func union(role *rbacv1.ClusterRole, selectors []labels.Selector, roles []*rbacv1.ClusterRole, current map[string][]rbacv1.PolicyRule) []rbacv1.PolicyRule {
	var rules []rbacv1.PolicyRule
	for _, selector := range selectors {
		for _, other := range roles {
			if other.Name == role.Name || !selector.Matches(labels.Set(other.Labels)) {
				continue
			}
			for _, rule := range current[other.Name] {
				if !slices.ContainsFunc(rules, func(known rbacv1.PolicyRule) bool { return equality.Semantic.DeepEqual(known, rule) }) {
					rules = append(rules, rule)
				}
			}
		}
	}
	return rules
}
