package drain_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/musterkube/muster/pkg/emulator/internal/drain"
)

const grace = 10 * time.Second

// handler counts requests with d: a path /watch is endless.
func handler(d *drain.Drain, serve http.HandlerFunc) http.Handler {
	refuse := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	return d.Handler(serve, refuse, func(r *http.Request) bool { return r.URL.Path == "/watch" })
}

func send(t *testing.T, h http.Handler, path string) int {
	t.Helper()
	recorder := httptest.NewRecorder()
	h.ServeHTTP(recorder, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
	return recorder.Code
}

// stop runs Stop, waits for the end, and returns how long it took.
func stop(d *drain.Drain) time.Duration {
	begin := time.Now() //nolint:forbidigo // the bubble's clock is the one to ask
	d.Stop(grace)
	d.Wait(2 * time.Hour)
	return time.Since(begin) //nolint:forbidigo // as above
}

func TestStop(t *testing.T) {
	cases := map[string]struct {
		path     string
		serve    http.HandlerFunc
		wantTook time.Duration
		wantErr  error
	}{
		"ends a watch at once": {
			path:    "/watch",
			serve:   func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
			wantErr: drain.ErrDrained,
		},
		"lets a short request finish": {
			path:     "/get",
			serve:    func(http.ResponseWriter, *http.Request) { time.Sleep(time.Second) }, //nolint:forbidigo // virtual time
			wantTook: time.Second,
		},
		"cancels what takes too long": {
			path:     "/get",
			serve:    func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
			wantTook: grace,
			wantErr:  drain.ErrDrained,
		},
		"waits for what does not heed its context": {
			path:     "/watch",
			serve:    func(http.ResponseWriter, *http.Request) { time.Sleep(time.Hour) }, //nolint:forbidigo // virtual time
			wantTook: time.Hour,
			wantErr:  drain.ErrDrained,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := drain.New()
				ended := make(chan error, 1)
				h := handler(d, func(w http.ResponseWriter, r *http.Request) {
					tc.serve(w, r)
					ended <- context.Cause(r.Context())
				})
				go send(t, h, tc.path)
				synctest.Wait()
				assert.Equal(t, tc.wantTook, stop(d))
				assert.ErrorIs(t, <-ended, tc.wantErr)
				assert.Zero(t, stop(d), "a second call finds nothing to do")
				assert.Equal(t, http.StatusServiceUnavailable, send(t, h, "/get"))
			})
		})
	}
}

func TestStopWithoutRequestsReturnsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		assert.Zero(t, stop(drain.New()))
	})
}

func TestRequestsThatPanicAreCountedOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := drain.New()
		h := handler(d, func(http.ResponseWriter, *http.Request) { panic("oh no") })
		assert.Panics(t, func() { send(t, h, "/get") })
		assert.Zero(t, stop(d))
	})
}

// blockedWriter is a writer whose client reads nothing.
type blockedWriter struct {
	http.ResponseWriter
	unblocked chan struct{}
}

func (w *blockedWriter) Write(data []byte) (int, error) {
	<-w.unblocked
	return len(data), nil
}

func (w *blockedWriter) Unblock() { close(w.unblocked) }

func TestWatchThatWaitsForItsReaderIsFreed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := drain.New()
		ended := false
		h := handler(d, func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte("event"))
			ended = true
		})
		writer := &blockedWriter{unblocked: make(chan struct{})}
		go h.ServeHTTP(writer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/watch", nil))
		synctest.Wait()
		assert.Zero(t, stop(d))
		assert.True(t, ended)
	})
}

func TestStopDoesNotWaitForWhatCannotBeEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := drain.New()
		proceed := make(chan struct{})
		go send(t, handler(d, func(http.ResponseWriter, *http.Request) { <-proceed }), "/get")
		synctest.Wait()
		d.Stop(grace)
		assert.False(t, d.Wait(time.Second))
		close(proceed)
		assert.True(t, d.Wait(time.Second))
	})
}
