package mvcc

import "slices"

// Outcome is what became of a write that expected a revision.
type Outcome struct {
	// Succeeded says whether the key was as expected, and so written.
	Succeeded bool
	// Revision is the revision of the store after the call.
	Revision int64
	// Current is the key as it is when the write did not succeed, nil when it does not exist.
	Current *KeyValue
}

// Put writes a key and returns the revision of the write. It fails with ErrEmptyKey, ErrLeaseNotFound or ErrClosed. A
// key belongs to the lease of its last put, and to none when that named 0.
func (db *DB) Put(key string, value []byte, lease LeaseID) (int64, error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	if err := db.checkPut(key, lease); err != nil {
		return 0, err
	}
	tx := db.begin()
	tx.put(key, value, lease)
	return tx.commit(), nil
}

// PutIf writes a key if its last write was at revision expect; 0 expects that the key does not exist. It fails as Put
// does; a key that is not as expected is no failure but told by the Outcome.
func (db *DB) PutIf(key string, value []byte, expect int64, lease LeaseID) (Outcome, error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	if err := db.checkPut(key, lease); err != nil {
		return Outcome{}, err
	}
	if current := db.current(key); modRevision(current) != expect {
		return Outcome{Revision: db.rev.Load(), Current: current}, nil
	}
	tx := db.begin()
	tx.put(key, value, lease)
	return Outcome{Succeeded: true, Revision: tx.commit()}, nil
}

// Delete removes the keys of a span at one revision. It returns what was removed, in order, and the revision of the
// store after it; removing nothing makes no new revision. It fails with ErrClosed.
func (db *DB) Delete(span Span) ([]*KeyValue, int64, error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.closed {
		return nil, 0, ErrClosed
	}
	tx := db.begin()
	removed := tx.deleteSpan(span)
	return removed, tx.commit(), nil
}

// DeleteIf removes a key if its last write was at revision expect. Expecting 0 of a key that does not exist succeeds and
// changes nothing. It fails with ErrEmptyKey or ErrClosed.
func (db *DB) DeleteIf(key string, expect int64) (Outcome, error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	switch {
	case db.closed:
		return Outcome{}, ErrClosed
	case key == "":
		return Outcome{}, ErrEmptyKey
	}
	if current := db.current(key); modRevision(current) != expect {
		return Outcome{Revision: db.rev.Load(), Current: current}, nil
	}
	tx := db.begin()
	tx.delete(key)
	return Outcome{Succeeded: true, Revision: tx.commit()}, nil
}

// modRevision is the revision of the last write of a key that may not exist.
func modRevision(kv *KeyValue) int64 {
	if kv == nil {
		return 0
	}
	return kv.ModRevision
}

// checkPut says why a put cannot be done. The caller holds mu.
func (db *DB) checkPut(key string, lease LeaseID) error {
	switch {
	case db.closed:
		return ErrClosed
	case key == "":
		return ErrEmptyKey
	case lease != 0 && db.leases[lease] == nil:
		return ErrLeaseNotFound
	}
	return nil
}

// writer gathers the changes of one revision. They are in the index at once, so that later operations of the same
// transaction see them, and reach the log and the watchers together in commit. Whoever makes a writer holds mu for
// writing until it is committed, and has checked beforehand whatever may fail: there is no way back.
type writer struct {
	db     *DB
	rev    int64
	events []Event
}

func (db *DB) begin() writer {
	return writer{db: db, rev: db.rev.Load() + 1}
}

func (tx *writer) put(key string, value []byte, lease LeaseID) *KeyValue {
	e := tx.db.lookup(key)
	kv := &KeyValue{Key: key, Value: value, CreateRevision: tx.rev, ModRevision: tx.rev, Version: 1, Lease: lease}
	var prev *KeyValue
	if e != nil {
		prev = e.last()
	}
	if prev != nil {
		kv.CreateRevision, kv.Version = prev.CreateRevision, prev.Version+1
	}
	tx.db.appendVersion(e, kv)
	tx.db.moveToLease(kv.Key, prev, lease)
	tx.events = append(tx.events, Event{KV: kv, Prev: prev})
	return prev
}

// delete removes a key, if it exists.
func (tx *writer) delete(key string) {
	e := tx.db.lookup(key)
	if e == nil || e.last() == nil {
		return
	}
	prev := e.last()
	kv := &KeyValue{Key: key, ModRevision: tx.rev}
	tx.db.appendVersion(e, kv)
	tx.db.moveToLease(key, prev, 0)
	tx.events = append(tx.events, Event{KV: kv, Prev: prev})
}

func (tx *writer) deleteSpan(span Span) []*KeyValue {
	// The index must not change while it is walked.
	var found []*KeyValue
	ascend(tx.db.index, span, func(e *entry) bool {
		if kv := e.last(); kv != nil {
			found = append(found, kv)
		}
		return true
	})
	for _, kv := range found {
		tx.delete(kv.Key)
	}
	return found
}

// commit makes the changes known and returns the revision at which the store stands now.
func (tx *writer) commit() int64 {
	db := tx.db
	if len(tx.events) == 0 {
		return db.rev.Load()
	}
	db.log = append(db.log, tx.events...)
	for _, event := range tx.events {
		db.logBytes += heldBytes(event)
	}
	// From the end, because a watcher that is removed has its place taken by the last.
	for _, w := range slices.Backward(db.watchers) {
		if !w.push(tx.events) {
			db.removeWatcher(w)
		}
	}
	// Last, so that a watcher that reads this revision has all its events already.
	db.rev.Store(tx.rev)
	db.trimHistory()
	return tx.rev
}
