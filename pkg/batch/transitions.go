package batch

import (
	"errors"
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ErrIllegalTransition is returned when the status of a Job cannot take a step from where it stands: an end cannot be
// taken back or changed into the other one, and suspension follows spec.suspend.
var ErrIllegalTransition = errors.New("illegal transition")

// Texts that the built-in Job controller writes into conditions.
const (
	messageSuspended   = "Job suspended"
	messageResumed     = "Job resumed"
	messageCompletions = "Reached expected number of succeeded pods"
)

// Start notes that job has begun at the time given: status.startTime. A Job that has a start time keeps it; one whose
// status says that it is suspended is resumed ([Resume]). It is illegal while spec.suspend is true and after the end.
func Start(job *batchv1.Job, at time.Time) error {
	switch {
	case job == nil:
		return illegal("starting", job, "there is none")
	case HasCondition(job, batchv1.JobSuspended):
		return Resume(job, at)
	case job.Status.StartTime != nil:
		return nil
	case isFinished(job):
		return illegal("starting", job, "it has ended")
	case isSuspended(job):
		return illegal("starting", job, "spec.suspend is true")
	}
	job.Status.StartTime = new(metav1.NewTime(at))
	return nil
}

// Suspend notes that job is suspended: condition Suspended, and no start time, so that its deadline counts anew after
// [Resume]. Counters are left to the caller: pods that still end go on being counted. It is illegal while
// spec.suspend is not true, and once the outcome of the Job is decided.
func Suspend(job *batchv1.Job, at time.Time) error {
	switch {
	case job == nil:
		return illegal("suspending", job, "there is none")
	case isDecided(job):
		return illegal("suspending", job, "its outcome is decided")
	case !isSuspended(job):
		return illegal("suspending", job, "spec.suspend is not true")
	}
	if HasCondition(job, batchv1.JobSuspended) && job.Status.StartTime == nil {
		return nil
	}
	turn(job, NewCondition(batchv1.JobSuspended, corev1.ConditionTrue, ReasonSuspended, messageSuspended, at))
	job.Status.StartTime = nil
	return nil
}

// Resume notes that a suspended job runs again, from the time given: condition Suspended turns False and the start
// time is set anew. It does nothing when the status does not say that the Job is suspended. It is illegal while
// spec.suspend is true, and once the outcome of the Job is decided.
func Resume(job *batchv1.Job, at time.Time) error {
	switch {
	case job == nil:
		return illegal("resuming", job, "there is none")
	case !HasCondition(job, batchv1.JobSuspended):
		return nil
	case isDecided(job):
		return illegal("resuming", job, "its outcome is decided")
	case isSuspended(job):
		return illegal("resuming", job, "spec.suspend is true")
	}
	turn(job, NewCondition(batchv1.JobSuspended, corev1.ConditionFalse, ReasonResumed, messageResumed, at))
	job.Status.StartTime = new(metav1.NewTime(at))
	return nil
}

// SuccessCriteriaMet notes that job will complete once its pods have ended (KEP-3998): condition SuccessCriteriaMet.
// reason is one of the reasons in k8s.io/api/batch/v1, such as [batchv1.JobReasonCompletionsReached]. A Job that has
// met its criteria keeps the first reason. It is illegal when the Job fails or has failed.
func SuccessCriteriaMet(job *batchv1.Job, reason, message string, at time.Time) error {
	switch {
	case job == nil:
		return illegal("setting the success criteria of", job, "there is none")
	case HasCondition(job, batchv1.JobSuccessCriteriaMet):
		return nil
	case isFailing(job):
		return illegal("setting the success criteria of", job, "it fails")
	case HasCondition(job, batchv1.JobComplete):
		return illegal("setting the success criteria of", job, "it has ended")
	}
	turn(job, NewCondition(batchv1.JobSuccessCriteriaMet, corev1.ConditionTrue, reason, message, at))
	return nil
}

// FailureTarget notes that job will fail once its pods have ended (KEP-3329): condition FailureTarget. reason is one
// of the reasons in k8s.io/api/batch/v1, such as [batchv1.JobReasonBackoffLimitExceeded]. A Job that is to fail keeps
// the first reason. It is illegal when the Job has met its success criteria or has ended.
func FailureTarget(job *batchv1.Job, reason, message string, at time.Time) error {
	switch {
	case job == nil:
		return illegal("setting the failure target of", job, "there is none")
	case HasCondition(job, batchv1.JobFailureTarget):
		return nil
	case isSucceeding(job):
		return illegal("setting the failure target of", job, "it succeeds")
	case HasCondition(job, batchv1.JobFailed):
		return illegal("setting the failure target of", job, "it has ended")
	}
	turn(job, NewCondition(batchv1.JobFailureTarget, corev1.ConditionTrue, reason, message, at))
	return nil
}

// Complete ends job with success: conditions SuccessCriteriaMet, unless it is there, and Complete with the same reason;
// completionTime; and no pod that runs, terminates or waits to be counted. A Job that has no start time gets one. It
// does nothing to a Job that is complete, and is illegal when the Job fails or has failed.
func Complete(job *batchv1.Job, at time.Time) error {
	if job == nil {
		return illegal("completing", job, "there is none")
	}
	if HasCondition(job, batchv1.JobComplete) {
		return nil
	}
	if isFailing(job) {
		return illegal("completing", job, "it fails")
	}
	if err := SuccessCriteriaMet(job, batchv1.JobReasonCompletionsReached, messageCompletions, at); err != nil {
		return err
	}
	at = settle(job, at)
	met := trueCondition(job, batchv1.JobSuccessCriteriaMet)
	turn(job, NewCondition(batchv1.JobComplete, corev1.ConditionTrue, met.Reason, met.Message, at))
	if job.Status.CompletionTime == nil {
		job.Status.CompletionTime = new(metav1.NewTime(at))
	}
	return nil
}

// Fail ends job with failure: conditions FailureTarget, unless it is there, and Failed with the same reason, so that
// reason and message count only when the failure was not announced before; and no pod that runs, terminates or waits
// to be counted. A Job that has no start time gets one. It does nothing to a Job that has failed, and is illegal when
// the Job has met its success criteria or is complete.
func Fail(job *batchv1.Job, reason, message string, at time.Time) error {
	if job == nil {
		return illegal("failing", job, "there is none")
	}
	if HasCondition(job, batchv1.JobFailed) {
		return nil
	}
	if isSucceeding(job) {
		return illegal("failing", job, "it succeeds")
	}
	if err := FailureTarget(job, reason, message, at); err != nil {
		return err
	}
	at = settle(job, at)
	target := trueCondition(job, batchv1.JobFailureTarget)
	turn(job, NewCondition(batchv1.JobFailed, corev1.ConditionTrue, target.Reason, target.Message, at))
	return nil
}

// settle brings the counters and the start time to where those of a Job that has ended must be, and returns when it
// ended: at, or when it started if that is later.
func settle(job *batchv1.Job, at time.Time) time.Time {
	status := &job.Status
	status.Active = 0
	for _, count := range []**int32{&status.Ready, &status.Terminating} {
		if *count != nil {
			*count = new(int32)
		}
	}
	if uncounted := status.UncountedTerminatedPods; uncounted != nil {
		status.Succeeded += int32(len(uncounted.Succeeded))
		status.Failed += int32(len(uncounted.Failed))
		status.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{}
	}
	switch {
	case status.StartTime != nil && at.Before(status.StartTime.Time):
		return status.StartTime.Time
	case status.StartTime == nil && !suspendedWithoutWork(&job.Spec):
		start := metav1.NewTime(at)
		if end := status.CompletionTime; end.Before(&start) {
			start = *end
		}
		status.StartTime = &start
	}
	return at
}

// turn sets a condition and takes away others of the same type: an API server does not refuse those.
func turn(job *batchv1.Job, condition batchv1.JobCondition) {
	conditions := job.Status.Conditions
	first := slices.IndexFunc(conditions, func(c batchv1.JobCondition) bool { return c.Type == condition.Type })
	if first < 0 {
		job.Status.Conditions = append(slices.Clip(conditions), condition)
		return
	}
	kept := slices.Clone(conditions[:first+1])
	kept[first] = condition
	for _, other := range conditions[first+1:] {
		if other.Type != condition.Type {
			kept = append(kept, other)
		}
	}
	job.Status.Conditions = kept
}

// trueCondition returns the condition of that type whose status is True. There must be one.
func trueCondition(job *batchv1.Job, conditionType batchv1.JobConditionType) batchv1.JobCondition {
	for _, c := range job.Status.Conditions {
		if c.Type == conditionType && c.Status == corev1.ConditionTrue {
			return c
		}
	}
	return batchv1.JobCondition{}
}

func isSuspended(job *batchv1.Job) bool { return job.Spec.Suspend != nil && *job.Spec.Suspend }

func isFinished(job *batchv1.Job) bool {
	_, finished := Finished(job)
	return finished
}

// isFailing and isSucceeding report whether the outcome of a Job is decided, its end announced or reached.
func isFailing(job *batchv1.Job) bool {
	return HasCondition(job, batchv1.JobFailureTarget) || HasCondition(job, batchv1.JobFailed)
}

func isSucceeding(job *batchv1.Job) bool {
	return HasCondition(job, batchv1.JobSuccessCriteriaMet) || HasCondition(job, batchv1.JobComplete)
}

func isDecided(job *batchv1.Job) bool { return isFailing(job) || isSucceeding(job) }

func illegal(doing string, job *batchv1.Job, why string) error {
	if job == nil {
		return fmt.Errorf("%s job: %s: %w", doing, why, ErrIllegalTransition)
	}
	return fmt.Errorf("%s job %s/%s: %s: %w", doing, job.Namespace, job.Name, why, ErrIllegalTransition)
}
