package namespace

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
)

// SystemNames returns the namespaces that every cluster has.
func SystemNames() []string {
	return []string{metav1.NamespaceSystem, metav1.NamespacePublic, corev1.NamespaceNodeLease, metav1.NamespaceDefault}
}

// New returns the storage of namespaces, namespaces/status and namespaces/finalize.
func New(c resource.Config) (map[string]rest.Storage, error) {
	base := resource.NewStrategy(c.Typer)
	base.ClusterScoped = true
	main, err := resource.New(resource.Definition{
		Resource:   corev1.Resource("namespaces"),
		Singular:   "namespace",
		ShortNames: []string{"ns"},
		New:        func() runtime.Object { return &corev1.Namespace{} },
		NewList:    func() runtime.Object { return &corev1.NamespaceList{} },
		Strategy:   strategy{base},
		Fields: func(obj runtime.Object) fields.Set {
			namespace := obj.(*corev1.Namespace)
			// "name" was a slip once, and clients rely on it.
			return fields.Set{"status.phase": string(namespace.Status.Phase), "name": namespace.Name}
		},
		Table:         newTable(c.Clock),
		ReturnDeleted: true,
	}, c.Getter)
	if err != nil {
		return nil, err
	}
	main.ShouldDeleteDuringUpdate = func(ctx context.Context, key string, obj, existing runtime.Object) bool {
		return len(obj.(*corev1.Namespace).Spec.Finalizers) == 0 && genericregistry.ShouldDeleteDuringUpdate(ctx, key, obj, existing)
	}
	return map[string]rest.Storage{
		"namespaces":          &store{main: main, clock: c.Clock},
		"namespaces/status":   resource.NewSubresource(main, statusStrategy{strategy{base}}).WithTable(),
		"namespaces/finalize": finalizer{resource.NewSubresource(main, finalizeStrategy{strategy{base}})},
	}, nil
}

// store serves namespaces. It does not embed the resource's storage, since namespaces cannot be deleted as a collection.
type store struct {
	main  *resource.REST
	clock clock.PassiveClock
}

var (
	_ rest.Storage                = (*store)(nil)
	_ rest.Scoper                 = (*store)(nil)
	_ rest.SingularNameProvider   = (*store)(nil)
	_ rest.ShortNamesProvider     = (*store)(nil)
	_ rest.StorageVersionProvider = (*store)(nil)
	_ rest.Lister                 = (*store)(nil)
	_ rest.Watcher                = (*store)(nil)
	_ rest.CreaterUpdater         = (*store)(nil)
	_ rest.GracefulDeleter        = (*store)(nil)
	_ rest.ResetFieldsStrategy    = (*store)(nil)
)

// New implements rest.Storage.
func (s *store) New() runtime.Object { return s.main.New() }

// Destroy implements rest.Storage.
func (s *store) Destroy() { s.main.Destroy() }

// NamespaceScoped implements rest.Scoper.
func (s *store) NamespaceScoped() bool { return s.main.NamespaceScoped() }

// GetSingularName implements rest.SingularNameProvider.
func (s *store) GetSingularName() string { return s.main.GetSingularName() }

// ShortNames implements rest.ShortNamesProvider.
func (s *store) ShortNames() []string { return s.main.ShortNames() }

// StorageVersion implements rest.StorageVersionProvider.
func (s *store) StorageVersion() runtime.GroupVersioner { return s.main.StorageVersion() }

// GetResetFields implements rest.ResetFieldsStrategy.
func (s *store) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return s.main.GetResetFields()
}

// NewList implements rest.Lister.
func (s *store) NewList() runtime.Object { return s.main.NewList() }

// List implements rest.Lister.
func (s *store) List(ctx context.Context, options *metainternalversion.ListOptions) (runtime.Object, error) {
	return s.main.List(ctx, options)
}

// ConvertToTable implements rest.TableConvertor.
func (s *store) ConvertToTable(ctx context.Context, obj, options runtime.Object) (*metav1.Table, error) {
	return s.main.ConvertToTable(ctx, obj, options)
}

// Watch implements rest.Watcher.
func (s *store) Watch(ctx context.Context, options *metainternalversion.ListOptions) (watch.Interface, error) {
	return s.main.Watch(ctx, options)
}

// Get implements rest.Getter.
func (s *store) Get(ctx context.Context, name string, options *metav1.GetOptions) (runtime.Object, error) {
	return s.main.Get(ctx, name, options)
}

// Create implements rest.Creater.
func (s *store) Create(ctx context.Context, obj runtime.Object, validate rest.ValidateObjectFunc, options *metav1.CreateOptions) (runtime.Object, error) {
	return s.main.Create(ctx, obj, validate, options)
}

// Update implements rest.Updater.
func (s *store) Update(ctx context.Context, name string, info rest.UpdatedObjectInfo, createValidation rest.ValidateObjectFunc,
	updateValidation rest.ValidateObjectUpdateFunc, forceAllowCreate bool, options *metav1.UpdateOptions) (runtime.Object, bool, error) {
	return s.main.Update(ctx, name, info, createValidation, updateValidation, forceAllowCreate, options)
}
