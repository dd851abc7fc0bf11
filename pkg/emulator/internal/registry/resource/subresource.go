package resource

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/musterkube/muster/pkg/emulator/internal/patches"
	"github.com/musterkube/muster/pkg/emulator/internal/stack"
)

// UpdateStrategy is what a subresource's strategy must be able to do.
type UpdateStrategy interface {
	rest.RESTUpdateStrategy
	rest.ResetFieldsStrategy
}

// Subresource serves a part of an object, such as its status: it can be read and updated, with a strategy that keeps
// the rest as it was, and never creates the object.
type Subresource struct {
	store *genericregistry.Store
}

var (
	_ rest.Patcher             = (*Subresource)(nil)
	_ rest.ResetFieldsStrategy = (*Subresource)(nil)
	_ rest.Storage             = (*Subresource)(nil)
)

// NewSubresource returns a subresource of main's objects that is updated by strategy.
func NewSubresource(main *REST, strategy UpdateStrategy) *Subresource {
	store := *main.Store
	store.UpdateStrategy = strategy
	store.ResetFieldsStrategy = strategy
	return &Subresource{store: &store}
}

// New implements rest.Storage.
func (s *Subresource) New() runtime.Object { return s.store.New() }

// Destroy implements rest.Storage. The storage belongs to the main resource, which destroys it.
func (s *Subresource) Destroy() {}

// Get implements rest.Getter, which patches need too.
func (s *Subresource) Get(ctx context.Context, name string, options *metav1.GetOptions) (runtime.Object, error) {
	return s.store.Get(ctx, name, options)
}

// Update implements rest.Updater. It never creates, whatever the request says.
func (s *Subresource) Update(ctx context.Context, name string, info rest.UpdatedObjectInfo, createValidation rest.ValidateObjectFunc,
	updateValidation rest.ValidateObjectUpdateFunc, _ bool, options *metav1.UpdateOptions) (runtime.Object, bool, error) {
	stack.Reserve() // as for the main resource
	return s.store.Update(ctx, name, patches.Follow(ctx, info), createValidation, updateValidation, false, options)
}

// GetResetFields implements rest.ResetFieldsStrategy.
func (s *Subresource) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return s.store.GetResetFields()
}

// WithTable returns the subresource with the tables of the main resource. Without them it answers clients that would
// like a table with the object, as some of Kubernetes' subresources do.
func (s *Subresource) WithTable() rest.Storage {
	return &printable{s}
}

type printable struct{ *Subresource }

var _ rest.TableConvertor = (*printable)(nil)

// ConvertToTable implements rest.TableConvertor.
func (p *printable) ConvertToTable(ctx context.Context, obj, options runtime.Object) (*metav1.Table, error) {
	return p.store.ConvertToTable(ctx, obj, options)
}
