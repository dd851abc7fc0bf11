package generate

import (
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Job returns a Job that is to be created.
func (g *Generator) Job() *batchv1.Job {
	job := &batchv1.Job{ObjectMeta: g.metadata(), Spec: batchv1.JobSpec{
		Parallelism:             maybe(g, 0.6, number[int32](g, 0, 8)),
		Completions:             maybe(g, 0.6, number[int32](g, 0, 8)),
		ActiveDeadlineSeconds:   maybe(g, 0.2, number[int64](g, 1, 1000)),
		BackoffLimit:            maybe(g, 0.3, number[int32](g, 0, 9)),
		TTLSecondsAfterFinished: maybe(g, 0.2, number[int32](g, 0, 100)),
		Suspend:                 maybe(g, 0.4, of(g, true, false)),
		ManagedBy:               maybe(g, 0.2, of(g, "example.com/controller", "kubernetes.io/job-controller")),
		PodReplacementPolicy:    maybe(g, 0.2, of(g, batchv1.TerminatingOrFailed, batchv1.Failed)),
		Template:                g.jobTemplate(),
	}}
	if g.Chance(0.5) {
		g.makeIndexed(&job.Spec)
	} else if g.Chance(0.3) {
		job.Spec.CompletionMode = new(batchv1.NonIndexedCompletion)
	}
	if g.Chance(0.3) {
		g.addFailurePolicy(&job.Spec)
	}
	if g.Chance(0.1) {
		job.Spec.ManualSelector = new(true)
		job.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "mine"}}
		if job.Spec.Template.Labels == nil {
			job.Spec.Template.Labels = map[string]string{}
		}
		job.Spec.Template.Labels["app"] = "mine"
	} else if g.Chance(0.1) {
		job.Spec.ManualSelector = new(false)
	}
	if g.Chance(0.1) {
		job.Status = g.JobStatus(job) // which nobody may give a new Job
	}
	return job
}

func (g *Generator) jobTemplate() corev1.PodTemplateSpec {
	template := corev1.PodTemplateSpec{Spec: g.podSpec()}
	template.Spec.RestartPolicy = pick(g, corev1.RestartPolicyNever, corev1.RestartPolicyNever, corev1.RestartPolicyOnFailure)
	template.Spec.NodeName = ""
	if g.Chance(0.3) {
		template.Labels = g.labels()
	}
	if g.Chance(0.2) {
		template.Annotations = g.annotations()
	}
	return template
}

func (g *Generator) makeIndexed(spec *batchv1.JobSpec) {
	spec.CompletionMode = new(batchv1.IndexedCompletion)
	spec.Completions = new(number[int32](g, 1, 9)())
	if g.Chance(0.3) {
		spec.Parallelism = new(*spec.Completions)
	}
	if g.Chance(0.4) {
		spec.BackoffLimitPerIndex = new(number[int32](g, 0, 5)())
		spec.MaxFailedIndexes = maybe(g, 0.5, number[int32](g, 0, int(*spec.Completions)))
		spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	}
	if g.Chance(0.3) {
		spec.SuccessPolicy = &batchv1.SuccessPolicy{Rules: some(g, 1, 2, func(int) batchv1.SuccessPolicyRule {
			if g.Chance(0.5) {
				return batchv1.SuccessPolicyRule{SucceededCount: new(number[int32](g, 1, int(*spec.Completions))())}
			}
			return batchv1.SuccessPolicyRule{SucceededIndexes: new("0"), SucceededCount: maybe(g, 0.3, of(g, int32(1)))}
		})}
	}
}

func (g *Generator) addFailurePolicy(spec *batchv1.JobSpec) {
	spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	if spec.PodReplacementPolicy != nil {
		spec.PodReplacementPolicy = new(batchv1.Failed)
	}
	actions := []batchv1.PodFailurePolicyAction{batchv1.PodFailurePolicyActionFailJob, batchv1.PodFailurePolicyActionIgnore,
		batchv1.PodFailurePolicyActionCount}
	if spec.BackoffLimitPerIndex != nil {
		actions = append(actions, batchv1.PodFailurePolicyActionFailIndex)
	}
	spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: some(g, 0, 3, func(int) batchv1.PodFailurePolicyRule {
		rule := batchv1.PodFailurePolicyRule{Action: pick(g, actions...)}
		if g.Chance(0.5) {
			rule.OnExitCodes = &batchv1.PodFailurePolicyOnExitCodesRequirement{
				Operator: pick(g, batchv1.PodFailurePolicyOnExitCodesOpIn, batchv1.PodFailurePolicyOnExitCodesOpNotIn),
				Values:   []int32{1, 42, 130}[:1+g.random.IntN(3)],
			}
			if g.Chance(0.3) {
				rule.OnExitCodes.ContainerName = new(spec.Template.Spec.Containers[0].Name)
			}
			return rule
		}
		rule.OnPodConditions = some(g, 1, 2, func(int) batchv1.PodFailurePolicyOnPodConditionsPattern {
			return batchv1.PodFailurePolicyOnPodConditionsPattern{
				Type: pick(g, corev1.DisruptionTarget, "ConfigIssue"), Status: pick(g, corev1.ConditionTrue, corev1.ConditionFalse),
			}
		})
		return rule
	})}
}

// JobStatus returns a status that a Job can have.
func (g *Generator) JobStatus(job *batchv1.Job) batchv1.JobStatus {
	completions := 5
	if job.Spec.Completions != nil {
		completions = int(min(9, max(0, *job.Spec.Completions))) // where it was not spoilt
	}
	status := batchv1.JobStatus{
		Succeeded: int32(g.random.IntN(completions + 1)), Failed: number[int32](g, 0, 3)(), Active: number[int32](g, 0, 3)(),
		Ready:       new(int32(0)),
		Terminating: maybe(g, 0.7, number[int32](g, 0, 1)),
		UncountedTerminatedPods: maybe(g, 0.5, func() batchv1.UncountedTerminatedPods {
			return batchv1.UncountedTerminatedPods{Succeeded: g.uids("s"), Failed: g.uids("f")}
		}),
	}
	if status.Active > 0 {
		status.Ready = maybe(g, 0.8, number[int32](g, 0, int(status.Active)))
	}
	if job.Spec.CompletionMode != nil && *job.Spec.CompletionMode == batchv1.IndexedCompletion {
		g.addIndexes(job, &status, completions)
	}
	if g.Chance(0.8) {
		status.StartTime = new(g.day(1))
	}
	if job.Spec.Suspend != nil && g.Chance(0.5) {
		state := corev1.ConditionFalse
		if *job.Spec.Suspend {
			state, status.StartTime = corev1.ConditionTrue, nil
		}
		status.Conditions = append(status.Conditions, g.jobCondition(batchv1.JobSuspended, state))
	}
	switch {
	case g.Chance(0.25):
		g.end(&status, batchv1.JobSuccessCriteriaMet, batchv1.JobComplete)
	case g.Chance(0.25):
		g.end(&status, batchv1.JobFailureTarget, batchv1.JobFailed)
	}
	return status
}

func (g *Generator) addIndexes(job *batchv1.Job, status *batchv1.JobStatus, completions int) {
	status.CompletedIndexes = g.indexes(completions)
	if job.Spec.BackoffLimitPerIndex != nil && g.Chance(0.7) {
		status.FailedIndexes = new(g.indexes(completions))
		if g.Chance(0.7) { // else the two may overlap
			status.CompletedIndexes = pick(g, "", "0")
			status.FailedIndexes = new("")
		}
	}
}

// end gives a status the condition that announces the end, and often the one that says it has come.
func (g *Generator) end(status *batchv1.JobStatus, target, finished batchv1.JobConditionType) {
	status.Conditions = append(status.Conditions, g.jobCondition(target, corev1.ConditionTrue))
	if g.Chance(0.3) {
		return
	}
	status.Conditions = append(status.Conditions, g.jobCondition(finished, corev1.ConditionTrue))
	status.Active, status.Ready, status.Terminating = 0, new(int32(0)), new(int32(0))
	status.UncountedTerminatedPods = maybe(g, 0.3, of(g, batchv1.UncountedTerminatedPods{}))
	status.StartTime = new(g.day(1))
	if finished == batchv1.JobComplete {
		status.CompletionTime = new(g.day(2))
	}
}

func (g *Generator) jobCondition(kind batchv1.JobConditionType, state corev1.ConditionStatus) batchv1.JobCondition {
	return batchv1.JobCondition{Type: kind, Status: state, Reason: pick(g, "", "BackoffLimitExceeded"),
		LastProbeTime: g.day(2), LastTransitionTime: g.day(2)}
}

func (g *Generator) uids(prefix string) []types.UID {
	return some(g, 0, 2, func(i int) types.UID { return types.UID(prefix + strconv.Itoa(i)) })
}
