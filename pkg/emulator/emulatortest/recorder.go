package emulatortest

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apiserver/pkg/endpoints/responsewriter"
	"k8s.io/utils/clock"
)

const (
	// lastRequests and lastWrites are how many requests of any kind, and how many of those that write, are kept.
	lastRequests = 40
	lastWrites   = 25
	// answerKept is how many bytes of an answer are kept: enough to reach the resource version of most objects.
	answerKept = 8 << 10
	// heartbeats is where kubelets renew their leases, of which there is no end and no news.
	heartbeats = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/"
)

// Recorder remembers the last requests to a server, and the last ones that wrote something for longer. Its methods may be
// called from any goroutine.
type Recorder struct {
	passOver []string

	mu       sync.Mutex
	count    int
	leases   int
	requests ring
	writes   ring
	reported bool
}

// request is one that has been made. The code is 0 until it is answered.
type request struct {
	number              int
	at                  time.Time
	method, path, query string
	agent               string
	code                int
	// answer is how the answer begins, of requests that write and of refusals.
	answer []byte
}

// NewRecorder returns a recorder that has seen nothing. Requests by clients whose user agent is among the names are passed
// over.
func NewRecorder(passOver ...string) *Recorder {
	return &Recorder{passOver: passOver, requests: newRing(lastRequests), writes: newRing(lastWrites)}
}

// Before returns a function for emulator.Options.WrapHandler that records what is asked of the handler which next makes of
// the server. Next may be nil.
func (r *Recorder) Before(next func(http.Handler) http.Handler) func(http.Handler) http.Handler {
	return func(handler http.Handler) http.Handler {
		if next != nil {
			handler = next(handler)
		}
		return r.record(handler)
	}
}

func (r *Recorder) record(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, asked *http.Request) {
		made := r.note(asked)
		if made == nil {
			handler.ServeHTTP(w, asked)
			return
		}
		answer := &answerWriter{ResponseWriter: w, recorder: r, request: made, writes: writes(asked.Method)}
		handler.ServeHTTP(responsewriter.WrapForHTTP1Or2(answer), asked)
	})
}

// note keeps a request as it comes in, so that one which is never answered is there, too.
func (r *Recorder) note(asked *http.Request) *request {
	if slices.Contains(r.passOver, asked.UserAgent()) {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if strings.HasPrefix(asked.URL.Path, heartbeats) {
		r.leases++
		return nil
	}
	r.count++
	made := &request{
		number: r.count, at: clock.RealClock{}.Now(), agent: asked.UserAgent(),
		method: asked.Method, path: asked.URL.Path, query: asked.URL.RawQuery,
	}
	r.requests.add(made)
	if writes(asked.Method) {
		r.writes.add(made)
	}
	return made
}

func writes(method string) bool { return method != http.MethodGet && method != http.MethodHead }

// Report writes what was last asked to the log of a test that has failed, once; of one that has not, nothing.
func (r *Recorder) Report(tb testing.TB) {
	tb.Helper()
	if !tb.Failed() {
		return
	}
	r.mu.Lock()
	before := r.reported
	r.reported = true
	r.mu.Unlock()
	if !before {
		tb.Log(r.String())
	}
}

// answerWriter passes an answer on and keeps its code and, where it is of interest, its beginning.
type answerWriter struct {
	http.ResponseWriter

	recorder *Recorder
	request  *request
	writes   bool
	// begun and keeps belong to the goroutine that answers.
	begun, keeps bool
}

var _ responsewriter.UserProvidedDecorator = (*answerWriter)(nil)

// Unwrap returns the writer below, for what this one does not do itself.
func (w *answerWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader keeps the code. Those below 200 are not yet the answer.
func (w *answerWriter) WriteHeader(code int) {
	if !w.begun && code >= http.StatusOK {
		w.begun, w.keeps = true, w.writes || code >= http.StatusBadRequest
		w.recorder.mu.Lock()
		w.request.code = code
		w.recorder.mu.Unlock()
	}
	w.ResponseWriter.WriteHeader(code)
}

// Write keeps the beginning of the body.
func (w *answerWriter) Write(body []byte) (int, error) {
	if !w.begun {
		w.WriteHeader(http.StatusOK)
	}
	if w.keeps {
		w.recorder.mu.Lock()
		room := answerKept - len(w.request.answer)
		w.request.answer = append(w.request.answer, body[:min(room, len(body))]...)
		w.recorder.mu.Unlock()
		w.keeps = room > len(body)
	}
	return w.ResponseWriter.Write(body)
}

// ring holds the last so many requests.
type ring struct {
	requests []*request
	next     int
}

func newRing(size int) ring { return ring{requests: make([]*request, 0, size)} }

func (r *ring) add(made *request) {
	if len(r.requests) < cap(r.requests) {
		r.requests = append(r.requests, made)
		return
	}
	r.requests[r.next] = made
	r.next = (r.next + 1) % len(r.requests)
}
