package mvcc

import (
	"maps"
	"slices"
	"time"

	"k8s.io/utils/clock"
)

// LeaseID names a lease. 0 names none.
type LeaseID int64

// Lease tells the state of a lease.
type Lease struct {
	ID LeaseID
	// TTL is the time to live that was granted.
	TTL time.Duration
	// Remaining is the time until the lease expires unless it is renewed.
	Remaining time.Duration
	// Keys are the keys that go with the lease, sorted.
	Keys []string
}

// lease is a lease within the store, guarded by DB.mu.
type lease struct {
	id       LeaseID
	ttl      time.Duration
	deadline time.Time
	keys     map[string]struct{}
	timer    clock.Timer
	// restored says that the lease is out of a snapshot, so that nobody else has its identity.
	restored bool
	// term counts the times the timer was set, so that a timer that fires while it is being replaced does nothing.
	term int
}

// Grant makes a lease that expires after ttl, taking all its keys away at one revision. The identity 0 lets the store
// choose a free one. It fails with ErrLeaseExists or ErrClosed. A ttl of 0 or less expires at once.
func (db *DB) Grant(id LeaseID, ttl time.Duration) (LeaseID, error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	switch {
	case db.closed:
		return 0, ErrClosed
	case db.leases[id] != nil:
		return 0, ErrLeaseExists
	}
	if id == 0 {
		id = db.freeLeaseID()
	}
	l := &lease{id: id, ttl: ttl, keys: map[string]struct{}{}}
	db.leases[id] = l
	db.arm(l, ttl)
	return id, nil
}

// freeLeaseID returns an identity that no lease has. The caller holds mu for writing.
func (db *DB) freeLeaseID() LeaseID {
	for {
		db.nextLease++
		if db.leases[db.nextLease] == nil {
			return db.nextLease
		}
	}
}

// Renew starts a lease's time to live anew and returns it. It fails with ErrLeaseNotFound or ErrClosed.
func (db *DB) Renew(id LeaseID) (time.Duration, error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	l, err := db.lease(id)
	if err != nil {
		return 0, err
	}
	db.disarm(l)
	db.arm(l, l.ttl)
	return l.ttl, nil
}

// Revoke ends a lease and removes its keys, and returns the revision of the store after it. It fails with
// ErrLeaseNotFound or ErrClosed.
func (db *DB) Revoke(id LeaseID) (int64, error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	l, err := db.lease(id)
	if err != nil {
		return 0, err
	}
	db.disarm(l)
	return db.drop(l), nil
}

// Lease tells the state of a lease. It fails with ErrLeaseNotFound or ErrClosed.
func (db *DB) Lease(id LeaseID) (Lease, error) {
	db.mu.RLock()
	defer db.mu.RUnlock()
	l, err := db.lease(id)
	if err != nil {
		return Lease{}, err
	}
	return db.describe(l), nil
}

// Leases lists the leases by ascending identity. It fails with ErrClosed.
func (db *DB) Leases() ([]Lease, error) {
	db.mu.RLock()
	defer db.mu.RUnlock()
	if db.closed {
		return nil, ErrClosed
	}
	return db.describeAll(), nil
}

// describeAll tells the state of all leases by ascending identity. The caller holds mu.
func (db *DB) describeAll() []Lease {
	list := make([]Lease, 0, len(db.leases))
	for _, id := range slices.Sorted(maps.Keys(db.leases)) {
		list = append(list, db.describe(db.leases[id]))
	}
	return list
}

func (db *DB) describe(l *lease) Lease {
	return Lease{
		ID:        l.id,
		TTL:       l.ttl,
		Remaining: max(0, l.deadline.Sub(db.opts.Clock.Now())),
		Keys:      slices.Sorted(maps.Keys(l.keys)),
	}
}

// lease finds a lease. The caller holds mu.
func (db *DB) lease(id LeaseID) (*lease, error) {
	switch l := db.leases[id]; {
	case db.closed:
		return nil, ErrClosed
	case l == nil:
		return nil, ErrLeaseNotFound
	default:
		return l, nil
	}
}

// moveToLease attaches a key to the lease of its newest version, and detaches it from that of the one before.
func (db *DB) moveToLease(key string, prev *KeyValue, to LeaseID) {
	if prev != nil && prev.Lease != 0 && prev.Lease != to {
		if l := db.leases[prev.Lease]; l != nil {
			delete(l.keys, key)
		}
	}
	if to != 0 {
		db.leases[to].keys[key] = struct{}{}
	}
}

// drop forgets a lease and deletes its keys at one revision.
func (db *DB) drop(l *lease) int64 {
	delete(db.leases, l.id)
	tx := db.begin()
	for _, key := range slices.Sorted(maps.Keys(l.keys)) {
		tx.delete(key)
	}
	return tx.commit()
}

// arm sets the timer of a lease. The caller holds mu for writing and has seen that the store is open.
func (db *DB) arm(l *lease, ttl time.Duration) {
	l.term++
	l.deadline = db.opts.Clock.Now().Add(ttl)
	term := l.term
	db.timers.Add(1)
	l.timer = db.opts.Clock.AfterFunc(ttl, func() {
		// The fake clock of k8s.io/utils calls this while holding the lock that its Now and Stop take, and a writer may
		// hold mu and wait for that one: only a goroutine of its own can wait for mu safely.
		go func() {
			defer db.timers.Done()
			db.expire(l, term)
		}()
	})
}

// disarm stops the timer of a lease, if it has not fired. The caller holds mu for writing.
func (db *DB) disarm(l *lease) {
	if l.timer.Stop() {
		db.timers.Done()
	}
	l.term++
}

func (db *DB) expire(l *lease, term int) {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.closed || l.term != term {
		return
	}
	db.drop(l)
}
