package bootstrap_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/musterkube/muster/pkg/emulator/internal/rbac"
	"github.com/musterkube/muster/pkg/emulator/internal/rbac/bootstrap"
)

func TestPolicyIsWhole(t *testing.T) {
	objects, err := bootstrap.Policy()
	require.NoError(t, err)
	assert.Len(t, objects.ClusterRoles, 70)
	assert.Len(t, objects.ClusterRoleBindings, 51)
	assert.Len(t, objects.Roles, 7)
	assert.Len(t, objects.RoleBindings, 7)
	policy := rbac.NewPolicy(objects)
	for _, role := range objects.ClusterRoles {
		assert.NotEmpty(t, role.Rules, role.Name)
		assert.Equal(t, "rbac-defaults", role.Labels["kubernetes.io/bootstrapping"])
		assert.Equal(t, "true", role.Annotations[rbacv1.AutoUpdateAnnotationKey])
	}
	for _, binding := range objects.ClusterRoleBindings {
		_, err := policy.RulesOf(binding.RoleRef, "")
		require.NoError(t, err, binding.Name)
	}
	for _, binding := range objects.RoleBindings {
		_, err := policy.RulesOf(binding.RoleRef, binding.Namespace)
		require.NoError(t, err, binding.Name)
	}
	assert.Empty(t, rbac.Aggregate(objects.ClusterRoles), "all is in line from the start")
}

func TestWhatTheRolesGrant(t *testing.T) {
	objects, err := bootstrap.Policy()
	require.NoError(t, err)
	for name, tc := range map[string]struct {
		role                  string
		verb, group, resource string
		want                  bool
	}{
		"view reads pods":               {"view", "get", "", "pods", true},
		"view reads workloads":          {"view", "list", "scheduling.k8s.io", "workloads", true},
		"view reads no secrets":         {"view", "get", "", "secrets", false},
		"view writes nothing":           {"view", "create", "", "pods", false},
		"edit reads secrets":            {"edit", "get", "", "secrets", true},
		"edit writes jobs":              {"edit", "create", "batch", "jobs", true},
		"edit has what view has":        {"edit", "watch", "", "namespaces", true},
		"edit writes no roles":          {"edit", "create", rbacv1.GroupName, "roles", false},
		"admin writes roles":            {"admin", "create", rbacv1.GroupName, "roles", true},
		"admin has what edit has":       {"admin", "create", "batch", "jobs", true},
		"admin has no nodes":            {"admin", "get", "", "nodes", false},
		"cluster-admin has all":         {"cluster-admin", "delete", "x", "y", true},
		"the job controller's own role": {"system:controller:job-controller", "create", "scheduling.k8s.io", "podgroups", true},
	} {
		t.Run(name, func(t *testing.T) {
			policy := rbac.NewPolicy(rbac.Objects{ClusterRoles: objects.ClusterRoles, ClusterRoleBindings: []*rbacv1.ClusterRoleBinding{{
				RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: tc.role}, Subjects: []rbacv1.Subject{{Kind: "User", Name: "u"}},
			}}})
			decision, _ := policy.Authorize(authorizer.AttributesRecord{
				User: &user.DefaultInfo{Name: "u"}, Verb: tc.verb, APIGroup: tc.group, Resource: tc.resource, ResourceRequest: true,
			})
			assert.Equal(t, tc.want, decision == authorizer.DecisionAllow)
		})
	}
}
