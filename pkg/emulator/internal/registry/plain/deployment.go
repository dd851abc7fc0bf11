package plain

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"

	"github.com/musterkube/muster/pkg/core"
	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
)

func deployments(opts core.Options) row {
	template := func(d *appsv1.Deployment) *corev1.PodTemplateSpec { return &d.Spec.Template }
	doc := appsv1.DeploymentStatus{}.SwaggerDoc()
	return &kind[appsv1.Deployment]{
		version: appsv1.SchemeGroupVersion, plural: "deployments", singular: "deployment",
		short: []string{"deploy"}, categories: []string{"all"}, list: &appsv1.DeploymentList{},
		// Annotations count: the controller copies them to the replica sets.
		wants: func(changed, stored *appsv1.Deployment) bool {
			return specChanged(changed, stored) || !same(changed.Annotations, stored.Annotations)
		},
		template: template,
		validate: func(d *appsv1.Deployment) field.ErrorList { return validateDeploymentSpec(&d.Spec, opts) },
		validateUpdate: func(changed, stored *appsv1.Deployment) field.ErrorList {
			return immutable(changed.Spec.Selector, stored.Spec.Selector, field.NewPath("spec", "selector"))
		},
		warnings: func(changed, stored *appsv1.Deployment) []string {
			warnings := templateWarnings(template, changed, stored)
			if stored == nil {
				warnings = append(nameWarning(changed.Name), warnings...)
			}
			return warnings
		},
		status: &status[appsv1.Deployment]{labels: true, validate: validateDeploymentStatus},
		scale: &scaling[appsv1.Deployment]{
			replicas: func(d *appsv1.Deployment) **int32 { return &d.Spec.Replicas },
			status: func(d *appsv1.Deployment) (int32, string, error) {
				text, err := selected(d.Spec.Selector)
				return d.Status.Replicas, text, err
			},
		},
		columns: columns([]metav1.TableColumnDefinition{
			resource.Column("Ready", "Number of the pod with ready state"),
			resource.Column("Up-to-date", doc["updatedReplicas"]),
			resource.Column("Available", doc["availableReplicas"]),
			resource.AgeColumn(),
		}, containerColumns(), []metav1.TableColumnDefinition{resource.WideColumn("Selector", appsv1.DeploymentSpec{}.SwaggerDoc()["selector"])}),
		cells: func(now clock.PassiveClock, d *appsv1.Deployment) []any {
			text, err := selected(d.Spec.Selector)
			if err != nil {
				text = "<invalid>"
			}
			cells := []any{
				d.Name, fmt.Sprintf("%d/%d", d.Status.ReadyReplicas, ptr.Deref(d.Spec.Replicas, 0)),
				int64(d.Status.UpdatedReplicas), int64(d.Status.AvailableReplicas), age(now, &d.ObjectMeta),
			}
			return append(append(cells, containerCells(&d.Spec.Template)...), text)
		},
	}
}

func validateDeploymentSpec(spec *appsv1.DeploymentSpec, opts core.Options) field.ErrorList {
	path := field.NewPath("spec")
	errs := nonNegativePointer(spec.Replicas, path.Child("replicas"))
	errs = append(errs, requiredSelector(spec.Selector, path.Child("selector"), "deployment")...)
	errs = append(errs, validateSelectedTemplate(spec.Selector, &spec.Template, path, "ReplicaSet", opts)...)
	errs = append(errs, validateDeploymentStrategy(&spec.Strategy, path.Child("strategy"))...)
	errs = append(errs, nonNegative(spec.MinReadySeconds, path.Child("minReadySeconds"))...)
	errs = append(errs, nonNegativePointer(spec.RevisionHistoryLimit, path.Child("revisionHistoryLimit"))...)
	if deadline := spec.ProgressDeadlineSeconds; deadline != nil {
		at := path.Child("progressDeadlineSeconds")
		errs = append(errs, nonNegative(*deadline, at)...)
		if *deadline <= spec.MinReadySeconds {
			errs = append(errs, field.Invalid(at, deadline, "must be greater than minReadySeconds"))
		}
	}
	return errs
}

func validateDeploymentStrategy(strategy *appsv1.DeploymentStrategy, path *field.Path) field.ErrorList {
	at := path.Child("rollingUpdate")
	switch strategy.Type {
	case appsv1.RecreateDeploymentStrategyType:
		if strategy.RollingUpdate != nil {
			return field.ErrorList{field.Forbidden(at, "may not be specified when strategy `type` is 'Recreate'")}
		}
		return nil
	case appsv1.RollingUpdateDeploymentStrategyType:
		if strategy.RollingUpdate == nil {
			return field.ErrorList{field.Required(at, "this should be defaulted and never be nil")}
		}
	default:
		return field.ErrorList{field.NotSupported(path, strategy, []string{"Recreate", "RollingUpdate"})}
	}
	unavailable, surge := ptr.Deref(strategy.RollingUpdate.MaxUnavailable, zero), ptr.Deref(strategy.RollingUpdate.MaxSurge, zero)
	errs := intOrPercent(unavailable, at.Child("maxUnavailable"))
	errs = append(errs, intOrPercent(surge, at.Child("maxSurge"))...)
	if amount(unavailable) == 0 && amount(surge) == 0 {
		errs = append(errs, field.Invalid(at.Child("maxUnavailable"), unavailable, "may not be 0 when `maxSurge` is 0"))
	}
	return append(errs, atMostAll(unavailable, at.Child("maxUnavailable"))...)
}

func validateDeploymentStatus(changed, stored *appsv1.Deployment) field.ErrorList {
	path, status := field.NewPath("status"), &changed.Status
	errs := nonNegative(status.ObservedGeneration, path.Child("observedGeneration"))
	errs = append(errs, nonNegative(status.Replicas, path.Child("replicas"))...)
	errs = append(errs, nonNegative(status.UpdatedReplicas, path.Child("updatedReplicas"))...)
	errs = append(errs, nonNegative(status.ReadyReplicas, path.Child("readyReplicas"))...)
	errs = append(errs, nonNegative(status.AvailableReplicas, path.Child("availableReplicas"))...)
	errs = append(errs, nonNegative(status.UnavailableReplicas, path.Child("unavailableReplicas"))...)
	errs = append(errs, nonNegativePointer(status.TerminatingReplicas, path.Child("terminatingReplicas"))...)
	errs = append(errs, nonNegativePointer(status.CollisionCount, path.Child("collisionCount"))...)
	errs = append(errs, atMost(status.UpdatedReplicas, status.Replicas, path.Child("updatedReplicas"), tooMany)...)
	errs = append(errs, atMost(status.ReadyReplicas, status.Replicas, path.Child("readyReplicas"), tooMany)...)
	errs = append(errs, atMost(status.AvailableReplicas, status.Replicas, path.Child("availableReplicas"), tooMany)...)
	errs = append(errs, atMost(status.AvailableReplicas, status.ReadyReplicas, path.Child("availableReplicas"), "cannot be greater than readyReplicas")...)
	return append(errs, notDecremented(status.CollisionCount, stored.Status.CollisionCount, path.Child("collisionCount"))...)
}
