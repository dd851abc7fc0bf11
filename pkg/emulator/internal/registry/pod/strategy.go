package pod

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/musterkube/muster/pkg/core"
	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
	"github.com/musterkube/muster/pkg/features"
)

// strategy starts pods as Pending and lets those that run on a node end in their own time.
type strategy struct {
	resource.Strategy
	gates features.Gates
	clock clock.PassiveClock
}

var _ rest.RESTGracefulDeleteStrategy = strategy{}

func (s strategy) options() core.Options {
	return core.Options{Gates: s.gates}
}

// GetResetFields implements rest.ResetFieldsStrategy.
func (strategy) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return resource.ResetFields("v1", []any{"status"})
}

// PrepareForCreate implements rest.RESTCreateStrategy.
func (s strategy) PrepareForCreate(_ context.Context, obj runtime.Object) {
	pod := obj.(*corev1.Pod)
	pod.Generation = 1
	pod.Status = corev1.PodStatus{Phase: corev1.PodPending, QOSClass: core.QOSClass(pod)}
	core.DropDisabledPodFields(pod, nil, s.gates)
	if len(pod.Spec.SchedulingGates) > 0 {
		setCondition(&pod.Status, corev1.PodCondition{
			Type:    corev1.PodScheduled,
			Status:  corev1.ConditionFalse,
			Reason:  corev1.PodReasonSchedulingGated,
			Message: "Scheduling is blocked due to non-empty scheduling gates",
		}, s.clock)
	}
	expandLabelKeys(pod)
}

// PrepareForUpdate implements rest.RESTUpdateStrategy.
func (s strategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	changed, stored := obj.(*corev1.Pod), old.(*corev1.Pod)
	changed.Status = stored.Status
	core.DropDisabledPodFields(changed, stored, s.gates)
	if !equality.Semantic.DeepEqual(changed.Spec, stored.Spec) {
		changed.Generation = stored.Generation + 1
	}
}

// Validate implements rest.RESTCreateStrategy.
func (s strategy) Validate(_ context.Context, obj runtime.Object) field.ErrorList {
	return core.ValidatePod(obj.(*corev1.Pod), s.options())
}

// ValidateUpdate implements rest.RESTUpdateStrategy.
func (s strategy) ValidateUpdate(_ context.Context, obj, old runtime.Object) field.ErrorList {
	return core.ValidatePodUpdate(obj.(*corev1.Pod), old.(*corev1.Pod), s.options())
}

// WarningsOnCreate implements rest.RESTCreateStrategy.
func (strategy) WarningsOnCreate(_ context.Context, obj runtime.Object) []string {
	return core.PodWarnings(obj.(*corev1.Pod))
}

// CheckGracefulDelete implements rest.RESTGracefulDeleteStrategy: it settles how long the pod has to end. A pod that no
// kubelet runs, because it has no node or has finished, goes at once.
func (strategy) CheckGracefulDelete(_ context.Context, obj runtime.Object, options *metav1.DeleteOptions) bool {
	if options == nil {
		return false
	}
	pod := obj.(*corev1.Pod)
	period := ptr.Deref(pod.Spec.TerminationGracePeriodSeconds, 0)
	if options.GracePeriodSeconds != nil {
		period = *options.GracePeriodSeconds
	}
	switch {
	case pod.Spec.NodeName == "" || core.PodFinished(pod):
		period = 0
	case period < 0:
		period = 1
	}
	options.GracePeriodSeconds = &period
	return true
}
