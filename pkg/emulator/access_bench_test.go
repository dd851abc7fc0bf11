package emulator_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/musterkube/muster/pkg/emulator"
)

func BenchmarkStartWithRBAC(b *testing.B) {
	for b.Loop() {
		server, err := emulator.Start(b.Context(), emulator.Options{RBAC: true})
		require.NoError(b, err)
		server.Stop()
	}
}

// callers returns clients whose requests are allowed in different ways.
func callers(b *testing.B) map[string]kubernetes.Interface {
	b.Helper()
	open := start(b, emulator.Options{Tokens: people()})
	guarded := start(b, emulator.Options{RBAC: true, Tokens: people()})
	admin := kube(b, guarded.Config())
	for _, subject := range []rbacv1.Subject{user("bob"), {Kind: "ServiceAccount", Namespace: "default", Name: "sa"}} {
		binding := &rbacv1.ClusterRoleBinding{ObjectMeta: objectMeta("z-" + subject.Name)}
		binding.RoleRef, binding.Subjects = bindTo("ClusterRole", "edit", subject)
		_, err := admin.RbacV1().ClusterRoleBindings().Create(b.Context(), binding, metav1.CreateOptions{})
		require.NoError(b, err)
	}
	createAccount(b, admin, "sa")
	account, err := guarded.ServiceAccountConfig(b.Context(), "default", "sa")
	require.NoError(b, err)
	return map[string]kubernetes.Interface{
		"administrator without RBAC": kube(b, open.Config()), "user without RBAC": as(b, open, "bob"),
		"administrator with RBAC": admin, "user with RBAC": as(b, guarded, "bob"), "ServiceAccount with RBAC": kube(b, account),
	}
}

func BenchmarkGetBy(b *testing.B) {
	for name, client := range callers(b) {
		_, err := client.CoreV1().ConfigMaps("default").Create(b.Context(), makeConfigMap("a"), metav1.CreateOptions{})
		if err != nil {
			require.ErrorContains(b, err, "already exists")
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				_, err := client.CoreV1().ConfigMaps("default").Get(b.Context(), "a", metav1.GetOptions{})
				require.NoError(b, err)
			}
		})
	}
}

// BenchmarkCreateBy has each request follow a write, so that each looks at the stored roles.
func BenchmarkCreateBy(b *testing.B) {
	for name, client := range callers(b) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				configMap := makeConfigMap("")
				configMap.GenerateName = "c-"
				_, err := client.CoreV1().ConfigMaps("default").Create(b.Context(), configMap, metav1.CreateOptions{})
				require.NoError(b, err)
			}
		})
	}
}
