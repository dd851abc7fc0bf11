package plain

import (
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"

	"github.com/musterkube/muster/pkg/core"
	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
)

// replicaColumns are those of kinds that keep a number of replicas.
func replicaColumns(desired, current, ready, selects string) []metav1.TableColumnDefinition {
	return columns([]metav1.TableColumnDefinition{
		number("Desired", desired), number("Current", current), number("Ready", ready), resource.AgeColumn(),
	}, containerColumns(), []metav1.TableColumnDefinition{resource.WideColumn("Selector", selects)})
}

func replicaSets(opts core.Options) row {
	template := func(r *appsv1.ReplicaSet) *corev1.PodTemplateSpec { return &r.Spec.Template }
	spec, doc := appsv1.ReplicaSetSpec{}.SwaggerDoc(), appsv1.ReplicaSetStatus{}.SwaggerDoc()
	return &kind[appsv1.ReplicaSet]{
		version: appsv1.SchemeGroupVersion, plural: "replicasets", singular: "replicaset",
		short: []string{"rs"}, categories: []string{"all"}, list: &appsv1.ReplicaSetList{},
		wants:    specChanged[appsv1.ReplicaSet],
		template: template,
		validate: func(r *appsv1.ReplicaSet) field.ErrorList {
			path := field.NewPath("spec")
			errs := nonNegativePointer(r.Spec.Replicas, path.Child("replicas"))
			errs = append(errs, nonNegative(r.Spec.MinReadySeconds, path.Child("minReadySeconds"))...)
			// The message is that of Deployments, in Kubernetes too.
			errs = append(errs, requiredSelector(r.Spec.Selector, path.Child("selector"), "deployment")...)
			return append(errs, validateSelectedTemplate(r.Spec.Selector, &r.Spec.Template, path, "ReplicaSet", opts)...)
		},
		validateUpdate: func(changed, stored *appsv1.ReplicaSet) field.ErrorList {
			return immutable(changed.Spec.Selector, stored.Spec.Selector, field.NewPath("spec", "selector"))
		},
		warnings: func(changed, stored *appsv1.ReplicaSet) []string {
			warnings := templateWarnings(template, changed, stored)
			if stored == nil {
				warnings = append(nameWarning(changed.Name), warnings...)
			}
			return warnings
		},
		status: &status[appsv1.ReplicaSet]{validate: func(changed, _ *appsv1.ReplicaSet) field.ErrorList {
			s := &changed.Status
			errs := validateReplicas(s.Replicas, s.FullyLabeledReplicas, s.ReadyReplicas, s.AvailableReplicas, s.ObservedGeneration)
			return append(errs, nonNegativePointer(s.TerminatingReplicas, field.NewPath("status", "terminatingReplicas"))...)
		}},
		scale: &scaling[appsv1.ReplicaSet]{
			replicas: func(r *appsv1.ReplicaSet) **int32 { return &r.Spec.Replicas },
			status: func(r *appsv1.ReplicaSet) (int32, string, error) {
				text, err := selected(r.Spec.Selector)
				return r.Status.Replicas, text, err
			},
		},
		columns: replicaColumns(spec["replicas"], doc["replicas"], doc["readyReplicas"], spec["selector"]),
		cells: func(now clock.PassiveClock, r *appsv1.ReplicaSet) []any {
			cells := []any{
				r.Name, int64(ptr.Deref(r.Spec.Replicas, 0)), int64(r.Status.Replicas), int64(r.Status.ReadyReplicas), age(now, &r.ObjectMeta),
			}
			return append(append(cells, containerCells(&r.Spec.Template)...), metav1.FormatLabelSelector(r.Spec.Selector))
		},
	}
}

// validateReplicas checks the counts of a status.
func validateReplicas(replicas, labelled, ready, available int32, generation int64) field.ErrorList {
	path := field.NewPath("status")
	errs := nonNegative(replicas, path.Child("replicas"))
	errs = append(errs, nonNegative(labelled, path.Child("fullyLabeledReplicas"))...)
	errs = append(errs, nonNegative(ready, path.Child("readyReplicas"))...)
	errs = append(errs, nonNegative(available, path.Child("availableReplicas"))...)
	errs = append(errs, nonNegative(generation, path.Child("observedGeneration"))...)
	errs = append(errs, atMost(labelled, replicas, path.Child("fullyLabeledReplicas"), tooMany)...)
	errs = append(errs, atMost(ready, replicas, path.Child("readyReplicas"), tooMany)...)
	errs = append(errs, atMost(available, replicas, path.Child("availableReplicas"), tooMany)...)
	return append(errs, atMost(available, ready, path.Child("availableReplicas"), "cannot be greater than readyReplicas")...)
}

func replicationControllers(opts core.Options) row {
	template := func(r *corev1.ReplicationController) *corev1.PodTemplateSpec { return r.Spec.Template }
	spec, doc := corev1.ReplicationControllerSpec{}.SwaggerDoc(), corev1.ReplicationControllerStatus{}.SwaggerDoc()
	return &kind[corev1.ReplicationController]{
		version: corev1.SchemeGroupVersion, plural: "replicationcontrollers", singular: "replicationcontroller",
		short: []string{"rc"}, categories: []string{"all"}, list: &corev1.ReplicationControllerList{},
		name:    apivalidation.NameIsDNSSubdomain,
		wants:   specChanged[corev1.ReplicationController],
		orphans: true,
		prepareCreate: func(r *corev1.ReplicationController) {
			if r.Spec.Template != nil {
				core.DropDisabledTemplateFields(r.Spec.Template, nil, opts.Gates)
			}
		},
		prepareUpdate: func(changed, stored *corev1.ReplicationController) {
			if changed.Spec.Template != nil {
				core.DropDisabledTemplateFields(changed.Spec.Template, stored.Spec.Template, opts.Gates)
			}
		},
		validate: func(r *corev1.ReplicationController) field.ErrorList {
			return validateReplicationController(&r.Spec, opts)
		},
		warnings: func(changed, stored *corev1.ReplicationController) []string {
			var warnings []string
			if stored == nil {
				warnings = nameWarning(changed.Name)
			}
			if changed.Spec.Template != nil {
				warnings = append(warnings, templateWarnings(template, changed, stored)...)
			}
			return warnings
		},
		status: &status[corev1.ReplicationController]{validate: func(changed, _ *corev1.ReplicationController) field.ErrorList {
			s := &changed.Status
			return validateReplicas(s.Replicas, s.FullyLabeledReplicas, s.ReadyReplicas, s.AvailableReplicas, s.ObservedGeneration)
		}},
		scale: &scaling[corev1.ReplicationController]{
			replicas: func(r *corev1.ReplicationController) **int32 { return &r.Spec.Replicas },
			status: func(r *corev1.ReplicationController) (int32, string, error) {
				return r.Status.Replicas, labels.SelectorFromSet(r.Spec.Selector).String(), nil
			},
		},
		fields: func(r *corev1.ReplicationController) fields.Set {
			return fields.Set{"status.replicas": strconv.Itoa(int(r.Status.Replicas))}
		},
		columns: replicaColumns(spec["replicas"], doc["replicas"], doc["readyReplicas"], spec["selector"]),
		cells: func(now clock.PassiveClock, r *corev1.ReplicationController) []any {
			cells := []any{
				r.Name, int64(ptr.Deref(r.Spec.Replicas, 0)), int64(r.Status.Replicas), int64(r.Status.ReadyReplicas), age(now, &r.ObjectMeta),
			}
			template := ptr.Deref(r.Spec.Template, corev1.PodTemplateSpec{})
			return append(append(cells, containerCells(&template)...), labels.FormatLabels(r.Spec.Selector))
		},
	}
}

func validateReplicationController(spec *corev1.ReplicationControllerSpec, opts core.Options) field.ErrorList {
	path := field.NewPath("spec")
	errs := nonNegative(spec.MinReadySeconds, path.Child("minReadySeconds"))
	if len(spec.Selector) == 0 {
		errs = append(errs, field.Required(path.Child("selector"), ""))
	}
	if spec.Replicas == nil {
		errs = append(errs, field.Required(path.Child("replicas"), ""))
	}
	errs = append(errs, nonNegativePointer(spec.Replicas, path.Child("replicas"))...)
	at := path.Child("template")
	if spec.Template == nil {
		return append(errs, field.Required(at, ""))
	}
	if !labels.SelectorFromSet(spec.Selector).Matches(labels.Set(spec.Template.Labels)) {
		errs = append(errs, field.Invalid(at.Child("metadata", "labels"), spec.Template.Labels, mismatch))
	}
	errs = append(errs, core.ValidatePodTemplate(spec.Template, at, opts)...)
	return append(errs, validateEndless(spec.Template, at, "ReplicationController")...)
}
