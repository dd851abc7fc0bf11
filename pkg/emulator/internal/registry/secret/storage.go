package secret

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
)

// New returns the storage of secrets.
func New(c resource.Config) (map[string]rest.Storage, error) {
	main, err := resource.New(resource.Definition{
		Resource: corev1.Resource("secrets"),
		Singular: "secret",
		New:      func() runtime.Object { return &corev1.Secret{} },
		NewList:  func() runtime.Object { return &corev1.SecretList{} },
		Strategy: strategy{resource.NewStrategy(c.Typer)},
		Table:    newTable(c.Clock),
		Fields: func(obj runtime.Object) fields.Set {
			return fields.Set{"type": string(obj.(*corev1.Secret).Type)}
		},
	}, c.Getter)
	if err != nil {
		return nil, err
	}
	return map[string]rest.Storage{"secrets": main}, nil
}
