package rbac

import (
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
)

// New returns the storages of the four kinds.
func New(c resource.Config) (map[string]rest.Storage, error) {
	access := c.Access.Complete()
	namespaced := resource.NewStrategy(c.Typer)
	namespaced.CreateOnUpdate = true
	cluster := namespaced
	cluster.ClusterScoped = true

	storages := map[string]rest.Storage{}
	for _, kind := range []struct {
		definition resource.Definition
		wrap       func(*resource.REST) rest.Storage
	}{
		{
			resource.Definition{
				Resource: rbacv1.Resource("roles"), Singular: "role",
				New:      func() runtime.Object { return &rbacv1.Role{} },
				NewList:  func() runtime.Object { return &rbacv1.RoleList{} },
				Strategy: roleStrategy{namespaced},
				Table:    rest.NewDefaultTableConvertor(rbacv1.Resource("roles")),
			},
			func(main *resource.REST) rest.Storage { return &guarded{main, roleGuard(access)} },
		},
		{
			resource.Definition{
				Resource: rbacv1.Resource("rolebindings"), Singular: "rolebinding",
				New:      func() runtime.Object { return &rbacv1.RoleBinding{} },
				NewList:  func() runtime.Object { return &rbacv1.RoleBindingList{} },
				Strategy: roleBindingStrategy{namespaced},
				Table:    newRoleBindingTable(c.Clock),
			},
			func(main *resource.REST) rest.Storage { return &guarded{main, bindingGuard(access)} },
		},
		{
			resource.Definition{
				Resource: rbacv1.Resource("clusterroles"), Singular: "clusterrole",
				New:      func() runtime.Object { return &rbacv1.ClusterRole{} },
				NewList:  func() runtime.Object { return &rbacv1.ClusterRoleList{} },
				Strategy: clusterRoleStrategy{cluster},
				Table:    rest.NewDefaultTableConvertor(rbacv1.Resource("clusterroles")),
			},
			func(main *resource.REST) rest.Storage {
				plain := guarded{main, roleGuard(access)}
				if access.KeepAggregated {
					return &plain
				}
				return &aggregated{guarded: plain, clock: c.Clock}
			},
		},
		{
			resource.Definition{
				Resource: rbacv1.Resource("clusterrolebindings"), Singular: "clusterrolebinding",
				New:      func() runtime.Object { return &rbacv1.ClusterRoleBinding{} },
				NewList:  func() runtime.Object { return &rbacv1.ClusterRoleBindingList{} },
				Strategy: clusterRoleBindingStrategy{cluster},
				Table:    newClusterRoleBindingTable(c.Clock),
			},
			func(main *resource.REST) rest.Storage { return &guarded{main, bindingGuard(access)} },
		},
	} {
		main, err := resource.New(kind.definition, c.Getter)
		if err != nil {
			return nil, err
		}
		storages[kind.definition.Resource.Resource] = kind.wrap(main)
	}
	return storages, nil
}
