package batch

import (
	"errors"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Condition reasons that the built-in Job controller writes and that k8s.io/api has no constant for.
const (
	// ReasonSuspended is the reason of condition Suspended=True.
	ReasonSuspended = "JobSuspended"
	// ReasonResumed is the reason of condition Suspended=False.
	ReasonResumed = "JobResumed"
)

// ErrNotFinished is returned when a question needs a finished Job and the Job is not.
var ErrNotFinished = errors.New("job is not finished")

// Condition returns the first condition of that type, or nil. It points into job.
func Condition(job *batchv1.Job, conditionType batchv1.JobConditionType) *batchv1.JobCondition {
	return findCondition(job.Status.Conditions, conditionType)
}

func findCondition(conditions []batchv1.JobCondition, conditionType batchv1.JobConditionType) *batchv1.JobCondition {
	for i := range conditions {
		if conditions[i].Type == conditionType {
			return &conditions[i]
		}
	}
	return nil
}

// HasCondition reports whether job has a condition of that type with status True.
func HasCondition(job *batchv1.Job, conditionType batchv1.JobConditionType) bool {
	return hasStatus(job, conditionType, corev1.ConditionTrue)
}

// hasStatus looks at every condition of the type: an API server does not refuse the same type twice.
func hasStatus(job *batchv1.Job, conditionType batchv1.JobConditionType, status corev1.ConditionStatus) bool {
	for i := range job.Status.Conditions {
		if c := &job.Status.Conditions[i]; c.Type == conditionType && c.Status == status {
			return true
		}
	}
	return false
}

// Finished reports whether job has ended, and how: with Complete or with Failed, whichever stands first in its status.
// A Job that has only reached SuccessCriteriaMet or FailureTarget has not ended.
func Finished(job *batchv1.Job) (batchv1.JobConditionType, bool) {
	if c := finishedCondition(job); c != nil {
		return c.Type, true
	}
	return "", false
}

func finishedCondition(job *batchv1.Job) *batchv1.JobCondition {
	for i := range job.Status.Conditions {
		c := &job.Status.Conditions[i]
		if (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue {
			return c
		}
	}
	return nil
}

// FinishTime returns when job ended: the transition time of the condition that [Finished] names. The time to live
// after finishing (spec.ttlSecondsAfterFinished, KEP-592) counts from it. The error wraps [ErrNotFinished] when the
// Job has not ended; a finished Job without a transition time is an error too.
func FinishTime(job *batchv1.Job) (time.Time, error) {
	if job == nil {
		return time.Time{}, fmt.Errorf("reading the finish time of a job: there is none: %w", ErrNotFinished)
	}
	c := finishedCondition(job)
	if c == nil {
		return time.Time{}, fmt.Errorf("reading the finish time of job %s/%s: %w", job.Namespace, job.Name, ErrNotFinished)
	}
	if c.LastTransitionTime.IsZero() {
		return time.Time{}, fmt.Errorf("reading the finish time of job %s/%s: condition %s has no transition time",
			job.Namespace, job.Name, c.Type)
	}
	return c.LastTransitionTime.Time, nil
}

// NewCondition returns a condition of a Job that was observed, and came about, at the time given.
func NewCondition(conditionType batchv1.JobConditionType, status corev1.ConditionStatus, reason, message string,
	at time.Time,
) batchv1.JobCondition {
	return batchv1.JobCondition{
		Type: conditionType, Status: status, Reason: reason, Message: message,
		LastProbeTime: metav1.NewTime(at), LastTransitionTime: metav1.NewTime(at),
	}
}

// SetCondition puts condition into the status of job in the way of the built-in controller and reports whether that
// changed anything: a condition of the same type is replaced when its status, reason or message differ, an unknown one
// is appended unless its status is False.
func SetCondition(job *batchv1.Job, condition batchv1.JobCondition) bool {
	have := Condition(job, condition.Type)
	switch {
	case have == nil && condition.Status == corev1.ConditionFalse:
		return false
	case have == nil:
		job.Status.Conditions = append(job.Status.Conditions, condition)
		return true
	case have.Status == condition.Status && have.Reason == condition.Reason && have.Message == condition.Message:
		return false
	default:
		*have = condition
		return true
	}
}
