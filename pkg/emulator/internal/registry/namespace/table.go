package namespace

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/clock"

	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
)

func newTable(now clock.PassiveClock) rest.TableConvertor {
	return resource.NewTable([]metav1.TableColumnDefinition{
		resource.NameColumn(),
		resource.Column("Status", "The status of the namespace"),
		resource.AgeColumn(),
	}, func(namespace *corev1.Namespace) resource.Row {
		return resource.Row{Cells: []any{namespace.Name, string(namespace.Status.Phase), resource.Since(now, namespace.CreationTimestamp.Time)}}
	})
}
