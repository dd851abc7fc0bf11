package podgroup

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/clock"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
)

func newTable(now clock.PassiveClock) rest.TableConvertor {
	return resource.NewTable([]metav1.TableColumnDefinition{
		resource.NameColumn(),
		resource.Column("Policy", "How the pods of the group are placed: Gang, all of them together, or Basic, each by itself"),
		resource.Column("Workload", "Name of the referenced Workload object"),
		resource.Column("Status", "Status of the PodGroup"),
		resource.AgeColumn(),
	}, func(group *schedulingv1alpha2.PodGroup) resource.Row {
		policy := "Basic"
		if group.Spec.SchedulingPolicy.Gang != nil {
			policy = "Gang"
		}
		return resource.Row{Cells: []any{group.Name, policy, workload(group), status(group), resource.Since(now, group.CreationTimestamp.Time)}}
	})
}

func workload(group *schedulingv1alpha2.PodGroup) string {
	if ref := group.Spec.PodGroupTemplateRef; ref != nil && ref.Workload != nil {
		return resource.OrNone(ref.Workload.WorkloadName)
	}
	return "<none>"
}

// status says where the group is, in one word. A disruption, of whatever status, goes before placement.
func status(group *schedulingv1alpha2.PodGroup) string {
	if disrupted := meta.FindStatusCondition(group.Status.Conditions, schedulingv1alpha2.DisruptionTarget); disrupted != nil {
		return disrupted.Reason
	}
	switch scheduled := meta.FindStatusCondition(group.Status.Conditions, schedulingv1alpha2.PodGroupScheduled); {
	case scheduled == nil:
		return "Pending"
	case scheduled.Status == metav1.ConditionTrue:
		return "Scheduled"
	}
	return "Unschedulable"
}
