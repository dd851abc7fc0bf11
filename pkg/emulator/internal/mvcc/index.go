package mvcc

import (
	"cmp"
	"slices"
	"strings"

	"github.com/google/btree"
)

// entry is a key with its versions, oldest first. An entry in the index is never changed but replaced, because frozen
// views of the index share it. Its slice may be appended to in place: those who hold the shorter slice do not see it.
type entry struct {
	key      string
	versions []*KeyValue
}

func lessEntry(a, b *entry) bool { return a.key < b.key }

// last returns the newest version, nil when that is a deletion.
func (e *entry) last() *KeyValue {
	if kv := e.versions[len(e.versions)-1]; !kv.deleted() {
		return kv
	}
	return nil
}

// at returns the version that held at a revision, nil when the key did not exist then.
func (e *entry) at(rev int64) *KeyValue {
	// The newest version is nearly always the one that is wanted.
	if kv := e.versions[len(e.versions)-1]; kv.ModRevision <= rev {
		return e.last()
	}
	i := e.newestAt(rev)
	if i < 0 || e.versions[i].deleted() {
		return nil
	}
	return e.versions[i]
}

// newestAt returns the position of the newest version that is not newer than rev, -1 when all are.
func (e *entry) newestAt(rev int64) int {
	i, found := slices.BinarySearchFunc(e.versions, rev, func(kv *KeyValue, rev int64) int {
		return cmp.Compare(kv.ModRevision, rev)
	})
	if found {
		return i
	}
	return i - 1
}

// lookup returns the entry of a key, nil when there is none. The caller holds mu.
func (db *DB) lookup(key string) *entry {
	e, _ := db.index.Get(&entry{key: key})
	return e
}

// current returns the newest version of a key, nil when it does not exist. The caller holds mu.
func (db *DB) current(key string) *KeyValue {
	if e := db.lookup(key); e != nil {
		return e.last()
	}
	return nil
}

// appendVersion puts a version into the index, after e, the entry that its key had so far, or nil. The caller holds mu
// for writing.
func (db *DB) appendVersion(e *entry, kv *KeyValue) {
	next := &entry{key: kv.Key}
	if e == nil {
		// Keys are kept for long and come out of larger strings (paths, requests): keep no more than the key.
		kv.Key = strings.Clone(kv.Key)
		next.key = kv.Key
		next.versions = []*KeyValue{kv}
	} else {
		kv.Key, next.key = e.key, e.key
		next.versions = append(e.versions, kv)
	}
	db.view = nil
	db.index.ReplaceOrInsert(next)
}

// ascend calls visit for the entries of a span in order until it returns false.
func ascend(index *btree.BTreeG[*entry], span Span, visit func(*entry) bool) {
	index.AscendGreaterOrEqual(&entry{key: span.Start}, func(e *entry) bool {
		return (span.End == "" || e.key < span.End) && visit(e)
	})
}
