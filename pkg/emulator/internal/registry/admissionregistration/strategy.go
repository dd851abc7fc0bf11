package admissionregistration

import (
	"context"
	"fmt"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
)

// staticSuffix ends the names that Kubernetes keeps for configurations from files (KEP-5793).
const staticSuffix = ".static.k8s.io"

// object is a pointer to one of the kinds.
type object[T any] interface {
	*T
	runtime.Object
	metav1.Object
}

// strategy has the rules that the kinds share: a generation that counts the changes of their content, and updates only
// with a resource version.
type strategy[T any, P object[T]] struct {
	resource.Strategy
	// content is what the generation counts changes of.
	content func(P) any
	// keepStatus takes the status over from old; nil for kinds without one.
	keepStatus func(obj, old P)
	// validate and validateUpdate check an object.
	validate       func(P) field.ErrorList
	validateUpdate func(obj, old P) field.ErrorList
}

// PrepareForCreate implements rest.RESTCreateStrategy.
func (s strategy[T, P]) PrepareForCreate(_ context.Context, obj runtime.Object) {
	created := obj.(P)
	created.SetGeneration(1)
	if s.keepStatus != nil {
		s.keepStatus(created, new(T))
	}
}

// PrepareForUpdate implements rest.RESTUpdateStrategy.
func (s strategy[T, P]) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	changed, stored := obj.(P), old.(P)
	if s.keepStatus != nil {
		s.keepStatus(changed, stored)
	}
	if !same(s.content(stored), s.content(changed)) {
		changed.SetGeneration(stored.GetGeneration() + 1)
	}
}

// Validate implements rest.RESTCreateStrategy.
func (s strategy[T, P]) Validate(_ context.Context, obj runtime.Object) field.ErrorList {
	return s.validate(obj.(P))
}

// ValidateUpdate implements rest.RESTUpdateStrategy.
func (s strategy[T, P]) ValidateUpdate(_ context.Context, obj, old runtime.Object) field.ErrorList {
	return s.validateUpdate(obj.(P), old.(P))
}

// WarningsOnCreate implements rest.RESTCreateStrategy.
func (s strategy[T, P]) WarningsOnCreate(_ context.Context, obj runtime.Object) []string {
	return nameWarnings(obj.(P).GetName())
}

// WarningsOnUpdate implements rest.RESTUpdateStrategy.
func (s strategy[T, P]) WarningsOnUpdate(_ context.Context, obj, _ runtime.Object) []string {
	return nameWarnings(obj.(P).GetName())
}

// GetResetFields implements rest.ResetFieldsStrategy.
func (s strategy[T, P]) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	if s.keepStatus == nil {
		return nil
	}
	return resource.ResetFields(admissionregistrationv1.SchemeGroupVersion.String(), []any{"status"})
}

func nameWarnings(name string) []string {
	if !strings.HasSuffix(name, staticSuffix) {
		return nil
	}
	return []string{fmt.Sprintf("metadata.name: names ending with %q are reserved for static manifest-based configurations "+
		"and cannot be managed via the API", staticSuffix)}
}

// statusStrategy updates the status of a ValidatingAdmissionPolicy alone.
type statusStrategy struct{ resource.Strategy }

// PrepareForUpdate implements rest.RESTUpdateStrategy.
func (statusStrategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	changed, stored := obj.(*admissionregistrationv1.ValidatingAdmissionPolicy), old.(*admissionregistrationv1.ValidatingAdmissionPolicy)
	changed.Spec = stored.Spec
	metav1.ResetObjectMetaForStatus(&changed.ObjectMeta, &stored.ObjectMeta)
}

// ValidateUpdate implements rest.RESTUpdateStrategy.
func (statusStrategy) ValidateUpdate(_ context.Context, obj, _ runtime.Object) field.ErrorList {
	return validatePolicyStatus(&obj.(*admissionregistrationv1.ValidatingAdmissionPolicy).Status, field.NewPath("status"))
}

// WarningsOnUpdate implements rest.RESTUpdateStrategy.
func (statusStrategy) WarningsOnUpdate(_ context.Context, obj, _ runtime.Object) []string {
	return nameWarnings(obj.(*admissionregistrationv1.ValidatingAdmissionPolicy).Name)
}

// GetResetFields implements rest.ResetFieldsStrategy.
func (statusStrategy) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return resource.ResetFields(admissionregistrationv1.SchemeGroupVersion.String(), []any{"spec"}, []any{"metadata"})
}
