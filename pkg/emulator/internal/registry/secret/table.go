package secret

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/clock"

	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
)

func newTable(now clock.PassiveClock) rest.TableConvertor {
	doc := corev1.Secret{}.SwaggerDoc()
	return resource.NewTable([]metav1.TableColumnDefinition{
		resource.NameColumn(),
		resource.Column("Type", doc["type"]),
		resource.Column("Data", doc["data"]),
		resource.AgeColumn(),
	}, func(secret *corev1.Secret) resource.Row {
		return resource.Row{Cells: []any{
			secret.Name, string(secret.Type), int64(len(secret.Data)), resource.Since(now, secret.CreationTimestamp.Time),
		}}
	})
}
