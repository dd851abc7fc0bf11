package pod

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/warning"
	"k8s.io/utils/clock"
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
func (s strategy) PrepareForCreate(ctx context.Context, obj runtime.Object) {
	for _, text := range core.PreparePodForCreate(obj.(*corev1.Pod), s.gates, s.clock.Now()) {
		warning.AddWarning(ctx, "", text)
	}
}

// PrepareForUpdate implements rest.RESTUpdateStrategy.
func (s strategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	core.PreparePodForUpdate(obj.(*corev1.Pod), old.(*corev1.Pod), s.gates)
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
	period := core.DeletionGracePeriod(obj.(*corev1.Pod), options.GracePeriodSeconds)
	options.GracePeriodSeconds = &period
	return true
}
