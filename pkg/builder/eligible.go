package builder

import (
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
)

// Eligible reports whether the Job controller of Kubernetes 1.36 would run job as a gang (KEP-5547): an Indexed Job of
// two pods or more that all run at once, whose pod template names no scheduling group yet. Nothing else counts, neither
// owners nor annotations, suspension or restart policy. The answer follows the Job as it is now: a Job that is changed
// may gain or lose it.
//
// For a Job that is not eligible, reason names each field that stands in the way, by its path and in words for the
// user; for an eligible one it is empty. Fields that are not set count as the API server's defaults would, except that
// spec.parallelism and spec.completions are wanted in so many words, as a Job that went through the API server has them.
func Eligible(job *batchv1.Job) (ok bool, reason string) {
	if job == nil {
		return false, "there is no Job"
	}
	obstacles := obstacles(&job.Spec)
	return len(obstacles) == 0, strings.Join(obstacles, "; ")
}

// obstacles lists what keeps a Job from being a gang, in the order of the fields that a user would look at first.
func obstacles(spec *batchv1.JobSpec) []string {
	var found []string
	add := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }

	switch {
	case spec.Parallelism == nil:
		add("spec.parallelism is not set: a gang needs 2 or more")
	case *spec.Parallelism < 2:
		add("spec.parallelism is %d: a gang needs 2 or more", *spec.Parallelism)
	}
	if mode := completionMode(spec); mode != batchv1.IndexedCompletion {
		add("spec.completionMode is %s: a gang needs %s", mode, batchv1.IndexedCompletion)
	}
	switch {
	case spec.Completions == nil:
		add("spec.completions is not set: a gang needs as many completions as spec.parallelism")
	case spec.Parallelism != nil && *spec.Completions != *spec.Parallelism:
		add("spec.completions is %d and spec.parallelism is %d: a gang needs both to be the same", *spec.Completions, *spec.Parallelism)
	}
	if group := spec.Template.Spec.SchedulingGroup; group != nil {
		name := "a group"
		if group.PodGroupName != nil {
			name = fmt.Sprintf("the PodGroup %q", *group.PodGroupName)
		}
		add("spec.template.spec.schedulingGroup is set: the pods belong to %s already", name)
	}
	return found
}

// completionMode returns the mode of a Job, with the default of the API server for one that has none.
func completionMode(spec *batchv1.JobSpec) batchv1.CompletionMode {
	if spec.CompletionMode == nil {
		return batchv1.NonIndexedCompletion
	}
	return *spec.CompletionMode
}
