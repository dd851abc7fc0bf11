package validation

import (
	"k8s.io/apimachinery/pkg/api/operation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	generated "github.com/musterkube/muster/generated/validation/scheduling/v1alpha2"
	"github.com/musterkube/muster/pkg/features"
)

// ValidateWorkload returns the faults for which the API server would refuse to create the Workload, none if it would
// take it. The Workload needs its namespace; a generateName does in place of a name, and does not count as one that
// is too long.
func ValidateWorkload(workload *schedulingv1alpha2.Workload, gates features.Gates) field.ErrorList {
	if workload == nil {
		return field.ErrorList{field.Required(field.NewPath(""), "there is no Workload")}
	}
	faults := validateMetadata(&workload.ObjectMeta)
	return append(once(faults), declared(generated.Validate_Workload, operation.Create, gates, workload, nil)...)
}

// ValidateWorkloadUpdate returns the faults for which the API server would refuse to replace the stored Workload old
// by workload. Nothing in its spec can be changed. workload must carry what the server keeps on every update: name,
// namespace, UID, creation time and resource version.
func ValidateWorkloadUpdate(workload, old *schedulingv1alpha2.Workload, gates features.Gates) field.ErrorList {
	if workload == nil || old == nil {
		return field.ErrorList{field.Required(field.NewPath(""), "there is no Workload")}
	}
	faults := validateMetadataUpdate(&workload.ObjectMeta, &old.ObjectMeta)
	return append(once(faults), declared(generated.Validate_Workload, operation.Update, gates, workload, old)...)
}
