package mvcc

import (
	"context"
	"sync"
)

// Watcher hands out the events of a span, each once and in order. Whoever made it takes events with Next, or with Ready
// and Take, from one goroutine at a time, and calls Stop when done.
type Watcher struct {
	db   *DB
	span Span
	// from is the first revision whose events are wanted.
	from int64
	// limit is how many events may wait; negative for no limit.
	limit int
	// limitBytes is how many bytes the events that wait may hold; negative for no limit.
	limitBytes int64
	// place is where the watcher stands in DB.watchers, -1 when it has left. It is guarded by DB.mu.
	place int
	// ready holds a token when there may be something to take.
	ready chan struct{}
	// done is closed when the watcher has ended.
	done chan struct{}

	// mu guards what follows; it is taken after DB.mu, if that is taken at all.
	mu    sync.Mutex
	queue []Event
	// held is how many bytes the events in queue hold.
	held int64
	err  error
}

// Watch follows the changes of a span from a revision on: those already made first, then those to come. 0 or less means
// from now on; a revision that has not come yet is waited for. It fails with ErrCompacted when events from there on may
// have been forgotten, and with ErrClosed.
func (db *DB) Watch(span Span, from int64) (*Watcher, error) {
	w := &Watcher{
		db: db, span: span, limit: db.opts.MaxPending, limitBytes: db.opts.MaxPendingBytes,
		ready: make(chan struct{}, 1), done: make(chan struct{}),
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	db.trimExpired()
	switch {
	case db.closed:
		return nil, ErrClosed
	case from <= 0:
		from = db.rev.Load() + 1
	case from < db.compacted:
		return nil, ErrCompacted
	}
	w.from = from
	for _, event := range db.log[db.firstEvent(from):] {
		if span.Contains(event.KV.Key) {
			w.enqueue(event)
		}
	}
	if len(w.queue) > 0 {
		w.signal()
	}
	// The past does not count against the limits: nobody could have taken it sooner.
	if w.limit >= 0 {
		w.limit += len(w.queue)
	}
	if w.limitBytes >= 0 {
		w.limitBytes += w.held
	}
	w.place = len(db.watchers)
	db.watchers = append(db.watchers, w)
	return w, nil
}

// removeWatcher takes a watcher out of the store, if it is there. The caller holds mu for writing.
func (db *DB) removeWatcher(w *Watcher) {
	if w.place < 0 {
		return
	}
	last := len(db.watchers) - 1
	moved := db.watchers[last]
	db.watchers[w.place], moved.place = moved, w.place
	db.watchers[last] = nil
	db.watchers = db.watchers[:last]
	w.place = -1
}

// From is the first revision whose events the watcher hands out.
func (w *Watcher) From() int64 { return w.from }

// Ready yields one token when there is something new to take: events, or the error that ended the watcher.
func (w *Watcher) Ready() <-chan struct{} { return w.ready }

// Done is closed when the watcher has ended; Take then says why.
func (w *Watcher) Done() <-chan struct{} { return w.done }

// Take returns the events that wait, without waiting for any, and the revision up to which the caller has now seen
// everything in the span. All events of one revision come together. The slice is the caller's. After the watcher has
// ended it returns ErrWatcherTooSlow, ErrRestored, ErrWatcherStopped or ErrClosed, every time, and what still waited is lost.
func (w *Watcher) Take() ([]Event, int64, error) {
	// Read before the queue: whatever was written up to here is in the queue already.
	seen := w.db.rev.Load()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return nil, 0, w.err
	}
	events := w.queue
	w.queue, w.held = nil, 0
	if len(events) > 0 {
		seen = max(seen, events[len(events)-1].KV.ModRevision)
	}
	return events, seen, nil
}

// Next waits until there are events and returns them. It fails as Take does, and with the context's error.
func (w *Watcher) Next(ctx context.Context) ([]Event, error) {
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-w.ready:
		case <-w.done:
		}
		// A token may outlive the events that it stood for.
		if events, _, err := w.Take(); len(events) > 0 || err != nil {
			return events, err
		}
	}
}

// Stop ends the watcher, if it has not ended by itself, and frees what it holds. It may be called from any goroutine and
// more than once.
func (w *Watcher) Stop() {
	w.db.mu.Lock()
	w.db.removeWatcher(w)
	w.db.mu.Unlock()
	w.end(ErrWatcherStopped)
}

// push queues those of a revision's events that concern the watcher. It returns false when it ended the watcher because
// too many wait. The caller holds DB.mu for writing.
func (w *Watcher) push(events []Event) bool {
	if events[0].KV.ModRevision < w.from {
		return true
	}
	first := 0
	for first < len(events) && !w.span.Contains(events[first].KV.Key) {
		first++
	}
	if first == len(events) {
		return true
	}
	w.mu.Lock()
	// One hold of the lock for the whole revision, so that Take never sees half of it.
	for _, event := range events[first:] {
		if w.span.Contains(event.KV.Key) {
			w.enqueue(event)
		}
	}
	tooSlow := w.limit >= 0 && len(w.queue) > w.limit || w.limitBytes >= 0 && w.held > w.limitBytes
	w.mu.Unlock()
	if tooSlow {
		w.end(ErrWatcherTooSlow)
		return false
	}
	w.signal()
	return true
}

// enqueue has an event wait. The caller holds mu, or is the only one to know the watcher.
func (w *Watcher) enqueue(event Event) {
	w.queue = append(w.queue, event)
	w.held += heldBytes(event) + int64(len(event.KV.Value))
}

// end records why the watcher takes part no more. The first reason stays.
func (w *Watcher) end(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return
	}
	w.err, w.queue, w.held = err, nil, 0
	close(w.done)
	w.signal()
}

func (w *Watcher) signal() {
	select {
	case w.ready <- struct{}{}:
	default:
	}
}
