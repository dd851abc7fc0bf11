package plain

import (
	"context"
	"reflect"

	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/musterkube/muster/pkg/core"
	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
	"github.com/musterkube/muster/pkg/features"
)

// strategy applies the rules of a kind to its main resource.
type strategy[T any] struct {
	resource.Strategy
	kind  *kind[T]
	gates features.Gates
}

// resetting is a strategy that has a status to reset; server-side apply asks for that.
type resetting[T any] struct{ strategy[T] }

// main returns the strategy of the main resource.
func (s strategy[T]) main() resource.MainStrategy {
	if s.kind.status == nil {
		return s
	}
	return resetting[T]{s}
}

// GetResetFields implements rest.ResetFieldsStrategy.
func (s resetting[T]) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return resource.ResetFields(s.kind.version.String(), []any{"status"})
}

// PrepareForCreate implements rest.RESTCreateStrategy.
func (s strategy[T]) PrepareForCreate(_ context.Context, obj runtime.Object) {
	created := any(obj).(*T)
	if s.kind.status != nil {
		part(created, "Status").SetZero()
	}
	if s.kind.wants != nil {
		meta(created).Generation = 1
	}
	if s.kind.prepareCreate != nil {
		s.kind.prepareCreate(created)
	}
	if s.kind.template != nil {
		core.DropDisabledTemplateFields(s.kind.template(created), nil, s.gates)
	}
}

// PrepareForUpdate implements rest.RESTUpdateStrategy. Dropping comes first: what is dropped is no change.
func (s strategy[T]) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	changed, stored := any(obj).(*T), any(old).(*T)
	if s.kind.template != nil {
		core.DropDisabledTemplateFields(s.kind.template(changed), s.kind.template(stored), s.gates)
	}
	if s.kind.status != nil {
		part(changed, "Status").Set(part(stored, "Status"))
	}
	if s.kind.prepareUpdate != nil {
		s.kind.prepareUpdate(changed, stored)
	}
	if s.kind.wants != nil {
		meta(changed).Generation = meta(stored).Generation
		if s.kind.wants(changed, stored) {
			meta(changed).Generation++
		}
	}
}

var _ rest.GarbageCollectionDeleteStrategy = strategy[metav1.PartialObjectMetadata]{}

// DefaultGarbageCollectionPolicy implements rest.GarbageCollectionDeleteStrategy.
func (s strategy[T]) DefaultGarbageCollectionPolicy(context.Context) rest.GarbageCollectionPolicy {
	if s.kind.orphans {
		return rest.OrphanDependents
	}
	return rest.DeleteDependents
}

// Validate implements rest.RESTCreateStrategy.
func (s strategy[T]) Validate(_ context.Context, obj runtime.Object) field.ErrorList {
	created, rule := any(obj).(*T), s.kind.name
	if rule == nil {
		rule = apivalidation.NameIsDNSSubdomain
	}
	errs := core.ValidateObjectMeta(meta(created), s.NamespaceScoped(), rule, field.NewPath("metadata"))
	if s.kind.validate != nil {
		errs = append(errs, s.kind.validate(created)...)
	}
	if s.kind.validateCreate != nil {
		errs = append(errs, s.kind.validateCreate(created)...)
	}
	return errs
}

// ValidateUpdate implements rest.RESTUpdateStrategy.
func (s strategy[T]) ValidateUpdate(_ context.Context, obj, old runtime.Object) field.ErrorList {
	changed, stored := any(obj).(*T), any(old).(*T)
	errs := core.ValidateObjectMetaUpdate(meta(changed), meta(stored), field.NewPath("metadata"))
	if s.kind.validate != nil {
		errs = append(errs, s.kind.validate(changed)...)
	}
	if s.kind.validateUpdate != nil {
		errs = append(errs, s.kind.validateUpdate(changed, stored)...)
	}
	return errs
}

// WarningsOnCreate implements rest.RESTCreateStrategy.
func (s strategy[T]) WarningsOnCreate(_ context.Context, obj runtime.Object) []string {
	if s.kind.warnings == nil {
		return nil
	}
	return s.kind.warnings(any(obj).(*T), nil)
}

// WarningsOnUpdate implements rest.RESTUpdateStrategy.
func (s strategy[T]) WarningsOnUpdate(_ context.Context, obj, old runtime.Object) []string {
	if s.kind.warnings == nil {
		return nil
	}
	return s.kind.warnings(any(obj).(*T), any(old).(*T))
}

// statusStrategy updates the status and, for most kinds, what metadata a client may change.
type statusStrategy[T any] struct{ strategy[T] }

// GetResetFields implements rest.ResetFieldsStrategy.
func (s statusStrategy[T]) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	paths := [][]any{{"spec"}}
	switch {
	case s.kind.status.metadata:
		paths = append(paths, []any{"metadata"})
	case s.kind.status.labels:
		paths = append(paths, []any{"metadata", "labels"})
	}
	return resource.ResetFields(s.kind.version.String(), paths...)
}

// PrepareForUpdate implements rest.RESTUpdateStrategy.
func (s statusStrategy[T]) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	changed, stored := any(obj).(*T), any(old).(*T)
	part(changed, "Spec").Set(part(stored, "Spec"))
	switch {
	case s.kind.status.metadata:
		metav1.ResetObjectMetaForStatus(meta(changed), meta(stored))
	case s.kind.status.labels:
		meta(changed).Labels = meta(stored).Labels
	}
	if s.kind.status.prepare != nil {
		s.kind.status.prepare(changed, stored)
	}
}

// ValidateUpdate implements rest.RESTUpdateStrategy.
func (s statusStrategy[T]) ValidateUpdate(_ context.Context, obj, old runtime.Object) field.ErrorList {
	changed, stored := any(obj).(*T), any(old).(*T)
	errs := core.ValidateObjectMetaUpdate(meta(changed), meta(stored), field.NewPath("metadata"))
	if s.kind.status.validate != nil {
		errs = append(errs, s.kind.status.validate(changed, stored)...)
	}
	return errs
}

// WarningsOnUpdate implements rest.RESTUpdateStrategy.
func (statusStrategy[T]) WarningsOnUpdate(context.Context, runtime.Object, runtime.Object) []string {
	return nil
}

// part returns the field of that name, Spec or Status: every kind with a status has both.
func part[T any](obj *T, name string) reflect.Value {
	return reflect.ValueOf(obj).Elem().FieldByName(name)
}

// specChanged tells whether two objects have different specs, to the API: nil and empty are the same.
func specChanged[T any](changed, stored *T) bool {
	return !equality.Semantic.DeepEqual(part(changed, "Spec").Interface(), part(stored, "Spec").Interface())
}
