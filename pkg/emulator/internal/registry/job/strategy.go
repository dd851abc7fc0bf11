package job

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/musterkube/muster/pkg/batch"
	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
	"github.com/musterkube/muster/pkg/features"
)

// strategy applies the rules of pkg/batch.
type strategy struct {
	resource.Strategy
	gates features.Gates
}

var _ rest.GarbageCollectionDeleteStrategy = strategy{}

// DefaultGarbageCollectionPolicy implements rest.GarbageCollectionDeleteStrategy.
func (strategy) DefaultGarbageCollectionPolicy(ctx context.Context) rest.GarbageCollectionPolicy {
	return defaultPolicy(ctx)
}

// defaultPolicy orphans the pods of a Job that is deleted through batch/v1, which is older than garbage collection.
func defaultPolicy(ctx context.Context) rest.GarbageCollectionPolicy {
	if resource.RequestVersion(ctx) == batchv1.SchemeGroupVersion {
		return rest.OrphanDependents
	}
	return rest.DeleteDependents
}

func (s strategy) options() batch.Options {
	return batch.Options{Gates: s.gates}
}

// GetResetFields implements rest.ResetFieldsStrategy.
func (strategy) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return resource.ResetFields("batch/v1", []any{"status"})
}

// PrepareForCreate implements rest.RESTCreateStrategy.
func (s strategy) PrepareForCreate(_ context.Context, obj runtime.Object) {
	job := obj.(*batchv1.Job)
	batch.PrepareForCreate(job)
	batch.DropDisabledFields(job, nil, s.gates)
}

// PrepareForUpdate implements rest.RESTUpdateStrategy. Dropping comes first: what is dropped is no change of the spec.
func (s strategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	changed, stored := obj.(*batchv1.Job), old.(*batchv1.Job)
	batch.DropDisabledFields(changed, stored, s.gates)
	batch.PrepareForUpdate(changed, stored)
}

// Validate implements rest.RESTCreateStrategy.
func (s strategy) Validate(_ context.Context, obj runtime.Object) field.ErrorList {
	return batch.Validate(obj.(*batchv1.Job), s.options())
}

// ValidateUpdate implements rest.RESTUpdateStrategy.
func (s strategy) ValidateUpdate(_ context.Context, obj, old runtime.Object) field.ErrorList {
	return batch.ValidateUpdate(obj.(*batchv1.Job), old.(*batchv1.Job), s.options())
}

// WarningsOnCreate implements rest.RESTCreateStrategy.
func (strategy) WarningsOnCreate(_ context.Context, obj runtime.Object) []string {
	return batch.Warnings(obj.(*batchv1.Job))
}

// WarningsOnUpdate implements rest.RESTUpdateStrategy.
func (strategy) WarningsOnUpdate(_ context.Context, obj, old runtime.Object) []string {
	return batch.UpdateWarnings(obj.(*batchv1.Job), old.(*batchv1.Job))
}

// statusStrategy updates the status. Metadata may change with it: labels, annotations and finalizers are kept as sent.
type statusStrategy struct{ strategy }

// GetResetFields implements rest.ResetFieldsStrategy.
func (statusStrategy) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return resource.ResetFields("batch/v1", []any{"spec"})
}

// PrepareForUpdate implements rest.RESTUpdateStrategy.
func (statusStrategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	batch.PrepareForStatusUpdate(obj.(*batchv1.Job), old.(*batchv1.Job))
}

// ValidateUpdate implements rest.RESTUpdateStrategy.
func (statusStrategy) ValidateUpdate(_ context.Context, obj, old runtime.Object) field.ErrorList {
	return batch.ValidateStatusUpdate(obj.(*batchv1.Job), old.(*batchv1.Job))
}

// WarningsOnUpdate implements rest.RESTUpdateStrategy.
func (statusStrategy) WarningsOnUpdate(context.Context, runtime.Object, runtime.Object) []string {
	return nil
}
