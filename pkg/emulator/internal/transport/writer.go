package transport

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"sync"
)

// responseWriter is the handler's end of one response. As with net/http, one goroutine writes at a time.
type responseWriter struct {
	ctx    context.Context //nolint:containedctx // of the one request that the writer answers
	method string
	header http.Header
	pipe   *pipe

	wrote bool
	// Set before ready is closed, never after.
	code   int
	sent   http.Header
	failed error
	ready  chan struct{}
}

var (
	_ http.Flusher = (*responseWriter)(nil)
	// The API server takes a writer for a streaming one only if it can do this too.
	_ http.CloseNotifier = (*responseWriter)(nil) //nolint:staticcheck // deprecated, and still asked for
)

func newResponseWriter(ctx context.Context, method string) *responseWriter {
	return &responseWriter{ctx: ctx, method: method, header: http.Header{}, pipe: newPipe(), ready: make(chan struct{})}
}

func (w *responseWriter) Header() http.Header { return w.header }

func (w *responseWriter) WriteHeader(code int) {
	switch {
	case w.wrote:
		return
	case code >= 100 && code < 200 && code != http.StatusSwitchingProtocols:
		inform(w.ctx, code, w.header.Clone())
		return
	}
	w.wrote = true
	w.code = code
	w.sent = w.header.Clone()
	close(w.ready)
}

func (w *responseWriter) Write(data []byte) (int, error) {
	if !w.wrote {
		if _, set := w.header["Content-Type"]; !set && w.header.Get("Content-Encoding") == "" && len(data) > 0 {
			w.header.Set("Content-Type", http.DetectContentType(data))
		}
		w.WriteHeader(http.StatusOK)
	}
	if !bodyAllowed(w.code) {
		return 0, http.ErrBodyNotAllowed
	}
	if w.method == http.MethodHead {
		return len(data), nil
	}
	return w.pipe.write(data), nil
}

// Flush sends the header if that has not happened; the body is never held back.
func (w *responseWriter) Flush() {
	if !w.wrote {
		w.WriteHeader(http.StatusOK)
	}
}

// Unblock makes writes wait no longer for a reader that is behind: for a handler that is to end, and still has a little
// to say. The reader gets all of it.
func (w *responseWriter) Unblock() { w.pipe.unblock() }

// CloseNotify returns a channel that receives a value when the client is gone.
func (w *responseWriter) CloseNotify() <-chan bool {
	gone := make(chan bool, 1)
	context.AfterFunc(w.ctx, func() { gone <- true })
	return gone
}

// finish ends the response: well, or with an error that the client gets in place of a header or after the body so far.
func (w *responseWriter) finish(err error) {
	switch {
	case err != nil && !w.wrote:
		w.wrote = true
		w.failed = err
		close(w.ready)
	case err == nil && !w.wrote:
		w.WriteHeader(http.StatusOK)
	}
	w.pipe.closeWrite(err)
}

// response is the client's end. cancel ends the handler's context.
func (w *responseWriter) response(request *http.Request, cancel context.CancelCauseFunc) *http.Response {
	response := &http.Response{
		Status:        strconv.Itoa(w.code) + " " + http.StatusText(w.code),
		StatusCode:    w.code,
		Proto:         "HTTP/2.0",
		ProtoMajor:    2,
		Header:        w.sent,
		Body:          &responseBody{pipe: w.pipe, cancel: cancel},
		ContentLength: contentLength(w.sent),
		Request:       request,
	}
	if !bodyAllowed(w.code) {
		response.ContentLength = 0
	}
	return response
}

// bodyAllowed tells whether a response of this status may have a body (RFC 9110, section 6.4.1).
func bodyAllowed(code int) bool {
	return code >= 200 && code != http.StatusNoContent && code != http.StatusNotModified
}

// responseBody is what the client reads. Reading it to the end or closing it frees the request's context.
type responseBody struct {
	pipe   *pipe
	cancel context.CancelCauseFunc
}

func (b *responseBody) Read(data []byte) (int, error) {
	n, err := b.pipe.read(data)
	if err != nil {
		b.cancel(nil)
	}
	return n, err
}

func (b *responseBody) Close() error {
	b.pipe.closeRead()
	b.cancel(nil)
	return nil
}

// closeOnce is a request body that may be closed by the handler's end and by the context, whichever comes first.
type closeOnce struct {
	io.Reader
	once  sync.Once
	close func() error
}

func onceBody(body io.ReadCloser) *closeOnce {
	if body == nil {
		body = http.NoBody
	}
	return &closeOnce{Reader: body, close: body.Close}
}

func (c *closeOnce) Close() error {
	var err error
	c.once.Do(func() { err = c.close() })
	return err
}
