package job

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/musterkube/muster/pkg/batch"
	"github.com/musterkube/muster/pkg/core"
)

// outcome is how a Job ends. It enters the status twice: as an interim condition (SuccessCriteriaMet, FailureTarget)
// before the finalizers of the pods go, and as the final one (Complete, Failed) when all pods have ended and been
// counted. Both have the same reason and message.
type outcome struct {
	success         bool
	reason, message string
}

func failure(reason, message string) *outcome {
	return &outcome{reason: reason, message: message}
}

// interim returns the type of the condition that announces the outcome.
func (o *outcome) interim() batchv1.JobConditionType {
	if o.success {
		return batchv1.JobSuccessCriteriaMet
	}
	return batchv1.JobFailureTarget
}

// final returns the type of the condition that ends the Job.
func (o *outcome) final() batchv1.JobConditionType {
	if o.success {
		return batchv1.JobComplete
	}
	return batchv1.JobFailed
}

// findOutcome returns how the Job ends, nil if it goes on. The order is that of Kubernetes: what an earlier sync has
// announced stands; then failures come before successes. Completions are not looked at here, because they depend on
// the pods that are active after this sync: see [completionsReached].
func findOutcome(s *snapshot, t *tally, started time.Time) *outcome {
	if announced := announcedOutcome(s.job); announced != nil {
		return announced
	}
	if message := lostMessage(s, t); message != "" {
		return failure(ReasonPodLost, message)
	}
	if message := failJobMessage(s); message != "" {
		return failure(batchv1.JobReasonPodFailurePolicy, message)
	}
	if t.failed > *s.job.Spec.BackoffLimit || tooManyRestarts(s) {
		return failure(batchv1.JobReasonBackoffLimitExceeded, "Job has reached the specified backoff limit")
	}
	if remaining, limited := untilDeadline(s, started); limited && remaining <= 0 {
		return failure(batchv1.JobReasonDeadlineExceeded, "Job was active longer than specified deadline")
	}
	if !s.indexed() {
		return nil
	}
	if failed := indexesOutcome(s, t); failed != nil {
		return failed
	}
	if match := batch.MatchSuccessPolicy(s.job.Spec.SuccessPolicy, s.completions(), t.completed); match.Matched() {
		return &outcome{success: true, reason: batchv1.JobReasonSuccessPolicy, message: match.Message}
	}
	return nil
}

// announcedOutcome returns the outcome that an interim condition in the status tells.
func announcedOutcome(job *batchv1.Job) *outcome {
	for _, conditionType := range []batchv1.JobConditionType{batchv1.JobSuccessCriteriaMet, batchv1.JobFailureTarget} {
		if c := batch.Condition(job, conditionType); c != nil && c.Status == corev1.ConditionTrue {
			return &outcome{success: conditionType == batchv1.JobSuccessCriteriaMet, reason: c.Reason, message: c.Message}
		}
	}
	return nil
}

// failJobMessage returns the message of the first failed pod that matches a rule with action FailJob.
func failJobMessage(s *snapshot) string {
	if s.job.Spec.PodFailurePolicy == nil {
		return ""
	}
	for _, pod := range s.pods {
		if !batch.PodFailed(s.job, pod) {
			continue
		}
		if match := batch.MatchFailurePolicy(s.job.Spec.PodFailurePolicy, pod); match.Message != "" {
			return match.Message
		}
	}
	return ""
}

// tooManyRestarts reports whether the containers of running pods have been restarted as often as backoffLimit allows,
// which counts with restartPolicy OnFailure: the kubelet restarts containers, and pods do not fail.
func tooManyRestarts(s *snapshot) bool {
	if s.job.Spec.Template.Spec.RestartPolicy != corev1.RestartPolicyOnFailure {
		return false
	}
	var restarts int32
	for _, pod := range s.pods {
		if pod.Status.Phase == corev1.PodRunning || pod.Status.Phase == corev1.PodPending {
			restarts += core.Restarts(pod)
		}
	}
	limit := *s.job.Spec.BackoffLimit
	if limit == 0 {
		return restarts > 0
	}
	return restarts >= limit
}

// untilDeadline returns what is left of activeDeadlineSeconds; limited is false when no deadline runs.
func untilDeadline(s *snapshot, started time.Time) (remaining time.Duration, limited bool) {
	if s.job.Spec.ActiveDeadlineSeconds == nil || started.IsZero() || s.suspended() {
		return 0, false
	}
	return time.Duration(*s.job.Spec.ActiveDeadlineSeconds)*time.Second - s.now.Sub(started), true
}

// indexesOutcome tells whether the failed indexes of a Job with a limit per index fail the whole.
func indexesOutcome(s *snapshot, t *tally) *outcome {
	if t.failedIndexes == nil {
		return nil
	}
	failed := t.failedIndexes.Len()
	if limit := s.job.Spec.MaxFailedIndexes; limit != nil && failed > int(*limit) {
		return failure(batchv1.JobReasonMaxFailedIndexesExceeded, "Job has exceeded the specified maximal number of failed indexes")
	}
	if failed > 0 && failed+t.completed.Len() >= s.completions() {
		return failure(batchv1.JobReasonFailedIndexes, "Job has failed indexes")
	}
	return nil
}

// completionsReached returns the outcome of a Job whose pods have succeeded often enough, nil if they have not. A
// work-queue Job, without completions, has done its work when one pod has succeeded and no pod is left.
func completionsReached(s *snapshot, t *tally, active int32) *outcome {
	want := int32(1)
	if s.job.Spec.Completions != nil {
		want = *s.job.Spec.Completions
	}
	if active > 0 || t.succeeded < want {
		return nil
	}
	return &outcome{
		success: true,
		reason:  batchv1.JobReasonCompletionsReached,
		message: "Reached expected number of succeeded pods",
	}
}
