package job

import (
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
)

// memory is what a controller remembers of its own writes until its caches show them. All of it may be lost: syncs then
// go by what the API holds.
//
// There is one record a Job: a Job that is deleted and made anew under the same name is another one, by its UID, and
// inherits nothing.
type memory struct {
	clock   clock.PassiveClock
	timeout time.Duration

	mu      sync.Mutex
	records map[cache.ObjectName]*jobRecord
}

// jobRecord is the memory of one Job.
type jobRecord struct {
	uid types.UID

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

	// workload and podGroup were made for the Job and need not be in the cache yet.
	workload *schedulingv1alpha2.Workload
	podGroup *schedulingv1alpha2.PodGroup
}

func newMemory(clock clock.PassiveClock, timeout time.Duration) *memory {
	return &memory{clock: clock, timeout: timeout, records: map[cache.ObjectName]*jobRecord{}}
}

// change runs f on the record of a Job, which is made if there is none for that UID.
func (m *memory) change(key cache.ObjectName, uid types.UID, f func(*jobRecord)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.records[key]
	if r == nil || r.uid != uid {
		r = &jobRecord{uid: uid}
		m.records[key] = r
	}
	f(r)
}

// view runs f on the record of a Job, which is empty if there is none for that UID.
func (m *memory) view(key cache.ObjectName, uid types.UID, f func(*jobRecord)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.records[key]
	if r == nil || r.uid != uid {
		r = &jobRecord{uid: uid}
	}
	f(r)
}

// forget drops the record of a Job. With a UID it drops that Job's alone, without one any of that name.
func (m *memory) forget(key cache.ObjectName, uid types.UID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r := m.records[key]; r != nil && (uid == "" || r.uid == uid) {
		delete(m.records, key)
	}
}

// expectCreations sets the pods that are about to be made; deletions are expected no more.
func (m *memory) expectCreations(key cache.ObjectName, uid types.UID, n int) {
	m.change(key, uid, func(r *jobRecord) { r.creations, r.deletions, r.expectedAt = n, 0, m.clock.Now() })
}

// expectDeletions sets the pods that are about to be deleted; creations are expected no more.
func (m *memory) expectDeletions(key cache.ObjectName, uid types.UID, n int) {
	m.change(key, uid, func(r *jobRecord) { r.creations, r.deletions, r.expectedAt = 0, n, m.clock.Now() })
}

// creationObserved lowers the expected creations: a pod was seen, or was not made after all.
func (m *memory) creationObserved(key cache.ObjectName, uid types.UID) {
	m.view(key, uid, func(r *jobRecord) { r.creations-- })
}

// deletionObserved lowers the expected deletions.
func (m *memory) deletionObserved(key cache.ObjectName, uid types.UID) {
	m.view(key, uid, func(r *jobRecord) { r.deletions-- })
}

// settled reports whether nothing is expected, or has been for too long.
func (m *memory) settled(key cache.ObjectName, uid types.UID) bool {
	settled := false
	m.view(key, uid, func(r *jobRecord) {
		settled = (r.creations <= 0 && r.deletions <= 0) || m.clock.Since(r.expectedAt) > m.timeout
	})
	return settled
}

// expectRemovals notes pods that are about to lose their finalizer.
func (m *memory) expectRemovals(key cache.ObjectName, uid types.UID, pods []types.UID) {
	m.change(key, uid, func(r *jobRecord) {
		if r.removals == nil {
			r.removals = sets.New[types.UID]()
		}
		r.removals.Insert(pods...)
	})
}

// removalObserved drops a pod from those that are about to lose their finalizer: it has, or will not.
func (m *memory) removalObserved(key cache.ObjectName, uid, pod types.UID) {
	m.view(key, uid, func(r *jobRecord) { delete(r.removals, pod) })
}

// awaited returns the pods that have lost their finalizer without showing it.
func (m *memory) awaited(key cache.ObjectName, uid types.UID) sets.Set[types.UID] {
	var awaited sets.Set[types.UID]
	m.view(key, uid, func(r *jobRecord) { awaited = maps.Clone(r.removals) })
	return awaited
}

func (m *memory) backoff(key cache.ObjectName, uid types.UID) (backoff backoffRecord) {
	m.view(key, uid, func(r *jobRecord) { backoff = r.backoff })
	return backoff
}

func (m *memory) setBackoff(key cache.ObjectName, uid types.UID, backoff backoffRecord) {
	m.change(key, uid, func(r *jobRecord) { r.backoff = backoff })
}

func (m *memory) hasFinished(key cache.ObjectName, uid types.UID) (finished bool) {
	m.view(key, uid, func(r *jobRecord) { finished = r.finished })
	return finished
}

func (m *memory) setFinished(key cache.ObjectName, uid types.UID) {
	m.change(key, uid, func(r *jobRecord) { r.finished = true })
}
