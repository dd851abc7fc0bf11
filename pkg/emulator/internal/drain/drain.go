package drain

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// ErrDrained is the cause with which requests are cancelled.
var ErrDrained = errors.New("the server is stopping")

// Drain counts the requests of a server. It is safe for use by many goroutines.
type Drain struct {
	mu       sync.Mutex
	stopping bool
	running  map[*request]struct{}
	// idle is closed when the server is stopping and the last request has ended.
	idle     chan struct{}
	idleOnce sync.Once
}

// Unblocker is a response writer that can be told to wait for its reader no more.
type Unblocker interface {
	// Unblock makes present and future writes return without waiting. It may be called while another goroutine writes.
	Unblock()
}

// request is one that is under way.
type request struct {
	endless bool
	writer  http.ResponseWriter
	cancel  context.CancelCauseFunc
}

// New returns a Drain that lets requests in.
func New() *Drain {
	return &Drain{running: map[*request]struct{}{}, idle: make(chan struct{})}
}

// Handler counts the requests that pass to next. It sends those that come after Stop to refused. Endless tells which
// requests end only by being cancelled.
func (d *Drain) Handler(next, refused http.Handler, endless func(*http.Request) bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithCancelCause(r.Context())
		defer cancel(nil)
		current := &request{endless: endless(r), writer: w, cancel: cancel}
		if !d.begin(current) {
			refused.ServeHTTP(w, r)
			return
		}
		defer d.end(current)
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// Stop refuses new requests, ends endless ones, waits up to grace for the others to finish, and cancels what is left. It
// does not wait for those: they may wait for a client.
func (d *Drain) Stop(grace time.Duration) {
	d.mu.Lock()
	d.stopping = true
	d.mu.Unlock()

	d.cancel(func(r *request) bool { return r.endless })
	if !d.Wait(grace) {
		d.cancel(func(*request) bool { return true })
	}
}

// Wait waits until every request has ended after Stop, for as long as timeout, and tells whether they have.
func (d *Drain) Wait(timeout time.Duration) bool {
	timer := clock.RealClock{}.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-d.idle:
		return true
	case <-timer.C():
		return false
	}
}

func (d *Drain) begin(r *request) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stopping {
		return false
	}
	d.running[r] = struct{}{}
	return true
}

func (d *Drain) end(r *request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.running, r)
	d.noteIdle()
}

// cancel cancels the requests that match, and notes it if there are none at all.
func (d *Drain) cancel(match func(*request) bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for r := range d.running {
		if !match(r) {
			continue
		}
		r.cancel(ErrDrained)
		if writer, ok := r.writer.(Unblocker); ok {
			writer.Unblock()
		}
	}
	d.noteIdle()
}

// noteIdle closes idle when its time has come. The caller holds the lock.
func (d *Drain) noteIdle() {
	if d.stopping && len(d.running) == 0 {
		d.idleOnce.Do(func() { close(d.idle) })
	}
}
