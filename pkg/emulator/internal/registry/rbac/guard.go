package rbac

import (
	"context"
	"errors"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
)

// guard returns an error if who, of whom the request of ctx comes, may not grant what obj grants. The object before is
// nil if there was none.
type guard func(ctx context.Context, who user.Info, obj, before runtime.Object) error

// guarded asks a guard before each write.
type guarded struct {
	*resource.REST
	guard guard
}

// Create implements rest.Creater.
func (g *guarded) Create(ctx context.Context, obj runtime.Object, validate rest.ValidateObjectFunc, options *metav1.CreateOptions) (runtime.Object, error) {
	if err := g.check(ctx, obj, nil); err != nil {
		return nil, err
	}
	return g.REST.Create(ctx, obj, validate, options)
}

// Update implements rest.Updater.
func (g *guarded) Update(ctx context.Context, name string, info rest.UpdatedObjectInfo, createValidation rest.ValidateObjectFunc,
	updateValidation rest.ValidateObjectUpdateFunc, create bool, options *metav1.UpdateOptions) (runtime.Object, bool, error) {
	info = rest.WrapUpdatedObjectInfo(info, func(ctx context.Context, obj, before runtime.Object) (runtime.Object, error) {
		if isBookkeeping(obj, before) {
			return obj, nil
		}
		return obj, g.check(ctx, obj, before)
	})
	return g.REST.Update(ctx, name, info, createValidation, updateValidation, create, options)
}

// GetCorruptObjDeleter implements rest.CorruptObjectDeleterProvider.
func (g *guarded) GetCorruptObjDeleter() rest.GracefulDeleter {
	return resource.PlainDeleter{GracefulDeleter: g}
}

// check asks the guard, unless the request comes from the server itself, which has no user, or from the group
// system:masters, which may do everything.
func (g *guarded) check(ctx context.Context, obj, before runtime.Object) error {
	who, ok := genericapirequest.UserFrom(ctx)
	if !ok || slices.Contains(who.GetGroups(), user.SystemPrivilegedGroup) {
		return nil
	}
	return g.guard(ctx, who, obj, before)
}

// isBookkeeping tells whether an update changes nothing but what the garbage collector needs: an object must be able to
// go even if nobody who is there could have made it.
func isBookkeeping(obj, before runtime.Object) bool {
	stored, err := meta.Accessor(before)
	if err != nil || stored.GetUID() == "" {
		return false // it is being created
	}
	copied := obj.DeepCopyObject()
	changed, err := meta.Accessor(copied)
	if err != nil {
		return false
	}
	changed.SetOwnerReferences(stored.GetOwnerReferences())
	changed.SetFinalizers(stored.GetFinalizers())
	changed.SetManagedFields(stored.GetManagedFields())
	copied.GetObjectKind().SetGroupVersionKind(before.GetObjectKind().GroupVersionKind())
	return equality.Semantic.DeepEqual(copied, before)
}

// errAggregates is why somebody may not write a role that aggregates others.
var errAggregates = errors.New("must have cluster-admin privileges to use the aggregationRule")

// everything is what a cluster administrator may do.
var everything = []rbacv1.PolicyRule{
	{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}},
	{Verbs: []string{"*"}, NonResourceURLs: []string{"*"}},
}

// roleGuard lets those write a role who may escalate on it, or who hold all of its rules. One that aggregates others may
// come to hold any rule.
func roleGuard(access resource.Access) guard {
	return func(ctx context.Context, who user.Info, obj, before runtime.Object) error {
		info, ok := genericapirequest.RequestInfoFrom(ctx)
		if !ok {
			return apierrors.NewInternalError(errors.New("no request to judge a role by"))
		}
		if allowed(ctx, access, &authorizer.AttributesRecord{
			User: who, Verb: "escalate", APIGroup: info.APIGroup, APIVersion: "*", Resource: info.Resource, Name: info.Name,
			Namespace: info.Namespace, ResourceRequest: true,
		}) {
			return nil
		}
		current, err := access.Policy(ctx)
		if err != nil {
			return apierrors.NewInternalError(err)
		}
		resource, name, rules, aggregates := contents(obj, before)
		namespace := genericapirequest.NamespaceValue(ctx)
		if err := current.CheckEscalation(who, namespace, rules); err != nil {
			return apierrors.NewForbidden(resource, name, err)
		}
		if aggregates && current.CheckEscalation(who, namespace, everything) != nil {
			return apierrors.NewForbidden(resource, name, errAggregates)
		}
		return nil
	}
}

// contents returns what matters of a role of either kind, and whether it aggregates others or did so before.
func contents(obj, before runtime.Object) (resource schema.GroupResource, name string, rules []rbacv1.PolicyRule, aggregates bool) {
	if role, ok := obj.(*rbacv1.Role); ok {
		return rbacv1.Resource("roles"), role.Name, role.Rules, false
	}
	role := obj.(*rbacv1.ClusterRole)
	aggregates = doesAggregate(role)
	if stored, ok := before.(*rbacv1.ClusterRole); ok {
		aggregates = aggregates || doesAggregate(stored)
	}
	return rbacv1.Resource("clusterroles"), role.Name, role.Rules, aggregates
}

func doesAggregate(role *rbacv1.ClusterRole) bool {
	return role.AggregationRule != nil && len(role.AggregationRule.ClusterRoleSelectors) > 0
}

// bindingGuard lets those write a binding who may bind the role, or who hold all of its rules.
func bindingGuard(access resource.Access) guard {
	return func(ctx context.Context, who user.Info, obj, _ runtime.Object) error {
		var resource schema.GroupResource
		var name string
		var role rbacv1.RoleRef
		namespace := genericapirequest.NamespaceValue(ctx)
		switch binding := obj.(type) {
		case *rbacv1.RoleBinding:
			resource, name, role = rbacv1.Resource("rolebindings"), binding.Name, binding.RoleRef
		case *rbacv1.ClusterRoleBinding:
			resource, name, role, namespace = rbacv1.Resource("clusterrolebindings"), binding.Name, binding.RoleRef, metav1.NamespaceNone
		}
		if mayBind(ctx, access, who, role, namespace) {
			return nil
		}
		current, err := access.Policy(ctx)
		if err != nil {
			return apierrors.NewInternalError(err)
		}
		rules, err := current.RulesOf(role, namespace)
		switch {
		case apierrors.IsNotFound(err):
			return apierrors.NewNotFound(resource, role.Name) // Kubernetes names the resource of the request
		case err != nil:
			return err
		}
		if err := current.CheckEscalation(who, namespace, rules); err != nil {
			return apierrors.NewForbidden(resource, name, err)
		}
		return nil
	}
}

// mayBind tells whether who may bind a role without holding its rules.
func mayBind(ctx context.Context, access resource.Access, who user.Info, role rbacv1.RoleRef, namespace string) bool {
	resources := map[string]string{"Role": "roles", "ClusterRole": "clusterroles"}
	resource, ok := resources[role.Kind]
	return ok && allowed(ctx, access, &authorizer.AttributesRecord{
		User: who, Verb: "bind", APIGroup: role.APIGroup, APIVersion: "*", Resource: resource, Name: role.Name,
		Namespace: namespace, ResourceRequest: true,
	})
}

func allowed(ctx context.Context, access resource.Access, request authorizer.Attributes) bool {
	decision, _, err := access.Authorizer.Authorize(ctx, request)
	return err == nil && decision == authorizer.DecisionAllow
}
