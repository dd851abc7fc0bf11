package workload

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
)

// New returns the storage of workloads.
func New(c resource.Config) (map[string]rest.Storage, error) {
	main, err := resource.New(resource.Definition{
		Resource: schedulingv1alpha2.Resource("workloads"),
		Singular: "workload",
		New:      func() runtime.Object { return &schedulingv1alpha2.Workload{} },
		NewList:  func() runtime.Object { return &schedulingv1alpha2.WorkloadList{} },
		Strategy: strategy{Strategy: resource.NewStrategy(c.Typer), gates: c.Gates},
		Table:    newTable(c.Clock),
	}, c.Getter)
	if err != nil {
		return nil, err
	}
	return map[string]rest.Storage{"workloads": main}, nil
}
