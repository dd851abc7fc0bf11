package access

import (
	"context"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// Authorizer decides on requests, and lists what somebody may do.
type Authorizer struct {
	authorizer.AuthorizerFunc
	authorizer.RuleResolver
}

var (
	_ authorizer.Authorizer   = Authorizer{}
	_ authorizer.RuleResolver = Authorizer{}
)

// NewRBAC returns an authorizer by the roles and bindings of source. The group system:masters may do everything,
// whatever they say.
func NewRBAC(source *Source) Authorizer {
	a := byRoles{source}
	return Authorizer{a.authorize, a}
}

type byRoles struct{ source *Source }

func (a byRoles) authorize(ctx context.Context, request authorizer.Attributes) (authorizer.Decision, string, error) {
	if privileged(request.GetUser()) {
		return authorizer.DecisionAllow, "", nil
	}
	policy, err := a.source.Policy(ctx)
	if err != nil {
		return authorizer.DecisionNoOpinion, "", err
	}
	decision, reason := policy.Authorize(request)
	return decision, reason, nil
}

// RulesFor implements authorizer.RuleResolver.
func (a byRoles) RulesFor(ctx context.Context, who user.Info, namespace string) ([]authorizer.ResourceRuleInfo, []authorizer.NonResourceRuleInfo, bool, error) {
	policy, err := a.source.Policy(ctx)
	if err != nil {
		return nil, nil, true, err
	}
	rules, err := policy.Rules(who, namespace)
	resources, paths := split(rules)
	return resources, paths, false, err
}

// privileged tells who may do everything in any case.
func privileged(who user.Info) bool {
	return slices.Contains(who.GetGroups(), user.SystemPrivilegedGroup)
}

// split parts rules into those for resources and those for other URLs.
func split(rules []rbacv1.PolicyRule) (resources []authorizer.ResourceRuleInfo, paths []authorizer.NonResourceRuleInfo) {
	for _, rule := range rules {
		if len(rule.Resources) > 0 {
			resources = append(resources, &authorizer.DefaultResourceRuleInfo{
				Verbs: rule.Verbs, APIGroups: rule.APIGroups, Resources: rule.Resources, ResourceNames: rule.ResourceNames,
			})
		}
		if len(rule.NonResourceURLs) > 0 {
			paths = append(paths, &authorizer.DefaultNonResourceRuleInfo{Verbs: rule.Verbs, NonResourceURLs: rule.NonResourceURLs})
		}
	}
	return resources, paths
}
