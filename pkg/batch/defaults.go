package batch

import (
	"math"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/musterkube/muster/pkg/core"
)

const (
	// defaultBackoffLimit is how many failures a Job takes that does not say (JobSpec.BackoffLimit).
	defaultBackoffLimit = 6
	// unlimitedBackoff stands in for it when failures are limited per index.
	unlimitedBackoff = math.MaxInt32
)

// SetDefaults fills in what an API server of Kubernetes 1.36 fills in when it reads a Job, from a request or from its
// store (k8s.io/api batch/v1 JobSpec). It edits job in place, leaves alone what is set, and does nothing more when
// called again.
//
// A Job without labels takes the labels of its pod template. As on a real server the two then are one map: labels that
// [PrepareForCreate] generates for the template show on the Job as well.
func SetDefaults(job *batchv1.Job) {
	setSpecDefaults(&job.Spec)
	if labels := job.Spec.Template.Labels; labels != nil && len(job.Labels) == 0 {
		job.Labels = labels
	}
	SetTemplateDefaults(&job.Spec)
}

// SetTemplateDefaults fills in what an API server fills in of the Job spec in a CronJob: the defaults of the pod template
// and of the patterns of a failure policy. All others are for the Jobs that are made from it (k8s.io/api batch/v1
// JobTemplateSpec).
func SetTemplateDefaults(spec *batchv1.JobSpec) {
	if policy := spec.PodFailurePolicy; policy != nil {
		for i := range policy.Rules {
			for j := range policy.Rules[i].OnPodConditions {
				if pattern := &policy.Rules[i].OnPodConditions[j]; pattern.Status == "" {
					pattern.Status = corev1.ConditionTrue
				}
			}
		}
	}
	core.SetPodTemplateDefaults(&spec.Template)
}

func setSpecDefaults(spec *batchv1.JobSpec) {
	if spec.Completions == nil && spec.Parallelism == nil {
		spec.Completions = new(int32(1))
	}
	setIfNil(&spec.Parallelism, 1)
	if spec.BackoffLimitPerIndex != nil {
		setIfNil(&spec.BackoffLimit, unlimitedBackoff)
	}
	setIfNil(&spec.BackoffLimit, defaultBackoffLimit)
	setIfNil(&spec.CompletionMode, batchv1.NonIndexedCompletion)
	setIfNil(&spec.Suspend, false)
	if spec.PodFailurePolicy != nil {
		setIfNil(&spec.PodReplacementPolicy, batchv1.Failed)
	}
	setIfNil(&spec.PodReplacementPolicy, batchv1.TerminatingOrFailed)
	setIfNil(&spec.ManualSelector, false)
}

func setIfNil[T any](at **T, value T) {
	if *at == nil {
		*at = &value
	}
}
