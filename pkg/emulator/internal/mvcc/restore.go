package mvcc

import "bytes"

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
		db.restoreLease(l, l.ID)
	}
	return db, nil
}

// Restore sets the store back to a snapshot, its own or another store's, and returns the revision at which it stands
// then. That is a new one: revisions never go back. A key whose value is what the snapshot has keeps its revisions; any
// other is written anew at the new revision, or gone.
//
// The way there is no history that a watch could follow: every watcher ends with ErrRestored, and all revisions before
// the new one, the last one before the call included, count as compacted. Leases stay, for those who know them, but lose
// their keys; those of the snapshot are granted anew under identities of their own. Restore fails with ErrClosed. It takes
// time for each key that there is, but copies no value.
func (db *DB) Restore(snapshot Snapshot) (int64, error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.closed {
		return 0, ErrClosed
	}
	// One revision is passed over: who has seen everything up to the present one would watch from the next.
	rev := db.rev.Load() + 2
	leases := db.replaceLeases(snapshot.Leases)
	changes := db.compare(snapshot.KVs)
	db.view = nil
	for _, change := range changes {
		if change.to == nil {
			db.index.Delete(change.from)
			continue
		}
		kv := change.to
		if change.rewrite {
			kv = &KeyValue{Key: kv.Key, Value: kv.Value, CreateRevision: rev, ModRevision: rev, Version: 1, Lease: leases[kv.Lease]}
		}
		db.index.ReplaceOrInsert(&entry{key: kv.Key, versions: []*KeyValue{kv}})
	}
	db.log, db.logBytes, db.marks = nil, 0, nil
	db.compacted = rev
	db.rev.Store(rev)
	for _, w := range db.watchers {
		w.place = -1
		w.end(ErrRestored)
	}
	db.watchers = nil
	return rev, nil
}

// Rewind sets the store back to a snapshot as Restore does, but by writes like any others, at a revision each and with no
// other write between them: first the keys go that the snapshot does not have, then others are put. Watchers go on, and
// history stays. A key whose present value is not a later version of the snapshot's but has come to be in place of it, as
// replaced says, is deleted first as well. Rewind returns the revision at which the store stands then, and fails with
// ErrClosed.
func (db *DB) Rewind(snapshot Snapshot, replaced func(now, then *KeyValue) bool) (int64, error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.closed {
		return 0, ErrClosed
	}
	leases := db.replaceLeases(snapshot.Leases)
	changes := db.compare(snapshot.KVs)
	write := func(do func(*writer)) {
		tx := db.begin()
		do(&tx)
		tx.commit()
	}
	for _, change := range changes {
		if change.from == nil || change.from.last() == nil {
			continue
		}
		if change.to == nil || change.rewrite && replaced(change.from.last(), change.to) {
			write(func(tx *writer) { tx.delete(change.from.key) })
		}
	}
	for _, change := range changes {
		if kv := change.to; change.rewrite {
			write(func(tx *writer) { tx.put(kv.Key, kv.Value, leases[kv.Lease]) })
		}
	}
	return db.rev.Load(), nil
}

// change is what a restore does to a key.
type change struct {
	// from is the entry as it is; nil when there is none.
	from *entry
	// to is the one version that the key is to have, nil to have none.
	to *KeyValue
	// rewrite says that this is the snapshot's, which needs a new revision, and not one that the store has.
	rewrite bool
}

// compare returns what makes the store hold these keys, which are in ascending order, and nothing else: no other
// versions of them and no memory of deleted ones.
func (db *DB) compare(wanted []*KeyValue) []change {
	var changes []change
	create := func(until string, all bool) {
		for len(wanted) > 0 && (all || wanted[0].Key < until) {
			changes = append(changes, change{to: wanted[0], rewrite: true})
			wanted = wanted[1:]
		}
	}
	db.index.Ascend(func(e *entry) bool {
		create(e.key, false)
		if len(wanted) == 0 || wanted[0].Key != e.key {
			changes = append(changes, change{from: e})
			return true
		}
		kv, last := wanted[0], e.last()
		wanted = wanted[1:]
		switch {
		case last == nil || last.Lease != 0 || kv.Lease != 0 || !bytes.Equal(last.Value, kv.Value):
			changes = append(changes, change{from: e, to: kv, rewrite: true})
		case len(e.versions) > 1:
			changes = append(changes, change{from: e, to: last})
		}
		return true
	})
	create("", true)
	return changes
}

// replaceLeases takes the keys away from all leases and grants those of a snapshot anew; it returns their new identities
// by the old ones. Those of an earlier restore go. The caller holds mu for writing.
func (db *DB) replaceLeases(wanted []Lease) map[LeaseID]LeaseID {
	for id, l := range db.leases {
		clear(l.keys)
		if l.restored {
			db.disarm(l)
			delete(db.leases, id)
		}
	}
	identities := make(map[LeaseID]LeaseID, len(wanted))
	for _, l := range wanted {
		if len(l.Keys) > 0 {
			identities[l.ID] = db.freeLeaseID()
			db.restoreLease(l, identities[l.ID])
		}
	}
	return identities
}

// restoreLease grants the lease of a snapshot for the time that remained. The caller holds mu for writing.
func (db *DB) restoreLease(l Lease, id LeaseID) {
	restored := &lease{id: id, ttl: l.TTL, keys: make(map[string]struct{}, len(l.Keys)), restored: true}
	for _, key := range l.Keys {
		restored.keys[key] = struct{}{}
	}
	db.leases[id] = restored
	db.arm(restored, l.Remaining)
}
