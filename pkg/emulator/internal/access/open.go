package access

import (
	"context"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/musterkube/muster/pkg/emulator/internal/rbac"
)

// NewOpen returns an authorizer without roles: whoever known knows, and the group system:masters, may do everything.
// Others may ask for health, for the version and, if they are authenticated, for what the server offers and for what they
// are and may do themselves.
func NewOpen(known func(user.Info) bool) Authorizer {
	a := open{known}
	return Authorizer{a.authorize, a}
}

type open struct{ known func(user.Info) bool }

// publicPaths and discoveryPaths are those of the roles system:public-info-viewer and system:discovery, the latter less
// what the former has.
var (
	publicPaths    = []string{"/healthz", "/livez", "/readyz", "/version", "/version/"}
	discoveryPaths = []string{"/api", "/api/*", "/apis", "/apis/*", "/openapi", "/openapi/*"}
)

// aboutThemselves are the rules of the role system:basic-user.
var aboutThemselves = []rbacv1.PolicyRule{
	{Verbs: []string{"create"}, APIGroups: []string{"authorization.k8s.io"}, Resources: []string{"selfsubjectaccessreviews", "selfsubjectrulesreviews"}},
	{Verbs: []string{"create"}, APIGroups: []string{"authentication.k8s.io"}, Resources: []string{"selfsubjectreviews"}},
}

// rules returns what somebody may do.
func (a open) rules(who user.Info) []rbacv1.PolicyRule {
	if privileged(who) || a.known(who) {
		return []rbacv1.PolicyRule{
			{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}},
			{Verbs: []string{"*"}, NonResourceURLs: []string{"*"}},
		}
	}
	rules := []rbacv1.PolicyRule{{Verbs: []string{"get"}, NonResourceURLs: publicPaths}}
	if slices.Contains(who.GetGroups(), user.AllAuthenticated) {
		rules = append(rules, rbacv1.PolicyRule{Verbs: []string{"get"}, NonResourceURLs: discoveryPaths})
		rules = append(rules, aboutThemselves...)
	}
	return rules
}

func (a open) authorize(_ context.Context, request authorizer.Attributes) (authorizer.Decision, string, error) {
	for _, rule := range a.rules(request.GetUser()) {
		if rbac.Allows(&rule, request) {
			return authorizer.DecisionAllow, "", nil
		}
	}
	return authorizer.DecisionNoOpinion, "", nil
}

// RulesFor implements authorizer.RuleResolver.
func (a open) RulesFor(_ context.Context, who user.Info, _ string) ([]authorizer.ResourceRuleInfo, []authorizer.NonResourceRuleInfo, bool, error) {
	resources, paths := split(a.rules(who))
	return resources, paths, false, nil
}
