package generate

import (
	schedulingv1alpha2 "k8s.io/api/scheduling/v1alpha2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Workload returns a Workload that is to be created.
func (g *Generator) Workload() *schedulingv1alpha2.Workload {
	return &schedulingv1alpha2.Workload{ObjectMeta: g.metadata(), Spec: schedulingv1alpha2.WorkloadSpec{
		ControllerRef: maybe(g, 0.5, func() schedulingv1alpha2.TypedLocalObjectReference {
			return schedulingv1alpha2.TypedLocalObjectReference{
				APIGroup: pick(g, "", "batch", "jobset.x-k8s.io"), Kind: pick(g, "Job", "JobSet"), Name: g.name(),
			}
		}),
		PodGroupTemplates: some(g, 1, pick(g, 1, 3, 8), func(i int) schedulingv1alpha2.PodGroupTemplate {
			return schedulingv1alpha2.PodGroupTemplate{
				Name:                  g.uniqueName(i),
				SchedulingPolicy:      g.schedulingPolicy(),
				SchedulingConstraints: maybe(g, 0.3, g.schedulingConstraints),
				ResourceClaims:        g.groupClaims(),
				DisruptionMode: maybe(g, 0.3,
					of(g, schedulingv1alpha2.DisruptionModePod, schedulingv1alpha2.DisruptionModePodGroup)),
				PriorityClassName: pick(g, "", "", "high", "system-node-critical"),
				Priority:          maybe(g, 0.3, number[int32](g, -10, 1000)),
			}
		}),
	}}
}

// PodGroup returns a PodGroup that is to be created. Its status is one that it could have later.
func (g *Generator) PodGroup() *schedulingv1alpha2.PodGroup {
	group := &schedulingv1alpha2.PodGroup{ObjectMeta: g.metadata(), Spec: schedulingv1alpha2.PodGroupSpec{
		PodGroupTemplateRef: maybe(g, 0.5, func() schedulingv1alpha2.PodGroupTemplateReference {
			return schedulingv1alpha2.PodGroupTemplateReference{Workload: &schedulingv1alpha2.WorkloadPodGroupTemplateReference{
				WorkloadName: g.name(), PodGroupTemplateName: g.name(),
			}}
		}),
		SchedulingPolicy:      g.schedulingPolicy(),
		SchedulingConstraints: maybe(g, 0.3, g.schedulingConstraints),
		ResourceClaims:        g.groupClaims(),
		DisruptionMode: maybe(g, 0.3,
			of(g, schedulingv1alpha2.DisruptionModePod, schedulingv1alpha2.DisruptionModePodGroup)),
		PriorityClassName: pick(g, "", "", "high", "system-node-critical"),
		Priority:          maybe(g, 0.3, number[int32](g, -10, 1000)),
	}}
	group.Status = g.PodGroupStatus(group)
	return group
}

// PodGroupStatus returns a status that a PodGroup can have.
func (g *Generator) PodGroupStatus(group *schedulingv1alpha2.PodGroup) schedulingv1alpha2.PodGroupStatus {
	var status schedulingv1alpha2.PodGroupStatus
	for _, kind := range []string{schedulingv1alpha2.PodGroupScheduled, schedulingv1alpha2.DisruptionTarget, "example.com/Seen"} {
		if g.Chance(0.5) {
			status.Conditions = append(status.Conditions, metav1.Condition{
				Type: kind, Status: pick(g, metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown),
				Reason: pick(g, "Scheduled", schedulingv1alpha2.PodGroupReasonUnschedulable), Message: pick(g, "", "all is well"),
				ObservedGeneration: number[int64](g, 0, 3)(), LastTransitionTime: g.day(1 + g.random.IntN(5)),
			})
		}
	}
	for i := range group.Spec.ResourceClaims {
		if g.Chance(0.5) {
			status.ResourceClaimStatuses = append(status.ResourceClaimStatuses, schedulingv1alpha2.PodGroupResourceClaimStatus{
				Name: group.Spec.ResourceClaims[i].Name, ResourceClaimName: maybe(g, 0.8, g.name),
			})
		}
	}
	return status
}

func (g *Generator) schedulingPolicy() schedulingv1alpha2.PodGroupSchedulingPolicy {
	if g.Chance(0.3) {
		return schedulingv1alpha2.PodGroupSchedulingPolicy{Basic: &schedulingv1alpha2.BasicSchedulingPolicy{}}
	}
	return schedulingv1alpha2.PodGroupSchedulingPolicy{Gang: &schedulingv1alpha2.GangSchedulingPolicy{MinCount: number[int32](g, 1, 9)()}}
}

func (g *Generator) schedulingConstraints() schedulingv1alpha2.PodGroupSchedulingConstraints {
	return schedulingv1alpha2.PodGroupSchedulingConstraints{
		Topology: some(g, 0, 1, func(int) schedulingv1alpha2.TopologyConstraint {
			return schedulingv1alpha2.TopologyConstraint{Key: g.labelKey()}
		}),
	}
}

func (g *Generator) groupClaims() []schedulingv1alpha2.PodGroupResourceClaim {
	if g.Chance(0.6) {
		return nil
	}
	return some(g, 1, 4, func(i int) schedulingv1alpha2.PodGroupResourceClaim {
		claim := schedulingv1alpha2.PodGroupResourceClaim{Name: g.uniqueName(i)}
		if g.Chance(0.5) {
			claim.ResourceClaimName = new(g.name())
		} else {
			claim.ResourceClaimTemplateName = new(g.name())
		}
		return claim
	})
}
