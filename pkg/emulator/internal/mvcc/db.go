package mvcc

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/btree"
	"k8s.io/utils/clock"
)

const (
	// DefaultKeepEvents is how many events stay readable unless Options say otherwise. At a thousand bytes a value
	// that is some 50 MB.
	DefaultKeepEvents = 50_000
	// DefaultKeepBytes is how many bytes history may take unless Options say otherwise: 128 MiB.
	DefaultKeepBytes = 128 << 20
	// DefaultMaxPendingBytes is how many bytes may wait for a watcher unless Options say otherwise: 128 MiB.
	DefaultMaxPendingBytes = 128 << 20
	// DefaultMaxPending is how many events may wait for a watcher unless Options say otherwise.
	DefaultMaxPending = 50_000

	// firstRevision is where a store without any write stands, as a new etcd does; the first write makes 2.
	firstRevision = 1
	// degree is the branching of the index. 32 keeps nodes near 512 bytes, cheap to copy after a scan froze them.
	degree = 32
)

// Options are the choices a DB is made with. The zero value works.
type Options struct {
	// Clock drives the expiry of leases and KeepFor. The default is the real clock, which follows virtual time in a
	// testing/synctest bubble.
	Clock clock.WithDelayedExecution
	// KeepEvents bounds the history by number: when it has grown a quarter beyond this many events, the store compacts
	// itself so that these many are left. The default 0 means DefaultKeepEvents; a negative number means no bound.
	KeepEvents int
	// KeepBytes bounds the history by size, in the same way: that of the versions which are kept for it alone, with a
	// little for each event. The default 0 means DefaultKeepBytes; a negative number means no bound.
	KeepBytes int64
	// KeepFor bounds the history by age: what is older than this, by up to an eighth more, is compacted at the next
	// write or when the next watch begins. The default 0 means no bound.
	KeepFor time.Duration
	// MaxPending is how many events may wait for a watcher before it is cut off, not counting those that already lay
	// in the past when it began. The default 0 means DefaultMaxPending; a negative number means no bound.
	MaxPending int
	// MaxPendingBytes is how many bytes the events that wait for a watcher may hold, counted as MaxPending counts: the
	// values before and after each change, which watchers share with one another and, until they are compacted, with
	// the store. The default 0 means DefaultMaxPendingBytes; a negative number means no bound.
	MaxPendingBytes int64
}

// complete checks the options and fills in the defaults.
func (o Options) complete() (Options, error) {
	if o.KeepFor < 0 {
		return o, fmt.Errorf("checking options: KeepFor is %v, want a positive duration or 0", o.KeepFor)
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.KeepEvents == 0 {
		o.KeepEvents = DefaultKeepEvents
	}
	if o.KeepBytes == 0 {
		o.KeepBytes = DefaultKeepBytes
	}
	if o.MaxPendingBytes == 0 {
		o.MaxPendingBytes = DefaultMaxPendingBytes
	}
	if o.MaxPending == 0 {
		o.MaxPending = DefaultMaxPending
	}
	return o, nil
}

// DB is the store. Its methods may be called from any goroutine. Make one with New or Restore.
type DB struct {
	opts Options

	// mu guards what follows. It is taken before a Watcher's own lock, never after.
	mu sync.RWMutex
	// rev is the revision of the last write. It is written under mu, after the watchers have the write's events;
	// Watcher.Take reads it without mu.
	rev atomic.Int64
	// compacted is the oldest revision that can still be read; 0 until the first compaction.
	compacted int64
	index     *btree.BTreeG[*entry]
	// view is a clone of index that nobody writes to; nil when index has changed since the last scan.
	view *btree.BTreeG[*entry]
	// log holds the events of all revisions from compacted on, in order.
	log []Event
	// logBytes is what the log holds in memory that nothing else does, see heldBytes.
	logBytes int64
	// marks remember when revisions were made, for KeepFor.
	marks []mark
	// watchers are those that run, in no order; each knows its place.
	watchers  []*Watcher
	leases    map[LeaseID]*lease
	nextLease LeaseID
	closed    bool

	// timers counts the lease timers that are set or running, so that Close can wait for them.
	timers sync.WaitGroup
}

// New makes an empty store at revision 1, where an etcd without any write stands.
func New(opts Options) (*DB, error) {
	opts, err := opts.complete()
	if err != nil {
		return nil, err
	}
	db := &DB{
		opts:   opts,
		index:  btree.NewG(degree, lessEntry),
		leases: map[LeaseID]*lease{},
	}
	db.rev.Store(firstRevision)
	return db, nil
}

// Revision is the revision of the last write, 1 when there was none.
func (db *DB) Revision() int64 { return db.rev.Load() }

// CompactRevision is the oldest revision that can still be read, 0 when nothing was compacted yet.
func (db *DB) CompactRevision() int64 {
	db.mu.RLock()
	defer db.mu.RUnlock()
	return db.compacted
}

// HistoryBytes is how much memory history takes, as Options.KeepBytes counts it.
func (db *DB) HistoryBytes() int64 {
	db.mu.RLock()
	defer db.mu.RUnlock()
	return db.logBytes
}

// Watchers is how many watchers run.
func (db *DB) Watchers() int {
	db.mu.RLock()
	defer db.mu.RUnlock()
	return len(db.watchers)
}

// Close ends every watcher with ErrClosed and every lease timer, and returns when none of them runs any more. Calls made
// later fail with ErrClosed. A second Close does nothing.
func (db *DB) Close() {
	db.mu.Lock()
	if !db.closed {
		db.closed = true
		for _, l := range db.leases {
			db.disarm(l)
		}
		for _, w := range slices.Clone(db.watchers) {
			db.removeWatcher(w)
			w.end(ErrClosed)
		}
	}
	db.mu.Unlock()
	db.timers.Wait()
}
