package pod

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/musterkube/muster/pkg/core"
	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
)

// statusStrategy updates the status, and metadata other than owners.
type statusStrategy struct{ strategy }

// GetResetFields implements rest.ResetFieldsStrategy.
func (statusStrategy) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return resource.ResetFields("v1", []any{"spec"}, []any{"metadata", "deletionTimestamp"}, []any{"metadata", "ownerReferences"})
}

// PrepareForUpdate implements rest.RESTUpdateStrategy. Kubelets of old spoil owner references and forget the QoS class
// and observed generations, so those stay.
func (s statusStrategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	changed, stored := obj.(*corev1.Pod), old.(*corev1.Pod)
	changed.Spec = stored.Spec
	changed.DeletionTimestamp = nil
	changed.OwnerReferences = stored.OwnerReferences
	if changed.Status.QOSClass == "" {
		changed.Status.QOSClass = stored.Status.QOSClass
	}
	keepObservedGenerations(&changed.Status, &stored.Status)
	core.DropDisabledPodFields(changed, stored, s.gates)
}

// keepObservedGenerations takes over the observed generations that status leaves out. Of several conditions of one type,
// the first goes with the first.
func keepObservedGenerations(status, stored *corev1.PodStatus) {
	if status.ObservedGeneration == 0 {
		status.ObservedGeneration = stored.ObservedGeneration
	}
	generations := map[corev1.PodConditionType][]int64{}
	for _, condition := range stored.Conditions {
		generations[condition.Type] = append(generations[condition.Type], condition.ObservedGeneration)
	}
	for i := range status.Conditions {
		condition := &status.Conditions[i]
		rest := generations[condition.Type]
		if len(rest) == 0 {
			continue
		}
		generations[condition.Type] = rest[1:]
		if condition.ObservedGeneration == 0 {
			condition.ObservedGeneration = rest[0]
		}
	}
}

// ValidateUpdate implements rest.RESTUpdateStrategy.
func (s statusStrategy) ValidateUpdate(_ context.Context, obj, old runtime.Object) field.ErrorList {
	return core.ValidatePodStatusUpdate(obj.(*corev1.Pod), old.(*corev1.Pod), s.options())
}

// WarningsOnUpdate implements rest.RESTUpdateStrategy.
func (statusStrategy) WarningsOnUpdate(_ context.Context, obj, _ runtime.Object) []string {
	var warnings []string
	status, path := &obj.(*corev1.Pod).Status, field.NewPath("status")
	for i, ip := range status.PodIPs {
		warnings = append(warnings, validation.GetWarningsForIP(path.Child("podIPs").Index(i).Child("ip"), ip.IP)...)
	}
	for i, ip := range status.HostIPs {
		warnings = append(warnings, validation.GetWarningsForIP(path.Child("hostIPs").Index(i).Child("ip"), ip.IP)...)
	}
	return warnings
}
