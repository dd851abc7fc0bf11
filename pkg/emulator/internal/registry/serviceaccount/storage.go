package serviceaccount

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
)

// New returns the storage of serviceaccounts.
func New(c resource.Config) (map[string]rest.Storage, error) {
	main, err := resource.New(resource.Definition{
		Resource:   corev1.Resource("serviceaccounts"),
		Singular:   "serviceaccount",
		ShortNames: []string{"sa"},
		New:        func() runtime.Object { return &corev1.ServiceAccount{} },
		NewList:    func() runtime.Object { return &corev1.ServiceAccountList{} },
		Strategy:   strategy{resource.NewStrategy(c.Typer)},
		Table:      newTable(c.Clock),
		// Kubernetes answers a delete with the object here.
		ReturnDeleted: true,
	}, c.Getter)
	if err != nil {
		return nil, err
	}
	return map[string]rest.Storage{"serviceaccounts": main}, nil
}
