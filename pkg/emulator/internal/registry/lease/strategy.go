package lease

import (
	"context"

	coordinationv1 "k8s.io/api/coordination/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
)

// strategy checks the numbers of a lease, and drops what only coordinated leader election (KEP-4355) reads, which is
// off in Kubernetes 1.36.
type strategy struct{ resource.Strategy }

// PrepareForCreate implements rest.RESTCreateStrategy.
func (strategy) PrepareForCreate(_ context.Context, obj runtime.Object) {
	dropDisabled(&obj.(*coordinationv1.Lease).Spec, &coordinationv1.LeaseSpec{})
}

// PrepareForUpdate implements rest.RESTUpdateStrategy.
func (strategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	dropDisabled(&obj.(*coordinationv1.Lease).Spec, &old.(*coordinationv1.Lease).Spec)
}

// dropDisabled empties disabled fields that the stored lease does not use.
func dropDisabled(spec, stored *coordinationv1.LeaseSpec) {
	if stored.Strategy == nil {
		spec.Strategy = nil
	}
	if stored.PreferredHolder == nil {
		spec.PreferredHolder = nil
	}
}

// Validate implements rest.RESTCreateStrategy.
func (strategy) Validate(_ context.Context, obj runtime.Object) field.ErrorList {
	lease := obj.(*coordinationv1.Lease)
	errs := apivalidation.ValidateObjectMeta(&lease.ObjectMeta, true, apivalidation.NameIsDNSSubdomain, field.NewPath("metadata"))
	return append(errs, validateSpec(&lease.Spec)...)
}

// ValidateUpdate implements rest.RESTUpdateStrategy.
func (strategy) ValidateUpdate(_ context.Context, obj, old runtime.Object) field.ErrorList {
	lease := obj.(*coordinationv1.Lease)
	errs := apivalidation.ValidateObjectMetaUpdate(&lease.ObjectMeta, &old.(*coordinationv1.Lease).ObjectMeta, field.NewPath("metadata"))
	return append(errs, validateSpec(&lease.Spec)...)
}

func validateSpec(spec *coordinationv1.LeaseSpec) field.ErrorList {
	var errs field.ErrorList
	path := field.NewPath("spec")
	if spec.LeaseDurationSeconds != nil && *spec.LeaseDurationSeconds <= 0 {
		errs = append(errs, field.Invalid(path.Child("leaseDurationSeconds"), spec.LeaseDurationSeconds, "must be greater than 0"))
	}
	if spec.LeaseTransitions != nil && *spec.LeaseTransitions < 0 {
		errs = append(errs, field.Invalid(path.Child("leaseTransitions"), spec.LeaseTransitions, "must be greater than or equal to 0"))
	}
	return errs
}
