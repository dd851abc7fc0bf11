package rbac

import (
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/clock"

	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
)

// unresolved ends the descriptions of the role of a binding.
const unresolved = " If the RoleRef cannot be resolved, the Authorizer must return an error."

func newRoleBindingTable(now clock.PassiveClock) rest.TableConvertor {
	return resource.NewTable(bindingColumns("RoleRef can reference a Role in the current namespace or a ClusterRole in the global namespace."+unresolved, "roleBinding"),
		func(binding *rbacv1.RoleBinding) resource.Row {
			return bindingRow(now, &binding.ObjectMeta, binding.RoleRef, binding.Subjects)
		})
}

func newClusterRoleBindingTable(now clock.PassiveClock) rest.TableConvertor {
	return resource.NewTable(bindingColumns("RoleRef can only reference a ClusterRole in the global namespace."+unresolved, "clusterRoleBinding"),
		func(binding *rbacv1.ClusterRoleBinding) resource.Row {
			return bindingRow(now, &binding.ObjectMeta, binding.RoleRef, binding.Subjects)
		})
}

func bindingColumns(role, kind string) []metav1.TableColumnDefinition {
	return []metav1.TableColumnDefinition{
		resource.NameColumn(),
		resource.Column("Role", role),
		resource.AgeColumn(),
		resource.WideColumn("Users", "Users in the "+kind),
		resource.WideColumn("Groups", "Groups in the "+kind),
		resource.WideColumn("ServiceAccounts", "ServiceAccounts in the "+kind),
	}
}

func bindingRow(now clock.PassiveClock, meta *metav1.ObjectMeta, role rbacv1.RoleRef, subjects []rbacv1.Subject) resource.Row {
	var users, groups, accounts []string
	for _, subject := range subjects {
		switch subject.Kind {
		case rbacv1.UserKind:
			users = append(users, subject.Name)
		case rbacv1.GroupKind:
			groups = append(groups, subject.Name)
		case rbacv1.ServiceAccountKind:
			accounts = append(accounts, subject.Namespace+"/"+subject.Name)
		}
	}
	return resource.Row{Cells: []any{
		meta.Name, role.Kind + "/" + role.Name, resource.Since(now, meta.CreationTimestamp.Time),
		strings.Join(users, ", "), strings.Join(groups, ", "), strings.Join(accounts, ", "),
	}}
}
