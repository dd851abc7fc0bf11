package leader_test

import (
	"context"
	"net/http"
	"path"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/musterkube/muster/pkg/controller/job"
	"github.com/musterkube/muster/pkg/controller/leader"
)

// The manifest is held against the requests of a replica that takes over, leads and gives up.
func TestRBACGrantsWhatIsUsed(t *testing.T) {
	c := startCluster(t, nil)
	client := kubernetes.NewForConfigOrDie(c.Config())
	const namespace = "muster-system"
	_, err := client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{})
	require.NoError(t, err)

	var mu sync.Mutex
	verbs := map[string]bool{}
	cfg := rest.CopyConfig(c.Config())
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			mu.Lock()
			defer mu.Unlock()
			verbs[map[string]string{http.MethodGet: "get", http.MethodPost: "create", http.MethodPut: "update"}[r.Method]] = true
			assert.True(t, strings.HasPrefix(r.URL.Path, path.Join("/apis/coordination.k8s.io/v1/namespaces", namespace, "leases")), r.URL.Path)
			return next.RoundTrip(r)
		})
	})
	for range 2 {
		err := leader.Run(t.Context(), cfg, leader.Options{Name: "job-controller", Namespace: namespace}, func(context.Context) error { return nil })
		require.NoError(t, err)
	}

	var role rbacv1.Role
	var binding rbacv1.RoleBinding
	documents := strings.Split(leader.RBAC, "\n---\n")
	require.Len(t, documents, 2)
	require.NoError(t, yaml.UnmarshalStrict([]byte(documents[0]), &role))
	require.NoError(t, yaml.UnmarshalStrict([]byte(documents[1]), &binding))
	granted := map[string]bool{}
	for _, verb := range role.Rules[0].Verbs {
		granted[verb] = true
	}
	assert.Equal(t, verbs, granted)
	assert.Equal(t, []rbacv1.PolicyRule{{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: role.Rules[0].Verbs}}, role.Rules)
	assert.Equal(t, rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name}, binding.RoleRef)
	assert.Equal(t, namespace, role.Namespace)
	assert.Equal(t, namespace, binding.Namespace)
	for _, subject := range binding.Subjects {
		assert.Contains(t, job.RBAC, "\n  name: "+subject.Name+"\n", "an account of the Job controller's manifest")
	}
}
