package access_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/musterkube/muster/pkg/emulator/internal/access"
	"github.com/musterkube/muster/pkg/emulator/internal/rbac/bootstrap"
)

// BenchmarkAuthorize decides by the default policy and one binding more, for a store that is quiet and for one that each
// request finds written to.
func BenchmarkAuthorize(b *testing.B) {
	for name, busy := range map[string]bool{"quiet": false, "busy": true} {
		b.Run(name, func(b *testing.B) {
			s := newStore(b)
			objects, err := bootstrap.Policy()
			require.NoError(b, err)
			put := func(resource, name string, obj runtime.Object) { s.put("/registry/"+resource+"/"+name, obj) }
			for _, role := range objects.ClusterRoles {
				put("clusterroles", role.Name, role)
			}
			for _, binding := range objects.ClusterRoleBindings {
				put("clusterrolebindings", binding.Name, binding)
			}
			put("clusterroles", "r", makeRole("get"))
			put("clusterrolebindings", "b", makeBinding())
			by := access.NewRBAC(s.source())
			request := authorizer.AttributesRecord{
				User: &user.DefaultInfo{Name: "u", Groups: []string{user.AllAuthenticated}}, Verb: "get", Resource: "pods", ResourceRequest: true,
			}
			for b.Loop() {
				if busy {
					s.putRaw("/registry/pods/n/p", []byte("x"))
				}
				decision, _, err := by.Authorize(b.Context(), request)
				if err != nil || decision != authorizer.DecisionAllow {
					b.Fatal(decision, err)
				}
			}
		})
	}
}
