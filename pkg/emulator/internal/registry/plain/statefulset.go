package plain

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"

	"github.com/musterkube/muster/pkg/core"
	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
)

// zero stands for a number of pods that is not given.
var zero = intstr.FromInt32(0)

func statefulSets(opts core.Options) row {
	template := func(s *appsv1.StatefulSet) *corev1.PodTemplateSpec { return &s.Spec.Template }
	return &kind[appsv1.StatefulSet]{
		version: appsv1.SchemeGroupVersion, plural: "statefulsets", singular: "statefulset",
		short: []string{"sts"}, categories: []string{"all"}, list: &appsv1.StatefulSetList{},
		name:          apivalidation.NameIsDNSLabel,
		wants:         specChanged[appsv1.StatefulSet],
		template:      template,
		prepareCreate: func(s *appsv1.StatefulSet) { dropMaxUnavailable(&s.Spec, nil) },
		prepareUpdate: func(changed, stored *appsv1.StatefulSet) { dropMaxUnavailable(&changed.Spec, &stored.Spec) },
		validateCreate: func(s *appsv1.StatefulSet) field.ErrorList {
			return validateStatefulSetSpec(&s.Spec, opts, statefulSetLeniency{})
		},
		validateUpdate: func(changed, stored *appsv1.StatefulSet) field.ErrorList {
			lenient := statefulSetLeniency{stored: true}
			lenient.template = len(validateStatefulSetSpec(&stored.Spec, opts, lenient)) > 0
			errs := validateStatefulSetSpec(&changed.Spec, opts, lenient)
			return append(errs, validateStatefulSetChange(&changed.Spec, &stored.Spec)...)
		},
		warnings: func(changed, stored *appsv1.StatefulSet) []string {
			warnings := templateWarnings(template, changed, stored)
			if limit := changed.Spec.RevisionHistoryLimit; limit != nil && *limit < 0 {
				warnings = append(warnings, "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended")
			}
			return warnings
		},
		status: &status[appsv1.StatefulSet]{validate: validateStatefulSetStatus},
		scale: &scaling[appsv1.StatefulSet]{
			replicas: func(s *appsv1.StatefulSet) **int32 { return &s.Spec.Replicas },
			status: func(s *appsv1.StatefulSet) (int32, string, error) {
				text, err := selected(s.Spec.Selector)
				return s.Status.Replicas, text, err
			},
		},
		columns: columns([]metav1.TableColumnDefinition{
			resource.Column("Ready", "Number of the pod with ready state"), resource.AgeColumn(),
		}, containerColumns()),
		cells: func(now clock.PassiveClock, s *appsv1.StatefulSet) []any {
			cells := []any{s.Name, fmt.Sprintf("%d/%d", s.Status.ReadyReplicas, ptr.Deref(s.Spec.Replicas, 0)), age(now, &s.ObjectMeta)}
			return append(cells, containerCells(&s.Spec.Template)...)
		},
	}
}

// dropMaxUnavailable empties a field that Kubernetes 1.36 leaves switched off (KEP-961), unless the stored set has it.
func dropMaxUnavailable(changed, stored *appsv1.StatefulSetSpec) {
	had := stored != nil && stored.UpdateStrategy.RollingUpdate != nil && stored.UpdateStrategy.RollingUpdate.MaxUnavailable != nil
	if rolling := changed.UpdateStrategy.RollingUpdate; rolling != nil && !had {
		rolling.MaxUnavailable = nil
	}
}

// statefulSetLeniency is what a set that is stored already is forgiven.
type statefulSetLeniency struct {
	// stored sets keep the service name and the claim templates that they have.
	stored bool
	// template is true for a set whose template has been invalid before.
	template bool
}

func validateStatefulSetSpec(spec *appsv1.StatefulSetSpec, opts core.Options, lenient statefulSetLeniency) field.ErrorList {
	path := field.NewPath("spec")
	errs := validatePodManagement(spec.PodManagementPolicy, path.Child("podManagementPolicy"))
	errs = append(errs, validateStatefulSetStrategy(&spec.UpdateStrategy, path.Child("updateStrategy"))...)
	if policy := spec.PersistentVolumeClaimRetentionPolicy; policy != nil {
		at := path.Child("persistentVolumeClaimRetentionPolicy")
		supported := []string{string(appsv1.RetainPersistentVolumeClaimRetentionPolicyType), string(appsv1.DeletePersistentVolumeClaimRetentionPolicyType)}
		errs = append(errs, supportedIn(string(policy.WhenDeleted), at.Child("whenDeleted"), supported)...)
		errs = append(errs, supportedIn(string(policy.WhenScaled), at.Child("whenScaled"), supported)...)
	}
	if !lenient.stored {
		for i := range spec.VolumeClaimTemplates {
			errs = append(errs, validateClaimSpec(&spec.VolumeClaimTemplates[i].Spec, path.Child("volumeClaimTemplates").Index(i).Child("spec"))...)
		}
	}
	errs = append(errs, nonNegativePointer(spec.Replicas, path.Child("replicas"))...)
	errs = append(errs, nonNegative(spec.MinReadySeconds, path.Child("minReadySeconds"))...)
	if spec.Ordinals != nil {
		errs = append(errs, nonNegative(spec.Ordinals.Start, path.Child("ordinals.start"))...)
	}
	if !lenient.stored && spec.ServiceName != "" {
		errs = append(errs, dnsLabel(spec.ServiceName, path.Child("serviceName"))...)
	}
	errs = append(errs, requiredSelector(spec.Selector, path.Child("selector"), "statefulset")...)
	return append(errs, validateStatefulSetTemplate(spec, path, opts, lenient)...)
}

// supportedIn wants a value out of a list, which the message names in its order.
func supportedIn(value string, path *field.Path, supported []string) field.ErrorList {
	if slices.Contains(supported, value) {
		return nil
	}
	return field.ErrorList{field.NotSupported(path, value, supported)}
}

func validatePodManagement(policy appsv1.PodManagementPolicyType, path *field.Path) field.ErrorList {
	switch policy {
	case appsv1.OrderedReadyPodManagement, appsv1.ParallelPodManagement:
		return nil
	case "":
		return field.ErrorList{field.Required(path, "")}
	}
	return field.ErrorList{field.Invalid(path, policy, "must be 'OrderedReady' or 'Parallel'")}
}

func validateStatefulSetStrategy(strategy *appsv1.StatefulSetUpdateStrategy, path *field.Path) field.ErrorList {
	rolling := strategy.RollingUpdate
	switch strategy.Type {
	case "":
		return field.ErrorList{field.Required(path, "")}
	case appsv1.OnDeleteStatefulSetStrategyType:
		if rolling != nil {
			return field.ErrorList{field.Invalid(path.Child("rollingUpdate"), rolling, "only allowed for updateStrategy 'RollingUpdate'")}
		}
		return nil
	case appsv1.RollingUpdateStatefulSetStrategyType:
		if rolling == nil {
			return nil
		}
	default:
		return field.ErrorList{field.Invalid(path, *strategy, "must be 'RollingUpdate' or 'OnDelete'")}
	}
	errs := nonNegativePointer(rolling.Partition, path.Child("rollingUpdate", "partition"))
	if unavailable, at := rolling.MaxUnavailable, path.Child("rollingUpdate", "maxUnavailable"); unavailable != nil {
		errs = append(errs, intOrPercent(*unavailable, at)...)
		if amount(*unavailable) == 0 {
			errs = append(errs, field.Invalid(at, *unavailable, "cannot be 0"))
		}
		errs = append(errs, atMostAll(*unavailable, at)...)
	}
	return errs
}

// validateStatefulSetTemplate checks the template as the controller will fill it in: with a volume for each claim
// template, and with names of its own.
func validateStatefulSetTemplate(spec *appsv1.StatefulSetSpec, path *field.Path, opts core.Options, lenient statefulSetLeniency) field.ErrorList {
	at := path.Child("template")
	var errs field.ErrorList
	matcher, err := metav1.LabelSelectorAsSelector(spec.Selector)
	if err != nil {
		errs = append(errs, field.Invalid(path.Child("selector"), spec.Selector, ""))
	} else {
		if !matcher.Empty() && !matcher.Matches(labels.Set(spec.Template.Labels)) {
			errs = append(errs, field.Invalid(at.Child("metadata", "labels"), spec.Template.Labels, mismatch))
		}
		if !lenient.template {
			errs = append(errs, core.ValidatePodTemplate(filledIn(spec), at, opts)...)
		}
	}
	return append(errs, validateEndless(&spec.Template, at, "StatefulSet")...)
}

// filledIn returns the template of a set with the volumes that claims become.
func filledIn(spec *appsv1.StatefulSetSpec) *corev1.PodTemplateSpec {
	filled := spec.Template.DeepCopy()
	filled.Spec.Subdomain, filled.Spec.Hostname = "", ""
	var volumes []corev1.Volume
	claimed := map[string]bool{}
	for i := range spec.VolumeClaimTemplates {
		name := spec.VolumeClaimTemplates[i].Name
		if claimed[name] {
			continue
		}
		claimed[name] = true
		volumes = append(volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name},
		}})
	}
	for _, volume := range filled.Spec.Volumes {
		if !claimed[volume.Name] {
			volumes = append(volumes, volume)
		}
	}
	filled.Spec.Volumes = volumes
	return filled
}

// validateStatefulSetChange refuses changes of what pods and claims that are there cannot follow.
func validateStatefulSetChange(changed, stored *appsv1.StatefulSetSpec) field.ErrorList {
	rest := *changed
	rest.Replicas, rest.Template, rest.UpdateStrategy = stored.Replicas, stored.Template, stored.UpdateStrategy
	rest.MinReadySeconds, rest.Ordinals, rest.RevisionHistoryLimit = stored.MinReadySeconds, stored.Ordinals, stored.RevisionHistoryLimit
	rest.PersistentVolumeClaimRetentionPolicy = stored.PersistentVolumeClaimRetentionPolicy
	if same(rest, *stored) {
		return nil
	}
	return field.ErrorList{field.Forbidden(field.NewPath("spec"), "updates to statefulset spec for fields other than 'replicas', 'ordinals', "+
		"'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden")}
}

func validateStatefulSetStatus(changed, stored *appsv1.StatefulSet) field.ErrorList {
	path, status := field.NewPath("status"), &changed.Status
	errs := nonNegative(status.Replicas, path.Child("replicas"))
	errs = append(errs, nonNegative(status.ReadyReplicas, path.Child("readyReplicas"))...)
	errs = append(errs, nonNegative(status.CurrentReplicas, path.Child("currentReplicas"))...)
	errs = append(errs, nonNegative(status.UpdatedReplicas, path.Child("updatedReplicas"))...)
	errs = append(errs, nonNegative(status.AvailableReplicas, path.Child("availableReplicas"))...)
	errs = append(errs, nonNegative(status.ObservedGeneration, path.Child("observedGeneration"))...)
	errs = append(errs, nonNegativePointer(status.CollisionCount, path.Child("collisionCount"))...)
	errs = append(errs, atMost(status.ReadyReplicas, status.Replicas, path.Child("readyReplicas"), tooMany)...)
	errs = append(errs, atMost(status.CurrentReplicas, status.Replicas, path.Child("currentReplicas"), tooMany)...)
	errs = append(errs, atMost(status.UpdatedReplicas, status.Replicas, path.Child("updatedReplicas"), tooMany)...)
	errs = append(errs, atMost(status.AvailableReplicas, status.Replicas, path.Child("availableReplicas"), tooMany)...)
	errs = append(errs, atMost(status.AvailableReplicas, status.ReadyReplicas, path.Child("availableReplicas"), "cannot be greater than status.readyReplicas")...)
	return append(errs, notDecremented(status.CollisionCount, stored.Status.CollisionCount, path.Child("collisionCount"))...)
}
