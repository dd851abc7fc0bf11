package lease

import (
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"

	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
)

func newTable(now clock.PassiveClock) rest.TableConvertor {
	return resource.NewTable([]metav1.TableColumnDefinition{
		resource.NameColumn(),
		resource.Column("Holder", coordinationv1.LeaseSpec{}.SwaggerDoc()["holderIdentity"]),
		resource.AgeColumn(),
	}, func(lease *coordinationv1.Lease) resource.Row {
		return resource.Row{Cells: []any{lease.Name, ptr.Deref(lease.Spec.HolderIdentity, ""), resource.Since(now, lease.CreationTimestamp.Time)}}
	})
}
