package podgroup

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
)

// New returns the storage of podgroups and podgroups/status.
func New(c resource.Config) (map[string]rest.Storage, error) {
	rules := strategy{Strategy: resource.NewStrategy(c.Typer), gates: c.Gates}
	main, err := resource.New(resource.Definition{
		Resource: schedulingv1alpha2.Resource("podgroups"),
		Singular: "podgroup",
		New:      func() runtime.Object { return &schedulingv1alpha2.PodGroup{} },
		NewList:  func() runtime.Object { return &schedulingv1alpha2.PodGroupList{} },
		Strategy: rules,
		Table:    newTable(c.Clock),
	}, c.Getter)
	if err != nil {
		return nil, err
	}
	return map[string]rest.Storage{
		"podgroups":        main,
		"podgroups/status": resource.NewSubresource(main, statusStrategy{rules}),
	}, nil
}
