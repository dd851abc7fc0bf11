package rbac

import (
	"context"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/musterkube/muster/pkg/core"
	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
)

var metadata = field.NewPath("metadata")

type (
	roleStrategy               struct{ resource.Strategy }
	clusterRoleStrategy        struct{ resource.Strategy }
	roleBindingStrategy        struct{ resource.Strategy }
	clusterRoleBindingStrategy struct{ resource.Strategy }
)

// Validate implements rest.RESTCreateStrategy.
func (roleStrategy) Validate(_ context.Context, obj runtime.Object) field.ErrorList {
	return validateRole(obj.(*rbacv1.Role))
}

// ValidateUpdate implements rest.RESTUpdateStrategy.
func (roleStrategy) ValidateUpdate(_ context.Context, obj, old runtime.Object) field.ErrorList {
	changed, stored := obj.(*rbacv1.Role), old.(*rbacv1.Role)
	return append(validateRole(changed), core.ValidateObjectMetaUpdate(&changed.ObjectMeta, &stored.ObjectMeta, metadata)...)
}

// Validate implements rest.RESTCreateStrategy.
func (clusterRoleStrategy) Validate(_ context.Context, obj runtime.Object) field.ErrorList {
	return validateClusterRole(obj.(*rbacv1.ClusterRole), false)
}

// ValidateUpdate implements rest.RESTUpdateStrategy. Values of labels that older versions let pass may stay.
func (clusterRoleStrategy) ValidateUpdate(_ context.Context, obj, old runtime.Object) field.ErrorList {
	changed, stored := obj.(*rbacv1.ClusterRole), old.(*rbacv1.ClusterRole)
	errs := validateClusterRole(changed, len(validateSelectors(stored.AggregationRule, false)) > 0)
	return append(errs, core.ValidateObjectMetaUpdate(&changed.ObjectMeta, &stored.ObjectMeta, metadata)...)
}

// Validate implements rest.RESTCreateStrategy.
func (roleBindingStrategy) Validate(_ context.Context, obj runtime.Object) field.ErrorList {
	binding := obj.(*rbacv1.RoleBinding)
	return validateBinding(&binding.ObjectMeta, binding.RoleRef, binding.Subjects, true)
}

// ValidateUpdate implements rest.RESTUpdateStrategy.
func (roleBindingStrategy) ValidateUpdate(_ context.Context, obj, old runtime.Object) field.ErrorList {
	changed, stored := obj.(*rbacv1.RoleBinding), old.(*rbacv1.RoleBinding)
	errs := validateBinding(&changed.ObjectMeta, changed.RoleRef, changed.Subjects, true)
	errs = append(errs, core.ValidateObjectMetaUpdate(&changed.ObjectMeta, &stored.ObjectMeta, metadata)...)
	return append(errs, validateSameRole(changed.RoleRef, stored.RoleRef)...)
}

// Validate implements rest.RESTCreateStrategy.
func (clusterRoleBindingStrategy) Validate(_ context.Context, obj runtime.Object) field.ErrorList {
	binding := obj.(*rbacv1.ClusterRoleBinding)
	return validateBinding(&binding.ObjectMeta, binding.RoleRef, binding.Subjects, false)
}

// ValidateUpdate implements rest.RESTUpdateStrategy.
func (clusterRoleBindingStrategy) ValidateUpdate(_ context.Context, obj, old runtime.Object) field.ErrorList {
	changed, stored := obj.(*rbacv1.ClusterRoleBinding), old.(*rbacv1.ClusterRoleBinding)
	errs := validateBinding(&changed.ObjectMeta, changed.RoleRef, changed.Subjects, false)
	errs = append(errs, core.ValidateObjectMetaUpdate(&changed.ObjectMeta, &stored.ObjectMeta, metadata)...)
	return append(errs, validateSameRole(changed.RoleRef, stored.RoleRef)...)
}
