package batch

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/musterkube/muster/pkg/core"
)

// The limits of Indexed Jobs. They keep status.completedIndexes and status.failedIndexes at a size that can be stored.
const (
	maxIndexedParallelism = 100_000
	maxFailedIndexes      = 100_000
	// From highCompletions on, Jobs with a limit per index live by the lower limits that follow.
	highCompletions            = 100_000
	maxParallelismIfHigh       = 10_000
	maxFailedIndexesIfHigh     = 10_000
	maxManagedByLength         = 63
	maxFailureRules            = 20
	maxExitCodes               = 255
	maxConditionPatterns       = 20
	maxSuccessRules            = 20
	maxSucceededIndexesLength  = 64 << 10
	requiresIndexed            = "requires indexed completion mode"
	selectorDoesNotMatchLabels = "`selector` does not match template `labels`"
)

func validateSpec(spec *batchv1.JobSpec, path *field.Path, rules jobRules) field.ErrorList {
	return append(validateUnselected(spec, path, rules), validateSelector(spec, path, rules)...)
}

// validateUnselected validates a spec but for its selector.
func validateUnselected(spec *batchv1.JobSpec, path *field.Path, rules jobRules) field.ErrorList {
	errs := validateCounters(spec, path)
	errs = append(errs, validateManagedBy(spec.ManagedBy, path.Child("managedBy"))...)
	errs = append(errs, validateCompletionMode(spec, path)...)
	if spec.PodFailurePolicy != nil {
		errs = append(errs, validateFailurePolicy(spec, path.Child("podFailurePolicy"))...)
	}
	if spec.SuccessPolicy != nil {
		errs = append(errs, validateSuccessPolicy(spec, path.Child("successPolicy"))...)
	}
	errs = append(errs, validateReplacementPolicy(spec, path.Child("podReplacementPolicy"))...)
	return append(errs, validateTemplate(spec, path.Child("template"), rules)...)
}

// validateCounters checks the numbers that must not be negative.
func validateCounters(spec *batchv1.JobSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	check := func(name string, value int64) {
		errs = append(errs, apivalidation.ValidateNonnegativeField(value, path.Child(name))...)
	}
	if spec.Parallelism != nil {
		check("parallelism", int64(*spec.Parallelism))
	}
	if spec.Completions != nil {
		check("completions", int64(*spec.Completions))
	}
	if spec.ActiveDeadlineSeconds != nil {
		check("activeDeadlineSeconds", *spec.ActiveDeadlineSeconds)
	}
	if spec.BackoffLimit != nil {
		check("backoffLimit", int64(*spec.BackoffLimit))
	}
	if spec.TTLSecondsAfterFinished != nil {
		check("ttlSecondsAfterFinished", int64(*spec.TTLSecondsAfterFinished))
	}
	if spec.BackoffLimitPerIndex != nil {
		check("backoffLimitPerIndex", int64(*spec.BackoffLimitPerIndex))
	}
	if spec.MaxFailedIndexes != nil {
		check("maxFailedIndexes", int64(*spec.MaxFailedIndexes))
		if spec.BackoffLimitPerIndex == nil {
			errs = append(errs, field.Required(path.Child("backoffLimitPerIndex"), "when maxFailedIndexes is specified"))
		}
	}
	return errs
}

func validateManagedBy(managedBy *string, path *field.Path) field.ErrorList {
	if managedBy == nil {
		return nil
	}
	errs := validation.IsDomainPrefixedPath(path, *managedBy)
	if len(*managedBy) > maxManagedByLength {
		errs = append(errs, field.TooLong(path, "", maxManagedByLength))
	}
	return errs
}

func validateCompletionMode(spec *batchv1.JobSpec, path *field.Path) field.ErrorList {
	if spec.CompletionMode != nil {
		switch *spec.CompletionMode {
		case batchv1.NonIndexedCompletion:
		case batchv1.IndexedCompletion:
			return validateIndexed(spec, path)
		default:
			return field.ErrorList{field.NotSupported(path.Child("completionMode"), *spec.CompletionMode,
				[]batchv1.CompletionMode{batchv1.NonIndexedCompletion, batchv1.IndexedCompletion})}
		}
	}
	var errs field.ErrorList
	if spec.BackoffLimitPerIndex != nil {
		errs = append(errs, field.Invalid(path.Child("backoffLimitPerIndex"), *spec.BackoffLimitPerIndex, requiresIndexed))
	}
	if spec.MaxFailedIndexes != nil {
		errs = append(errs, field.Invalid(path.Child("maxFailedIndexes"), *spec.MaxFailedIndexes, requiresIndexed))
	}
	return errs
}

func validateIndexed(spec *batchv1.JobSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if spec.Completions == nil {
		errs = append(errs, field.Required(path.Child("completions"), "when completion mode is "+string(batchv1.IndexedCompletion)))
	}
	if spec.Parallelism != nil && *spec.Parallelism > maxIndexedParallelism {
		errs = append(errs, field.Invalid(path.Child("parallelism"), *spec.Parallelism,
			fmt.Sprintf("must be less than or equal to %d when completion mode is %s", maxIndexedParallelism, batchv1.IndexedCompletion)))
	}
	failedPath := path.Child("maxFailedIndexes")
	if spec.MaxFailedIndexes != nil {
		if spec.Completions != nil && *spec.MaxFailedIndexes > *spec.Completions {
			errs = append(errs, field.Invalid(failedPath, *spec.MaxFailedIndexes, "must be less than or equal to completions"))
		}
		if *spec.MaxFailedIndexes > maxFailedIndexes {
			errs = append(errs, field.Invalid(failedPath, *spec.MaxFailedIndexes,
				fmt.Sprintf("must be less than or equal to %d", maxFailedIndexes)))
		}
	}
	if spec.Completions != nil && *spec.Completions > highCompletions && spec.BackoffLimitPerIndex != nil {
		errs = append(errs, validateHighCompletions(spec, path)...)
	}
	return errs
}

// validateHighCompletions checks the lower limits of Jobs with many completions and a back-off limit per index: both of
// their lists of indexes may grow.
func validateHighCompletions(spec *batchv1.JobSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	tooHigh := func(limit int) string {
		return fmt.Sprintf("must be less than or equal to %d when completions are above %d and used with backoff limit per index",
			limit, highCompletions)
	}
	failedPath := path.Child("maxFailedIndexes")
	if spec.MaxFailedIndexes == nil {
		errs = append(errs, field.Required(failedPath,
			fmt.Sprintf("must be specified when completions is above %d", highCompletions)))
	}
	if spec.Parallelism != nil && *spec.Parallelism > maxParallelismIfHigh {
		errs = append(errs, field.Invalid(path.Child("parallelism"), *spec.Parallelism, tooHigh(maxParallelismIfHigh)))
	}
	if spec.MaxFailedIndexes != nil && *spec.MaxFailedIndexes > maxFailedIndexesIfHigh {
		errs = append(errs, field.Invalid(failedPath, *spec.MaxFailedIndexes, tooHigh(maxFailedIndexesIfHigh)))
	}
	return errs
}

func validateReplacementPolicy(spec *batchv1.JobSpec, path *field.Path) field.ErrorList {
	if spec.PodReplacementPolicy == nil {
		return nil
	}
	// A pod failure policy must see how pods end, so none is replaced before it has.
	supported := []batchv1.PodReplacementPolicy{batchv1.Failed}
	if spec.PodFailurePolicy == nil {
		supported = append(supported, batchv1.TerminatingOrFailed)
	}
	return oneOf(*spec.PodReplacementPolicy, supported, path)
}

// oneOf reports a value that is not among the supported ones.
func oneOf[T ~string](value T, supported []T, path *field.Path) field.ErrorList {
	if slices.Contains(supported, value) {
		return nil
	}
	return field.ErrorList{field.NotSupported(path, value, supported)}
}

// validateTemplate checks the pod template as any other, and that its pods can end: a pod that is always restarted
// never does.
func validateTemplate(spec *batchv1.JobSpec, path *field.Path, rules jobRules) field.ErrorList {
	var old *corev1.PodTemplateSpec
	if rules.old != nil {
		old = &rules.old.Spec.Template
	}
	errs := core.ValidatePodTemplateUpdate(&spec.Template, old, path, core.Options{Gates: rules.opts.Gates})
	policyPath := path.Child("spec", "restartPolicy")
	switch policy := spec.Template.Spec.RestartPolicy; {
	case policy == "" || policy == corev1.RestartPolicyAlways:
		errs = append(errs, field.Required(policyPath,
			fmt.Sprintf("valid values: %q, %q", corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever)))
	case policy != corev1.RestartPolicyOnFailure && policy != corev1.RestartPolicyNever:
		errs = append(errs, field.NotSupported(policyPath, policy,
			[]corev1.RestartPolicy{corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever}))
	case policy != corev1.RestartPolicyNever && spec.PodFailurePolicy != nil:
		errs = append(errs, field.Invalid(policyPath, policy,
			fmt.Sprintf("only %q is supported when podFailurePolicy is specified", corev1.RestartPolicyNever)))
	}
	return errs
}

func validateSelector(spec *batchv1.JobSpec, path *field.Path, rules jobRules) field.ErrorList {
	selectorPath := path.Child("selector")
	if spec.Selector == nil {
		errs := field.ErrorList{field.Required(selectorPath, "")}
		// A selector that is not there selects nothing, the template's pods included.
		return append(errs, field.Invalid(path.Child("template", "metadata", "labels"), spec.Template.Labels, selectorDoesNotMatchLabels))
	}
	lenient := rules.old != nil && (metavalidation.LabelSelectorHasInvalidLabelValue(rules.old.Spec.Selector) ||
		core.HasInvalidAffinitySelector(&rules.old.Spec.Template.Spec))
	errs := core.ValidateLabelSelector(spec.Selector,
		metavalidation.LabelSelectorValidationOptions{AllowInvalidLabelValueInSelector: lenient}, selectorPath)
	selector, err := metav1.LabelSelectorAsSelector(spec.Selector)
	if err == nil && !selector.Matches(labels.Set(spec.Template.Labels)) {
		errs = append(errs, field.Invalid(path.Child("template", "metadata", "labels"), spec.Template.Labels, selectorDoesNotMatchLabels))
	}
	return errs
}
