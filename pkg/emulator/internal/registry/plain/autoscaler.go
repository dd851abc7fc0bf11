package plain

import (
	"fmt"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/clock"

	common "github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
)

func horizontalPodAutoscalers() row {
	spec, doc := autoscalingv2.HorizontalPodAutoscalerSpec{}.SwaggerDoc(), autoscalingv2.HorizontalPodAutoscalerStatus{}.SwaggerDoc()
	return &kind[autoscalingv2.HorizontalPodAutoscaler]{
		version: autoscalingv2.SchemeGroupVersion, plural: "horizontalpodautoscalers", singular: "horizontalpodautoscaler",
		short: []string{"hpa"}, categories: []string{"all"}, list: &autoscalingv2.HorizontalPodAutoscalerList{},
		validateCreate: func(h *autoscalingv2.HorizontalPodAutoscaler) field.ErrorList { return validateAutoscaler(h, nil) },
		validateUpdate: validateAutoscaler,
		status: &status[autoscalingv2.HorizontalPodAutoscaler]{validate: func(changed, _ *autoscalingv2.HorizontalPodAutoscaler) field.ErrorList {
			path := field.NewPath("status")
			errs := nonNegative(changed.Status.CurrentReplicas, path.Child("currentReplicas"))
			return append(errs, nonNegative(changed.Status.DesiredReplicas, path.Child("desiredReplicas"))...)
		}},
		columns: columns([]metav1.TableColumnDefinition{
			common.Column("Reference", spec["scaleTargetRef"]), common.Column("Targets", spec["metrics"]), common.Column("MinPods", spec["minReplicas"]),
			common.Column("MaxPods", spec["maxReplicas"]), common.Column("Replicas", doc["currentReplicas"]), common.AgeColumn(),
		}),
		cells: func(now clock.PassiveClock, h *autoscalingv2.HorizontalPodAutoscaler) []any {
			return []any{
				h.Name, h.Spec.ScaleTargetRef.Kind + "/" + h.Spec.ScaleTargetRef.Name, metrics(h.Spec.Metrics, h.Status.CurrentMetrics),
				valueOr(h.Spec.MinReplicas, "<unset>"), int64(h.Spec.MaxReplicas), int64(h.Status.CurrentReplicas), age(now, &h.ObjectMeta),
			}
		},
	}
}

func validateAutoscaler(h, stored *autoscalingv2.HorizontalPodAutoscaler) field.ErrorList {
	path, spec := field.NewPath("spec"), &h.Spec
	var errs field.ErrorList
	least := int32(1)
	if spec.MinReplicas != nil {
		least = *spec.MinReplicas
		if least < 1 {
			errs = append(errs, field.Invalid(path.Child("minReplicas"), least, "must be greater than or equal to 1"))
		}
	}
	switch {
	case spec.MaxReplicas == 0:
		errs = append(errs, field.Required(path.Child("maxReplicas"), "must be set and greater than 0"))
	case spec.MaxReplicas < 0:
		errs = append(errs, field.Invalid(path.Child("maxReplicas"), spec.MaxReplicas, "must be greater than or equal to 1"))
	}
	if spec.MinReplicas != nil && spec.MaxReplicas < least {
		errs = append(errs, field.Invalid(path.Child("maxReplicas"), spec.MaxReplicas, "must be greater than or equal to `minReplicas`"))
	}
	at := path.Child("scaleTargetRef")
	if spec.ScaleTargetRef.Kind == "" {
		errs = append(errs, field.Required(at.Child("kind"), ""))
	}
	if spec.ScaleTargetRef.Name == "" {
		errs = append(errs, field.Required(at.Child("name"), ""))
	}
	if version, err := schema.ParseGroupVersion(spec.ScaleTargetRef.APIVersion); err != nil {
		errs = append(errs, field.Invalid(at.Child("apiVersion"), spec.ScaleTargetRef.APIVersion, err.Error()))
	} else if version.Group == "" && (stored == nil || stored.Spec.ScaleTargetRef.APIVersion != spec.ScaleTargetRef.APIVersion) {
		errs = append(errs, field.Invalid(at.Child("apiVersion"), spec.ScaleTargetRef.APIVersion, "apiVersion must specify API group"))
	}
	types := []string{"ContainerResource", "External", "Object", "Pods", "Resource"}
	for i := range spec.Metrics {
		metric, at := &spec.Metrics[i], path.Child("metrics").Index(i)
		if metric.Type == "" {
			errs = append(errs, field.Required(at.Child("type"), "must specify a metric source type"))
		} else {
			errs = append(errs, supportedIn(string(metric.Type), at.Child("type"), types)...)
		}
		if metric.Type == autoscalingv2.ResourceMetricSourceType && metric.Resource == nil {
			errs = append(errs, field.Required(at.Child("resource"), "must populate information for the given metric source"))
		}
	}
	return errs
}

// metrics says how far what is measured is from what is wanted: current/target for the first two metrics.
func metrics(specs []autoscalingv2.MetricSpec, now []autoscalingv2.MetricStatus) string {
	if len(specs) == 0 {
		return "<none>"
	}
	const most = 2
	var texts []string
	for i := range specs {
		var current autoscalingv2.MetricStatus
		if i < len(now) {
			current = now[i]
		}
		texts = append(texts, metric(&specs[i], &current))
	}
	text := texts[0]
	if len(texts) >= most {
		text += ", " + texts[1]
	}
	if len(texts) > most {
		text += fmt.Sprintf(" + %d more...", len(texts)-most)
	}
	return text
}

func metric(spec *autoscalingv2.MetricSpec, now *autoscalingv2.MetricStatus) string {
	switch {
	case spec.Resource != nil:
		var current *autoscalingv2.MetricValueStatus
		if now.Resource != nil {
			current = &now.Resource.Current
		}
		return ofContainers(string(spec.Resource.Name), &spec.Resource.Target, current)
	case spec.ContainerResource != nil:
		var current *autoscalingv2.MetricValueStatus
		if now.ContainerResource != nil {
			current = &now.ContainerResource.Current
		}
		return ofContainers(string(spec.ContainerResource.Name), &spec.ContainerResource.Target, current)
	case spec.Pods != nil:
		current := "<unknown>"
		if now.Pods != nil {
			current = quantity(now.Pods.Current.AverageValue)
		}
		return current + "/" + quantity(spec.Pods.Target.AverageValue)
	case spec.Object != nil:
		var current *autoscalingv2.MetricValueStatus
		if now.Object != nil {
			current = &now.Object.Current
		}
		return ofOthers(&spec.Object.Target, current)
	case spec.External != nil:
		var current *autoscalingv2.MetricValueStatus
		if now.External != nil {
			current = &now.External.Current
		}
		return ofOthers(&spec.External.Target, current)
	}
	return "<unknown type>"
}

// ofContainers is for metrics of what containers use: an average, or a share of what they request.
func ofContainers(name string, target *autoscalingv2.MetricTarget, now *autoscalingv2.MetricValueStatus) string {
	current := "<unknown>"
	if target.AverageValue != nil {
		if now != nil {
			current = quantity(now.AverageValue)
		}
		return name + ": " + current + "/" + quantity(target.AverageValue)
	}
	if now != nil && now.AverageUtilization != nil {
		current = fmt.Sprintf("%d%%", *now.AverageUtilization)
	}
	wanted := "<auto>"
	if target.AverageUtilization != nil {
		wanted = fmt.Sprintf("%d%%", *target.AverageUtilization)
	}
	return name + ": " + current + "/" + wanted
}

// ofOthers is for metrics of anything else: an average or a value.
func ofOthers(target *autoscalingv2.MetricTarget, now *autoscalingv2.MetricValueStatus) string {
	current := "<unknown>"
	if target.AverageValue != nil {
		if now != nil && now.AverageValue != nil {
			current = quantity(now.AverageValue)
		}
		return current + "/" + quantity(target.AverageValue) + " (avg)"
	}
	if now != nil {
		current = quantity(now.Value)
	}
	return current + "/" + quantity(target.Value)
}

// quantity returns a quantity as text, <nil> for none.
func quantity(q *resource.Quantity) string {
	if q == nil {
		return "<nil>"
	}
	return q.String()
}
