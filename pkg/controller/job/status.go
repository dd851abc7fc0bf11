package job

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/musterkube/muster/pkg/batch"
)

// statusPlan is what a sync writes after its writes to pods: the status, then finalizers, then perhaps the status again.
type statusPlan struct {
	// job is a copy of the Job with the status to write first.
	job *batchv1.Job
	// write says that this status differs from the stored one in a way that matters.
	write bool
	// release holds the pods whose finalizer may go once that status is stored.
	release []*corev1.Pod
	// held holds the pods that have the finalizer and have not been released.
	held sets.Set[types.UID]
	// outcome is how the Job ends, nil if it goes on or if pods may be left that this sync did not see.
	outcome *outcome
	// full says that the limit of uncounted pods was reached: more pods wait for the next sync.
	full bool
	// terminating is status.terminating; the Job does not end before it is zero.
	terminating int32
	// events are to be told once the status is stored.
	events []event
	// policyActions counts the failures that rules of the pod failure policy have matched, for metrics.
	policyActions map[batchv1.PodFailurePolicyAction]int
}

// conclude turns a decision and what came of it into the status to write. It is pure.
func conclude(s *snapshot, d *decision, result podResult) *statusPlan {
	p := &statusPlan{job: withStatusCopy(s.job), outcome: d.outcome, terminating: d.tally.terminating + result.deleted}
	p.setStart(d.started)
	active := int32(len(d.tally.active)) + result.created - result.deleted
	switch {
	case p.outcome == nil:
		p.outcome = completionsReached(s, d.tally, active)
		if p.outcome == nil && d.managed {
			p.setSuspension(s)
		}
	case active > 0 || !s.settled:
		// Pods may be left that still run, or that the cache does not show yet: the Job cannot end before they have.
		p.outcome = nil
	}
	p.setHeld(s)
	p.setCounts(s, active, d.tally.ready-result.deletedReady)
	p.track(s, d.tally)
	p.announce(s)
	return p
}

// setStart sets the start of a Job that has none yet.
func (p *statusPlan) setStart(started time.Time) {
	if p.job.Status.StartTime == nil && !started.IsZero() {
		p.job.Status.StartTime = &metav1.Time{Time: started}
	}
}

// withStatusCopy returns a copy of job whose status may be written to; the rest is shared.
func withStatusCopy(job *batchv1.Job) *batchv1.Job {
	copied := *job
	job.Status.DeepCopyInto(&copied.Status)
	if copied.Status.UncountedTerminatedPods == nil {
		copied.Status.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{}
	}
	return &copied
}

// setSuspension brings the condition Suspended in line with the spec. The start time goes with a suspension and begins
// anew with a resumption, because the deadline limits the time that a Job is active.
func (p *statusPlan) setSuspension(s *snapshot) {
	condition, event := batch.NewCondition(batchv1.JobSuspended, corev1.ConditionFalse, batch.ReasonResumed, "Job resumed", s.now), resumed
	if s.suspended() {
		condition, event = batch.NewCondition(batchv1.JobSuspended, corev1.ConditionTrue, batch.ReasonSuspended, "Job suspended", s.now), suspended
	}
	if !batch.SetCondition(p.job, condition) {
		return
	}
	p.write = true
	p.events = append(p.events, event)
	p.job.Status.StartTime = nil
	if !s.suspended() {
		p.job.Status.StartTime = &metav1.Time{Time: s.now}
	}
}

// setHeld brings the condition [GangHeld] in line with whether the pods are held back.
func (p *statusPlan) setHeld(s *snapshot) {
	condition := batch.NewCondition(GangHeld, corev1.ConditionFalse, reasonGangFormed, "Pods are held back no more", s.now)
	if h := s.gang.held; h != nil {
		condition = batch.NewCondition(GangHeld, corev1.ConditionTrue, h.reason, h.message, s.now)
	}
	if batch.SetCondition(p.job, condition) {
		p.write = true
	}
}

// setCounts sets the numbers of pods that have not ended. A number that is not set yet differs from zero.
func (p *statusPlan) setCounts(s *snapshot, active, ready int32) {
	stored, status := &s.job.Status, &p.job.Status
	if stored.Active != active || !isValue(stored.Ready, ready) || !isValue(stored.Terminating, p.terminating) {
		p.write = true
	}
	status.Active, status.Ready, status.Terminating = active, &ready, &p.terminating
}

func isValue[T comparable](pointer *T, value T) bool { return pointer != nil && *pointer == value }

// announce puts the interim condition of the outcome into the status.
func (p *statusPlan) announce(s *snapshot) {
	if p.outcome == nil {
		return
	}
	condition := batch.NewCondition(p.outcome.interim(), corev1.ConditionTrue, p.outcome.reason, p.outcome.message, s.now)
	if !batch.HasCondition(p.job, condition.Type) && batch.SetCondition(p.job, condition) {
		p.write = true
	}
}

// finish adds the condition that ends the Job and reports whether it did. The Job ends when all its pods have ended, and
// when each of them has been counted.
func (p *statusPlan) finish(now time.Time) bool {
	if p.outcome == nil || p.full || p.terminating > 0 || listed(&p.job.Status) > 0 {
		return false
	}
	batch.SetCondition(p.job, batch.NewCondition(p.outcome.final(), corev1.ConditionTrue, p.outcome.reason, p.outcome.message, now))
	if p.outcome.success {
		p.job.Status.CompletionTime = &metav1.Time{Time: now}
	}
	return true
}
