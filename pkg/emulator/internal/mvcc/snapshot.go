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
