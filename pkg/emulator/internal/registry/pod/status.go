package pod

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/musterkube/muster/pkg/core"
	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
)

// statusStrategy updates the status, and metadata other than owners.
type statusStrategy struct{ strategy }

// GetResetFields implements rest.ResetFieldsStrategy.
func (statusStrategy) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return resource.ResetFields("v1", []any{"spec"}, []any{"metadata", "deletionTimestamp"}, []any{"metadata", "ownerReferences"})
}

// PrepareForUpdate implements rest.RESTUpdateStrategy.
func (s statusStrategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	core.PreparePodForStatusUpdate(obj.(*corev1.Pod), old.(*corev1.Pod), s.gates)
}

// ValidateUpdate implements rest.RESTUpdateStrategy.
func (s statusStrategy) ValidateUpdate(_ context.Context, obj, old runtime.Object) field.ErrorList {
	return core.ValidatePodStatusUpdate(obj.(*corev1.Pod), old.(*corev1.Pod), s.options())
}

// WarningsOnUpdate implements rest.RESTUpdateStrategy.
func (statusStrategy) WarningsOnUpdate(_ context.Context, obj, _ runtime.Object) []string {
	return core.PodStatusWarnings(obj.(*corev1.Pod))
}
