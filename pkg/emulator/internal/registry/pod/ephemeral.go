package pod

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/musterkube/muster/pkg/core"
	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
)

// ephemeralStrategy adds containers for debugging to a pod that runs; all else stays.
type ephemeralStrategy struct{ strategy }

// GetResetFields implements rest.ResetFieldsStrategy.
func (ephemeralStrategy) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return resource.ResetFields("v1", []any{"status"}, []any{"metadata"})
}

// PrepareForUpdate implements rest.RESTUpdateStrategy.
func (s ephemeralStrategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	changed, stored := obj.(*corev1.Pod), old.(*corev1.Pod)
	added := changed.Spec.EphemeralContainers
	changed.Spec, changed.Status = *stored.Spec.DeepCopy(), *stored.Status.DeepCopy()
	metav1.ResetObjectMetaForStatus(&changed.ObjectMeta, &stored.ObjectMeta)
	changed.Spec.EphemeralContainers = added
	core.PreparePodForUpdate(changed, stored, s.gates)
}

// ValidateUpdate implements rest.RESTUpdateStrategy.
func (s ephemeralStrategy) ValidateUpdate(_ context.Context, obj, old runtime.Object) field.ErrorList {
	return core.ValidateEphemeralContainersUpdate(obj.(*corev1.Pod), old.(*corev1.Pod), s.options())
}

// WarningsOnUpdate implements rest.RESTUpdateStrategy.
func (ephemeralStrategy) WarningsOnUpdate(context.Context, runtime.Object, runtime.Object) []string {
	return nil
}
