package priorityclass

import (
	"context"
	"errors"

	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
)

// New returns the storage of priorityclasses.
func New(c resource.Config) (map[string]rest.Storage, error) {
	base := resource.NewStrategy(c.Typer)
	base.ClusterScoped = true
	main, err := resource.New(resource.Definition{
		Resource:   schedulingv1.Resource("priorityclasses"),
		Singular:   "priorityclass",
		ShortNames: []string{"pc"},
		New:        func() runtime.Object { return &schedulingv1.PriorityClass{} },
		NewList:    func() runtime.Object { return &schedulingv1.PriorityClassList{} },
		Strategy:   strategy{base},
		Table:      newTable(c.Clock),
	}, c.Getter)
	if err != nil {
		return nil, err
	}
	return map[string]rest.Storage{"priorityclasses": &store{main}}, nil
}

// store keeps the classes of the system from being deleted one by one; a collection delete passes them by, as in
// Kubernetes, because it calls the store below.
type store struct{ *resource.REST }

// Delete implements rest.GracefulDeleter.
func (s *store) Delete(ctx context.Context, name string, validate rest.ValidateObjectFunc, options *metav1.DeleteOptions) (runtime.Object, bool, error) {
	if isSystemClass(name) {
		return nil, false, apierrors.NewForbidden(schedulingv1.Resource("priorityclasses"), name,
			errors.New("this is a system priority class and cannot be deleted"))
	}
	return s.REST.Delete(ctx, name, validate, options)
}

// GetCorruptObjDeleter implements rest.CorruptObjectDeleterProvider.
func (s *store) GetCorruptObjDeleter() rest.GracefulDeleter {
	return resource.PlainDeleter{GracefulDeleter: s}
}
