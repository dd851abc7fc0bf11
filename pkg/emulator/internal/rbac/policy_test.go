package rbac

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

func meta(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name}
}

func makeRule(resource string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{resource}}
}

func ref(kind, name string) rbacv1.RoleRef {
	return rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: kind, Name: name}
}

// objects has a role in one namespace, one of the same name in another, and a role of the cluster that is bound in each
// way.
func objects() Objects {
	return Objects{
		Roles: []*rbacv1.Role{
			{ObjectMeta: meta("a", "reader"), Rules: []rbacv1.PolicyRule{makeRule("pods")}},
			{ObjectMeta: meta("b", "reader"), Rules: []rbacv1.PolicyRule{makeRule("secrets")}},
		},
		ClusterRoles: []*rbacv1.ClusterRole{
			{ObjectMeta: meta("", "nodes"), Rules: []rbacv1.PolicyRule{makeRule("nodes")}},
			{ObjectMeta: meta("", "maps"), Rules: []rbacv1.PolicyRule{makeRule("configmaps")}},
		},
		RoleBindings: []*rbacv1.RoleBinding{
			{ObjectMeta: meta("a", "z-reader"), RoleRef: ref("Role", "reader"), Subjects: []rbacv1.Subject{
				{Kind: "User", Name: "ann"}, {Kind: "ServiceAccount", Name: "bot"}, {Kind: "ServiceAccount", Name: "far", Namespace: "b"},
			}},
			{ObjectMeta: meta("a", "maps"), RoleRef: ref("ClusterRole", "maps"), Subjects: []rbacv1.Subject{{Kind: "Group", Name: "team"}}},
			{ObjectMeta: meta("a", "broken"), RoleRef: ref("Role", "nope"), Subjects: []rbacv1.Subject{{Kind: "User", Name: "unlucky"}}},
		},
		ClusterRoleBindings: []*rbacv1.ClusterRoleBinding{
			{ObjectMeta: meta("", "nodes"), RoleRef: ref("ClusterRole", "nodes"), Subjects: []rbacv1.Subject{
				{Kind: "Group", Name: "team"}, {Kind: "ServiceAccount", Name: "bot"}, {Kind: "ServiceAccount", Name: "bot", Namespace: "b"},
			}},
			{ObjectMeta: meta("", "broken"), RoleRef: ref("ClusterRole", "nope"), Subjects: []rbacv1.Subject{{Kind: "User", Name: "unlucky"}}},
		},
	}
}

func TestAuthorize(t *testing.T) {
	account := func(namespace, name string) user.Info {
		return &user.DefaultInfo{Name: "system:serviceaccount:" + namespace + ":" + name}
	}
	ann, team := &user.DefaultInfo{Name: "ann"}, &user.DefaultInfo{Name: "tim", Groups: []string{"other", "team"}}
	unlucky := &user.DefaultInfo{Name: "unlucky"}
	for name, tc := range map[string]struct {
		who                 user.Info
		namespace, resource string
		want                bool
		reason              string
	}{
		"a user in a namespace": {ann, "a", "pods", true, `RBAC: allowed by RoleBinding "z-reader/a" of Role "reader" to User "ann"`},
		"not in another":        {ann, "b", "pods", false, ""},
		"not across all":        {ann, "", "pods", false, ""},
		"not another resource":  {ann, "a", "secrets", false, ""},
		"an account of the binding's namespace": {
			account("a", "bot"), "a", "pods", true, `RBAC: allowed by RoleBinding "z-reader/a" of Role "reader" to ServiceAccount "bot/a"`,
		},
		"an account of another namespace": {
			account("b", "far"), "a", "pods", true, `RBAC: allowed by RoleBinding "z-reader/a" of Role "reader" to ServiceAccount "far/b"`,
		},
		"not its namesake": {account("a", "far"), "a", "pods", false, ""},
		"a group":          {team, "a", "configmaps", true, `RBAC: allowed by RoleBinding "maps/a" of ClusterRole "maps" to Group "team"`},
		"a cluster role that is bound in a namespace holds there only": {team, "b", "configmaps", false, ""},
		"one that is bound for the cluster":                            {team, "", "nodes", true, `RBAC: allowed by ClusterRoleBinding "nodes" of ClusterRole "nodes" to Group "team"`},
		"that holds in each namespace":                                 {team, "b", "nodes", true, `RBAC: allowed by ClusterRoleBinding "nodes" of ClusterRole "nodes" to Group "team"`},
		"an account without a namespace is nobody to the cluster":      {account("a", "bot"), "", "nodes", false, ""},
		"an account with one": {
			account("b", "bot"), "", "nodes", true, `RBAC: allowed by ClusterRoleBinding "nodes" of ClusterRole "nodes" to ServiceAccount "bot/b"`,
		},
		"a role that is not there": {unlucky, "", "nodes", false, `RBAC: clusterrole.rbac.authorization.k8s.io "nope" not found`},
		"two roles that are not there": {
			unlucky, "a", "pods", false,
			`RBAC: [clusterrole.rbac.authorization.k8s.io "nope" not found, role.rbac.authorization.k8s.io "nope" not found]`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			decision, reason := NewPolicy(objects()).Authorize(authorizer.AttributesRecord{
				User: tc.who, Verb: "get", Namespace: tc.namespace, Resource: tc.resource, ResourceRequest: true,
			})
			assert.Equal(t, tc.want, decision == authorizer.DecisionAllow)
			assert.NotEqual(t, authorizer.DecisionDeny, decision, "RBAC has no way to deny")
			assert.Equal(t, tc.reason, reason)
		})
	}
}

func TestRules(t *testing.T) {
	team := &user.DefaultInfo{Name: "tim", Groups: []string{"team"}}
	rules, err := NewPolicy(objects()).Rules(team, "a")
	require.NoError(t, err)
	assert.Equal(t, []rbacv1.PolicyRule{makeRule("nodes"), makeRule("configmaps")}, rules)
	_, err = NewPolicy(objects()).Rules(&user.DefaultInfo{Name: "unlucky"}, "a")
	assert.EqualError(t, err, `[clusterrole.rbac.authorization.k8s.io "nope" not found, role.rbac.authorization.k8s.io "nope" not found]`)
}

func TestRulesOf(t *testing.T) {
	policy := NewPolicy(objects())
	rules, err := policy.RulesOf(ref("Role", "reader"), "b")
	require.NoError(t, err)
	assert.Equal(t, []rbacv1.PolicyRule{makeRule("secrets")}, rules)
	_, err = policy.RulesOf(ref("Role", "reader"), "c")
	assert.True(t, apierrors.IsNotFound(err), "%v", err)
	_, err = policy.RulesOf(ref("Pope", "reader"), "b")
	require.ErrorIs(t, err, ErrUnknownKind)
	assert.EqualError(t, err, `unsupported role reference kind: "Pope"`)
}

func TestCheckEscalation(t *testing.T) {
	policy := NewPolicy(objects())
	team := &user.DefaultInfo{Name: "tim", Groups: []string{"team"}}
	held := []rbacv1.PolicyRule{makeRule("nodes"), makeRule("configmaps")}
	require.NoError(t, policy.CheckEscalation(team, "a", held))
	require.EqualError(t, policy.CheckEscalation(team, "", held),
		"user \"tim\" (groups=[\"team\"]) is attempting to grant RBAC permissions not currently held:\n"+
			"{APIGroups:[\"\"], Resources:[\"configmaps\"], Verbs:[\"get\"]}")
	require.EqualError(t, policy.CheckEscalation(team, "", []rbacv1.PolicyRule{
		{Verbs: []string{"get", "list"}, APIGroups: []string{""}, Resources: []string{"secrets", "nodes"}},
		{Verbs: []string{"get"}, APIGroups: []string{"apps"}, Resources: []string{"*"}, ResourceNames: []string{"a"}},
		{Verbs: []string{"get"}, NonResourceURLs: []string{"/x"}},
	}), "user \"tim\" (groups=[\"team\"]) is attempting to grant RBAC permissions not currently held:\n"+
		"{APIGroups:[\"\"], Resources:[\"nodes\"], Verbs:[\"list\"]}\n"+
		"{APIGroups:[\"\"], Resources:[\"secrets\"], Verbs:[\"get\" \"list\"]}\n"+
		"{APIGroups:[\"apps\"], Resources:[\"*\"], ResourceNames:[\"a\"], Verbs:[\"get\"]}\n"+
		"{NonResourceURLs:[\"/x\"], Verbs:[\"get\"]}")
	require.ErrorContains(t, policy.CheckEscalation(&user.DefaultInfo{Name: "unlucky"}, "", held),
		`; resolution errors: [clusterrole.rbac.authorization.k8s.io "nope" not found]`)
}
