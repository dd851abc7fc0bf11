package batch

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/musterkube/muster/pkg/core"
)

// Warnings returns the warnings that an API server of Kubernetes 1.36 sends back on the creation of job: what is
// accepted, and most likely not meant. Those of its pod template are among them.
func Warnings(job *batchv1.Job) []string {
	var warnings []string
	if faults := validation.IsDNS1123Label(job.Name); len(faults) > 0 {
		warnings = append(warnings, fmt.Sprintf("metadata.name: this is used in Pod names and hostnames, which can result in"+
			" surprising behavior; a DNS label is recommended: %v", faults))
	}
	return append(warnings, SpecWarnings(&job.Spec, field.NewPath("spec"))...)
}

// UpdateWarnings returns the warnings that an API server sends back on an update from old to job, which must have gone
// through [PrepareForUpdate]: those of the spec, when it has changed.
func UpdateWarnings(job, old *batchv1.Job) []string {
	if job.Generation == old.Generation {
		return nil
	}
	return SpecWarnings(&job.Spec, field.NewPath("spec"))
}

// SpecWarnings returns the warnings about the spec of a Job, or of a CronJob's template of Jobs, that stands at path.
func SpecWarnings(spec *batchv1.JobSpec, path *field.Path) []string {
	var warnings []string
	many := spec.Completions != nil && *spec.Completions > highCompletions
	wide := spec.Parallelism != nil && *spec.Parallelism > maxParallelismIfHigh
	if isIndexed(spec) && many && wide {
		warnings = append(warnings, fmt.Sprintf("%s: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism"+
			" higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail", path))
	}
	return append(warnings, core.TemplateWarnings(&spec.Template, path.Child("template"))...)
}
