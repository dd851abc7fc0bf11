package registry

import (
	"context"
	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/clock"

	"github.com/musterkube/muster/pkg/emulator/internal/rbac/bootstrap"
)

// Fields that the server owns of the roles and bindings that it makes.
const (
	roleFields       = `{` + markFields + `,"f:rules":{}}`
	aggregatedFields = `{"f:aggregationRule":{".":{},"f:clusterRoleSelectors":{}},` + markFields + `}`
	bindingFields    = `{` + markFields + `,"f:roleRef":{},"f:subjects":{}}`
	markFields       = `"f:metadata":{"f:annotations":{".":{},"f:rbac.authorization.kubernetes.io/autoupdate":{}},` +
		`"f:labels":{".":{},"f:kubernetes.io/bootstrapping":{}}}`
)

// unaggregated is a storage that can create without seeing to what follows for other objects.
type unaggregated interface{ Unaggregated() rest.Creater }

// BootstrapRBAC writes the roles and bindings that a cluster with RBAC has from the start. What is there already stays as
// it is. It is called after [Bootstrap], which makes the namespaces.
func BootstrapRBAC(ctx context.Context, storages map[schema.GroupVersion]map[string]rest.Storage) error {
	objects, err := bootstrap.Policy()
	if err != nil {
		return err
	}
	served := storages[rbacv1.SchemeGroupVersion]
	now := metav1.NewTime(clock.RealClock{}.Now())
	write := func(resource string, obj runtime.Object, meta *metav1.ObjectMeta, fields string) error {
		meta.ManagedFields = managed(now, rbacv1.SchemeGroupVersion.String(), fields)
		storage := served[resource]
		if whole, ok := storage.(unaggregated); ok {
			storage = whole.Unaggregated().(rest.Storage)
		}
		if err := createAbsent(genericapirequest.WithNamespace(ctx, meta.Namespace), storage, obj); err != nil {
			return fmt.Errorf("bootstrapping %s %s: %w", resource, meta.Name, err)
		}
		return nil
	}
	for _, role := range objects.ClusterRoles {
		fields := roleFields
		if role.AggregationRule != nil {
			fields = aggregatedFields
		}
		if err := write("clusterroles", role, &role.ObjectMeta, fields); err != nil {
			return err
		}
	}
	for _, binding := range objects.ClusterRoleBindings {
		if err := write("clusterrolebindings", binding, &binding.ObjectMeta, bindingFields); err != nil {
			return err
		}
	}
	for _, role := range objects.Roles {
		if err := write("roles", role, &role.ObjectMeta, roleFields); err != nil {
			return err
		}
	}
	for _, binding := range objects.RoleBindings {
		if err := write("rolebindings", binding, &binding.ObjectMeta, bindingFields); err != nil {
			return err
		}
	}
	return nil
}
