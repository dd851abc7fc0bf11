package mvcc

import "github.com/google/btree"

// RangeOptions narrow a Range. The zero value reads everything at the present revision.
type RangeOptions struct {
	// Revision is the revision to read at; 0 or less is the present one.
	Revision int64
	// Limit is how many keys to return at most; 0 or less means all.
	Limit int64
	// KeysOnly leaves the values out.
	KeysOnly bool
	// CountOnly returns no keys, only their number.
	CountOnly bool
}

// RangeResult is what Range found.
type RangeResult struct {
	// KVs are the keys in ascending order. The slice is the caller's, what it points to is shared.
	KVs []*KeyValue
	// Count is the number of keys in the span, including those beyond the limit.
	Count int64
	// More says that the limit left keys out.
	More bool
	// Revision is the present revision of the store at the moment of the read, whatever revision was read.
	Revision int64
}

// Get reads one key at a revision; 0 or less means the present one. The result is nil when the key did not exist then.
// The second result is the present revision of the store, which is set with ErrCompacted and ErrFutureRevision too.
func (db *DB) Get(key string, revision int64) (*KeyValue, int64, error) {
	if key == "" {
		return nil, 0, ErrEmptyKey
	}
	db.mu.RLock()
	defer db.mu.RUnlock()
	now := db.rev.Load()
	if err := db.checkRead(revision); err != nil {
		return nil, now, err
	}
	e := db.lookup(key)
	switch {
	case e == nil:
		return nil, now, nil
	case revision <= 0:
		return e.last(), now, nil
	default:
		return e.at(revision), now, nil
	}
}

// Range reads the keys of a span, all at one revision. Besides ErrClosed it fails with ErrCompacted or
// ErrFutureRevision; then only the Revision of the result is set.
func (db *DB) Range(span Span, opts RangeOptions) (RangeResult, error) {
	view, now, err := db.freeze(opts.Revision)
	if err != nil {
		return RangeResult{Revision: now}, err
	}
	return scan(view, span, opts, now), nil
}

// checkRead says whether a revision can be read. The caller holds mu.
func (db *DB) checkRead(revision int64) error {
	switch {
	case db.closed:
		return ErrClosed
	case revision > db.rev.Load():
		return ErrFutureRevision
	case revision > 0 && revision < db.compacted:
		return ErrCompacted
	}
	return nil
}

// freeze returns an index that never changes, and the present revision, for a read at the given revision.
func (db *DB) freeze(revision int64) (*btree.BTreeG[*entry], int64, error) {
	db.mu.RLock()
	view, now, err := db.view, db.rev.Load(), db.checkRead(revision)
	db.mu.RUnlock()
	if view != nil || err != nil {
		return view, now, err
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	// Writes may have come in between: what was read above is stale.
	now = db.rev.Load()
	if err := db.checkRead(revision); err != nil {
		return nil, now, err
	}
	if db.view == nil {
		db.view = db.index.Clone()
	}
	return db.view, now, nil
}

// scan reads a span of an index. now is the revision that the index stands at.
func scan(index *btree.BTreeG[*entry], span Span, opts RangeOptions, now int64) RangeResult {
	at := opts.Revision
	if at <= 0 {
		at = now
	}
	result := RangeResult{Revision: now}
	ascend(index, span, func(e *entry) bool {
		kv := e.at(at)
		if kv == nil {
			return true
		}
		result.Count++
		switch {
		case opts.CountOnly:
		case opts.Limit > 0 && int64(len(result.KVs)) == opts.Limit:
			result.More = true
		case opts.KeysOnly:
			bare := *kv
			bare.Value = nil
			result.KVs = append(result.KVs, &bare)
		default:
			result.KVs = append(result.KVs, kv)
		}
		return true
	})
	return result
}
