package configmap

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
)

// New returns the storage of configmaps.
func New(c resource.Config) (map[string]rest.Storage, error) {
	main, err := resource.New(resource.Definition{
		Resource:   corev1.Resource("configmaps"),
		Singular:   "configmap",
		ShortNames: []string{"cm"},
		New:        func() runtime.Object { return &corev1.ConfigMap{} },
		NewList:    func() runtime.Object { return &corev1.ConfigMapList{} },
		Strategy:   strategy{resource.NewStrategy(c.Typer)},
		Table:      newTable(c.Clock),
	}, c.Getter)
	if err != nil {
		return nil, err
	}
	return map[string]rest.Storage{"configmaps": main}, nil
}
