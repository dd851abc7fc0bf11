package rbac

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/component-helpers/auth/rbac/validation"
)

// CheckEscalation returns an error unless who may do, in a namespace, all that rules allow: nobody can hand on what they
// do not have. The error says what is missing.
func (p *Policy) CheckEscalation(who user.Info, namespace string, rules []rbacv1.PolicyRule) error {
	held, heldErr := p.Rules(who, namespace)
	covered, missing := validation.Covers(held, rules)
	if covered {
		return nil
	}
	var described []string
	for _, rule := range compact(missing) {
		described = append(described, describeRule(rule))
	}
	slices.Sort(described)
	message := fmt.Sprintf("user %q (groups=%q) is attempting to grant RBAC permissions not currently held:\n%s",
		who.GetName(), who.GetGroups(), strings.Join(slices.Compact(described), "\n"))
	if heldErr != nil {
		message += fmt.Sprintf("; resolution errors: %v", []error{heldErr})
	}
	return errors.New(message)
}

// compact joins rules that differ in their verbs only, which are what Covers takes rules apart into.
func compact(rules []rbacv1.PolicyRule) []rbacv1.PolicyRule {
	var joined []rbacv1.PolicyRule
	index := map[string]int{}
	for _, rule := range rules {
		if len(rule.NonResourceURLs) > 0 {
			joined = append(joined, rule)
			continue
		}
		key := fmt.Sprintf("%q %q %q", rule.APIGroups, rule.Resources, rule.ResourceNames)
		if at, ok := index[key]; ok {
			joined[at].Verbs = append(slices.Clip(joined[at].Verbs), rule.Verbs...)
			continue
		}
		index[key] = len(joined)
		joined = append(joined, rule)
	}
	return joined
}

// describeRule prints what a rule has, in the form of Kubernetes' messages.
func describeRule(rule rbacv1.PolicyRule) string {
	var parts []string
	for _, part := range []struct {
		name   string
		values []string
	}{
		{"APIGroups", rule.APIGroups}, {"Resources", rule.Resources}, {"NonResourceURLs", rule.NonResourceURLs},
		{"ResourceNames", rule.ResourceNames}, {"Verbs", rule.Verbs},
	} {
		if len(part.values) > 0 {
			parts = append(parts, fmt.Sprintf("%s:%q", part.name, part.values))
		}
	}
	return "{" + strings.Join(parts, ", ") + "}"
}
