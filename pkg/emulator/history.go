package emulator

import (
	"time"

	"github.com/musterkube/muster/pkg/emulator/internal/mvcc"
)

// History bounds what a server remembers beside the present state of its objects. Whoever asks for what is forgotten gets
// 410 Gone, as from a kube-apiserver whose etcd was compacted, and has to list again. The zero value works.
//
// In memory, history is bounded by number and size by default and not by age, so that what a test sees does not depend on
// how long it was held up, by a debugger or by an hour of virtual time that nothing filled. Set Age to have it forgotten
// as a cluster does. Server.Compact forgets all of it at once.
type History struct {
	// Events is how many changes of objects are remembered, at least; a quarter more, at most. The default 0 means 50,000;
	// a negative number means any number.
	Events int
	// Bytes is how much memory the versions that were replaced or deleted may take, up to a quarter more, though the
	// last change is always remembered. The default 0 means 128 MiB; a negative number means any amount.
	Bytes int64
	// Age is after what time a change is forgotten, or up to an eighth later: at the next write, or when the next watch
	// begins. The default 0 means never in memory, and five minutes in an etcd cluster, as with
	// --etcd-compaction-interval of a kube-apiserver. A negative age means never in either.
	Age time.Duration

	// Backlog is how many events may wait for one watcher that does not take them, beside those that lay in the past when
	// it began. Further ones end the watch with 410 Gone; no writer ever waits for a watcher. The default 0 means 50,000; a
	// negative number means any number.
	Backlog int
	// BacklogBytes is how much memory these events may take. Watchers that wait for the same events share it. The
	// default 0 means 128 MiB; a negative number means any amount.
	BacklogBytes int64
}

// store returns the options of a store in memory.
func (h History) store() mvcc.Options {
	return mvcc.Options{
		KeepEvents: h.Events, KeepBytes: h.Bytes, KeepFor: max(0, h.Age), MaxPending: h.Backlog, MaxPendingBytes: h.BacklogBytes,
	}
}
