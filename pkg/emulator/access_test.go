package emulator_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/musterkube/muster/pkg/emulator"
)

// people are the users of the tests about who may do what.
func people() map[string]emulator.User {
	return map[string]emulator.User{
		"alice-token": {Name: "alice", UID: "u1", Groups: []string{"dev", "ops"}, Extra: map[string][]string{"floor": {"3"}}},
		"bob-token":   {Name: "bob"},
		"root-token":  {Name: "root", Groups: []string{"system:masters"}},
	}
}

// as returns a client of a user of the server.
func as(tb testing.TB, server *emulator.Server, name string) kubernetes.Interface {
	tb.Helper()
	return kube(tb, configFor(tb, server, name))
}

func configFor(tb testing.TB, server *emulator.Server, name string) *rest.Config {
	tb.Helper()
	config, err := server.ConfigFor(name)
	require.NoError(tb, err)
	return config
}

func whoami(tb testing.TB, config *rest.Config) authenticationv1.UserInfo {
	tb.Helper()
	review, err := kube(tb, config).AuthenticationV1().SelfSubjectReviews().Create(tb.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	require.NoError(tb, err)
	return review.Status.UserInfo
}

func TestTokensNameUsers(t *testing.T) {
	server := start(t, emulator.Options{Tokens: people()})
	assert.Equal(t, authenticationv1.UserInfo{
		Username: "alice", UID: "u1", Groups: []string{"dev", "ops", "system:authenticated"}, Extra: map[string]authenticationv1.ExtraValue{"floor": {"3"}},
	}, whoami(t, configFor(t, server, "alice")))
	assert.Equal(t, authenticationv1.UserInfo{Username: "bob", Groups: []string{"system:authenticated"}}, whoami(t, configFor(t, server, "bob")))
	assert.Equal(t, "kubernetes-admin", whoami(t, server.Config()).Username)
	assert.Equal(t, "kubernetes-admin", whoami(t, configFor(t, server, "kubernetes-admin")).Username)

	_, err := server.ConfigFor("carol")
	require.EqualError(t, err, `making a client configuration: no token of Options.Tokens is for the user "carol"`)
	config := server.Config()
	config.BearerToken = "alice-token2"
	_, err = kube(t, config).CoreV1().Pods("").List(t.Context(), metav1.ListOptions{})
	assert.True(t, apierrors.IsUnauthorized(err), "%v", err)
}

func TestWithoutRBACKnownUsersMayDoEverything(t *testing.T) {
	server := start(t, emulator.Options{Tokens: people()})
	_, err := as(t, server, "bob").CoreV1().Pods("default").Create(t.Context(), makePod("a"), metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = as(t, server, "bob").RbacV1().ClusterRoles().Create(t.Context(), &rbacv1.ClusterRole{
		ObjectMeta: objectMeta("all"), Rules: []rbacv1.PolicyRule{rule("*", "*", "*")},
	}, metav1.CreateOptions{})
	require.NoError(t, err)

	config := server.Config()
	config.Impersonate = rest.ImpersonationConfig{UserName: "bob"}
	_, err = kube(t, config).CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err, "whoever bob is known by")
	config.Impersonate = rest.ImpersonationConfig{UserName: "stranger"}
	_, err = kube(t, config).CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
	assert.True(t, apierrors.IsForbidden(err), "%v", err)
}

func rule(verb, group, resource string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{Verbs: []string{verb}, APIGroups: []string{group}, Resources: []string{resource}}
}

func bindTo(kind, role string, subjects ...rbacv1.Subject) (rbacv1.RoleRef, []rbacv1.Subject) {
	return rbacv1.RoleRef{Kind: kind, Name: role}, subjects
}

func user(name string) rbacv1.Subject { return rbacv1.Subject{Kind: rbacv1.UserKind, Name: name} }

// grant lets a user do what rules say, in the namespace default.
func grant(t *testing.T, client kubernetes.Interface, name, to string, rules ...rbacv1.PolicyRule) {
	t.Helper()
	_, err := client.RbacV1().Roles("default").Create(t.Context(), &rbacv1.Role{ObjectMeta: objectMeta(name), Rules: rules}, metav1.CreateOptions{})
	require.NoError(t, err)
	binding := &rbacv1.RoleBinding{ObjectMeta: objectMeta(name)}
	binding.RoleRef, binding.Subjects = bindTo("Role", name, user(to))
	_, err = client.RbacV1().RoleBindings("default").Create(t.Context(), binding, metav1.CreateOptions{})
	require.NoError(t, err)
}

func TestRolesTakeEffectAtOnce(t *testing.T) {
	server := start(t, emulator.Options{RBAC: true, Tokens: people()})
	admin, bob := kube(t, server.Config()), as(t, server, "bob")
	const denied = `pods is forbidden: User "bob" cannot list resource "pods" in API group "" in the namespace "default"`

	_, err := bob.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
	require.EqualError(t, err, denied)
	for range 3 {
		grant(t, admin, "reads", "bob", rule("list", "", "pods"))
		_, err = bob.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		_, err = bob.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{})
		require.EqualError(t, err, `pods is forbidden: User "bob" cannot list resource "pods" in API group "" at the cluster scope`)

		require.NoError(t, admin.RbacV1().Roles("default").Delete(t.Context(), "reads", metav1.DeleteOptions{}))
		_, err = bob.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
		require.EqualError(t, err, denied+`: RBAC: role.rbac.authorization.k8s.io "reads" not found`)
		require.NoError(t, admin.RbacV1().RoleBindings("default").Delete(t.Context(), "reads", metav1.DeleteOptions{}))
		_, err = bob.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
		require.EqualError(t, err, denied)
	}
	_, err = as(t, server, "root").CoreV1().Pods("").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err, "the group system:masters may do everything")
}

func TestEverybodyMayAskWhatThereIs(t *testing.T) {
	server := start(t, emulator.Options{RBAC: true, Tokens: people()})
	bob := as(t, server, "bob")
	_, err := bob.Discovery().ServerGroups()
	require.NoError(t, err)
	_, err = bob.Discovery().ServerVersion()
	require.NoError(t, err)
	code, _, answer := raw(t, configFor(t, server, "bob"), http.MethodGet, "/metrics", "", nil)
	assert.Equal(t, http.StatusForbidden, code)
	assert.Contains(t, answer, `forbidden: User \"bob\" cannot get path \"/metrics\"`)
}

func TestMessagesNameRolesThatAreNotThere(t *testing.T) {
	server := start(t, emulator.Options{RBAC: true, Tokens: people()})
	admin, bob := kube(t, server.Config()), as(t, server, "bob")
	cluster := &rbacv1.ClusterRoleBinding{ObjectMeta: objectMeta("bob")}
	cluster.RoleRef, cluster.Subjects = bindTo("ClusterRole", "nope", user("bob"))
	_, err := admin.RbacV1().ClusterRoleBindings().Create(t.Context(), cluster, metav1.CreateOptions{})
	require.NoError(t, err)
	binding := &rbacv1.RoleBinding{ObjectMeta: objectMeta("bob")}
	binding.RoleRef, binding.Subjects = bindTo("Role", "nope2", user("bob"))
	_, err = admin.RbacV1().RoleBindings("default").Create(t.Context(), binding, metav1.CreateOptions{})
	require.NoError(t, err)

	_, err = bob.CoreV1().Pods("default").Get(t.Context(), "x", metav1.GetOptions{})
	require.EqualError(t, err, `pods "x" is forbidden: User "bob" cannot get resource "pods" in API group "" in the namespace "default": `+
		`RBAC: [clusterrole.rbac.authorization.k8s.io "nope" not found, role.rbac.authorization.k8s.io "nope2" not found]`)
	require.EqualError(t, bob.CoreV1().Nodes().Delete(t.Context(), "n", metav1.DeleteOptions{}),
		`nodes "n" is forbidden: User "bob" cannot delete resource "nodes" in API group "" at the cluster scope: `+
			`RBAC: clusterrole.rbac.authorization.k8s.io "nope" not found`)
	_, err = bob.CoreV1().Pods("default").UpdateStatus(t.Context(), makePod("x"), metav1.UpdateOptions{})
	assert.ErrorContains(t, err, `User "bob" cannot update resource "pods/status" in API group ""`)
}

func TestServiceAccountsHaveTokens(t *testing.T) {
	server := start(t, emulator.Options{RBAC: true})
	admin := kube(t, server.Config())
	_, err := server.ServiceAccountConfig(t.Context(), "default", "runner")
	require.EqualError(t, err, `making a configuration for ServiceAccount default/runner: serviceaccounts "runner" not found`)
	account := createAccount(t, admin, "runner")

	config, err := server.ServiceAccountConfig(t.Context(), "default", "runner")
	require.NoError(t, err)
	info := whoami(t, config)
	assert.Equal(t, "system:serviceaccount:default:runner", info.Username)
	assert.Equal(t, string(account.UID), info.UID)
	assert.Equal(t, []string{"system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"}, info.Groups)
	assert.Contains(t, info.Extra, "authentication.kubernetes.io/credential-id")
	_, err = kube(t, config).CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
	require.EqualError(t, err,
		`pods is forbidden: User "system:serviceaccount:default:runner" cannot list resource "pods" in API group "" in the namespace "default"`)

	require.NoError(t, admin.CoreV1().ServiceAccounts("default").Delete(t.Context(), "runner", metav1.DeleteOptions{}))
	_, err = kube(t, config).CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
	require.True(t, apierrors.IsUnauthorized(err), "%v", err)
	createAccount(t, admin, "runner")
	_, err = kube(t, config).CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
	require.True(t, apierrors.IsUnauthorized(err), "another account of the same name: %v", err)
}

func createAccount(tb testing.TB, client kubernetes.Interface, name string) *corev1.ServiceAccount {
	tb.Helper()
	account, err := client.CoreV1().ServiceAccounts("default").Create(tb.Context(), &corev1.ServiceAccount{ObjectMeta: objectMeta(name)}, metav1.CreateOptions{})
	require.NoError(tb, err)
	return account
}
