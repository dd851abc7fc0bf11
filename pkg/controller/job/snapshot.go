package job

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/musterkube/muster/pkg/batch"
	"github.com/musterkube/muster/pkg/core"
)

// snapshot is all that the decisions of one sync rest on. Nothing writes to it, or to what it points at, once it is
// taken: the pods are those of the cache.
type snapshot struct {
	job *batchv1.Job
	// pods are the pods that the Job has claimed, in the order of their index if it is Indexed.
	pods []*corev1.Pod
	// gang is the group that new pods join.
	gang gang
	now  time.Time
	// settled says that all pods which earlier syncs made or deleted have been seen. It was read before the pods were,
	// so that a pod which comes between the two only delays a decision.
	settled bool
	// awaited holds the pods whose finalizer is gone but for the news of it: they are counted already.
	awaited sets.Set[types.UID]
	backoff backoffRecord
	limits  limits
	// better says where the decisions deviate from those of the built-in controller.
	better deviations
	// lost names a pod that vanished before its end was seen, "" for none.
	lost string
}

// indexed reports whether each pod of the Job has a completion index.
func (s *snapshot) indexed() bool { return isIndexed(s.job) }

func isIndexed(job *batchv1.Job) bool {
	return job.Spec.CompletionMode != nil && *job.Spec.CompletionMode == batchv1.IndexedCompletion
}

// perIndexLimit reports whether each index has a back-off of its own (KEP-3850).
func (s *snapshot) perIndexLimit() bool {
	return s.indexed() && s.job.Spec.BackoffLimitPerIndex != nil
}

func (s *snapshot) suspended() bool { return isSuspended(s.job) }

func isSuspended(job *batchv1.Job) bool {
	return job.Spec.Suspend != nil && *job.Spec.Suspend
}

// completions returns spec.completions; zero in a work-queue Job, which has none.
func (s *snapshot) completions() int { return int(valueOf(s.job.Spec.Completions)) }

// validIndex returns the index of pod if the Job has an index like that.
func (s *snapshot) validIndex(pod *corev1.Pod) (int, bool) {
	index, ok := batch.CompletionIndex(pod)
	return index, ok && index < s.completions()
}

// uncounted reports whether pod still awaits its count: it has the finalizer, and it is not one whose finalizer was
// removed just now.
func (s *snapshot) uncounted(pod *corev1.Pod) bool {
	return hasFinalizer(pod) && !s.awaited.Has(pod.UID)
}

func hasFinalizer(pod *corev1.Pod) bool {
	return slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer)
}

// tally is what the pods of a snapshot amount to.
type tally struct {
	active             []*corev1.Pod
	ready, terminating int32

	// listedSucceeded and listedFailed are the pods in status.uncountedTerminatedPods.
	listedSucceeded, listedFailed sets.Set[types.UID]
	// newSucceeded and newFailed have ended and are neither counted nor listed.
	newSucceeded, newFailed []*corev1.Pod
	// succeeded and failed are the counts as they will be when all of these have been counted.
	succeeded, failed int32

	// recorded is what status.completedIndexes holds, completed adds the indexes that have succeeded since.
	recorded, completed batch.IndexSet
	// failedIndexes is nil unless the Job has a limit per index.
	failedIndexes *batch.IndexSet
	// delayed holds the failed pod of each index that waits for its replacement: see delayedPods.
	delayed map[int]*corev1.Pod
}

// count sums up the pods of a snapshot.
func count(s *snapshot) *tally {
	t := &tally{listedSucceeded: sets.New[types.UID](), listedFailed: sets.New[types.UID]()}
	if listed := s.job.Status.UncountedTerminatedPods; listed != nil {
		t.listedSucceeded.Insert(listed.Succeeded...)
		t.listedFailed.Insert(listed.Failed...)
	}
	if s.indexed() {
		t.recorded, t.completed = completedIndexes(s)
	}
	for _, pod := range s.pods {
		switch {
		case core.PodActive(pod):
			t.active = append(t.active, pod)
			if core.PodReady(pod) {
				t.ready++
			}
		case core.PodTerminating(pod):
			t.terminating++
		}
		t.countFinished(s, pod)
	}
	t.succeeded = s.job.Status.Succeeded + int32(len(t.newSucceeded)+len(t.listedSucceeded))
	t.failed = s.job.Status.Failed + int32(t.countedFailures(s)+len(t.listedFailed))
	if s.indexed() {
		t.succeeded = int32(t.completed.Len())
	}
	if s.perIndexLimit() {
		failed := failedIndexes(s)
		t.failedIndexes = &failed
		t.delayed = delayedPods(s, t)
	}
	return t
}

// countFinished puts pod among the new finished ones if it is one.
func (t *tally) countFinished(s *snapshot, pod *corev1.Pod) {
	if !s.uncounted(pod) {
		return
	}
	if _, valid := s.validIndex(pod); s.indexed() && !valid {
		return
	}
	if s.better.firstVerdict && (t.listedSucceeded.Has(pod.UID) || t.listedFailed.Has(pod.UID)) {
		return
	}
	if pod.Status.Phase == corev1.PodSucceeded && !t.listedSucceeded.Has(pod.UID) {
		t.newSucceeded = append(t.newSucceeded, pod)
	}
	if batch.PodFailed(s.job, pod) && !t.listedFailed.Has(pod.UID) && !t.indexIsDone(s, pod) {
		t.newFailed = append(t.newFailed, pod)
	}
}

// indexIsDone reports whether the status holds the index of a pod as completed. Whatever becomes of the pod then: it is
// the one that completed it, or one too many.
func (t *tally) indexIsDone(s *snapshot, pod *corev1.Pod) bool {
	if !s.better.firstVerdict || !s.indexed() {
		return false
	}
	index, valid := s.validIndex(pod)
	return valid && t.recorded.Has(index)
}

// countedFailures is the number of new failures that no rule of a pod failure policy lets pass.
func (t *tally) countedFailures(s *snapshot) int {
	counted := 0
	for _, pod := range t.newFailed {
		if s.isCounted(pod) {
			counted++
		}
	}
	return counted
}

// finishedIndexes returns how many indexes need no pod any more.
func (t *tally) finishedIndexes() int {
	finished := t.completed.Len()
	if t.failedIndexes != nil {
		finished += t.failedIndexes.Len()
	}
	return finished
}

// valueOf returns what a pointer points at, and the zero value for nil.
func valueOf[T any](pointer *T) T {
	if pointer == nil {
		var zero T
		return zero
	}
	return *pointer
}
