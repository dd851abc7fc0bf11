package namespace

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
)

// finalizer can be updated and not read, unlike other subresources.
type finalizer struct{ sub *resource.Subresource }

var (
	_ rest.Storage             = finalizer{}
	_ rest.Updater             = finalizer{}
	_ rest.ResetFieldsStrategy = finalizer{}
)

// New implements rest.Storage.
func (f finalizer) New() runtime.Object { return f.sub.New() }

// Destroy implements rest.Storage.
func (f finalizer) Destroy() {}

// GetResetFields implements rest.ResetFieldsStrategy.
func (f finalizer) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return f.sub.GetResetFields()
}

// Update implements rest.Updater.
func (f finalizer) Update(ctx context.Context, name string, info rest.UpdatedObjectInfo, createValidation rest.ValidateObjectFunc,
	updateValidation rest.ValidateObjectUpdateFunc, forceAllowCreate bool, options *metav1.UpdateOptions) (runtime.Object, bool, error) {
	return f.sub.Update(ctx, name, info, createValidation, updateValidation, forceAllowCreate, options)
}
