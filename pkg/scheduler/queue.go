package scheduler

import (
	"cmp"
	"container/heap"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// The waits between attempts at something that did not fit: 1, 2, 4, 8 seconds, then 10.
const (
	backoffFirst = time.Second
	backoffMost  = 10 * time.Second
)

// settle is how long after an attempt a change in the cluster may bring on the next, unless with parity. It keeps a
// burst of finishing pods from being answered one by one.
const settle = 100 * time.Millisecond

// unitKey names what is scheduled at once: a pod on its own, or a group.
type unitKey struct {
	group bool
	types.NamespacedName
}

// place of a unit in the queue.
type place int

const (
	nowhere  place = iota // not admitted, or nothing to do
	active                // to be tried as soon as its turn comes
	backoff               // to be tried when its time comes
	parked                // to be tried when the cluster changes in its favour
	inFlight              // tried, and its outcome is being written
)

// again is what is to follow an attempt that is not over yet.
type again int

const (
	notAgain  again = iota
	hurried         // the cluster changed in the unit's favour
	activated       // the unit itself changed, so it starts afresh
)

// unit is the state of one pod or group in the queue.
type unit struct {
	key   unitKey
	place place
	// urgency is the most urgent pod of the unit, which gives it its turn.
	urgency *podInfo
	// attempts counts the failures since the unit was last without waiting pods.
	attempts int
	tried    time.Time
	// due is when a unit that backs off is to be tried, and the earliest for a parked one.
	due time.Time
	// again says what happened to the unit while it was in flight.
	again again
	// unplaced are the pods for which no node was found when last tried.
	unplaced []*podInfo
	// at is the index in the heap that the unit is in, for container/heap.
	at int
}

// queue holds the units that wait, each at one place. It knows nothing of how they are placed.
type queue struct {
	units  map[unitKey]*unit
	active unitHeap
	later  unitHeap
	parked map[unitKey]*unit
	flying map[unitKey]*unit
}

func newQueue() *queue {
	return &queue{
		units:  map[unitKey]*unit{},
		active: unitHeap{less: func(a, b *unit) bool { return byUrgency(a.urgency, b.urgency) < 0 }},
		later: unitHeap{less: func(a, b *unit) bool {
			return cmp.Or(a.due.Compare(b.due), byUrgency(a.urgency, b.urgency)) < 0
		}},
		parked: map[unitKey]*unit{},
		flying: map[unitKey]*unit{},
	}
}

// activate makes the unit due at once, whatever it waited for. One that is in flight is tried again afterwards.
func (q *queue) activate(key unitKey, urgency *podInfo) {
	u, known := q.units[key]
	if !known {
		u = &unit{key: key, urgency: urgency}
		q.units[key] = u
	}
	if u.place == inFlight {
		u.again = activated
		return
	}
	q.take(u)
	u.urgency = urgency
	q.put(u, active)
}

// hurry brings a unit that waits forward after a change in the cluster. With parity, a unit that is parked starts to
// back off for what is left of its wait, and others keep theirs; otherwise it is tried at once, or soon if it was tried
// just now.
func (q *queue) hurry(u *unit, now time.Time, parity bool) {
	switch u.place {
	case parked:
	case backoff:
		if parity {
			return
		}
	case inFlight:
		u.again = max(u.again, hurried)
		return
	default:
		return
	}
	due := u.due
	if !parity {
		if soon := u.tried.Add(settle); soon.Before(due) {
			due = soon
		}
	}
	q.take(u)
	u.due = due
	if due.After(now) {
		q.put(u, backoff)
	} else {
		q.put(u, active)
	}
}

// waiting returns the units that a change in the cluster could help, in no order.
func (q *queue) waiting() []*unit {
	units := slices.Concat(slices.Collect(maps.Values(q.parked)), q.later.units)
	return slices.AppendSeq(units, maps.Values(q.flying))
}

// pop takes the unit whose turn it is, nil if none is due. It is in flight until settled or dropped.
func (q *queue) pop(now time.Time) *unit {
	for len(q.later.units) > 0 && !q.later.units[0].due.After(now) {
		u := q.later.units[0]
		q.take(u)
		q.put(u, active)
	}
	if len(q.active.units) == 0 {
		return nil
	}
	u := q.active.units[0]
	q.take(u)
	q.put(u, inFlight)
	u.again, u.tried, u.unplaced = notAgain, now, nil
	return u
}

// next returns when a unit that backs off will be due.
func (q *queue) next() (due time.Time, found bool) {
	if len(q.later.units) == 0 {
		return time.Time{}, false
	}
	return q.later.units[0].due, true
}

// retry puts a unit that did not fit back: parked if it only waits for changes, else to be tried after its back-off. One
// that changed while it was in flight is due at once.
func (q *queue) retry(u *unit, now time.Time, park, parity bool) {
	q.take(u)
	u.attempts++
	u.due = now.Add(backoffAfter(u.attempts))
	switch {
	case u.again == activated:
		q.put(u, active)
		return
	case park:
		q.put(u, parked)
	default:
		q.put(u, backoff)
	}
	if u.again == hurried {
		q.hurry(u, now, parity)
	}
}

// rest leaves a unit that is not to be tried until it is activated. With its failures forgotten, it is like new.
func (q *queue) rest(u *unit, forget bool) {
	q.take(u)
	if forget {
		u.attempts = 0
	}
}

// drop forgets a unit that has nothing left to place, together with its back-off.
func (q *queue) drop(key unitKey) {
	if u, known := q.units[key]; known {
		q.take(u)
		delete(q.units, key)
	}
}

// backoffAfter is the wait after so many failures in a row.
func backoffAfter(attempts int) time.Duration {
	wait := backoffFirst
	for n := 1; n < attempts && wait < backoffMost; n++ {
		wait *= 2
	}
	return min(wait, backoffMost)
}

func (q *queue) put(u *unit, where place) {
	u.place = where
	switch where {
	case active:
		heap.Push(&q.active, u)
	case backoff:
		heap.Push(&q.later, u)
	case parked:
		q.parked[u.key] = u
	case inFlight:
		q.flying[u.key] = u
	}
}

func (q *queue) take(u *unit) {
	switch u.place {
	case active:
		heap.Remove(&q.active, u.at)
	case backoff:
		heap.Remove(&q.later, u.at)
	case parked:
		delete(q.parked, u.key)
	case inFlight:
		delete(q.flying, u.key)
	}
	u.place = nowhere
}

// unitHeap is a heap of units that knows where each is.
type unitHeap struct {
	units []*unit
	less  func(a, b *unit) bool
}

var _ heap.Interface = (*unitHeap)(nil)

func (h *unitHeap) Len() int           { return len(h.units) }
func (h *unitHeap) Less(i, j int) bool { return h.less(h.units[i], h.units[j]) }
func (h *unitHeap) Swap(i, j int) {
	h.units[i], h.units[j] = h.units[j], h.units[i]
	h.units[i].at, h.units[j].at = i, j
}

// Push is for container/heap.
func (h *unitHeap) Push(x any) {
	u := x.(*unit)
	u.at = len(h.units)
	h.units = append(h.units, u)
}

// Pop is for container/heap.
func (h *unitHeap) Pop() any {
	last := len(h.units) - 1
	u := h.units[last]
	h.units[last] = nil
	h.units = h.units[:last]
	return u
}
