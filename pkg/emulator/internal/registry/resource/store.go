package resource

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/generic"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage"

	"github.com/musterkube/muster/pkg/emulator/internal/patches"
	"github.com/musterkube/muster/pkg/emulator/internal/stack"
)

// MainStrategy is what a kind's strategy for its main resource must be able to do.
type MainStrategy interface {
	rest.RESTCreateStrategy
	rest.RESTUpdateStrategy
	rest.RESTDeleteStrategy
}

// Definition describes a kind to [New].
type Definition struct {
	// Resource is the plural name with its group, such as jobs.batch.
	Resource schema.GroupResource
	// Singular is the name of one.
	Singular string
	// ShortNames and Categories are what kubectl takes besides the names. Default: none.
	ShortNames, Categories []string
	// New and NewList make empty objects.
	New, NewList func() runtime.Object
	// Strategy has the kind's rules.
	Strategy MainStrategy
	// Fields returns the kind's own fields for field selectors. Default: none but name and namespace.
	Fields func(obj runtime.Object) fields.Set
	// Table prints the kind.
	Table rest.TableConvertor
	// ReturnDeleted makes a delete answer with the object rather than with a Status, for the kinds for which Kubernetes
	// does so.
	ReturnDeleted bool
}

// REST serves a kind's main resource.
type REST struct {
	*genericregistry.Store
	shortNames, categories []string
}

var (
	_ rest.StandardStorage     = (*REST)(nil)
	_ rest.ShortNamesProvider  = (*REST)(nil)
	_ rest.CategoriesProvider  = (*REST)(nil)
	_ rest.ResetFieldsStrategy = (*REST)(nil)

	_ rest.CorruptObjectDeleterProvider = (*REST)(nil)
)

// New returns the storage of the kind that d describes, over what getter gives for its resource.
func New(d Definition, getter generic.RESTOptionsGetter) (*REST, error) {
	attributes := attributesOf(d)
	store := &genericregistry.Store{
		NewFunc:     d.New,
		NewListFunc: d.NewList,
		PredicateFunc: func(label labels.Selector, field fields.Selector) storage.SelectionPredicate {
			return storage.SelectionPredicate{Label: label, Field: field, GetAttrs: attributes}
		},
		DefaultQualifiedResource:  d.Resource,
		SingularQualifiedResource: schema.GroupResource{Group: d.Resource.Group, Resource: d.Singular},
		CreateStrategy:            d.Strategy,
		UpdateStrategy:            d.Strategy,
		DeleteStrategy:            d.Strategy,
		ReturnDeletedObject:       d.ReturnDeleted,
		TableConvertor:            d.Table,
	}
	if reset, ok := d.Strategy.(rest.ResetFieldsStrategy); ok {
		store.ResetFieldsStrategy = reset
	}
	if err := store.CompleteWithOptions(&generic.StoreOptions{RESTOptions: getter, AttrFunc: attributes}); err != nil {
		return nil, fmt.Errorf("making the store of %s: %w", d.Resource, err)
	}
	return &REST{Store: store, shortNames: d.ShortNames, categories: d.Categories}, nil
}

// Update implements rest.Updater.
func (r *REST) Update(ctx context.Context, name string, info rest.UpdatedObjectInfo, createValidation rest.ValidateObjectFunc,
	updateValidation rest.ValidateObjectUpdateFunc, create bool, options *metav1.UpdateOptions) (runtime.Object, bool, error) {
	stack.Reserve() // an update runs in a goroutine of its own, which begins about here
	return r.Store.Update(ctx, name, patches.Follow(ctx, info), createValidation, updateValidation, create, options)
}

// GetCorruptObjDeleter implements rest.CorruptObjectDeleterProvider. Kinds that delete in a way of their own have to
// implement this too.
func (r *REST) GetCorruptObjDeleter() rest.GracefulDeleter { return PlainDeleter{r} }

// ShortNames implements rest.ShortNamesProvider.
func (r *REST) ShortNames() []string { return r.shortNames }

// Categories implements rest.CategoriesProvider.
func (r *REST) Categories() []string { return r.categories }

// attributesOf returns the function that tells what selectors see of an object of the kind.
func attributesOf(d Definition) storage.AttrFunc {
	namespaced := d.Strategy.NamespaceScoped()
	return func(obj runtime.Object) (labels.Set, fields.Set, error) {
		object, err := meta.Accessor(obj)
		if err != nil {
			return nil, nil, fmt.Errorf("reading the metadata of one of %s: %w", d.Resource, err)
		}
		set := fields.Set{}
		if d.Fields != nil {
			set = d.Fields(obj)
		}
		set["metadata.name"] = object.GetName()
		if namespaced {
			set["metadata.namespace"] = object.GetNamespace()
		}
		return object.GetLabels(), set, nil
	}
}
