package configmap

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
		resource.Column("Data", corev1.ConfigMap{}.SwaggerDoc()["data"]),
		resource.AgeColumn(),
	}, func(configMap *corev1.ConfigMap) resource.Row {
		return resource.Row{Cells: []any{
			configMap.Name, int64(len(configMap.Data) + len(configMap.BinaryData)), resource.Since(now, configMap.CreationTimestamp.Time),
		}}
	})
}
