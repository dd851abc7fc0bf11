package plain

import (
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"

	"github.com/musterkube/muster/pkg/core"
	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
)

func daemonSets(opts core.Options) row {
	template := func(d *appsv1.DaemonSet) *corev1.PodTemplateSpec { return &d.Spec.Template }
	doc := appsv1.DaemonSetStatus{}.SwaggerDoc()
	return &kind[appsv1.DaemonSet]{
		version: appsv1.SchemeGroupVersion, plural: "daemonsets", singular: "daemonset",
		short: []string{"ds"}, categories: []string{"all"}, list: &appsv1.DaemonSetList{},
		wants:          specChanged[appsv1.DaemonSet],
		template:       template,
		prepareCreate:  func(d *appsv1.DaemonSet) { countTemplates(d, nil) },
		prepareUpdate:  func(changed, stored *appsv1.DaemonSet) { countTemplates(changed, stored) },
		validateCreate: func(d *appsv1.DaemonSet) field.ErrorList { return validateDaemonSetSpec(&d.Spec, opts) },
		validateUpdate: func(changed, stored *appsv1.DaemonSet) field.ErrorList {
			errs := immutable(changed.Spec.Selector, stored.Spec.Selector, field.NewPath("spec", "selector"))
			return append(errs, validateDaemonSetSpec(&changed.Spec, opts)...)
		},
		warnings: func(changed, stored *appsv1.DaemonSet) []string {
			if stored != nil && same(changed.Spec.Template, stored.Spec.Template) {
				return nil
			}
			return core.TemplateWarnings(&changed.Spec.Template, field.NewPath("spec", "template"))
		},
		status: &status[appsv1.DaemonSet]{validate: validateDaemonSetStatus},
		columns: columns([]metav1.TableColumnDefinition{
			number("Desired", doc["desiredNumberScheduled"]), number("Current", doc["currentNumberScheduled"]),
			number("Ready", doc["numberReady"]), number("Up-to-date", doc["updatedNumberScheduled"]), number("Available", doc["numberAvailable"]),
			resource.Column("Node Selector", corev1.PodSpec{}.SwaggerDoc()["nodeSelector"]), resource.AgeColumn(),
		}, containerColumns(), []metav1.TableColumnDefinition{resource.WideColumn("Selector", appsv1.DaemonSetSpec{}.SwaggerDoc()["selector"])}),
		cells: func(now clock.PassiveClock, d *appsv1.DaemonSet) []any {
			cells := []any{
				d.Name, int64(d.Status.DesiredNumberScheduled), int64(d.Status.CurrentNumberScheduled), int64(d.Status.NumberReady),
				int64(d.Status.UpdatedNumberScheduled), int64(d.Status.NumberAvailable),
				labels.FormatLabels(d.Spec.Template.Spec.NodeSelector), age(now, &d.ObjectMeta),
			}
			return append(append(cells, containerCells(&d.Spec.Template)...), metav1.FormatLabelSelector(d.Spec.Selector))
		},
	}
}

// countTemplates keeps the generation of the template. No client can set it in apps/v1, where an annotation tells of it.
func countTemplates(changed, stored *appsv1.DaemonSet) {
	generation := int64(1)
	if stored != nil {
		generation, _ = strconv.ParseInt(stored.Annotations[appsv1.DeprecatedTemplateGeneration], 10, 64)
		if !same(changed.Spec.Template, stored.Spec.Template) {
			generation++
		}
	} else if sent, err := strconv.ParseInt(changed.Annotations[appsv1.DeprecatedTemplateGeneration], 10, 64); err == nil && sent > 1 {
		generation = sent
	}
	if changed.Annotations == nil {
		changed.Annotations = map[string]string{}
	}
	changed.Annotations[appsv1.DeprecatedTemplateGeneration] = strconv.FormatInt(generation, 10)
}

func validateDaemonSetSpec(spec *appsv1.DaemonSetSpec, opts core.Options) field.ErrorList {
	path := field.NewPath("spec")
	at := path.Child("template")
	errs := selector(spec.Selector, path.Child("selector"))
	if matcher, err := metav1.LabelSelectorAsSelector(spec.Selector); err == nil && !matcher.Matches(labels.Set(spec.Template.Labels)) {
		errs = append(errs, field.Invalid(at.Child("metadata", "labels"), spec.Template.Labels, mismatch))
	}
	if spec.Selector != nil && len(spec.Selector.MatchLabels)+len(spec.Selector.MatchExpressions) == 0 {
		errs = append(errs, field.Invalid(path.Child("selector"), spec.Selector, "empty selector is invalid for daemonset"))
	}
	errs = append(errs, core.ValidatePodTemplate(&spec.Template, at, opts)...)
	errs = append(errs, validateEndless(&spec.Template, at, "DaemonSet")...)
	errs = append(errs, nonNegative(spec.MinReadySeconds, path.Child("minReadySeconds"))...)
	errs = append(errs, validateDaemonSetStrategy(&spec.UpdateStrategy, path.Child("updateStrategy"))...)
	return append(errs, nonNegativePointer(spec.RevisionHistoryLimit, path.Child("revisionHistoryLimit"))...)
}

func validateDaemonSetStrategy(strategy *appsv1.DaemonSetUpdateStrategy, path *field.Path) field.ErrorList {
	at := path.Child("rollingUpdate")
	switch strategy.Type {
	case appsv1.OnDeleteDaemonSetStrategyType:
		return nil
	case appsv1.RollingUpdateDaemonSetStrategyType:
		if strategy.RollingUpdate == nil {
			return field.ErrorList{field.Required(at, "")}
		}
	default:
		return field.ErrorList{field.NotSupported(path, strategy, []string{"RollingUpdate", "OnDelete"})}
	}
	unavailable, surge := ptr.Deref(strategy.RollingUpdate.MaxUnavailable, zero), ptr.Deref(strategy.RollingUpdate.MaxSurge, zero)
	errs := intOrPercent(unavailable, at.Child("maxUnavailable"))
	errs = append(errs, intOrPercent(surge, at.Child("maxSurge"))...)
	errs = append(errs, atMostAll(unavailable, at.Child("maxUnavailable"))...)
	errs = append(errs, atMostAll(surge, at.Child("maxSurge"))...)
	switch {
	case amount(unavailable) != 0 && amount(surge) != 0:
		errs = append(errs, field.Invalid(at.Child("maxSurge"), surge, "may not be set when maxUnavailable is non-zero"))
	case amount(unavailable) == 0 && amount(surge) == 0:
		errs = append(errs, field.Required(at.Child("maxUnavailable"), "cannot be 0 when maxSurge is 0"))
	}
	return errs
}

func validateDaemonSetStatus(changed, stored *appsv1.DaemonSet) field.ErrorList {
	path, status := field.NewPath("status"), &changed.Status
	errs := nonNegative(status.CurrentNumberScheduled, path.Child("currentNumberScheduled"))
	errs = append(errs, nonNegative(status.NumberMisscheduled, path.Child("numberMisscheduled"))...)
	errs = append(errs, nonNegative(status.DesiredNumberScheduled, path.Child("desiredNumberScheduled"))...)
	errs = append(errs, nonNegative(status.NumberReady, path.Child("numberReady"))...)
	errs = append(errs, nonNegative(status.ObservedGeneration, path.Child("observedGeneration"))...)
	errs = append(errs, nonNegative(status.UpdatedNumberScheduled, path.Child("updatedNumberScheduled"))...)
	errs = append(errs, nonNegative(status.NumberAvailable, path.Child("numberAvailable"))...)
	errs = append(errs, nonNegative(status.NumberUnavailable, path.Child("numberUnavailable"))...)
	errs = append(errs, nonNegativePointer(status.CollisionCount, path.Child("collisionCount"))...)
	return append(errs, notDecremented(status.CollisionCount, stored.Status.CollisionCount, path.Child("collisionCount"))...)
}
