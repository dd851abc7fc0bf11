package validation

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/operation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	generated "github.com/musterkube/muster/generated/validation/scheduling/v1alpha2"
	"github.com/musterkube/muster/pkg/features"
)

// ValidatePodGroup returns the faults for which the API server would refuse to create the PodGroup, none if it would
// take it. The PodGroup needs its namespace; a generateName does in place of a name. Its defaults must be set
// ([schedulingv1alpha2.SetObjectDefaults_PodGroup]): without a disruption mode it is at fault. Its status is judged
// too: the server empties it first.
func ValidatePodGroup(group *schedulingv1alpha2.PodGroup, gates features.Gates) field.ErrorList {
	if group == nil {
		return field.ErrorList{field.Required(field.NewPath(""), "there is no PodGroup")}
	}
	faults := validateMetadata(&group.ObjectMeta)
	return append(once(faults), declared(generated.Validate_PodGroup, operation.Create, gates, group, nil)...)
}

// ValidatePodGroupUpdate returns the faults for which the API server would refuse to replace the stored PodGroup old
// by group. Nothing in its spec can be changed, except to clear a field whose feature gate is off. group must carry
// what the server keeps on every update: name, namespace, UID, creation time and resource version, and the status.
func ValidatePodGroupUpdate(group, old *schedulingv1alpha2.PodGroup, gates features.Gates) field.ErrorList {
	if group == nil || old == nil {
		return field.ErrorList{field.Required(field.NewPath(""), "there is no PodGroup")}
	}
	faults := validateMetadataUpdate(&group.ObjectMeta, &old.ObjectMeta)
	return append(once(faults), declared(generated.Validate_PodGroup, operation.Update, gates, group, old)...)
}

// ValidatePodGroupStatusUpdate returns the faults for which the API server would refuse a write to the status of the
// stored PodGroup old. group must carry the metadata and spec of old, which such a write leaves alone.
func ValidatePodGroupStatusUpdate(group, old *schedulingv1alpha2.PodGroup, gates features.Gates) field.ErrorList {
	if group == nil || old == nil {
		return field.ErrorList{field.Required(field.NewPath(""), "there is no PodGroup")}
	}
	status := field.NewPath("status")
	faults := validateMetadataUpdate(&group.ObjectMeta, &old.ObjectMeta)
	faults = append(faults, validateConditions(group.Status.Conditions, status.Child("conditions"))...)
	faults = append(faults, validateClaimStatuses(group, status.Child("resourceClaimStatuses"))...)
	return append(once(faults), declared(generated.Validate_PodGroup, operation.Update, gates, group, old)...)
}

// validateClaimStatuses wants each claim in the status to be one of the spec. A name that is found there is valid, so
// its form needs no look.
func validateClaimStatuses(group *schedulingv1alpha2.PodGroup, path *field.Path) field.ErrorList {
	var faults field.ErrorList
	for i, status := range group.Status.ResourceClaimStatuses {
		known := slices.ContainsFunc(group.Spec.ResourceClaims, func(claim schedulingv1alpha2.PodGroupResourceClaim) bool {
			return claim.Name == status.Name
		})
		if !known {
			faults = append(faults, field.Invalid(path.Index(i).Child("name"), status.Name, "must match the name of an entry in `spec.resourceClaims`"))
		}
	}
	return faults
}
