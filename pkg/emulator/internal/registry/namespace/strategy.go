package namespace

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/musterkube/muster/pkg/core"
	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
)

// strategy gives new namespaces the finalizer of Kubernetes, and keeps updates from finalizers and status.
type strategy struct{ resource.Strategy }

// GetResetFields implements rest.ResetFieldsStrategy.
func (strategy) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return resource.ResetFields("v1", []any{"status"})
}

// PrepareForCreate implements rest.RESTCreateStrategy.
func (strategy) PrepareForCreate(_ context.Context, obj runtime.Object) {
	namespace := obj.(*corev1.Namespace)
	namespace.Status = corev1.NamespaceStatus{Phase: corev1.NamespaceActive}
	if !slices.Contains(namespace.Spec.Finalizers, corev1.FinalizerKubernetes) {
		namespace.Spec.Finalizers = append(namespace.Spec.Finalizers, corev1.FinalizerKubernetes)
	}
}

// PrepareForUpdate implements rest.RESTUpdateStrategy.
func (strategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	changed, stored := obj.(*corev1.Namespace), old.(*corev1.Namespace)
	changed.Spec.Finalizers = stored.Spec.Finalizers
	changed.Status = stored.Status
}

// Canonicalize implements rest.RESTCreateStrategy: names that are generated come too late for the defaults to put them
// into the label.
func (strategy) Canonicalize(obj runtime.Object) {
	namespace := obj.(*corev1.Namespace)
	if namespace.Labels == nil {
		namespace.Labels = map[string]string{}
	}
	namespace.Labels[corev1.LabelMetadataName] = namespace.Name
}

// Validate implements rest.RESTCreateStrategy.
func (strategy) Validate(_ context.Context, obj runtime.Object) field.ErrorList {
	return validate(obj.(*corev1.Namespace))
}

// ValidateUpdate implements rest.RESTUpdateStrategy.
func (strategy) ValidateUpdate(_ context.Context, obj, old runtime.Object) field.ErrorList {
	return append(validate(obj.(*corev1.Namespace)), validateMeta(obj, old)...)
}

func validate(namespace *corev1.Namespace) field.ErrorList {
	errs := core.ValidateObjectMeta(&namespace.ObjectMeta, false, apivalidation.ValidateNamespaceName, field.NewPath("metadata"))
	for _, finalizer := range namespace.Spec.Finalizers {
		errs = append(errs, validateFinalizer(finalizer, field.NewPath("spec", "finalizers"))...)
	}
	return errs
}

// validateFinalizer asks for a name with a domain, or one that Kubernetes itself uses.
func validateFinalizer(name corev1.FinalizerName, path *field.Path) field.ErrorList {
	errs := apivalidation.ValidateFinalizerName(string(name), path)
	standard := []corev1.FinalizerName{corev1.FinalizerKubernetes, metav1.FinalizerOrphanDependents, metav1.FinalizerDeleteDependents}
	if !strings.Contains(string(name), "/") && !slices.Contains(standard, name) {
		errs = append(errs, field.Invalid(path, string(name), "name is neither a standard finalizer name nor is it fully qualified"))
	}
	return errs
}

func validateMeta(obj, old runtime.Object) field.ErrorList {
	return core.ValidateObjectMetaUpdate(&obj.(*corev1.Namespace).ObjectMeta, &old.(*corev1.Namespace).ObjectMeta, field.NewPath("metadata"))
}

// statusStrategy updates the status alone.
type statusStrategy struct{ strategy }

// GetResetFields implements rest.ResetFieldsStrategy.
func (statusStrategy) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return resource.ResetFields("v1", []any{"spec"})
}

// PrepareForUpdate implements rest.RESTUpdateStrategy.
func (statusStrategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	obj.(*corev1.Namespace).Spec = old.(*corev1.Namespace).Spec
}

// ValidateUpdate implements rest.RESTUpdateStrategy: the phase goes with the deletion timestamp.
func (statusStrategy) ValidateUpdate(_ context.Context, obj, old runtime.Object) field.ErrorList {
	errs := validateMeta(obj, old)
	namespace, path := obj.(*corev1.Namespace), field.NewPath("status", "Phase")
	switch phase := namespace.Status.Phase; {
	case namespace.DeletionTimestamp.IsZero() && phase != corev1.NamespaceActive:
		errs = append(errs, field.Invalid(path, phase, "may only be 'Active' if `deletionTimestamp` is empty"))
	case !namespace.DeletionTimestamp.IsZero() && phase != corev1.NamespaceTerminating:
		errs = append(errs, field.Invalid(path, phase, "may only be 'Terminating' if `deletionTimestamp` is not empty"))
	}
	return errs
}

// finalizeStrategy updates the finalizers of the spec.
type finalizeStrategy struct{ strategy }

// GetResetFields implements rest.ResetFieldsStrategy.
func (finalizeStrategy) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return resource.ResetFields("v1", []any{"status"})
}

// PrepareForUpdate implements rest.RESTUpdateStrategy.
func (finalizeStrategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	obj.(*corev1.Namespace).Status = old.(*corev1.Namespace).Status
}

// ValidateUpdate implements rest.RESTUpdateStrategy.
func (finalizeStrategy) ValidateUpdate(_ context.Context, obj, old runtime.Object) field.ErrorList {
	errs := validateMeta(obj, old)
	for i, finalizer := range obj.(*corev1.Namespace).Spec.Finalizers {
		errs = append(errs, validateFinalizer(finalizer, field.NewPath("spec", "finalizers").Index(i))...)
	}
	return errs
}
