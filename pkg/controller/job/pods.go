package job

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/musterkube/muster/pkg/batch"
)

// podPlan is what a sync does about pods: it makes some or deletes some, never both.
type podPlan struct {
	create []newPod
	delete []*corev1.Pod
	// counted says that the pods to delete keep their finalizer until the status accounts for them: the Job has an
	// outcome. Pods that are too many lose it first, so that their end is not counted as a failure.
	counted bool
	// wait is how long the pods that are wanted must wait for the end of the back-off, zero if none is wanted or may
	// not be made for another reason.
	wait time.Duration
	// ending is how many pods are not made because others that are being deleted must end first.
	ending int32
	// action names what was done, for metrics.
	action syncAction
}

// newPod is a pod to make.
type newPod struct {
	// index is the completion index, -1 in a Job without indexes.
	index int
	// perIndex says that the pod is to carry the failures of its index: counted and ignored.
	perIndex         bool
	counted, ignored int32
}

// planPods compares the pods that a Job without outcome has with those that it should have.
func planPods(s *snapshot, t *tally) podPlan {
	if s.suspended() {
		return podPlan{delete: podsToRemove(s, t.active, len(t.active)), action: actionPodsDeleted}
	}
	active := int32(len(t.active))
	want := wantedActive(s, t)
	if remove := podsToRemove(s, t.active, int(max(active-want, 0))); len(remove) > 0 {
		return podPlan{delete: remove[:min(len(remove), s.limits.podsPerSync)], action: actionPodsDeleted}
	}
	missing, ending := want-active, int32(0)
	if batch.OnlyReplaceFailed(s.job) {
		ending = min(max(missing, 0), t.terminating)
		missing -= t.terminating
	}
	if missing <= 0 || s.gang.held != nil {
		return podPlan{action: actionTracking, ending: ending}
	}
	plan := planCreation(s, t, int(missing))
	plan.ending = ending
	return plan
}

// wantedActive returns how many pods should run. A work-queue Job starts none after the first success and lets run what
// runs; another never runs more than are left to complete.
func wantedActive(s *snapshot, t *tally) int32 {
	parallelism := *s.job.Spec.Parallelism
	switch {
	case s.job.Spec.Completions != nil:
		return max(min(parallelism, *s.job.Spec.Completions-t.succeeded), 0)
	case t.succeeded > 0:
		return int32(len(t.active))
	default:
		return parallelism
	}
}

// planCreation decides which of the missing pods may be made now. With a limit per index each index waits on its own,
// else the Job waits as a whole.
func planCreation(s *snapshot, t *tally, missing int) podPlan {
	plan := podPlan{action: actionPodsCreated}
	if !s.perIndexLimit() {
		if plan.wait = s.backoff.after(t.newSucceeded, s.failuresThatWait(t.newFailed)).remaining(s.now, s.limits); plan.wait > 0 {
			return plan
		}
	}
	missing = min(missing, s.limits.podsPerSync)
	if !s.indexed() {
		for range missing {
			plan.create = append(plan.create, newPod{index: -1})
		}
		return plan
	}
	indexes := pendingIndexes(s, t, missing)
	if s.perIndexLimit() {
		indexes, plan.wait = readyIndexes(s, t, indexes)
	}
	for _, index := range indexes {
		pod := newPod{index: index, perIndex: s.perIndexLimit()}
		if pod.perIndex {
			pod.counted, pod.ignored = nextFailureCounts(s.job, t.delayed[index])
		}
		plan.create = append(plan.create, pod)
	}
	return plan
}

// podResult is what came of a podPlan.
type podResult struct {
	created, deleted int32
	// deletedReady is how many of the deleted pods were ready.
	deletedReady int32
	// err is the first error; the numbers are right all the same.
	err error
}

// decision is what a sync does before it knows how its writes to pods went.
type decision struct {
	tally *tally
	// started is status.startTime, set now if this is the first sync of a Job that is not suspended.
	started time.Time
	outcome *outcome
	// managed says that pods were planned. A sync that waits to see what an earlier one did, or one of a Job that is
	// being deleted, only tracks.
	managed bool
	pods    podPlan
	backoff backoffRecord
	// requeue is when to sync again if nothing happens, zero for never.
	requeue time.Duration
}

// decide turns a snapshot into what to do. It is pure.
func decide(s *snapshot) *decision {
	t := count(s)
	d := &decision{
		tally:   t,
		started: startTime(s),
		backoff: s.backoff.after(t.newSucceeded, s.failuresThatWait(t.newFailed)),
		pods:    podPlan{action: actionReconciling},
	}
	d.outcome = findOutcome(s, t, d.started)
	switch {
	case d.outcome != nil:
		d.pods.delete, d.pods.counted = t.active, true
	case s.settled && s.job.DeletionTimestamp == nil:
		d.pods, d.managed = planPods(s, t), true
	}
	d.requeue = d.nextSync(s)
	return d
}

// nextSync returns when the Job needs a sync though nothing happens to it: at its deadline or at the end of a back-off.
func (d *decision) nextSync(s *snapshot) time.Duration {
	var next time.Duration
	if remaining, limited := untilDeadline(s, d.started); limited && d.outcome == nil {
		next = remaining
	}
	if s.gang.held != nil && (next == 0 || s.limits.heldRetry < next) {
		next = s.limits.heldRetry
	}
	if d.pods.wait > 0 {
		if wait := max(d.pods.wait, s.limits.minRequeue); next == 0 || wait < next {
			next = wait
		}
	}
	return next
}

// startTime returns when the Job started: now, if it has not and is not suspended; zero, if it is.
func startTime(s *snapshot) time.Time {
	switch {
	case s.job.Status.StartTime != nil:
		return s.job.Status.StartTime.Time
	case s.suspended():
		return time.Time{}
	default:
		return s.now
	}
}

// isKnownMode reports whether the completion mode is one that this controller can run.
func isKnownMode(job *batchv1.Job) bool {
	mode := job.Spec.CompletionMode
	return mode == nil || *mode == batchv1.NonIndexedCompletion || *mode == batchv1.IndexedCompletion
}
