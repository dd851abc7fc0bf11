package priorityclass

import (
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"

	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
)

func newTable(now clock.PassiveClock) rest.TableConvertor {
	doc := schedulingv1.PriorityClass{}.SwaggerDoc()
	return resource.NewTable([]metav1.TableColumnDefinition{
		resource.NameColumn(),
		{Name: "Value", Type: "integer", Description: doc["value"]},
		{Name: "Global-Default", Type: "boolean", Description: doc["globalDefault"]},
		resource.AgeColumn(),
		resource.Column("PreemptionPolicy", doc["preemptionPolicy"]),
	}, func(class *schedulingv1.PriorityClass) resource.Row {
		return resource.Row{Cells: []any{
			class.Name, int64(class.Value), class.GlobalDefault, resource.Since(now, class.CreationTimestamp.Time),
			string(ptr.Deref(class.PreemptionPolicy, corev1.PreemptionPolicy(""))),
		}}
	})
}
