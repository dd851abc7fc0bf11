package batch

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/musterkube/muster/pkg/core"
	"github.com/musterkube/muster/pkg/features"
)

// Options says under which circumstances Jobs are validated. The zero value stands for a server with every gate on.
type Options struct {
	// Gates of the server. Fields of a gate that is off are not validated: a server drops them before it validates, as
	// [DropDisabledFields] does. Default: all on.
	Gates features.Gates
}

// Validate says what an API server of Kubernetes 1.36 holds against a new Job, with its paths, types and wording, in
// its order. The Job must have gone through [SetDefaults] and [PrepareForCreate], as on a server; what those did not
// set is reported as missing. An empty list means that the Job would be accepted.
func Validate(job *batchv1.Job, opts Options) field.ErrorList {
	if job == nil {
		return field.ErrorList{field.Required(field.NewPath(""), "there is no Job")}
	}
	return validateJob(job, jobRules{opts: opts, prefixedLabels: true})
}

// jobRules are the circumstances of one validation.
type jobRules struct {
	opts Options
	// old is the stored Job on update, nil on create: what it has wrong already may stay.
	old *batchv1.Job
	// prefixedLabels asks for the generated labels under their prefixed names as well. Stored Jobs from before
	// Kubernetes 1.27 lack them.
	prefixedLabels bool
}

func validateJob(job *batchv1.Job, rules jobRules) field.ErrorList {
	errs := core.ValidateObjectMeta(&job.ObjectMeta, true, apivalidation.NameIsDNSSubdomain, field.NewPath("metadata"))
	errs = append(errs, validateGenerated(job, rules.prefixedLabels)...)
	errs = append(errs, validateSpec(&job.Spec, field.NewPath("spec"), rules)...)
	return append(errs, validateHostnames(job)...)
}

// validateGenerated checks that selector and labels are the generated ones, unless the user asked for manual ones.
// Only then can no two Jobs claim the same pod.
func validateGenerated(job *batchv1.Job, prefixed bool) field.ErrorList {
	spec := &job.Spec
	if (spec.ManualSelector != nil && *spec.ManualSelector) || spec.Selector == nil {
		return nil
	}
	var errs field.ErrorList
	if job.UID == "" {
		errs = append(errs, field.Required(field.NewPath("metadata", "uid"), ""))
	}
	labelsPath := field.NewPath("spec", "template", "metadata", "labels")
	generated := labels.Set{}
	for _, label := range generatedLabels(job, prefixed) {
		generated[label.key] = label.value
		detail := fmt.Sprintf("must be '%s'", label.value)
		if value, found := spec.Template.Labels[label.key]; !found {
			errs = append(errs, field.Required(labelsPath.Key(label.key), detail))
		} else if value != label.value {
			errs = append(errs, field.Invalid(labelsPath.Key(label.key), spec.Template.Labels, detail))
		}
	}
	selector, err := metav1.LabelSelectorAsSelector(spec.Selector)
	if err == nil && !selector.Matches(generated) {
		errs = append(errs, field.Invalid(field.NewPath("spec", "selector"), spec.Selector, "`selector` not auto-generated"))
	}
	return errs
}

// validateHostnames checks that the pod with the highest index of an Indexed Job gets a usable hostname: NAME-INDEX.
func validateHostnames(job *batchv1.Job) field.ErrorList {
	completions := job.Spec.Completions
	if !isIndexed(&job.Spec) || completions == nil || *completions <= 0 {
		return nil
	}
	hostname := fmt.Sprintf("%s-%d", job.Name, *completions-1)
	if len(validation.IsDNS1123Label(hostname)) == 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("metadata", "name"), job.Name,
		"will not able to create pod with invalid DNS label: "+hostname)}
}

func isIndexed(spec *batchv1.JobSpec) bool {
	return spec.CompletionMode != nil && *spec.CompletionMode == batchv1.IndexedCompletion
}
