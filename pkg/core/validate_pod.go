package core

import (
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/musterkube/muster/pkg/internal/metadata"
)

// ValidatePod says what an API server of Kubernetes 1.36 holds against a new pod, with its paths, types and wording,
// in its order. The pod must have its defaults ([SetPodDefaults]) and be prepared ([PreparePodForCreate]). An empty
// list means that the pod would be accepted; the package comment lists what is not looked at.
func ValidatePod(pod *corev1.Pod, opts Options) field.ErrorList {
	if pod == nil {
		return field.ErrorList{field.Required(field.NewPath(""), "there is no Pod")}
	}
	specPath := field.NewPath("spec")
	errs := validateWholePod(pod, nil, opts)
	if len(pod.Spec.EphemeralContainers) > 0 {
		errs = append(errs, field.Forbidden(specPath.Child("ephemeralContainers"), "cannot be set on create"))
	}
	if pod.Spec.NodeName != "" && len(pod.Spec.SchedulingGates) != 0 {
		errs = append(errs, field.Forbidden(specPath.Child("nodeName"), "cannot be set until all schedulingGates have been cleared"))
	}
	return append(errs, validateProfilesMatch(&pod.ObjectMeta, &pod.Spec, specPath)...)
}

// validateWholePod checks metadata and spec of a pod that is created (old is nil) or changed.
func validateWholePod(pod, old *corev1.Pod, opts Options) field.ErrorList {
	metaPath, specPath := field.NewPath("metadata"), field.NewPath("spec")
	rules := specRules{opts: opts, pod: &pod.ObjectMeta}
	if old != nil {
		rules.forgive(&old.Spec, &old.ObjectMeta)
	}
	errs := ValidateObjectMeta(&pod.ObjectMeta, true, apivalidation.NameIsDNSSubdomain, metaPath)
	errs = append(errs, validatePodAnnotations(pod.Annotations, &pod.Spec, metaPath.Child("annotations"), rules)...)
	errs = append(errs, validatePodSpec(&pod.Spec, specPath, rules)...)
	errs = append(errs, validateTokensHaveAccount(&pod.Spec, specPath.Child("volumes"))...)
	errs = append(errs, validateImagesTrimmed(pod.Spec.Containers, specPath.Child("containers"))...)
	return append(errs, validateImagesTrimmed(pod.Spec.InitContainers, specPath.Child("initContainers"))...)
}

// ValidatePodTemplate says what an API server of Kubernetes 1.36 holds against the pod template of a new object, such
// as a Job. path is where the template stands in that object. The template must have its defaults
// ([SetPodTemplateDefaults]).
func ValidatePodTemplate(template *corev1.PodTemplateSpec, path *field.Path, opts Options) field.ErrorList {
	return ValidatePodTemplateUpdate(template, nil, path, opts)
}

// ValidatePodTemplateUpdate is [ValidatePodTemplate] for a changed object: where rules have been tightened over the
// years, what the stored template old breaks already is not held against the new one. Which changes are allowed is the
// business of the object that holds the template.
func ValidatePodTemplateUpdate(template, old *corev1.PodTemplateSpec, path *field.Path, opts Options) field.ErrorList {
	if template == nil {
		return field.ErrorList{field.Required(path, "there is no pod template")}
	}
	rules := specRules{opts: opts}
	if old != nil {
		rules.forgive(&old.Spec, &old.ObjectMeta)
	}
	specPath, annotationsPath := path.Child("spec"), path.Child("annotations")
	errs := metadata.ValidateLabels(template.Labels, path.Child("labels"))
	errs = append(errs, metadata.ValidateAnnotations(template.Annotations, annotationsPath)...)
	errs = append(errs, validatePodAnnotations(template.Annotations, &template.Spec, annotationsPath, rules)...)
	errs = append(errs, validatePodSpec(&template.Spec, specPath, rules)...)
	errs = append(errs, validateProfilesMatch(&template.ObjectMeta, &template.Spec, specPath)...)
	if len(template.Spec.EphemeralContainers) > 0 {
		errs = append(errs, field.Forbidden(specPath.Child("ephemeralContainers"), "ephemeral containers not allowed in pod template"))
	}
	return errs
}

// specRules are the circumstances under which a pod spec is validated.
type specRules struct {
	opts Options
	// pod is the metadata of the pod that the spec belongs to, nil for a template: some rules are for pods alone.
	pod *metav1.ObjectMeta
	leniency
}

func (r specRules) isPod() bool { return r.pod != nil }
