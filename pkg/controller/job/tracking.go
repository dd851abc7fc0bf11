package job

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/musterkube/muster/pkg/batch"
	"github.com/musterkube/muster/pkg/core"
)

// A pod that has ended is counted in three writes (KEP-2307), so that a controller which stops between any two of them
// neither loses it nor counts it twice:
//
//  1. its UID enters status.uncountedTerminatedPods;
//  2. it loses the finalizer that kept it from being deleted;
//  3. the UID leaves the list, and the count in the status grows by one.
//
// A pod that is in the list and has no finalizer, or is gone, is at step 3, whoever did step 2. Pods that have succeeded
// in an Indexed Job need no list: their index is in status.completedIndexes or it is not.

// track does step 1 for the pods that are ready for it, and step 3 for those that an earlier sync left behind.
func (p *statusPlan) track(s *snapshot, t *tally) {
	p.held = sets.New[types.UID]()
	for _, pod := range s.pods {
		if s.uncounted(pod) {
			p.held.Insert(pod.UID)
		}
	}
	if settleCounts(&p.job.Status, p.held) {
		p.write = true
	}
	p.policyActions = map[batchv1.PodFailurePolicyAction]int{}
	indexes := 0
	for _, pod := range s.pods {
		if !s.uncounted(pod) || !p.releasable(s, t, pod) {
			continue
		}
		p.release = append(p.release, pod)
		switch {
		case s.better.firstVerdict && t.listedSucceeded.Has(pod.UID), t.indexIsDone(s, pod):
			// It has been taken into account as succeeded, whatever it says now.
		case pod.Status.Phase == corev1.PodSucceeded && !t.listedFailed.Has(pod.UID):
			indexes += p.listSuccess(s, t, pod)
		case p.notNeeded(s, pod):
			// The Job has succeeded without it.
		case batch.PodFailed(s.job, pod) || p.fails():
			p.listFailure(s, t, pod)
		}
		if indexes+listed(&p.job.Status) >= s.limits.uncounted {
			p.full = true
			break
		}
	}
	if s.indexed() {
		p.setIndexes(t)
	}
}

// fails reports whether the Job ends in failure. Pods that still run then count as failed: they have been deleted.
func (p *statusPlan) fails() bool { return p.outcome != nil && !p.outcome.success }

// notNeeded reports whether pod was stopped because the Job has succeeded: that is no failure of the pod. The built-in
// controller counts it as one if it comes upon such a pod again.
func (p *statusPlan) notNeeded(s *snapshot, pod *corev1.Pod) bool {
	return s.better.outcomeFirst && p.outcome != nil && p.outcome.success && core.PodTerminating(pod)
}

// releasable reports whether the finalizer of pod may go: the pod has ended, or the Job has or is being deleted. A
// failed pod that its replacement needs stays.
func (p *statusPlan) releasable(s *snapshot, t *tally, pod *corev1.Pod) bool {
	if s.job.DeletionTimestamp != nil || p.outcome != nil || pod.Status.Phase == corev1.PodSucceeded {
		return true
	}
	if !batch.PodFailed(s.job, pod) {
		return false
	}
	index, ok := batch.CompletionIndex(pod)
	return !ok || t.delayed[index] == nil || t.delayed[index].UID != pod.UID
}

// listSuccess takes pod into account as succeeded. It returns how many indexes that adds, which are not in the list of
// pods but count against its limit.
func (p *statusPlan) listSuccess(s *snapshot, t *tally, pod *corev1.Pod) int {
	if s.indexed() {
		if index, valid := s.validIndex(pod); !valid || t.recorded.Has(index) {
			return 0
		}
		p.write = true
		return 1
	}
	if !t.listedSucceeded.Has(pod.UID) {
		list := p.job.Status.UncountedTerminatedPods
		list.Succeeded = append(list.Succeeded, pod.UID)
		p.write = true
	}
	return 0
}

// listFailure takes pod into account as failed, unless a rule lets the failure pass.
func (p *statusPlan) listFailure(s *snapshot, t *tally, pod *corev1.Pod) {
	if t.listedFailed.Has(pod.UID) {
		return
	}
	if _, valid := s.validIndex(pod); s.indexed() && !valid {
		return
	}
	match := batch.MatchFailurePolicy(s.job.Spec.PodFailurePolicy, pod)
	if match.Matched() {
		p.policyActions[match.Action]++
	}
	if match.Counted {
		list := p.job.Status.UncountedTerminatedPods
		list.Failed = append(list.Failed, pod.UID)
		p.write = true
	}
}

// setIndexes writes the indexes that have succeeded and failed.
func (p *statusPlan) setIndexes(t *tally) {
	status := &p.job.Status
	completed := t.completed.String()
	if completed != status.CompletedIndexes {
		p.write = true
	}
	status.CompletedIndexes = completed
	status.Succeeded = int32(t.completed.Len())

	var failed *string
	if t.failedIndexes != nil {
		failed = new(t.failedIndexes.String())
	}
	if valueOf(failed) != valueOf(status.FailedIndexes) || (failed == nil) != (status.FailedIndexes == nil) {
		p.write = true
	}
	status.FailedIndexes = failed
}

// settleCounts moves the pods that are not held any more from the list of uncounted pods to the counts, and reports
// whether there were any.
func settleCounts(status *batchv1.JobStatus, held sets.Set[types.UID]) bool {
	list := status.UncountedTerminatedPods
	if list == nil {
		return false
	}
	succeeded := settle(&list.Succeeded, held)
	failed := settle(&list.Failed, held)
	status.Succeeded += succeeded
	status.Failed += failed
	return succeeded+failed > 0
}

// settle drops from a list what is not held and returns how many that were.
func settle(list *[]types.UID, held sets.Set[types.UID]) int32 {
	var kept []types.UID
	for _, uid := range *list {
		if held.Has(uid) {
			kept = append(kept, uid)
		}
	}
	settled := int32(len(*list) - len(kept))
	*list = kept
	return settled
}

// listed returns how many pods are in the list of uncounted pods.
func listed(status *batchv1.JobStatus) int {
	list := status.UncountedTerminatedPods
	if list == nil {
		return 0
	}
	return len(list.Succeeded) + len(list.Failed)
}
