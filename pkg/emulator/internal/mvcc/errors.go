package mvcc

import "errors"

// Errors of reads and watches.
var (
	// ErrCompacted is returned when a read or a watch asks for a revision older than the last compaction, and by
	// Compact for a revision that was compacted already.
	ErrCompacted = errors.New("mvcc: required revision has been compacted")
	// ErrFutureRevision is returned when a read or a compaction asks for a revision that no write has reached yet.
	ErrFutureRevision = errors.New("mvcc: required revision is a future revision")
	// ErrEmptyKey is returned when a put, a compare or the read of one key names no key.
	ErrEmptyKey = errors.New("mvcc: key is not provided")
)

// Errors of writes.
var (
	// ErrDuplicateKey is returned when a transaction would write one key more than once.
	ErrDuplicateKey = errors.New("mvcc: duplicate key given in transaction")
	// ErrLeaseNotFound is returned when a put or a call about a lease names one that was never granted, was revoked
	// or has expired.
	ErrLeaseNotFound = errors.New("mvcc: requested lease not found")
	// ErrLeaseExists is returned when Grant is asked for an identity that is taken.
	ErrLeaseExists = errors.New("mvcc: lease already exists")
)

// ErrBadSnapshot is returned when what is read is no snapshot, is damaged, or has another format than this package's.
var ErrBadSnapshot = errors.New("not a usable snapshot")

// Errors that end a watch.
var (
	// ErrWatcherTooSlow is returned by Take when more events waited than Options.MaxPending allows. The events are
	// lost to this watcher: its owner reads the present state again and watches from there.
	ErrWatcherTooSlow = errors.New("mvcc: watcher fell too far behind")
	// ErrRestored is returned by Take after DB.Restore: what has become of the keys since the last event cannot be told as
	// events, and the owner of the watcher does as with ErrWatcherTooSlow.
	ErrRestored = errors.New("mvcc: store was set back to a snapshot")
	// ErrWatcherStopped is returned by Take after Stop.
	ErrWatcherStopped = errors.New("mvcc: watcher was stopped")
	// ErrClosed is returned by every call to a DB, and to its watchers, after Close.
	ErrClosed = errors.New("mvcc: store is closed")
)
