package node

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
)

// strategy lets creates set the status, as kubelets do, and updates not. The configuration by a ConfigMap is long gone
// from Kubernetes and stays out.
type strategy struct{ resource.Strategy }

// GetResetFields implements rest.ResetFieldsStrategy.
func (strategy) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return resource.ResetFields("v1", []any{"status"})
}

// PrepareForCreate implements rest.RESTCreateStrategy.
func (strategy) PrepareForCreate(_ context.Context, obj runtime.Object) {
	node := obj.(*corev1.Node)
	dropConfigSource(node, nil)
	node.Status.Config = nil
}

// PrepareForUpdate implements rest.RESTUpdateStrategy.
func (strategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	changed, stored := obj.(*corev1.Node), old.(*corev1.Node)
	changed.Status = stored.Status
	dropConfigSource(changed, stored)
}

// dropConfigSource removes the configuration by a ConfigMap, unless the stored node has one.
func dropConfigSource(node, stored *corev1.Node) {
	if stored == nil || stored.Spec.ConfigSource == nil { //nolint:staticcheck // Deprecated, and that is why.
		node.Spec.ConfigSource = nil //nolint:staticcheck // As above.
	}
}

// Validate implements rest.RESTCreateStrategy.
func (strategy) Validate(_ context.Context, obj runtime.Object) field.ErrorList {
	return validate(obj.(*corev1.Node))
}

// ValidateUpdate implements rest.RESTUpdateStrategy.
func (strategy) ValidateUpdate(_ context.Context, obj, old runtime.Object) field.ErrorList {
	errs := validate(obj.(*corev1.Node))
	return append(errs, validateUpdate(obj.(*corev1.Node), old.(*corev1.Node))...)
}

// WarningsOnCreate implements rest.RESTCreateStrategy.
func (strategy) WarningsOnCreate(_ context.Context, obj runtime.Object) []string {
	return warnings(obj.(*corev1.Node))
}

// WarningsOnUpdate implements rest.RESTUpdateStrategy.
func (strategy) WarningsOnUpdate(_ context.Context, obj, _ runtime.Object) []string {
	return warnings(obj.(*corev1.Node))
}

func warnings(node *corev1.Node) []string {
	var all []string
	if node.Spec.ConfigSource != nil { //nolint:staticcheck // Deprecated, and that is what the warning is about.
		all = append(all, "spec.configSource: the feature is removed")
	}
	if node.Spec.DoNotUseExternalID != "" {
		all = append(all, "spec.externalID: this field is deprecated, and is unused by Kubernetes")
	}
	for i, cidr := range node.Spec.PodCIDRs {
		all = append(all, validation.GetWarningsForCIDR(field.NewPath("spec", "podCIDRs").Index(i), cidr)...)
	}
	return all
}

// statusStrategy updates the status alone.
type statusStrategy struct{ strategy }

// GetResetFields implements rest.ResetFieldsStrategy.
func (statusStrategy) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return resource.ResetFields("v1", []any{"spec"})
}

// PrepareForUpdate implements rest.RESTUpdateStrategy.
func (statusStrategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	changed, stored := obj.(*corev1.Node), old.(*corev1.Node)
	changed.Spec = stored.Spec
	if stored.Status.Config == nil {
		changed.Status.Config = nil
	}
}

// ValidateUpdate implements rest.RESTUpdateStrategy.
func (statusStrategy) ValidateUpdate(_ context.Context, obj, old runtime.Object) field.ErrorList {
	return validateUpdate(obj.(*corev1.Node), old.(*corev1.Node))
}

// WarningsOnUpdate implements rest.RESTUpdateStrategy.
func (statusStrategy) WarningsOnUpdate(context.Context, runtime.Object, runtime.Object) []string {
	return nil
}
