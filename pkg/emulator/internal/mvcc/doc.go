// Package mvcc is a multi-version store of bytes in memory: every write makes a new revision of the whole store, old
// revisions stay readable until they are compacted, and watches replay the writes from any revision that is kept.
// It follows the data model of etcd v3, revision for revision, and knows neither etcd's Go types nor Kubernetes.
//
// [New] makes a [DB], [DB.Close] ends it. [DB.Get] and [DB.Range] read, [DB.Put], [DB.PutIf], [DB.Delete],
// [DB.DeleteIf] and [DB.Txn] write, [DB.Watch] follows, [DB.Grant] makes leases whose keys go when they expire, and
// [DB.Compact] forgets the past. [DB.Snapshot] keeps the present, [Restore] makes another DB of it, [DB.Restore] and
// [DB.Rewind] set the same one back, and [Snapshot.WriteTo] and [ReadSnapshot] carry it through a file.
//
// # Bytes are shared
//
// A value that was written is kept as the slice that the caller gave, and readers and watchers are handed that same
// slice, inside [KeyValue]s that they share as well. Nobody may change a value, a KeyValue or an [Event], neither after
// handing it in nor after receiving it. That is what makes a read of thousands of keys cost no copy of a value.
//
// # Locks
//
// Writers take turns. A scan of many keys reads a frozen view of the index (a copy-on-write clone, made when the index
// changed since the last scan), so it holds no lock while it runs and sees exactly one revision. Watchers never hold up
// writers: a write appends to the queue of each watcher that it concerns, and a watcher that lets
// [Options].MaxPending events, or MaxPendingBytes, pile up is cut off with [ErrWatcherTooSlow].
//
// # What it does not do
//
// It starts no goroutine (the timer of an expiring lease runs in one of the runtime's; Close waits for it), writes
// nothing to disk, and has no nested transactions, sorting or filters by revision. Deleting a lease that expires is not
// delayed by a minimum time to live, as it is in etcd.
package mvcc
