package controller

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	trainingv1 "github.com/musterkube/muster/examples/crd-controller/api/v1"
)

// finished tells whether a run has its outcome.
func finished(status *trainingv1.TrainingRunStatus) bool {
	return meta.IsStatusConditionTrue(status.Conditions, trainingv1.ConditionComplete) ||
		meta.IsStatusConditionTrue(status.Conditions, trainingv1.ConditionFailed)
}

// ended tells whether a pod has run as far as it ever will. One that is deleted before it has a node never runs.
func ended(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed ||
		pod.DeletionTimestamp != nil && pod.Spec.NodeName == ""
}

// nextStatus returns the status of a run with what its pods and groups have to tell. It only ever adds: a pod that is gone
// takes nothing away, and an outcome is the last word.
func nextStatus(run *trainingv1.TrainingRun, pods []corev1.Pod, groups []schedulingv1alpha2.PodGroup, now time.Time) trainingv1.TrainingRunStatus {
	var status trainingv1.TrainingRunStatus
	run.Status.DeepCopyInto(&status)
	if finished(&status) {
		return status
	}
	if status.StartTime == nil {
		status.StartTime = new(metav1.NewTime(now))
	}
	for i := range pods {
		if name, attempt, ok := memberOf(&pods[i]); ok && ended(&pods[i]) {
			record(&status, name, attempt, pods[i].Status.Phase == corev1.PodSucceeded)
		}
	}
	slices.SortFunc(status.Members, func(a, b trainingv1.MemberStatus) int { return cmp.Compare(a.Name, b.Name) })
	if scheduled(groups) {
		set(&status, run, trainingv1.ConditionScheduled, "Scheduled", "The driver and the workers have been placed", now)
	}
	succeeded, failures := int32(0), int32(0)
	for _, m := range status.Members {
		failures += m.Failures
		if m.Succeeded {
			succeeded++
		}
	}
	limit := int32(trainingv1.DefaultBackoffLimit)
	if run.Spec.BackoffLimit != nil {
		limit = *run.Spec.BackoffLimit
	}
	switch {
	case succeeded == 1+run.Spec.Workers.Replicas:
		set(&status, run, trainingv1.ConditionComplete, "MembersSucceeded", "The driver and every worker have succeeded", now)
	case failures > limit:
		set(&status, run, trainingv1.ConditionFailed, "BackoffLimitExceeded",
			fmt.Sprintf("Members have failed %d times, and the limit is %d", failures, limit), now)
	default:
		return status
	}
	status.CompletionTime = new(metav1.NewTime(now))
	return status
}

// record notes how an attempt ended. Attempts are numbered, so that a pod may be seen any number of times.
func record(status *trainingv1.TrainingRunStatus, name string, attempt int32, succeeded bool) {
	i := slices.IndexFunc(status.Members, func(m trainingv1.MemberStatus) bool { return m.Name == name })
	if i < 0 {
		i = len(status.Members)
		status.Members = append(status.Members, trainingv1.MemberStatus{Name: name})
	}
	m := &status.Members[i]
	if succeeded {
		m.Succeeded = true
	} else {
		m.Failures = max(m.Failures, attempt+1)
	}
}

// scheduled tells whether the scheduler has placed both groups.
func scheduled(groups []schedulingv1alpha2.PodGroup) bool {
	placed := 0
	for i := range groups {
		if meta.IsStatusConditionTrue(groups[i].Status.Conditions, schedulingv1alpha2.PodGroupScheduled) {
			placed++
		}
	}
	return placed == 2
}

func set(status *trainingv1.TrainingRunStatus, run *trainingv1.TrainingRun, kind, reason, message string, now time.Time) {
	meta.SetStatusCondition(&status.Conditions, metav1.Condition{
		Type: kind, Status: metav1.ConditionTrue, Reason: reason, Message: message,
		ObservedGeneration: run.Generation, LastTransitionTime: metav1.NewTime(now),
	})
}

// attemptOf returns the attempt that a member is at, or false if it has succeeded.
func attemptOf(status *trainingv1.TrainingRunStatus, name string) (attempt int32, more bool) {
	for _, m := range status.Members {
		if m.Name == name {
			return m.Failures, !m.Succeeded
		}
	}
	return 0, true
}

// succeededWorkers counts the members of the gang that are done.
func succeededWorkers(status *trainingv1.TrainingRunStatus) int {
	count := 0
	for _, m := range status.Members {
		if m.Succeeded && m.Name != "driver" {
			count++
		}
	}
	return count
}
