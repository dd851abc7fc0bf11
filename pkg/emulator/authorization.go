package emulator

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// authorize lets system:masters do everything, everybody ask for health and version, and the authenticated read what
// the server offers: what a cluster with RBAC and no bindings beyond the built-in ones allows. Other users than
// the administrator exist only by impersonation. Role objects are not evaluated.
func authorize(_ context.Context, attributes authorizer.Attributes) (authorizer.Decision, string, error) {
	groups := attributes.GetUser().GetGroups()
	switch {
	case slices.Contains(groups, user.SystemPrivilegedGroup):
		return authorizer.DecisionAllow, "", nil
	case attributes.IsResourceRequest() || attributes.GetVerb() != "get":
		return authorizer.DecisionNoOpinion, "", nil
	case isPublic(attributes.GetPath()):
		return authorizer.DecisionAllow, "", nil
	case slices.Contains(groups, user.AllAuthenticated) && isDiscovery(attributes.GetPath()):
		return authorizer.DecisionAllow, "", nil
	}
	return authorizer.DecisionNoOpinion, "", nil
}

// isPublic tells the paths of the role system:public-info-viewer.
func isPublic(path string) bool {
	return slices.Contains([]string{"/healthz", "/livez", "/readyz", "/version", "/version/"}, path)
}

// isDiscovery tells the paths of the role system:discovery.
func isDiscovery(path string) bool {
	root, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return slices.Contains([]string{"api", "apis", "openapi"}, root)
}
