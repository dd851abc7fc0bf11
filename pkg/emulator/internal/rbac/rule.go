package rbac

import (
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// Allows tells whether a rule allows a request.
func Allows(rule *rbacv1.PolicyRule, request authorizer.Attributes) bool {
	if !anyOr(rule.Verbs, rbacv1.VerbAll, request.GetVerb()) {
		return false
	}
	if !request.IsResourceRequest() {
		return slices.ContainsFunc(rule.NonResourceURLs, func(pattern string) bool { return matchesPath(pattern, request.GetPath()) })
	}
	return anyOr(rule.APIGroups, rbacv1.APIGroupAll, request.GetAPIGroup()) &&
		slices.ContainsFunc(rule.Resources, func(pattern string) bool {
			return matchesResource(pattern, request.GetResource(), request.GetSubresource())
		}) &&
		(len(rule.ResourceNames) == 0 || slices.Contains(rule.ResourceNames, request.GetName()))
}

// anyOr tells whether list has the wildcard or the value.
func anyOr(list []string, wildcard, value string) bool {
	return slices.ContainsFunc(list, func(item string) bool { return item == wildcard || item == value })
}

// matchesResource tells whether pattern covers a resource: it is the resource's name, followed by a slash and that of the
// subresource if there is one; "*/" and the subresource, for those of all resources; or "*", for everything.
func matchesResource(pattern, resource, subresource string) bool {
	if pattern == rbacv1.ResourceAll {
		return true
	}
	name, sub, parted := strings.Cut(pattern, "/")
	if subresource == "" {
		return pattern == resource
	}
	return parted && sub == subresource && (name == resource || name == "*")
}

// matchesPath tells whether pattern covers a URL: the same, or what begins with it up to its final star.
func matchesPath(pattern, path string) bool {
	prefix, open := strings.CutSuffix(pattern, "*")
	return pattern == path || open && strings.HasPrefix(path, strings.TrimRight(prefix, "*"))
}
