package emulator_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	rbacv1apply "k8s.io/client-go/applyconfigurations/rbac/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/musterkube/muster/pkg/emulator"
)

const rbacPath = "/apis/rbac.authorization.k8s.io/v1/"

// send sends a body and returns the status of the answer.
func send(t *testing.T, config *rest.Config, method, path, body string) metav1.Status {
	t.Helper()
	header := http.Header{"Content-Type": {"application/json"}}
	_, _, answer := raw(t, config, method, path, body, header)
	var status metav1.Status
	require.NoError(t, json.Unmarshal([]byte(answer), &status), answer)
	return status
}

func TestRBACObjectsAreValidated(t *testing.T) {
	config := start(t, emulator.Options{}).Config()
	for name, tc := range map[string]struct{ path, body, want string }{
		"a role": {
			"namespaces/default/roles",
			`{"metadata":{"name":"z1"},"rules":[{},{"verbs":["get"],"nonResourceURLs":["/a"],"resources":["x"]},{"verbs":["a"],"apiGroups":["a"]}]}`,
			`Role.rbac.authorization.k8s.io "z1" is invalid: [rules[0].verbs: Required value: verbs must contain at least one value, ` +
				`rules[0].apiGroups: Required value: resource rules must supply at least one api group, ` +
				`rules[0].resources: Required value: resource rules must supply at least one resource, ` +
				`rules[1].nonResourceURLs: Invalid value: ["/a"]: namespaced rules cannot apply to non-resource URLs, ` +
				`rules[1].nonResourceURLs: Invalid value: ["/a"]: rules cannot apply to both regular resources and non-resource URLs, ` +
				`rules[2].resources: Required value: resource rules must supply at least one resource]`,
		},
		"a role of the cluster": {
			"clusterroles", `{"metadata":{"name":"z1"},"rules":[{"verbs":["get"],"nonResourceURLs":["/a"],"apiGroups":["x"]}],"aggregationRule":{"clusterRoleSelectors":[]}}`,
			`ClusterRole.rbac.authorization.k8s.io "z1" is invalid: [rules[0].nonResourceURLs: Invalid value: ["/a"]: ` +
				`rules cannot apply to both regular resources and non-resource URLs, aggregationRule.clusterRoleSelectors: ` +
				`Required value: at least one clusterRoleSelector required if aggregationRule is non-nil]`,
		},
		"what it aggregates": {
			"clusterroles", `{"metadata":{"name":"z1"},"aggregationRule":{"clusterRoleSelectors":[{"matchExpressions":[{"key":"a","operator":"In"}]}]}}`,
			`ClusterRole.rbac.authorization.k8s.io "z1" is invalid: [aggregationRule.clusterRoleSelectors[0].matchExpressions[0].values: Required value: ` +
				"must be specified when `operator` is 'In' or 'NotIn', aggregationRule.clusterRoleSelectors[0]: Invalid value: null: invalid label selector.]",
		},
		"a binding": {
			"namespaces/default/rolebindings",
			`{"metadata":{"name":"z1"},"roleRef":{"kind":"Foo","apiGroup":"x"},"subjects":[{},{"kind":"User"},{"kind":"ServiceAccount","name":"ok","apiGroup":"x"}]}`,
			`RoleBinding.rbac.authorization.k8s.io "z1" is invalid: [roleRef.apiGroup: Unsupported value: "x": supported values: "rbac.authorization.k8s.io", ` +
				`roleRef.kind: Unsupported value: "Foo": supported values: "Role", "ClusterRole", roleRef.name: Required value, ` +
				`subjects[0].name: Required value, subjects[0].kind: Unsupported value: "": supported values: "ServiceAccount", "User", "Group", ` +
				`subjects[1].name: Required value, subjects[2].apiGroup: Unsupported value: "x": supported values: ""]`,
		},
		"a binding of the cluster": {
			"clusterrolebindings",
			`{"metadata":{"name":"z%1"},"roleRef":{"kind":"Role","name":"a/b"},"subjects":[{"kind":"ServiceAccount","name":"a"},{"kind":"Group","name":"g","apiGroup":"y"}]}`,
			`ClusterRoleBinding.rbac.authorization.k8s.io "z%1" is invalid: [metadata.name: Invalid value: "z%1": may not contain '%', ` +
				`roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole", roleRef.name: Invalid value: "a/b": may not contain '/', ` +
				`subjects[0].namespace: Required value, subjects[1].apiGroup: Unsupported value: "y": supported values: "rbac.authorization.k8s.io"]`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tc.want, send(t, config, http.MethodPost, rbacPath+tc.path, tc.body).Message)
		})
	}
}

func TestBindingsKeepTheirRole(t *testing.T) {
	server := start(t, emulator.Options{})
	client := kube(t, server.Config())
	binding := &rbacv1.RoleBinding{ObjectMeta: objectMeta("b"), RoleRef: rbacv1.RoleRef{Kind: "Role", Name: "r"}, Subjects: []rbacv1.Subject{
		{Kind: "User", Name: "u"}, {Kind: "Group", Name: "g"}, {Kind: "ServiceAccount", Name: "s"},
	}}
	created, err := client.RbacV1().RoleBindings("default").Create(t.Context(), binding, metav1.CreateOptions{})
	require.NoError(t, err)
	assert.Equal(t, rbacv1.GroupName, created.RoleRef.APIGroup)
	assert.Equal(t, []string{rbacv1.GroupName, rbacv1.GroupName, ""},
		[]string{created.Subjects[0].APIGroup, created.Subjects[1].APIGroup, created.Subjects[2].APIGroup})

	created.RoleRef.Name = "other"
	_, err = client.RbacV1().RoleBindings("default").Update(t.Context(), created, metav1.UpdateOptions{})
	require.EqualError(t, err, `RoleBinding.rbac.authorization.k8s.io "b" is invalid: roleRef: Invalid value: `+
		`{"APIGroup":"rbac.authorization.k8s.io","Kind":"Role","Name":"other"}: cannot change roleRef`)

	status := send(t, server.Config(), http.MethodPut, rbacPath+"namespaces/default/roles/new", `{"metadata":{"name":"new"}}`)
	assert.Empty(t, status.Message, "a PUT may create")
	_, err = client.RbacV1().Roles("default").Get(t.Context(), "new", metav1.GetOptions{})
	require.NoError(t, err)
	_, err = client.RbacV1().Roles("default").Apply(t.Context(), rbacv1apply.Role("applied", "default").WithRules(
		rbacv1apply.PolicyRule().WithVerbs("get").WithAPIGroups("").WithResources("pods")), metav1.ApplyOptions{FieldManager: "m"})
	require.NoError(t, err)
}

func TestTablesOfRBAC(t *testing.T) {
	server := start(t, emulator.Options{})
	client := kube(t, server.Config())
	for kind, want := range map[string][]string{
		"roles":        {"Name", "Created At"},
		"clusterroles": {"Name", "Created At"},
		"rolebindings": {"Name", "Role", "Age", "Users", "Groups", "ServiceAccounts"}, "clusterrolebindings": {"Name", "Role", "Age", "Users", "Groups", "ServiceAccounts"},
	} {
		_, err := client.RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
			ObjectMeta: objectMeta("b-" + kind), RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: "r"},
			Subjects: []rbacv1.Subject{user("u"), user("v"), {Kind: "ServiceAccount", Namespace: "n", Name: "s"}},
		}, metav1.CreateOptions{})
		require.NoError(t, err)
		_, _, answer := raw(t, server.Config(), http.MethodGet, rbacPath+kind, "", http.Header{"Accept": {"application/json;as=Table;v=v1;g=meta.k8s.io"}})
		var table metav1.Table
		require.NoError(t, json.Unmarshal([]byte(answer), &table))
		var columns []string
		for _, column := range table.ColumnDefinitions {
			columns = append(columns, column.Name)
		}
		assert.Equal(t, want, columns, kind)
		if kind == "clusterrolebindings" {
			cells := table.Rows[0].Cells
			assert.Equal(t, []any{"ClusterRole/r", "u, v", "", "n/s"}, []any{cells[1], cells[3], cells[4], cells[5]})
		}
	}
}

// ofRoles is a server with RBAC on which alice may do anything with roles and bindings, and nothing else.
func ofRoles(t *testing.T) (server *emulator.Server, admin, alice kubernetes.Interface) {
	t.Helper()
	server = start(t, emulator.Options{RBAC: true, Tokens: people()})
	admin = kube(t, server.Config())
	_, err := admin.RbacV1().ClusterRoles().Create(t.Context(), &rbacv1.ClusterRole{ObjectMeta: objectMeta("of-roles"), Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{rbacv1.GroupName}, Resources: []string{"*"}, Verbs: []string{"get", "list", "create", "update", "patch", "delete"}},
	}}, metav1.CreateOptions{})
	require.NoError(t, err)
	bindCluster(t, admin, "alice", "of-roles")
	return server, admin, as(t, server, "alice")
}

func bindCluster(t *testing.T, client kubernetes.Interface, name, role string) {
	t.Helper()
	binding := &rbacv1.ClusterRoleBinding{ObjectMeta: objectMeta(name + "-" + role)}
	binding.RoleRef, binding.Subjects = bindTo("ClusterRole", role, user(name))
	_, err := client.RbacV1().ClusterRoleBindings().Create(t.Context(), binding, metav1.CreateOptions{})
	require.NoError(t, err)
}

const notHeld = `user "alice" (groups=["dev" "ops" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:` + "\n"

func TestNobodyWritesRolesThatTheyDoNotHold(t *testing.T) {
	server, admin, alice := ofRoles(t)
	config := configFor(t, server, "alice")
	for name, tc := range map[string]struct{ path, body, want string }{
		"a role": {
			"namespaces/default/roles",
			`{"metadata":{"name":"r"},"rules":[{"apiGroups":[""],"resources":["pods","secrets"],"verbs":["get","list"]}]}`,
			`roles.rbac.authorization.k8s.io "r" is forbidden: ` + notHeld + `{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}` + "\n" +
				`{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}`,
		},
		"a role of the cluster": {
			"clusterroles", `{"metadata":{"name":"r"},"rules":[{"nonResourceURLs":["/x"],"verbs":["get"]}]}`,
			`clusterroles.rbac.authorization.k8s.io "r" is forbidden: ` + notHeld + `{NonResourceURLs:["/x"], Verbs:["get"]}`,
		},
		"one that aggregates": {
			"clusterroles", `{"metadata":{"name":"r"},"rules":[],"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"a":"b"}}]}}`,
			`clusterroles.rbac.authorization.k8s.io "r" is forbidden: must have cluster-admin privileges to use the aggregationRule`,
		},
		"a binding": {
			"namespaces/default/rolebindings", `{"metadata":{"name":"b"},"roleRef":{"kind":"ClusterRole","name":"system:node-bootstrapper"}}`,
			`rolebindings.rbac.authorization.k8s.io "b" is forbidden: ` + notHeld +
				`{APIGroups:["certificates.k8s.io"], Resources:["certificatesigningrequests"], Verbs:["create" "get" "list" "watch"]}`,
		},
		"a binding of the cluster": {
			"clusterrolebindings", `{"metadata":{"name":"b"},"roleRef":{"kind":"ClusterRole","name":"system:node-bootstrapper"}}`,
			`clusterrolebindings.rbac.authorization.k8s.io "b" is forbidden: ` + notHeld +
				`{APIGroups:["certificates.k8s.io"], Resources:["certificatesigningrequests"], Verbs:["create" "get" "list" "watch"]}`,
		},
		"a binding to what is not there": {
			"namespaces/default/rolebindings", `{"metadata":{"name":"b"},"roleRef":{"kind":"Role","name":"nope"}}`,
			`rolebindings.rbac.authorization.k8s.io "nope" not found`,
		},
		"a binding to what cannot be bound": {
			"namespaces/default/rolebindings", `{"metadata":{"name":"b"},"roleRef":{"kind":"Foo","name":"nope"}}`, `unsupported role reference kind: "Foo"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tc.want, send(t, config, http.MethodPost, rbacPath+tc.path, tc.body).Message)
		})
	}

	held := []rbacv1.PolicyRule{{APIGroups: []string{rbacv1.GroupName}, Resources: []string{"roles"}, Verbs: []string{"get"}}}
	role, err := alice.RbacV1().Roles("default").Create(t.Context(), &rbacv1.Role{ObjectMeta: objectMeta("held"), Rules: held}, metav1.CreateOptions{})
	require.NoError(t, err)
	role.Rules = append(role.Rules, rule("get", "", "pods"))
	_, err = alice.RbacV1().Roles("default").Update(t.Context(), role, metav1.UpdateOptions{})
	require.True(t, apierrors.IsForbidden(err), "%v", err)
	_, err = admin.RbacV1().Roles("default").Update(t.Context(), role, metav1.UpdateOptions{})
	require.NoError(t, err)
	_, err = alice.RbacV1().Roles("default").Patch(t.Context(), "held", types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`), metav1.PatchOptions{})
	require.True(t, apierrors.IsForbidden(err), "writing what one does not hold is refused, whatever was there before: %v", err)
	_, err = alice.RbacV1().Roles("default").Patch(t.Context(), "held", types.MergePatchType, []byte(`{"metadata":{"finalizers":["a/b"]}}`), metav1.PatchOptions{})
	require.NoError(t, err, "finalizers are the garbage collector's business")
}

func TestVerbsThatLetRolesBeWritten(t *testing.T) {
	_, admin, alice := ofRoles(t)
	grant(t, admin, "escalates", "alice", rbacv1.PolicyRule{Verbs: []string{"escalate"}, APIGroups: []string{rbacv1.GroupName}, Resources: []string{"roles"}})
	grant(t, admin, "binds", "alice", rbacv1.PolicyRule{
		Verbs: []string{"bind"}, APIGroups: []string{rbacv1.GroupName}, Resources: []string{"clusterroles"}, ResourceNames: []string{"view"},
	})
	_, err := alice.RbacV1().Roles("default").Create(t.Context(), &rbacv1.Role{ObjectMeta: objectMeta("r"), Rules: []rbacv1.PolicyRule{rule("*", "*", "*")}}, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = alice.RbacV1().Roles("kube-system").Create(t.Context(), &rbacv1.Role{ObjectMeta: objectMeta("r"), Rules: []rbacv1.PolicyRule{rule("*", "*", "*")}}, metav1.CreateOptions{})
	require.True(t, apierrors.IsForbidden(err), "%v", err)
	for role, allowed := range map[string]bool{"view": true, "edit": false} {
		binding := &rbacv1.RoleBinding{ObjectMeta: objectMeta("to-" + role)}
		binding.RoleRef, binding.Subjects = bindTo("ClusterRole", role, user("bob"))
		_, err = alice.RbacV1().RoleBindings("default").Create(t.Context(), binding, metav1.CreateOptions{})
		assert.Equal(t, allowed, err == nil, "%s: %v", role, err)
	}
}

func TestAggregatedRolesFollow(t *testing.T) {
	server := start(t, emulator.Options{RBAC: true, Tokens: people()})
	admin, bob := kube(t, server.Config()), as(t, server, "bob")
	bindCluster(t, admin, "bob", "view")
	_, err := bob.BatchV1().Jobs("").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	_, err = bob.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	require.True(t, apierrors.IsForbidden(err), "%v", err)

	role := &rbacv1.ClusterRole{ObjectMeta: objectMeta("nodes"), Rules: []rbacv1.PolicyRule{rule("list", "", "nodes")}}
	role.Labels = map[string]string{"rbac.authorization.k8s.io/aggregate-to-view": "true"}
	_, err = admin.RbacV1().ClusterRoles().Create(t.Context(), role, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = bob.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	for _, name := range []string{"view", "edit", "admin"} {
		stored, err := admin.RbacV1().ClusterRoles().Get(t.Context(), name, metav1.GetOptions{})
		require.NoError(t, err)
		assert.Contains(t, stored.Rules, rule("list", "", "nodes"), name)
	}
	require.NoError(t, admin.RbacV1().ClusterRoles().Delete(t.Context(), "nodes", metav1.DeleteOptions{}))
	_, err = bob.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	require.True(t, apierrors.IsForbidden(err), "%v", err)

	mine := &rbacv1.ClusterRole{ObjectMeta: objectMeta("mine"), AggregationRule: &rbacv1.AggregationRule{
		ClusterRoleSelectors: []metav1.LabelSelector{{MatchLabels: map[string]string{"rbac.authorization.k8s.io/aggregate-to-admin": "true"}}},
	}}
	created, err := admin.RbacV1().ClusterRoles().Create(t.Context(), mine, metav1.CreateOptions{})
	require.NoError(t, err)
	assert.NotEmpty(t, created.Rules, "the answer has the rules already")
	_, err = admin.RbacV1().ClusterRoles().Create(t.Context(), &rbacv1.ClusterRole{ObjectMeta: objectMeta("dry"),
		AggregationRule: mine.AggregationRule}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	require.NoError(t, err)
}

func TestAggregationCanBeLeftOut(t *testing.T) {
	server := start(t, emulator.Options{DisabledControllers: []string{emulator.ControllerClusterRoleAggregation}})
	client := kube(t, server.Config())
	created, err := client.RbacV1().ClusterRoles().Create(t.Context(), &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "part", Labels: map[string]string{"a": "b"}}, Rules: []rbacv1.PolicyRule{rule("get", "", "pods")},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	require.NotEmpty(t, created.Rules)
	whole, err := client.RbacV1().ClusterRoles().Create(t.Context(), &rbacv1.ClusterRole{ObjectMeta: objectMeta("whole"),
		AggregationRule: &rbacv1.AggregationRule{ClusterRoleSelectors: []metav1.LabelSelector{{MatchLabels: map[string]string{"a": "b"}}}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	assert.Empty(t, whole.Rules)
}

func TestDefaultPolicyIsThereWithRBACOnly(t *testing.T) {
	without, err := kube(t, start(t, emulator.Options{}).Config()).RbacV1().ClusterRoles().List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	assert.Empty(t, without.Items)

	with, err := kube(t, start(t, emulator.Options{RBAC: true}).Config()).RbacV1().ClusterRoles().List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	names := map[string]bool{}
	for _, role := range with.Items {
		names[role.Name] = true
		if role.AggregationRule == nil {
			require.Len(t, role.ManagedFields, 1)
			continue
		}
		require.Len(t, role.ManagedFields, 2)
		assert.Equal(t, "clusterrole-aggregation-controller", role.ManagedFields[0].Manager)
	}
	for name := range strings.FieldsSeq("cluster-admin admin edit view system:discovery system:basic-user system:public-info-viewer system:controller:job-controller") {
		assert.True(t, names[name], name)
	}
}
