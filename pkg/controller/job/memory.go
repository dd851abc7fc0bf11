package job

import (
	"maps"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
)

// jobKey is one Job: the UID keeps it apart from another of the same name, before it or after it. In a queue a controller
// with parity leaves the UID empty, and takes the Job that has the name.
type jobKey struct {
	cache.ObjectName
	uid types.UID
}

func keyOf(job *batchv1.Job) jobKey {
	return jobKey{ObjectName: cache.MetaObjectToName(job), uid: job.UID}
}

// memory is what a controller remembers of its own writes until its caches show them. All of it may be lost: syncs then
// go by what the API holds. A Job that is made anew under the name of one that was deleted inherits nothing.
type memory struct {
	clock   clock.PassiveClock
	timeout time.Duration

	mu      sync.Mutex
	records map[jobKey]*jobRecord
	// podVersion is the latest resource version of a pod written, for whatever Job.
	podVersion string
}

// jobRecord is the memory of one Job.
type jobRecord struct {
	// creations and deletions count the pods that were made and deleted and have not been seen yet. They are not more
	// than a guess, since a pod may be seen before it is expected: below zero is fulfilled too.
	creations, deletions int
	// expectedAt is when the two were set. Expectations that nothing fulfils are dropped after a while.
	expectedAt time.Time

	// removals holds the pods that lost their finalizer and do not show it yet.
	removals sets.Set[types.UID]

	backoff backoffRecord

	// finished says that the final condition is stored, although the cache does not show it yet.
	finished bool

	// uncertain says that a pod may have been made although the request failed.
	uncertain bool

	// podVersion and jobVersion are the latest resource versions written.
	podVersion, jobVersion string

	gang gangRecord

	// told holds the last message of each reason that is told once.
	told map[string]string

	// lost names a pod that vanished before its end was seen, "" for none.
	lost string
	// dismissed holds pods that the controller deletes without counting them.
	dismissed sets.Set[types.UID]
}

// gangRecord is what was made for a Job and need not be in the caches yet.
type gangRecord struct {
	workload *schedulingv1alpha2.Workload
	group    *schedulingv1alpha2.PodGroup
	// at is when the Workload was made.
	at time.Time
}

func newMemory(clock clock.PassiveClock, timeout time.Duration) *memory {
	return &memory{clock: clock, timeout: timeout, records: map[jobKey]*jobRecord{}}
}

// change runs f on the record of a Job, which is made if there is none.
func (m *memory) change(key jobKey, f func(*jobRecord)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.records[key]
	if r == nil {
		r = &jobRecord{}
		m.records[key] = r
	}
	f(r)
}

// view runs f on the record of a Job, an empty one if there is none.
func (m *memory) view(key jobKey, f func(*jobRecord)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.records[key]
	if r == nil {
		r = &jobRecord{}
	}
	f(r)
}

// forget drops the record of a Job.
func (m *memory) forget(key jobKey) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.records, key)
}

// expectCreations sets the pods that are about to be made; deletions are expected no more.
func (m *memory) expectCreations(key jobKey, n int) {
	m.change(key, func(r *jobRecord) { r.creations, r.deletions, r.expectedAt = n, 0, m.clock.Now() })
}

// expectDeletions sets the pods that are about to be deleted; creations are expected no more.
func (m *memory) expectDeletions(key jobKey, n int) {
	m.change(key, func(r *jobRecord) { r.creations, r.deletions, r.expectedAt = 0, n, m.clock.Now() })
}

// creationObserved lowers the expected creations: a pod was seen, or was not made after all.
func (m *memory) creationObserved(key jobKey) {
	m.view(key, func(r *jobRecord) { r.creations-- })
}

// deletionObserved lowers the expected deletions.
func (m *memory) deletionObserved(key jobKey) {
	m.view(key, func(r *jobRecord) { r.deletions-- })
}

// settled reports whether nothing is expected, or has been for too long.
func (m *memory) settled(key jobKey) bool {
	settled := false
	m.view(key, func(r *jobRecord) {
		settled = (r.creations <= 0 && r.deletions <= 0) || m.clock.Since(r.expectedAt) > m.timeout
	})
	return settled
}

// expectRemovals notes pods that are about to lose their finalizer.
func (m *memory) expectRemovals(key jobKey, pods []types.UID) {
	m.change(key, func(r *jobRecord) {
		if r.removals == nil {
			r.removals = sets.New[types.UID]()
		}
		r.removals.Insert(pods...)
	})
}

// removalObserved drops a pod from those that are about to lose their finalizer: it has, or will not.
func (m *memory) removalObserved(key jobKey, pod types.UID) {
	m.view(key, func(r *jobRecord) { delete(r.removals, pod) })
}

// awaited returns the pods that have lost their finalizer without showing it.
func (m *memory) awaited(key jobKey) sets.Set[types.UID] {
	var awaited sets.Set[types.UID]
	m.view(key, func(r *jobRecord) { awaited = maps.Clone(r.removals) })
	return awaited
}

func (m *memory) backoff(key jobKey) (backoff backoffRecord) {
	m.view(key, func(r *jobRecord) { backoff = r.backoff })
	return backoff
}

func (m *memory) setBackoff(key jobKey, backoff backoffRecord) {
	m.change(key, func(r *jobRecord) { r.backoff = backoff })
}

func (m *memory) hasFinished(key jobKey) (finished bool) {
	m.view(key, func(r *jobRecord) { finished = r.finished })
	return finished
}

func (m *memory) setFinished(key jobKey) {
	m.change(key, func(r *jobRecord) { r.finished = true })
}

func (m *memory) gang(key jobKey) (gang gangRecord) {
	m.view(key, func(r *jobRecord) { gang = r.gang })
	return gang
}

// tellAgain notes what is about to be told and reports whether that is new.
func (m *memory) tellAgain(key jobKey, reason, message string) (news bool) {
	m.change(key, func(r *jobRecord) {
		if r.told == nil {
			r.told = map[string]string{}
		}
		news = r.told[reason] != message
		r.told[reason] = message
	})
	return news
}
