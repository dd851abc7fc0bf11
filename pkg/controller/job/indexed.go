package job

import (
	"cmp"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/musterkube/muster/pkg/batch"
	"github.com/musterkube/muster/pkg/core"
)

// sortByIndex orders pods by completion index, those without one first.
func sortByIndex(pods []*corev1.Pod) {
	slices.SortStableFunc(pods, func(a, b *corev1.Pod) int { return cmp.Compare(indexOf(a), indexOf(b)) })
}

// indexOf returns the index of pod, -1 for none.
func indexOf(pod *corev1.Pod) int {
	if index, ok := batch.CompletionIndex(pod); ok {
		return index
	}
	return -1
}

// indexesOf returns the indexes of pods.
func indexesOf(pods []*corev1.Pod) batch.IndexSet {
	indexes := make([]int, 0, len(pods))
	for _, pod := range pods {
		indexes = append(indexes, indexOf(pod))
	}
	return batch.IndexSetOf(indexes...)
}

// completedIndexes returns the indexes that status says have succeeded, and those with the ones that pods show. Indexes
// from spec.completions on are left out: the Job was scaled down.
func completedIndexes(s *snapshot) (recorded, completed batch.IndexSet) {
	recorded = batch.ReadIndexSet(s.job.Status.CompletedIndexes, s.completions())
	var succeeded []int
	for _, pod := range s.pods {
		if index, valid := s.validIndex(pod); valid && pod.Status.Phase == corev1.PodSucceeded && hasFinalizer(pod) {
			succeeded = append(succeeded, index)
		}
	}
	return recorded, recorded.Union(batch.IndexSetOf(succeeded...))
}

// failedIndexes returns the indexes that have failed for good, from status and from pods.
func failedIndexes(s *snapshot) batch.IndexSet {
	recorded := batch.ReadIndexSet(valueOf(s.job.Status.FailedIndexes), s.completions())
	var failed []int
	for _, pod := range s.pods {
		if index, valid := s.validIndex(pod); valid && hasFinalizer(pod) && failsIndex(s.job, pod) {
			failed = append(failed, index)
		}
	}
	return recorded.Union(batch.IndexSetOf(failed...))
}

// failsIndex reports whether pod is the last that its index gets: it failed, and a rule says so or the failures before
// it, which its annotation counts, have used up the limit.
func failsIndex(job *batchv1.Job, pod *corev1.Pod) bool {
	if !batch.PodFailed(job, pod) {
		return false
	}
	match := batch.MatchFailurePolicy(job.Spec.PodFailurePolicy, pod)
	if match.Action == batchv1.PodFailurePolicyActionFailIndex {
		return true
	}
	counted, _ := batch.IndexFailures(pod)
	return match.Counted && counted >= *job.Spec.BackoffLimitPerIndex
}

// delayedPods returns, for each index that is to be tried again, the failed pod that its next pod replaces. That pod
// keeps its finalizer until the next one exists, because its annotations hold how often the index has failed. Of
// several it is the one with the most failures behind it that ended last.
func delayedPods(s *snapshot, t *tally) map[int]*corev1.Pod {
	active := indexesOf(t.active)
	delayed := map[int]*corev1.Pod{}
	for _, pod := range s.pods {
		index, valid := s.validIndex(pod)
		if !valid || !s.uncounted(pod) || !batch.PodFailed(s.job, pod) {
			continue
		}
		if active.Has(index) || t.completed.Has(index) || t.failedIndexes.Has(index) {
			continue
		}
		last := delayed[index]
		if last == nil || (indexFailures(last) <= indexFailures(pod) && !core.FinishTime(pod).Before(core.FinishTime(last))) {
			delayed[index] = pod
		}
	}
	return delayed
}

// pendingIndexes returns up to n indexes, the lowest first, that need a pod and have none. In a Job that replaces pods
// only once they have failed, an index whose pod is terminating has one.
func pendingIndexes(s *snapshot, t *tally, n int) []int {
	taken := t.completed.Union(indexesOf(t.active))
	if batch.OnlyReplaceFailed(s.job) {
		taken = taken.Union(indexesOf(terminatingPods(s.pods)))
	}
	if t.failedIndexes != nil {
		taken = taken.Union(*t.failedIndexes)
	}
	pending := make([]int, 0, n)
	for index := range taken.Missing(s.completions()) {
		if len(pending) == n {
			break
		}
		pending = append(pending, index)
	}
	return pending
}

func terminatingPods(pods []*corev1.Pod) []*corev1.Pod {
	var terminating []*corev1.Pod
	for _, pod := range pods {
		if core.PodTerminating(pod) {
			terminating = append(terminating, pod)
		}
	}
	return terminating
}

// readyIndexes returns those of indexes whose back-off is over; if there are none, how long until the first is.
func readyIndexes(s *snapshot, t *tally, indexes []int) ([]int, time.Duration) {
	var ready []int
	var wait time.Duration
	for _, index := range indexes {
		remaining := indexRemaining(s, t.delayed[index])
		switch {
		case remaining == 0:
			ready = append(ready, index)
		case wait == 0 || remaining < wait:
			wait = remaining
		}
	}
	if len(ready) > 0 {
		return ready, 0
	}
	return nil, wait
}

// nextFailureCounts returns what the pod that replaces failed is to say about the failures in its index before it.
func nextFailureCounts(job *batchv1.Job, failed *corev1.Pod) (counted, ignored int32) {
	if failed == nil {
		return 0, 0
	}
	counted, ignored = batch.IndexFailures(failed)
	if batch.MatchFailurePolicy(job.Spec.PodFailurePolicy, failed).Counted {
		return counted + 1, ignored
	}
	return counted, ignored + 1
}
