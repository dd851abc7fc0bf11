package job

import (
	"context"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/pkg/batch"
)

// The reasons of the events that say why a Job does nothing for now.
const (
	reasonBackoff         = "WaitingForBackoff"
	reasonReplacement     = "WaitingForPodsToEnd"
	reasonGangWaits       = "WaitingForGang"
	reasonManagedByOther  = "ManagedByOther"
	reasonOutcomePending  = "OutcomePending"
	podGroupScheduledType = schedulingv1alpha2.PodGroupScheduled
)

// tellOnce tells of something that goes on for a while, once for as long as it stays the same.
func (r *reconciler) tellOnce(ctx context.Context, key jobKey, job *batchv1.Job, e event) {
	if r.better.tellsWhyItWaits && r.memory.tellAgain(key, e.reason, e.message) {
		r.events.tell(ctx, job, e)
	}
}

// tellWhy tells what the Job waits for.
func (r *reconciler) tellWhy(ctx context.Context, key jobKey, s *snapshot, d *decision) {
	if !r.better.tellsWhyItWaits {
		return
	}
	for _, e := range whyWaiting(s, d) {
		r.tellOnce(ctx, key, s.job, e)
	}
}

// tellManagedByOther tells the user of a Job that this controller leaves it to another. Only the standard controller
// does, so that there is one voice.
func (r *reconciler) tellManagedByOther(ctx context.Context, job *batchv1.Job) {
	if _, finished := batch.Finished(job); finished || r.opts.ManagedBy != batchv1.JobControllerName {
		return
	}
	r.tellOnce(ctx, keyOf(job), job, event{corev1.EventTypeNormal, reasonManagedByOther, fmt.Sprintf(
		"Job is left to the controller %s, which spec.managedBy names: if nothing happens, that one is not running", batch.ManagedBy(job))})
}

// whyWaiting returns what there is to say about a Job that does not do all it should now. It is pure.
func whyWaiting(s *snapshot, d *decision) []event {
	var events []event
	add := func(reason, format string, args ...any) {
		events = append(events, event{corev1.EventTypeNormal, reason, fmt.Sprintf(format, args...)})
	}
	if d.pods.wait > 0 {
		until := s.now.Add(d.pods.wait).UTC().Truncate(time.Second).Format(time.RFC3339)
		if s.perIndexLimit() {
			add(reasonBackoff, "Waiting until %s, when the back-off of the next failed index is over", until)
		} else {
			add(reasonBackoff, "Waiting until %s, when the back-off after %s in a row is over", until, countOf(d.backoff.failures, "failed pod"))
		}
	}
	if d.pods.ending > 0 {
		add(reasonReplacement, "Waiting for the end of %s before others take their place (podReplacementPolicy Failed)", countOf(int(d.pods.ending), "deleted pod"))
	}
	if d.outcome != nil && d.tally.terminating+int32(len(d.pods.delete)) > 0 {
		add(reasonOutcomePending, "Job gets the condition %s when all pods that are being deleted have ended", d.outcome.final())
	}
	if c := unscheduled(s.gang.group); c != nil && anyWithoutNode(d.tally.active) {
		add(reasonGangWaits, "PodGroup %s waits to be scheduled: %s: %s", s.gang.group.Name, c.Reason, c.Message)
	}
	return events
}

// countOf returns a number of things in words.
func countOf(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// unscheduled returns the condition of a PodGroup that finds no room, nil for any other.
func unscheduled(group *schedulingv1alpha2.PodGroup) *metav1.Condition {
	if group == nil {
		return nil
	}
	c := meta.FindStatusCondition(group.Status.Conditions, podGroupScheduledType)
	if c == nil || c.Status != metav1.ConditionFalse {
		return nil
	}
	return c
}
