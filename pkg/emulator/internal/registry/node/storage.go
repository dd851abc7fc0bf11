package node

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
)

// New returns the storage of nodes and nodes/status.
func New(c resource.Config) (map[string]rest.Storage, error) {
	base := resource.NewStrategy(c.Typer)
	base.ClusterScoped = true
	main, err := resource.New(resource.Definition{
		Resource:   corev1.Resource("nodes"),
		Singular:   "node",
		ShortNames: []string{"no"},
		New:        func() runtime.Object { return &corev1.Node{} },
		NewList:    func() runtime.Object { return &corev1.NodeList{} },
		Strategy:   strategy{base},
		Fields: func(obj runtime.Object) fields.Set {
			return fields.Set{"spec.unschedulable": fmt.Sprint(obj.(*corev1.Node).Spec.Unschedulable)}
		},
		Table: newTable(c.Clock),
	}, c.Getter)
	if err != nil {
		return nil, err
	}
	return map[string]rest.Storage{
		"nodes":        main,
		"nodes/status": resource.NewSubresource(main, statusStrategy{strategy{base}}).WithTable(),
	}, nil
}
