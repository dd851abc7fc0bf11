package resource

import (
	"context"
	"errors"

	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/musterkube/muster/pkg/emulator/internal/rbac"
	"github.com/musterkube/muster/pkg/emulator/internal/satoken"
)

// Access is what kinds need that are about who may do what. The zero value, of registries without a server, has no
// answers.
type Access struct {
	// Authorizer decides who may do what.
	Authorizer authorizer.Authorizer
	// Rules lists what somebody may do.
	Rules authorizer.RuleResolver
	// Policy returns what roles and bindings say now.
	Policy func(context.Context) (*rbac.Policy, error)
	// Tokens knows whose a token is.
	Tokens authenticator.Token
	// Issuer makes tokens of ServiceAccounts. Without it there are none.
	Issuer *satoken.Issuer
	// KeepAggregated leaves the rules of aggregated ClusterRoles as they were written.
	KeepAggregated bool
}

// errNoServer is the answer to questions that only a server can answer.
var errNoServer = errors.New("there is no server to ask")

// nobody is an access without answers.
type nobody struct{ authorizer.AuthorizerFunc }

// AuthenticateToken implements authenticator.Token.
func (nobody) AuthenticateToken(context.Context, string) (*authenticator.Response, bool, error) {
	return nil, false, errNoServer
}

// RulesFor implements authorizer.RuleResolver.
func (nobody) RulesFor(context.Context, user.Info, string) ([]authorizer.ResourceRuleInfo, []authorizer.NonResourceRuleInfo, bool, error) {
	return nil, nil, true, errNoServer
}

// Complete fills in what is missing.
func (a Access) Complete() Access {
	none := nobody{func(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
		return authorizer.DecisionNoOpinion, "", errNoServer
	}}
	if a.Authorizer == nil {
		a.Authorizer = none
	}
	if a.Rules == nil {
		a.Rules = none
	}
	if a.Tokens == nil {
		a.Tokens = none
	}
	if a.Policy == nil {
		a.Policy = func(context.Context) (*rbac.Policy, error) { return nil, errNoServer }
	}
	return a
}
