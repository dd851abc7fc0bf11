package rbac

import (
	"context"
	"fmt"
	"slices"
	"sync"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/util/dryrun"
	"k8s.io/utils/clock"

	policy "github.com/musterkube/muster/pkg/emulator/internal/rbac"
	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
)

// aggregated keeps the rules of ClusterRoles that aggregate others in line with each write.
type aggregated struct {
	guarded
	clock clock.PassiveClock
	// settling is held from reading the roles to writing what follows from them, so that the last to write has seen all.
	settling sync.Mutex
}

var _ rest.StandardStorage = (*aggregated)(nil)

// Create implements rest.Creater.
func (a *aggregated) Create(ctx context.Context, obj runtime.Object, validate rest.ValidateObjectFunc, options *metav1.CreateOptions) (runtime.Object, error) {
	created, err := a.guarded.Create(ctx, obj, validate, options)
	if err != nil || dryrun.IsDryRun(options.DryRun) {
		return created, err
	}
	return a.settled(ctx, created)
}

// Update implements rest.Updater.
func (a *aggregated) Update(ctx context.Context, name string, info rest.UpdatedObjectInfo, createValidation rest.ValidateObjectFunc,
	updateValidation rest.ValidateObjectUpdateFunc, create bool, options *metav1.UpdateOptions) (runtime.Object, bool, error) {
	updated, created, err := a.guarded.Update(ctx, name, info, createValidation, updateValidation, create, options)
	if err != nil || dryrun.IsDryRun(options.DryRun) {
		return updated, created, err
	}
	updated, err = a.settled(ctx, updated)
	return updated, created, err
}

// Delete implements rest.GracefulDeleter.
func (a *aggregated) Delete(ctx context.Context, name string, validate rest.ValidateObjectFunc, options *metav1.DeleteOptions) (runtime.Object, bool, error) {
	deleted, gone, err := a.guarded.Delete(ctx, name, validate, options)
	if err == nil && gone && !dryrun.IsDryRun(options.DryRun) {
		err = a.settle(ctx)
	}
	return deleted, gone, err
}

// DeleteCollection implements rest.CollectionDeleter.
func (a *aggregated) DeleteCollection(ctx context.Context, validate rest.ValidateObjectFunc, options *metav1.DeleteOptions,
	list *metainternalversion.ListOptions) (runtime.Object, error) {
	deleted, err := a.guarded.DeleteCollection(ctx, validate, options, list)
	if err == nil && !dryrun.IsDryRun(options.DryRun) {
		err = a.settle(ctx)
	}
	return deleted, err
}

// GetCorruptObjDeleter implements rest.CorruptObjectDeleterProvider.
func (a *aggregated) GetCorruptObjDeleter() rest.GracefulDeleter {
	return resource.PlainDeleter{GracefulDeleter: a}
}

// settled returns a role that was written as it is once all rules are in line.
func (a *aggregated) settled(ctx context.Context, written runtime.Object) (runtime.Object, error) {
	if err := a.settle(ctx); err != nil {
		return nil, err
	}
	role, ok := written.(*rbacv1.ClusterRole)
	if !ok || !doesAggregate(role) {
		return written, nil
	}
	return a.Get(ctx, role.Name, &metav1.GetOptions{})
}

// settle writes the rules of roles that aggregate others, where they differ from what those have.
func (a *aggregated) settle(ctx context.Context) error {
	a.settling.Lock()
	defer a.settling.Unlock()
	listed, err := a.List(ctx, &metainternalversion.ListOptions{})
	if err != nil {
		return fmt.Errorf("aggregating cluster roles: %w", err)
	}
	list := listed.(*rbacv1.ClusterRoleList)
	roles := make([]*rbacv1.ClusterRole, len(list.Items))
	for i := range list.Items {
		roles[i] = &list.Items[i]
	}
	for name, rules := range policy.Aggregate(roles) {
		info := rest.DefaultUpdatedObjectInfo(nil, func(_ context.Context, _, stored runtime.Object) (runtime.Object, error) {
			role := stored.DeepCopyObject().(*rbacv1.ClusterRole)
			role.Rules = rules
			role.ManagedFields = WithAggregator(role.ManagedFields, metav1.NewTime(a.clock.Now()))
			return role, nil
		})
		// Past the guard: who may label a role so that another takes its rules in was asked when that was made.
		_, _, err := a.Store.Update(ctx, name, info, rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, false, &metav1.UpdateOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("aggregating cluster roles into %s: %w", name, err)
		}
	}
	return nil
}

// aggregator is who applies the rules of aggregated roles in a cluster.
const aggregator = "clusterrole-aggregation-controller"

// WithAggregator returns managed fields with the controller of Kubernetes that aggregates roles as one who applied the
// rules at a time.
func WithAggregator(fields []metav1.ManagedFieldsEntry, at metav1.Time) []metav1.ManagedFieldsEntry {
	fields = slices.DeleteFunc(slices.Clone(fields), func(entry metav1.ManagedFieldsEntry) bool { return entry.Manager == aggregator })
	return slices.Insert(fields, 0, metav1.ManagedFieldsEntry{
		Manager: aggregator, Operation: metav1.ManagedFieldsOperationApply, APIVersion: rbacv1.SchemeGroupVersion.String(), Time: &at,
		FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:rules":{}}`),
	})
}

// Unaggregated returns a storage of the same objects that leaves the rules of others as they are, for roles whose rules
// are known to be in line.
func (a *aggregated) Unaggregated() rest.Creater { return &a.guarded }
