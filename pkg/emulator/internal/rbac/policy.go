package rbac

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// ErrUnknownKind is returned, wrapped, for a binding to what is neither a Role nor a ClusterRole.
var ErrUnknownKind = errors.New("unsupported role reference kind")

// Objects are all the roles and bindings that there are.
type Objects struct {
	Roles               []*rbacv1.Role
	RoleBindings        []*rbacv1.RoleBinding
	ClusterRoles        []*rbacv1.ClusterRole
	ClusterRoleBindings []*rbacv1.ClusterRoleBinding
}

// Policy is what roles and bindings say at one moment. It never changes, so many may ask it at once.
type Policy struct {
	roles               map[namespaced][]rbacv1.PolicyRule
	clusterRoles        map[string][]rbacv1.PolicyRule
	clusterRoleBindings []*rbacv1.ClusterRoleBinding
	// roleBindings are the bindings by their namespace.
	roleBindings map[string][]*rbacv1.RoleBinding
}

type namespaced struct{ namespace, name string }

// NewPolicy returns the policy of objects, which must not change any more. Bindings are asked in the order of their
// names, those of the cluster first.
func NewPolicy(objects Objects) *Policy {
	p := &Policy{
		roles:               make(map[namespaced][]rbacv1.PolicyRule, len(objects.Roles)),
		clusterRoles:        make(map[string][]rbacv1.PolicyRule, len(objects.ClusterRoles)),
		clusterRoleBindings: slices.Clone(objects.ClusterRoleBindings),
		roleBindings:        map[string][]*rbacv1.RoleBinding{},
	}
	for _, role := range objects.Roles {
		p.roles[namespaced{role.Namespace, role.Name}] = role.Rules
	}
	for _, role := range objects.ClusterRoles {
		p.clusterRoles[role.Name] = role.Rules
	}
	for _, binding := range objects.RoleBindings {
		p.roleBindings[binding.Namespace] = append(p.roleBindings[binding.Namespace], binding)
	}
	slices.SortFunc(p.clusterRoleBindings, func(a, b *rbacv1.ClusterRoleBinding) int { return cmp.Compare(a.Name, b.Name) })
	for _, bindings := range p.roleBindings {
		slices.SortFunc(bindings, func(a, b *rbacv1.RoleBinding) int { return cmp.Compare(a.Name, b.Name) })
	}
	return p
}

// grant is what one binding gives to somebody.
type grant struct {
	rules  []rbacv1.PolicyRule
	err    error
	source func() string
}

// grants returns what the bindings give to who in a namespace; empty is for what lies outside any.
func (p *Policy) grants(who user.Info, namespace string) iter.Seq[grant] {
	return func(yield func(grant) bool) {
		for _, binding := range p.clusterRoleBindings {
			subject := subjectOf(binding.Subjects, who, "")
			if subject == nil {
				continue
			}
			rules, err := p.RulesOf(binding.RoleRef, "")
			if !yield(grant{rules, err, func() string {
				return source("ClusterRoleBinding", binding.Name, binding.RoleRef, describe(subject, ""))
			}}) {
				return
			}
		}
		if namespace == "" {
			return
		}
		for _, binding := range p.roleBindings[namespace] {
			subject := subjectOf(binding.Subjects, who, namespace)
			if subject == nil {
				continue
			}
			rules, err := p.RulesOf(binding.RoleRef, namespace)
			if !yield(grant{rules, err, func() string {
				return source("RoleBinding", binding.Name+"/"+binding.Namespace, binding.RoleRef, describe(subject, binding.Namespace))
			}}) {
				return
			}
		}
	}
}

func source(kind, name string, role rbacv1.RoleRef, subject string) string {
	return kind + " " + quote(name) + " of " + role.Kind + " " + quote(role.Name) + " to " + subject
}

// RulesOf returns the rules of the role that a binding in a namespace refers to; empty is for ClusterRoleBindings. The
// error for a role that is not there is an apierrors.IsNotFound, that for a kind that cannot be bound an ErrUnknownKind.
func (p *Policy) RulesOf(role rbacv1.RoleRef, namespace string) ([]rbacv1.PolicyRule, error) {
	switch role.Kind {
	case "Role":
		if rules, ok := p.roles[namespaced{namespace, role.Name}]; ok {
			return rules, nil
		}
		return nil, apierrors.NewNotFound(rbacv1.Resource("role"), role.Name)
	case "ClusterRole":
		if rules, ok := p.clusterRoles[role.Name]; ok {
			return rules, nil
		}
		return nil, apierrors.NewNotFound(rbacv1.Resource("clusterrole"), role.Name)
	}
	return nil, fmt.Errorf("%w: %q", ErrUnknownKind, role.Kind)
}

// Authorize decides on a request, with the reason: the binding that allows it, or the roles that are bound but were
// not found. What is not allowed is for others to decide.
func (p *Policy) Authorize(request authorizer.Attributes) (authorizer.Decision, string) {
	var errs []error
	for grant := range p.grants(request.GetUser(), request.GetNamespace()) {
		if grant.err != nil {
			errs = append(errs, grant.err)
		}
		for i := range grant.rules {
			if Allows(&grant.rules[i], request) {
				return authorizer.DecisionAllow, "RBAC: allowed by " + grant.source()
			}
		}
	}
	if len(errs) > 0 {
		return authorizer.DecisionNoOpinion, fmt.Sprintf("RBAC: %v", utilerrors.NewAggregate(errs))
	}
	return authorizer.DecisionNoOpinion, ""
}

// Rules returns what who may do in a namespace. An error speaks of roles that are bound but were not found; the rules
// are right all the same.
func (p *Policy) Rules(who user.Info, namespace string) ([]rbacv1.PolicyRule, error) {
	var rules []rbacv1.PolicyRule
	var errs []error
	for grant := range p.grants(who, namespace) {
		rules = append(rules, grant.rules...)
		if grant.err != nil {
			errs = append(errs, grant.err)
		}
	}
	return rules, utilerrors.NewAggregate(errs)
}

// quote is the %q of fmt, which takes several times as long.
func quote(text string) string { return strconv.Quote(text) }
