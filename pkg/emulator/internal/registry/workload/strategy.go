package workload

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
	"github.com/musterkube/muster/pkg/features"
	"github.com/musterkube/muster/pkg/validation"
)

// strategy drops the fields of gates that are off. It leaves metadata.generation alone, as Kubernetes 1.36 does.
type strategy struct {
	resource.Strategy
	gates features.Gates
}

// PrepareForCreate implements rest.RESTCreateStrategy.
func (s strategy) PrepareForCreate(_ context.Context, obj runtime.Object) {
	validation.DropDisabledWorkloadFields(obj.(*schedulingv1alpha2.Workload), nil, s.gates)
}

// PrepareForUpdate implements rest.RESTUpdateStrategy.
func (s strategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	validation.DropDisabledWorkloadFields(obj.(*schedulingv1alpha2.Workload), old.(*schedulingv1alpha2.Workload), s.gates)
}

// Validate implements rest.RESTCreateStrategy.
func (s strategy) Validate(_ context.Context, obj runtime.Object) field.ErrorList {
	return validation.ValidateWorkload(obj.(*schedulingv1alpha2.Workload), s.gates)
}

// ValidateUpdate implements rest.RESTUpdateStrategy.
func (s strategy) ValidateUpdate(_ context.Context, obj, old runtime.Object) field.ErrorList {
	return validation.ValidateWorkloadUpdate(obj.(*schedulingv1alpha2.Workload), old.(*schedulingv1alpha2.Workload), s.gates)
}
