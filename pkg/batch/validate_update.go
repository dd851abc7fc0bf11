package batch

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/musterkube/muster/pkg/core"
)

// ValidateUpdate says what an API server of Kubernetes 1.36 holds against replacing the stored Job old by job, status
// apart (see [ValidateStatusUpdate]). Both must have their defaults, and job must have gone through
// [PrepareForUpdate].
//
// The rules of creation are checked as well, and those of the spec twice, as Kubernetes does: each error of the spec
// stands in the list twice, and [field.ErrorList.ToAggregate] names it once.
func ValidateUpdate(job, old *batchv1.Job, opts Options) field.ErrorList {
	if job == nil || old == nil {
		return field.ErrorList{field.Required(field.NewPath(""), "there is no Job")}
	}
	rules := jobRules{opts: opts, old: old, prefixedLabels: hasPrefixedLabels(old)}
	errs := validateJob(job, rules)
	errs = append(errs, core.ValidateObjectMetaUpdate(&job.ObjectMeta, &old.ObjectMeta, field.NewPath("metadata"))...)
	return append(errs, validateSpecUpdate(&job.Spec, old, field.NewPath("spec"), rules)...)
}

func hasPrefixedLabels(job *batchv1.Job) bool {
	_, name := job.Spec.Template.Labels[batchv1.JobNameLabel]
	_, uid := job.Spec.Template.Labels[batchv1.ControllerUidLabel]
	return name && uid
}

func validateSpecUpdate(spec *batchv1.JobSpec, old *batchv1.Job, path *field.Path, rules jobRules) field.ErrorList {
	was := &old.Spec
	errs := validateSpec(spec, path, rules)
	errs = append(errs, validateCompletionsUpdate(spec, was, path.Child("completions"))...)
	errs = append(errs, apivalidation.ValidateImmutableField(spec.Selector, was.Selector, path.Child("selector"))...)
	errs = append(errs, validateTemplateUpdate(&spec.Template, old, path)...)
	errs = append(errs, apivalidation.ValidateImmutableField(spec.CompletionMode, was.CompletionMode, path.Child("completionMode"))...)
	errs = append(errs, apivalidation.ValidateImmutableField(spec.PodFailurePolicy, was.PodFailurePolicy, path.Child("podFailurePolicy"))...)
	errs = append(errs, apivalidation.ValidateImmutableField(spec.BackoffLimitPerIndex, was.BackoffLimitPerIndex, path.Child("backoffLimitPerIndex"))...)
	errs = append(errs, apivalidation.ValidateImmutableField(spec.ManagedBy, was.ManagedBy, path.Child("managedBy"))...)
	return append(errs, apivalidation.ValidateImmutableField(spec.SuccessPolicy, was.SuccessPolicy, path.Child("successPolicy"))...)
}

// validateCompletionsUpdate lets the completions of an Indexed Job follow its parallelism (elastic Jobs, KEP-3715).
func validateCompletionsUpdate(spec, old *batchv1.JobSpec, path *field.Path) field.ErrorList {
	if !isIndexed(spec) {
		return apivalidation.ValidateImmutableField(spec.Completions, old.Completions, path)
	}
	if spec.Completions == nil || equality.Semantic.DeepEqual(spec.Completions, old.Completions) {
		return nil
	}
	if spec.Parallelism != nil && *spec.Completions == *spec.Parallelism {
		return nil
	}
	return field.ErrorList{field.Invalid(path, *spec.Completions, "can only be modified in tandem with spec.parallelism")}
}

// templateMayChange reports whether the pod template of the stored Job may be edited in part: the Job is suspended,
// runs no pods, and has never started or been told that it is suspended (KEP-2926, KEP-5440).
func templateMayChange(old *batchv1.Job) bool {
	suspended := old.Spec.Suspend != nil && *old.Spec.Suspend
	return suspended && old.Status.Active == 0 &&
		(old.Status.StartTime == nil || HasCondition(old, batchv1.JobSuspended))
}

func validateTemplateUpdate(template *corev1.PodTemplateSpec, old *batchv1.Job, path *field.Path) field.ErrorList {
	if !templateMayChange(old) {
		return apivalidation.ValidateImmutableField(*template, old.Spec.Template, path.Child("template"))
	}
	// Write into a copy of the old template what may change; anything that differs then may not.
	allowed := old.Spec.Template.DeepCopy()
	allowScheduling(allowed, template)
	allowResources(allowed.Spec.Containers, template.Spec.Containers)
	allowResources(allowed.Spec.InitContainers, template.Spec.InitContainers)
	return apivalidation.ValidateImmutableField(template.Spec, allowed.Spec, path.Child("template.spec"))
}

// allowScheduling takes over from template what steers where pods run (KEP-2926). Metadata needs no taking over: only
// the specs are compared.
func allowScheduling(allowed, template *corev1.PodTemplateSpec) {
	allowed.Spec.NodeSelector = template.Spec.NodeSelector
	allowed.Spec.Tolerations = template.Spec.Tolerations
	allowed.Spec.SchedulingGates = template.Spec.SchedulingGates
	affinity := template.Spec.Affinity
	switch {
	case affinity == nil && allowed.Spec.Affinity == nil:
	case affinity == nil:
		// All of it may go when it held nothing but node affinity.
		allowed.Spec.Affinity.NodeAffinity = nil
		if *allowed.Spec.Affinity == (corev1.Affinity{}) {
			allowed.Spec.Affinity = nil
		}
	case allowed.Spec.Affinity == nil:
		allowed.Spec.Affinity = &corev1.Affinity{NodeAffinity: affinity.NodeAffinity}
	default:
		allowed.Spec.Affinity.NodeAffinity = affinity.NodeAffinity
	}
}

// allowResources takes over the resources of containers that stand at the same place under the same name (KEP-5440).
func allowResources(allowed, containers []corev1.Container) {
	if len(allowed) != len(containers) {
		return
	}
	for i := range containers {
		if allowed[i].Name == containers[i].Name {
			allowed[i].Resources = containers[i].Resources
		}
	}
}
