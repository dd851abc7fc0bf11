package registry

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/clock"

	"github.com/musterkube/muster/pkg/emulator/internal/rbac/bootstrap"
	"github.com/musterkube/muster/pkg/emulator/internal/registry/rbac"
)

// ownedFields are the fields of a role or binding that the server makes, with a value of its own for each of names.
func ownedFields(labels map[string]string, names ...string) string {
	marks := []string{`".":{}`}
	for _, label := range slices.Sorted(maps.Keys(labels)) {
		marks = append(marks, `"f:`+label+`":{}`)
	}
	names = append(names, `"f:metadata":{"f:annotations":{".":{},"f:rbac.authorization.kubernetes.io/autoupdate":{}},"f:labels":{`+
		strings.Join(marks, ",")+"}}")
	slices.Sort(names)
	return "{" + strings.Join(names, ",") + "}"
}

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
	write := func(resource string, obj runtime.Object, meta *metav1.ObjectMeta, fields ...string) error {
		meta.ManagedFields = append(meta.ManagedFields, managed(now, rbacv1.SchemeGroupVersion.String(), ownedFields(meta.Labels, fields...))...)
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
		fields := `"f:rules":{}`
		if role.AggregationRule != nil {
			fields = `"f:aggregationRule":{".":{},"f:clusterRoleSelectors":{}}`
			role.ManagedFields = rbac.WithAggregator(nil, now)
		}
		if err := write("clusterroles", role, &role.ObjectMeta, fields); err != nil {
			return err
		}
	}
	for _, binding := range objects.ClusterRoleBindings {
		if err := write("clusterrolebindings", binding, &binding.ObjectMeta, bindingFields(binding.Subjects)...); err != nil {
			return err
		}
	}
	for _, role := range objects.Roles {
		if err := write("roles", role, &role.ObjectMeta, `"f:rules":{}`); err != nil {
			return err
		}
	}
	for _, binding := range objects.RoleBindings {
		if err := write("rolebindings", binding, &binding.ObjectMeta, bindingFields(binding.Subjects)...); err != nil {
			return err
		}
	}
	return nil
}

// bindingFields are the fields of a binding with subjects.
func bindingFields(subjects []rbacv1.Subject) []string {
	fields := []string{`"f:roleRef":{}`}
	if len(subjects) > 0 {
		fields = append(fields, `"f:subjects":{}`)
	}
	return fields
}
