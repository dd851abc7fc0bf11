package rbactest

import (
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"

	"github.com/musterkube/muster/pkg/emulator"
)

// Namespace is where the manifests have their ServiceAccounts.
const Namespace = "muster-system"

// Apply creates what a manifest has, less the rules for the resource without, if that is not empty.
func Apply(t *testing.T, server *emulator.Server, manifest, without string) {
	t.Helper()
	client, err := kubernetes.NewForConfig(server.Config())
	require.NoError(t, err)
	removed := 0
	less := func(rules []rbacv1.PolicyRule) []rbacv1.PolicyRule {
		left := slices.DeleteFunc(slices.Clone(rules), func(r rbacv1.PolicyRule) bool { return slices.Contains(r.Resources, without) })
		removed += len(rules) - len(left)
		return left
	}
	ctx, options := t.Context(), metav1.CreateOptions{}
	for kind, document := range documents(t, manifest) {
		switch kind {
		case "Namespace":
			_, err = client.CoreV1().Namespaces().Create(ctx, read[corev1.Namespace](t, document), options)
		case "ServiceAccount":
			account := read[corev1.ServiceAccount](t, document)
			_, err = client.CoreV1().ServiceAccounts(account.Namespace).Create(ctx, account, options)
		case "ClusterRole":
			role := read[rbacv1.ClusterRole](t, document)
			role.Rules = less(role.Rules)
			_, err = client.RbacV1().ClusterRoles().Create(ctx, role, options)
		case "ClusterRoleBinding":
			_, err = client.RbacV1().ClusterRoleBindings().Create(ctx, read[rbacv1.ClusterRoleBinding](t, document), options)
		case "Role":
			role := read[rbacv1.Role](t, document)
			role.Rules = less(role.Rules)
			_, err = client.RbacV1().Roles(role.Namespace).Create(ctx, role, options)
		case "RoleBinding":
			binding := read[rbacv1.RoleBinding](t, document)
			_, err = client.RbacV1().RoleBindings(binding.Namespace).Create(ctx, binding, options)
		default:
			require.Fail(t, "the manifest has a kind that is not known here", kind)
		}
		require.NoError(t, err)
	}
	assert.Equal(t, without != "", removed > 0, "rules for %q", without)
}

// Rights returns the rights that a manifest gives, each as a verb and a resource, such as "patch pods/status"; sorted.
func Rights(t *testing.T, manifest string) []string {
	t.Helper()
	var rights []string
	for kind, document := range documents(t, manifest) {
		if kind != "ClusterRole" && kind != "Role" {
			continue
		}
		for _, rule := range read[rbacv1.ClusterRole](t, document).Rules { // a Role has the same form
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					rights = append(rights, verb+" "+resource)
				}
			}
		}
	}
	slices.Sort(rights)
	return rights
}

// documents returns the objects of a manifest with their kinds, in order.
func documents(t *testing.T, manifest string) iter.Seq2[string, string] {
	t.Helper()
	return func(yield func(kind, document string) bool) {
		for document := range strings.SplitSeq(manifest, "\n---\n") {
			var meta metav1.TypeMeta
			require.NoError(t, yaml.Unmarshal([]byte(document), &meta))
			if !yield(meta.Kind, document) {
				return
			}
		}
	}
}

func read[T any](t *testing.T, document string) *T {
	t.Helper()
	object := new(T)
	require.NoError(t, yaml.UnmarshalStrict([]byte(document), object))
	return object
}
