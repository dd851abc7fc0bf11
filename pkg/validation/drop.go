package validation

import (
	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/pkg/features"
)

// DropDisabledWorkloadFields clears in the templates of a Workload what belongs to a feature gate that is off, as the
// API server does before it validates: scheduling constraints (TopologyAwareWorkloadScheduling), resource claims
// (DRAWorkloadResourceClaims), disruption mode, priority class and priority (WorkloadAwarePreemption). old is the
// stored Workload, or nil on create; what its template at the same place in the list has set, is left alone.
func DropDisabledWorkloadFields(workload, old *schedulingv1alpha2.Workload, gates features.Gates) {
	for i := range workload.Spec.PodGroupTemplates {
		var before gatedFields
		if old != nil && i < len(old.Spec.PodGroupTemplates) {
			before = gatedTemplateFields(&old.Spec.PodGroupTemplates[i])
		}
		gatedTemplateFields(&workload.Spec.PodGroupTemplates[i]).drop(before, gates)
	}
}

// DropDisabledPodGroupFields clears in the spec of a PodGroup what belongs to a feature gate that is off; the fields
// are those of [DropDisabledWorkloadFields]. old is the stored PodGroup, or nil on create; what it has set, is left
// alone. Since defaults apply to what is read from the store, a stored PodGroup always has a disruption mode.
func DropDisabledPodGroupFields(group, old *schedulingv1alpha2.PodGroup, gates features.Gates) {
	var before gatedFields
	if old != nil {
		before = gatedSpecFields(&old.Spec)
	}
	gatedSpecFields(&group.Spec).drop(before, gates)
}

// DropDisabledPodGroupStatusFields clears in the status of a PodGroup what belongs to a feature gate that is off: the
// resource claims (DRAWorkloadResourceClaims), unless the spec of the stored PodGroup old has some. old may be nil.
func DropDisabledPodGroupStatusFields(group, old *schedulingv1alpha2.PodGroup, gates features.Gates) {
	inUse := old != nil && len(old.Spec.ResourceClaims) > 0
	if !inUse && !gates.Enabled(features.DRAWorkloadResourceClaims) {
		group.Status.ResourceClaimStatuses = nil
	}
}

// gatedFields points at the fields, of a template or of a spec, that have a feature gate. Its zero value stands for an
// object that is not there.
type gatedFields struct {
	constraints   **schedulingv1alpha2.PodGroupSchedulingConstraints
	claims        *[]schedulingv1alpha2.PodGroupResourceClaim
	mode          **schedulingv1alpha2.DisruptionMode
	priorityClass *string
	priority      **int32
}

func gatedTemplateFields(template *schedulingv1alpha2.PodGroupTemplate) gatedFields {
	return gatedFields{
		&template.SchedulingConstraints, &template.ResourceClaims,
		&template.DisruptionMode, &template.PriorityClassName, &template.Priority,
	}
}

func gatedSpecFields(spec *schedulingv1alpha2.PodGroupSpec) gatedFields {
	return gatedFields{
		&spec.SchedulingConstraints, &spec.ResourceClaims,
		&spec.DisruptionMode, &spec.PriorityClassName, &spec.Priority,
	}
}

// drop clears each field whose gate is off and which the object before did not use.
func (f gatedFields) drop(before gatedFields, gates features.Gates) {
	exists := before.constraints != nil
	if !gates.Enabled(features.TopologyAwareWorkloadScheduling) && (!exists || *before.constraints == nil) {
		*f.constraints = nil
	}
	if !gates.Enabled(features.DRAWorkloadResourceClaims) && (!exists || len(*before.claims) == 0) {
		*f.claims = nil
	}
	if gates.Enabled(features.WorkloadAwarePreemption) {
		return
	}
	if !exists || *before.mode == nil {
		*f.mode = nil
	}
	if !exists || *before.priorityClass == "" {
		*f.priorityClass = ""
	}
	if !exists || *before.priority == nil {
		*f.priority = nil
	}
}
