package job

import (
	"context"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/warning"

	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
)

// New returns the storage of jobs and jobs/status.
func New(c resource.Config) (map[string]rest.Storage, error) {
	rules := strategy{Strategy: resource.NewStrategy(c.Typer), gates: c.Gates}
	main, err := resource.New(resource.Definition{
		Resource:   batchv1.Resource("jobs"),
		Singular:   "job",
		Categories: []string{"all"},
		New:        func() runtime.Object { return &batchv1.Job{} },
		NewList:    func() runtime.Object { return &batchv1.JobList{} },
		Strategy:   rules,
		Fields: func(obj runtime.Object) fields.Set {
			return fields.Set{"status.successful": strconv.Itoa(int(obj.(*batchv1.Job).Status.Succeeded))}
		},
		Table: newTable(c.Clock),
	}, c.Getter)
	if err != nil {
		return nil, err
	}
	return map[string]rest.Storage{
		"jobs":        &store{main},
		"jobs/status": resource.NewSubresource(main, statusStrategy{rules}).WithTable(),
	}, nil
}

// store warns those who delete Jobs without saying what is to become of the pods.
type store struct{ *resource.REST }

// Delete implements rest.GracefulDeleter.
func (s *store) Delete(ctx context.Context, name string, validate rest.ValidateObjectFunc, options *metav1.DeleteOptions) (runtime.Object, bool, error) {
	warnOfOrphans(ctx, options)
	return s.REST.Delete(ctx, name, validate, options)
}

// GetCorruptObjDeleter implements rest.CorruptObjectDeleterProvider.
func (s *store) GetCorruptObjDeleter() rest.GracefulDeleter {
	return resource.PlainDeleter{GracefulDeleter: s}
}

// DeleteCollection implements rest.CollectionDeleter.
func (s *store) DeleteCollection(ctx context.Context, validate rest.ValidateObjectFunc, options *metav1.DeleteOptions,
	selection *metainternalversion.ListOptions) (runtime.Object, error) {
	warnOfOrphans(ctx, options)
	return s.REST.DeleteCollection(ctx, validate, options, selection)
}

func warnOfOrphans(ctx context.Context, options *metav1.DeleteOptions) {
	//nolint:staticcheck // Clients of old still send the deprecated option.
	if options == nil || options.PropagationPolicy != nil || options.OrphanDependents != nil || defaultPolicy(ctx) != rest.OrphanDependents {
		return
	}
	warning.AddWarning(ctx, "", "child pods are preserved by default when jobs are deleted; "+
		"set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning")
}
