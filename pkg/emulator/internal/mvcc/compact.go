package mvcc

import (
	"slices"
	"time"
)

// Compact forgets what was before revision: reads and new watches of older revisions fail with ErrCompacted from now on.
// The state at revision itself, and the events from it on, stay, except for what the keys of the events at revision were
// before. Watchers that run already lose nothing. Compact fails with ErrCompacted when revision was compacted before, with
// ErrFutureRevision when it has not come yet, or ErrClosed.
func (db *DB) Compact(revision int64) error {
	db.mu.Lock()
	defer db.mu.Unlock()
	switch {
	case db.closed:
		return ErrClosed
	case revision > db.rev.Load():
		return ErrFutureRevision
	case revision <= db.compacted:
		return ErrCompacted
	}
	db.compact(revision)
	return nil
}

// compact does the work of Compact, in time proportional to the events that it looks at rather than to the number of
// keys: a key without an event since the last compaction has a single version. The caller holds mu for writing.
func (db *DB) compact(revision int64) {
	for _, event := range db.log {
		if event.KV.ModRevision > revision {
			break
		}
		db.trim(event.KV.Key, revision)
	}
	first := db.firstEvent(revision)
	for _, event := range db.log[:first] {
		db.logBytes -= heldBytes(event)
	}
	// A copy, so that the array with the old events can go.
	db.log = slices.Clone(db.log[first:])
	db.compacted = revision
	for i := range db.log {
		if db.log[i].KV.ModRevision > revision {
			break
		}
		db.logBytes -= heldBytes(db.log[i])
		db.log[i].Prev = nil
		db.logBytes += heldBytes(db.log[i])
	}
}

// eventBytes is what an event takes beside its key and values: an Event, a KeyValue, and the pointer to that in its entry.
const eventBytes = 128

// heldBytes is how much memory an event in the log holds that would be free without it: the version that it replaced.
func heldBytes(event Event) int64 {
	held := eventBytes + int64(len(event.KV.Key))
	if event.Prev != nil {
		held += int64(len(event.Prev.Value))
	}
	return held
}

// trim drops the versions of a key that no revision from the given one on can see.
func (db *DB) trim(key string, revision int64) {
	e := db.lookup(key)
	if e == nil {
		return
	}
	first := e.newestAt(revision)
	if first >= 0 && e.versions[first].deleted() {
		first++
	}
	if first <= 0 {
		return
	}
	db.view = nil
	if first == len(e.versions) {
		db.index.Delete(e)
		return
	}
	db.index.ReplaceOrInsert(&entry{key: e.key, versions: slices.Clone(e.versions[first:])})
}

// firstEvent returns the position in the log of the first event that is not older than revision.
func (db *DB) firstEvent(revision int64) int {
	i, _ := slices.BinarySearchFunc(db.log, revision, func(event Event, revision int64) int {
		if event.KV.ModRevision < revision {
			return -1
		}
		return 1
	})
	return i
}

// trimHistory compacts what KeepEvents, KeepBytes and KeepFor do not want kept. The caller holds mu for writing and has
// just committed a write.
func (db *DB) trimHistory() {
	target := db.compacted
	if keep := db.opts.KeepEvents; keep > 0 && len(db.log) > keep+keep/4 {
		target = max(target, db.log[len(db.log)-keep].KV.ModRevision)
	}
	if keep := db.opts.KeepBytes; keep > 0 && db.logBytes > keep+keep/4 {
		target = max(target, db.revisionWithin(keep))
	}
	if db.opts.KeepFor > 0 {
		target = max(target, db.expiredRevision(db.rev.Load()))
	}
	if target > db.compacted {
		db.compact(target)
	}
}

// trimExpired compacts what KeepFor does not want kept, without a write that would. The caller holds mu for writing.
func (db *DB) trimExpired() {
	if db.opts.KeepFor <= 0 {
		return
	}
	now := db.rev.Load()
	if target := min(db.expiredRevision(now+1), now); target > db.compacted {
		db.compact(target)
	}
}

// revisionWithin returns the first revision from which on the log holds no more than so many bytes; the present one if
// that alone holds more.
func (db *DB) revisionWithin(bytes int64) int64 {
	held := db.logBytes
	for _, event := range db.log {
		if held <= bytes {
			// Compacting this event's revision frees what came before it, and a little of it.
			return event.KV.ModRevision
		}
		held -= heldBytes(event)
	}
	return db.rev.Load()
}

// mark says that the revisions from rev on were made at the given time or later.
type mark struct {
	rev int64
	at  time.Time
}

// expiredRevision notes that the revisions from newest on are made now or later, and returns the first one that KeepFor
// still wants kept, as far as the marks can tell. A mark is set an eighth of KeepFor after the one before, so there are
// at most ten.
func (db *DB) expiredRevision(newest int64) int64 {
	now, keep := db.opts.Clock.Now(), db.opts.KeepFor
	if len(db.marks) == 0 || now.Sub(db.marks[len(db.marks)-1].at) >= keep/8 {
		db.marks = append(db.marks, mark{rev: newest, at: now})
	}
	// What came before the second mark is at least as old as that mark.
	for len(db.marks) > 1 && now.Sub(db.marks[1].at) > keep {
		db.marks = slices.Delete(db.marks, 0, 1)
	}
	if now.Sub(db.marks[0].at) > keep {
		return db.marks[0].rev
	}
	return 0
}
