package resource

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage/names"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Strategy is a strategy for creates, updates and deletes that changes and refuses nothing. Kinds embed it and replace
// the methods that they have rules for.
type Strategy struct {
	runtime.ObjectTyper
	names.NameGenerator
	// ClusterScoped is true for kinds that live outside namespaces.
	ClusterScoped bool
	// CreateOnUpdate is true for kinds that a PUT may create.
	CreateOnUpdate bool
	// Conditional is true for kinds that refuse updates without a resource version.
	Conditional bool
}

var (
	_ rest.RESTCreateStrategy = Strategy{}
	_ rest.RESTUpdateStrategy = Strategy{}
	_ rest.RESTDeleteStrategy = Strategy{}
)

// NewStrategy returns the strategy of a namespaced kind that is created by POST only and may be updated without a
// resource version: what most kinds are.
func NewStrategy(typer runtime.ObjectTyper) Strategy {
	return Strategy{ObjectTyper: typer, NameGenerator: names.SimpleNameGenerator}
}

// NamespaceScoped implements rest.RESTCreateStrategy and rest.RESTUpdateStrategy.
func (s Strategy) NamespaceScoped() bool { return !s.ClusterScoped }

// AllowCreateOnUpdate implements rest.RESTUpdateStrategy.
func (s Strategy) AllowCreateOnUpdate(context.Context) bool { return s.CreateOnUpdate }

// AllowUnconditionalUpdate implements rest.RESTUpdateStrategy.
func (s Strategy) AllowUnconditionalUpdate(context.Context) bool { return !s.Conditional }

// PrepareForCreate implements rest.RESTCreateStrategy: the object stays as it came.
func (Strategy) PrepareForCreate(context.Context, runtime.Object) {}

// PrepareForUpdate implements rest.RESTUpdateStrategy: the object stays as it came.
func (Strategy) PrepareForUpdate(context.Context, runtime.Object, runtime.Object) {}

// Validate implements rest.RESTCreateStrategy: everything is valid.
func (Strategy) Validate(context.Context, runtime.Object) field.ErrorList { return nil }

// ValidateUpdate implements rest.RESTUpdateStrategy: everything is valid.
func (Strategy) ValidateUpdate(context.Context, runtime.Object, runtime.Object) field.ErrorList {
	return nil
}

// WarningsOnCreate implements rest.RESTCreateStrategy: there are none.
func (Strategy) WarningsOnCreate(context.Context, runtime.Object) []string { return nil }

// WarningsOnUpdate implements rest.RESTUpdateStrategy: there are none.
func (Strategy) WarningsOnUpdate(context.Context, runtime.Object, runtime.Object) []string {
	return nil
}

// Canonicalize implements rest.RESTCreateStrategy and rest.RESTUpdateStrategy: the object stays as it is.
func (Strategy) Canonicalize(runtime.Object) {}

// ResetFields says which fields server-side apply must not own because the strategy resets them: paths, each a list of
// names, in the objects of one version, such as "batch/v1".
func ResetFields(version string, paths ...[]any) map[fieldpath.APIVersion]*fieldpath.Set {
	set := fieldpath.NewSet()
	for _, path := range paths {
		set.Insert(fieldpath.MakePathOrDie(path...))
	}
	return map[fieldpath.APIVersion]*fieldpath.Set{fieldpath.APIVersion(version): set}
}

// RequestVersion returns the API version by which the request of ctx came, empty when ctx belongs to no request.
func RequestVersion(ctx context.Context) schema.GroupVersion {
	if info, found := genericapirequest.RequestInfoFrom(ctx); found {
		return schema.GroupVersion{Group: info.APIGroup, Version: info.APIVersion}
	}
	return schema.GroupVersion{}
}
