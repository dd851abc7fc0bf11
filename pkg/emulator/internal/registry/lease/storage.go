package lease

import (
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
)

// New returns the storage of leases.
func New(c resource.Config) (map[string]rest.Storage, error) {
	base := resource.NewStrategy(c.Typer)
	base.CreateOnUpdate = true
	base.Conditional = true
	main, err := resource.New(resource.Definition{
		Resource: coordinationv1.Resource("leases"),
		Singular: "lease",
		New:      func() runtime.Object { return &coordinationv1.Lease{} },
		NewList:  func() runtime.Object { return &coordinationv1.LeaseList{} },
		Strategy: strategy{base},
		Table:    newTable(c.Clock),
	}, c.Getter)
	if err != nil {
		return nil, err
	}
	return map[string]rest.Storage{"leases": main}, nil
}
