package serviceaccount

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
		resource.AgeColumn(),
	}, func(account *corev1.ServiceAccount) resource.Row {
		return resource.Row{Cells: []any{account.Name, resource.Since(now, account.CreationTimestamp.Time)}}
	})
}
