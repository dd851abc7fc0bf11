package transport

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"strconv"
	"sync"
	"syscall"
	"time"

	"k8s.io/utils/clock"
)

// ErrStopped is returned for a request that comes after Stop, and for one that Stop cut off. It counts as a refused
// connection, which client-go's reflectors answer by waiting and trying again rather than by failing.
var ErrStopped error = stoppedError{}

type stoppedError struct{}

func (stoppedError) Error() string { return "the API server emulator has been stopped" }

// Unwrap makes utilnet.IsConnectionRefused true: to a client, a stopped server is one that nobody listens at.
func (stoppedError) Unwrap() error { return syscall.ECONNREFUSED }

// HandlerTransport is an http.RoundTripper that calls a handler. It is safe for use by many goroutines.
type HandlerTransport struct {
	handler http.Handler
	stop    context.Context //nolint:containedctx // the life of the transport, which spans many requests
	cancel  context.CancelCauseFunc

	mu      sync.Mutex
	refuse  bool
	running sync.WaitGroup // handlers; added to under mu and only while refuse is false
}

var _ http.RoundTripper = (*HandlerTransport)(nil)

// New returns a transport whose requests handler answers, until ctx ends or Stop is called.
func New(ctx context.Context, handler http.Handler) *HandlerTransport {
	t := &HandlerTransport{handler: handler}
	t.stop, t.cancel = context.WithCancelCause(ctx)
	return t
}

// Refuse makes the transport answer new requests with ErrStopped. Those under way go on.
func (t *HandlerTransport) Refuse() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.refuse = true
}

// Settle refuses new requests and waits until the handlers of those under way have returned, for as long as timeout. An
// answer that is complete but for its end is not cut off by a Stop that comes after it.
func (t *HandlerTransport) Settle(timeout time.Duration) {
	t.Refuse()
	settled := make(chan struct{})
	go func() {
		t.running.Wait()
		close(settled)
	}()
	timer := clock.RealClock{}.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-settled:
	case <-timer.C():
	}
}

// Stop refuses new requests, cancels those under way and returns when their handlers have. It may be called again.
func (t *HandlerTransport) Stop() {
	t.Refuse()
	t.cancel(ErrStopped)
	t.running.Wait()
}

// begin counts a handler in, unless the transport takes no more of them.
func (t *HandlerTransport) begin() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.refuse {
		return ErrStopped
	}
	if t.stop.Err() != nil {
		return context.Cause(t.stop)
	}
	t.running.Add(1)
	return nil
}

// RoundTrip calls the handler and returns as soon as it has written its header; the body streams from then on. As the
// interface demands, the request is not changed and its body is always closed, possibly after RoundTrip returned.
func (t *HandlerTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	body := onceBody(request.Body)
	if err := request.Context().Err(); err != nil {
		_ = body.Close()
		return nil, err
	}
	if err := t.begin(); err != nil {
		_ = body.Close()
		return nil, err
	}

	ctx, cancel := context.WithCancelCause(request.Context())
	unhook := context.AfterFunc(t.stop, func() { cancel(context.Cause(t.stop)) })
	writer := newResponseWriter(ctx, request.Method)
	// A handler blocked on a body that never ends, or on a reader that never reads, is freed by the context.
	context.AfterFunc(ctx, func() {
		_ = body.Close()
		writer.pipe.abort(context.Cause(ctx))
	})

	go func() {
		defer t.running.Done()
		defer unhook()
		defer func() { _ = body.Close() }()
		serve(t.handler, writer, serverRequest(ctx, request, body))
	}()

	select {
	case <-writer.ready:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if writer.failed != nil {
		cancel(nil)
		return nil, writer.failed
	}
	return writer.response(request, cancel), nil
}

// serve runs the handler and ends the response, however the handler ends: by return, panic or runtime.Goexit.
func serve(handler http.Handler, writer *responseWriter, request *http.Request) {
	returned := false
	defer func() {
		fault := recover()
		err, _ := fault.(error)
		switch {
		case returned:
			// A handler that returns because the request is over has not completed its answer.
			writer.finish(context.Cause(request.Context()))
		case fault == nil || errors.Is(err, http.ErrAbortHandler):
			writer.finish(fmt.Errorf("handler aborted the response: %w", http.ErrAbortHandler))
		default:
			writer.finish(fmt.Errorf("handler panicked: %v", fault))
		}
	}()
	handler.ServeHTTP(writer, request)
	returned = true
}

// serverRequest is the request as an HTTP/2 server hands it to its handler.
func serverRequest(ctx context.Context, request *http.Request, body *closeOnce) *http.Request {
	served := request.Clone(ctx)
	served.RequestURI = request.URL.RequestURI()
	served.Proto, served.ProtoMajor, served.ProtoMinor = "HTTP/2.0", 2, 0
	served.RemoteAddr = "127.0.0.1:0"
	served.Body = body
	served.GetBody = nil
	if served.Host == "" {
		served.Host = request.URL.Host
	}
	served.URL.Scheme, served.URL.Host, served.URL.User = "", "", nil
	if served.Header == nil {
		served.Header = http.Header{}
	}
	if _, set := served.Header["User-Agent"]; !set {
		served.Header.Set("User-Agent", "Go-http-client/2.0")
	}
	return served
}

// inform passes a 1xx response to the client's trace, which is the only one to see it.
func inform(ctx context.Context, code int, header http.Header) {
	if trace := httptrace.ContextClientTrace(ctx); trace != nil && trace.Got1xxResponse != nil {
		// The hook's error would abort the request; no caller of this transport returns one.
		_ = trace.Got1xxResponse(code, textproto.MIMEHeader(header))
	}
}

// contentLength is what the header says, or -1 when it says nothing.
func contentLength(header http.Header) int64 {
	length, err := strconv.ParseInt(header.Get("Content-Length"), 10, 64)
	if err != nil || length < 0 {
		return -1
	}
	return length
}
