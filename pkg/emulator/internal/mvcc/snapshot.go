package mvcc

// Snapshot is the state of a store at one revision, without its history.
type Snapshot struct {
	// Revision is the revision that the snapshot was taken at.
	Revision int64
	// KVs are all keys in ascending order. They are shared with the store: read them only.
	KVs []*KeyValue
	// Leases are the leases by ascending identity.
	Leases []Lease
}

// Snapshot returns the present state. It copies no value, and fails with ErrClosed.
func (db *DB) Snapshot() (Snapshot, error) {
	db.mu.RLock()
	defer db.mu.RUnlock()
	if db.closed {
		return Snapshot{}, ErrClosed
	}
	snapshot := Snapshot{Revision: db.rev.Load(), Leases: db.describeAll()}
	db.index.Ascend(func(e *entry) bool {
		if kv := e.last(); kv != nil {
			snapshot.KVs = append(snapshot.KVs, kv)
		}
		return true
	})
	return snapshot, nil
}

// Restore makes a store that goes on from a snapshot, any number of them from one. Keys keep their revisions and
// versions. Its history begins at the snapshot: it stands compacted at that revision. Leases go on with the time that
// remained, and later renewals grant the full time again.
func Restore(snapshot Snapshot, opts Options) (*DB, error) {
	db, err := New(opts)
	if err != nil {
		return nil, err
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	db.rev.Store(snapshot.Revision)
	db.compacted = snapshot.Revision
	for _, kv := range snapshot.KVs {
		db.index.ReplaceOrInsert(&entry{key: kv.Key, versions: []*KeyValue{kv}})
	}
	for _, l := range snapshot.Leases {
		restored := &lease{id: l.ID, ttl: l.TTL, keys: make(map[string]struct{}, len(l.Keys))}
		for _, key := range l.Keys {
			restored.keys[key] = struct{}{}
		}
		db.leases[l.ID] = restored
		db.arm(restored, l.Remaining)
	}
	return db, nil
}
