package workload

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/clock"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
)

func newTable(now clock.PassiveClock) rest.TableConvertor {
	return resource.NewTable([]metav1.TableColumnDefinition{
		resource.NameColumn(),
		resource.AgeColumn(),
	}, func(workload *schedulingv1alpha2.Workload) resource.Row {
		return resource.Row{Cells: []any{workload.Name, resource.Since(now, workload.CreationTimestamp.Time)}}
	})
}
