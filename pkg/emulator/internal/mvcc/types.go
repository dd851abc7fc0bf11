package mvcc

// KeyValue is one version of one key. It is shared between the store and all who read it: read it only.
type KeyValue struct {
	Key string
	// Value is what was put, nil in a deletion.
	Value []byte
	// CreateRevision is the revision at which the key last came into being, 0 in a deletion.
	CreateRevision int64
	// ModRevision is the revision of the write that made this version.
	ModRevision int64
	// Version counts the puts since the key came into being, from 1. It is 0 in a deletion.
	Version int64
	// Lease is the lease that the key is attached to, 0 for none.
	Lease LeaseID
}

// deleted says whether this version records that the key went away.
func (kv *KeyValue) deleted() bool { return kv.Version == 0 }

// Event is one change of one key. Events of one transaction share a revision and follow one another in the order of
// its operations.
type Event struct {
	// KV is the key after the change. After a deletion only its Key and ModRevision are set.
	KV *KeyValue
	// Prev is the key before the change, nil when it did not exist or when compaction forgot it.
	Prev *KeyValue
}

// IsDelete says whether the change removed the key.
func (e Event) IsDelete() bool { return e.KV.deleted() }

// PrevForgotten says that the key existed before the change but compaction forgot what it was. That happens to events at
// the very revision that was compacted.
func (e Event) PrevForgotten() bool {
	return e.Prev == nil && (e.IsDelete() || e.KV.Version > 1)
}
