package podgroup

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
	"github.com/musterkube/muster/pkg/features"
	"github.com/musterkube/muster/pkg/validation"
)

// strategy keeps clients from the status and drops the fields of gates that are off. It leaves metadata.generation
// alone, and lets server-side apply own the status all the same, as Kubernetes 1.36 does.
type strategy struct {
	resource.Strategy
	gates features.Gates
}

// PrepareForCreate implements rest.RESTCreateStrategy.
func (s strategy) PrepareForCreate(_ context.Context, obj runtime.Object) {
	group := obj.(*schedulingv1alpha2.PodGroup)
	group.Status = schedulingv1alpha2.PodGroupStatus{}
	validation.DropDisabledPodGroupFields(group, nil, s.gates)
}

// PrepareForUpdate implements rest.RESTUpdateStrategy.
func (s strategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	changed, stored := obj.(*schedulingv1alpha2.PodGroup), old.(*schedulingv1alpha2.PodGroup)
	changed.Status = stored.Status
	validation.DropDisabledPodGroupFields(changed, stored, s.gates)
}

// Validate implements rest.RESTCreateStrategy.
func (s strategy) Validate(_ context.Context, obj runtime.Object) field.ErrorList {
	return validation.ValidatePodGroup(obj.(*schedulingv1alpha2.PodGroup), s.gates)
}

// ValidateUpdate implements rest.RESTUpdateStrategy.
func (s strategy) ValidateUpdate(_ context.Context, obj, old runtime.Object) field.ErrorList {
	return validation.ValidatePodGroupUpdate(obj.(*schedulingv1alpha2.PodGroup), old.(*schedulingv1alpha2.PodGroup), s.gates)
}

// statusStrategy updates the status alone: metadata stays too, finalizers and labels included.
type statusStrategy struct{ strategy }

// GetResetFields implements rest.ResetFieldsStrategy.
func (statusStrategy) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return resource.ResetFields(schedulingv1alpha2.SchemeGroupVersion.String(), []any{"metadata"}, []any{"spec"})
}

// PrepareForUpdate implements rest.RESTUpdateStrategy.
func (s statusStrategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	changed, stored := obj.(*schedulingv1alpha2.PodGroup), old.(*schedulingv1alpha2.PodGroup)
	changed.Spec = stored.Spec
	metav1.ResetObjectMetaForStatus(&changed.ObjectMeta, &stored.ObjectMeta)
	validation.DropDisabledPodGroupStatusFields(changed, stored, s.gates)
}

// ValidateUpdate implements rest.RESTUpdateStrategy.
func (s statusStrategy) ValidateUpdate(_ context.Context, obj, old runtime.Object) field.ErrorList {
	return validation.ValidatePodGroupStatusUpdate(obj.(*schedulingv1alpha2.PodGroup), old.(*schedulingv1alpha2.PodGroup), s.gates)
}
