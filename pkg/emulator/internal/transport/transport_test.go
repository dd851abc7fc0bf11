package transport_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/musterkube/muster/pkg/emulator/internal/transport"
)

// start returns a client of handler, and the transport behind it, which is stopped with the test.
func start(t *testing.T, handler http.HandlerFunc) (*http.Client, *transport.HandlerTransport) {
	t.Helper()
	tr := transport.New(t.Context(), handler)
	t.Cleanup(tr.Stop)
	return &http.Client{Transport: tr}, tr
}

// do sends one request and returns the response, whose body is closed with the test.
func do(t *testing.T, client *http.Client, request *http.Request) *http.Response {
	t.Helper()
	response, err := client.Do(request)
	require.NoError(t, err)
	t.Cleanup(func() { _ = response.Body.Close() })
	return response
}

func get(t *testing.T, ctx context.Context, client *http.Client) *http.Response { //nolint:revive // t first, as in testify
	t.Helper()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://muster.invalid/a/b?c=d", nil)
	require.NoError(t, err)
	return do(t, client, request)
}

func TestRequestArrivesAsAnHTTP2ServerPresentsIt(t *testing.T) {
	client, _ := start(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		_, _ = fmt.Fprintf(w, "%s %s %s %q host=%s path=%s query=%s ua=%s scheme=%q", r.Method, r.RequestURI, r.Proto, body,
			r.Host, r.URL.Path, r.URL.RawQuery, r.UserAgent(), r.URL.Scheme)
		r.Header.Set("X-Mine", "changed by the server")
	})
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://muster.invalid/a/b?c=d", strings.NewReader("hello"))
	require.NoError(t, err)
	request.Header.Set("X-Mine", "the client's")

	response := do(t, client, request)
	body, err := io.ReadAll(response.Body)

	require.NoError(t, err)
	assert.Equal(t, `POST /a/b?c=d HTTP/2.0 "hello" host=muster.invalid path=/a/b query=c=d ua=Go-http-client/2.0 scheme=""`, string(body))
	assert.Equal(t, "the client's", request.Header.Get("X-Mine"), "a RoundTripper must not change the request")
	assert.Equal(t, "200 OK", response.Status)
	assert.Equal(t, 2, response.ProtoMajor)
	assert.Equal(t, int64(-1), response.ContentLength)
	assert.Equal(t, "text/plain; charset=utf-8", response.Header.Get("Content-Type"))
}

func TestBodyStreamsWhileTheHandlerRuns(t *testing.T) {
	more := make(chan string)
	client, _ := start(t, func(w http.ResponseWriter, _ *http.Request) {
		w.(http.Flusher).Flush()
		for line := range more {
			_, _ = io.WriteString(w, line+"\n")
		}
	})
	response := get(t, t.Context(), client)
	lines := bufio.NewScanner(response.Body)
	for _, want := range []string{"one", "two", "three"} {
		more <- want
		require.True(t, lines.Scan())
		assert.Equal(t, want, lines.Text())
	}
	close(more)
	assert.False(t, lines.Scan())
	assert.NoError(t, lines.Err(), "the handler ended well")
}

func TestHeaderIsFixedOnceWritten(t *testing.T) {
	client, _ := start(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Early", "yes")
		w.Header().Set("Content-Length", "2")
		w.WriteHeader(http.StatusCreated)
		w.WriteHeader(http.StatusTeapot)
		w.Header().Set("X-Late", "yes")
		_, _ = io.WriteString(w, "ok")
	})
	response := get(t, t.Context(), client)
	assert.Equal(t, http.StatusCreated, response.StatusCode)
	assert.Equal(t, "yes", response.Header.Get("X-Early"))
	assert.Empty(t, response.Header.Get("X-Late"))
	assert.Equal(t, int64(2), response.ContentLength)
}

func TestResponsesWithoutABody(t *testing.T) {
	cases := map[string]struct {
		method  string
		code    int
		wantErr error
	}{
		"HEAD drops the body":          {method: http.MethodHead, code: http.StatusOK},
		"204 refuses a body":           {method: http.MethodGet, code: http.StatusNoContent, wantErr: http.ErrBodyNotAllowed},
		"304 refuses a body":           {method: http.MethodGet, code: http.StatusNotModified, wantErr: http.ErrBodyNotAllowed},
		"204 to HEAD refuses one, too": {method: http.MethodHead, code: http.StatusNoContent, wantErr: http.ErrBodyNotAllowed},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			wrote := make(chan error, 1)
			client, _ := start(t, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(tc.code)
				_, err := io.WriteString(w, "body")
				wrote <- err
			})
			request, err := http.NewRequestWithContext(t.Context(), tc.method, "https://muster.invalid/", nil)
			require.NoError(t, err)
			response := do(t, client, request)
			body, err := io.ReadAll(response.Body)
			require.NoError(t, err)
			assert.Empty(t, body)
			assert.Equal(t, tc.code, response.StatusCode)
			assert.ErrorIs(t, <-wrote, tc.wantErr)
		})
	}
}

func TestInformationalResponsesGoToTheTrace(t *testing.T) {
	client, _ := start(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Link", "</a>")
		w.WriteHeader(http.StatusEarlyHints)
		w.WriteHeader(http.StatusAccepted)
	})
	var hints []string
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{Got1xxResponse: func(code int, header textproto.MIMEHeader) error {
		hints = append(hints, fmt.Sprint(code, header.Get("Link")))
		return nil
	}})
	response := get(t, ctx, client)
	assert.Equal(t, http.StatusAccepted, response.StatusCode)
	assert.Equal(t, []string{"103</a>"}, hints)
}

func TestHandlerThatWritesNothingAnswers200(t *testing.T) {
	client, _ := start(t, func(http.ResponseWriter, *http.Request) {})
	response := get(t, t.Context(), client)
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	assert.Equal(t, http.StatusOK, response.StatusCode)
	assert.Empty(t, body)
}

func TestClosingTheBodyCancelsTheRequest(t *testing.T) {
	ended := make(chan error, 1)
	notified := make(chan bool, 1)
	client, _ := start(t, func(w http.ResponseWriter, r *http.Request) {
		gone := w.(http.CloseNotifier).CloseNotify() //nolint:staticcheck // what is tested
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		ended <- r.Context().Err()
		notified <- <-gone
	})
	response := get(t, t.Context(), client)
	require.NoError(t, response.Body.Close())
	assert.ErrorIs(t, <-ended, context.Canceled)
	assert.True(t, <-notified)
	_, err := response.Body.Read(make([]byte, 1))
	assert.ErrorContains(t, err, "closed response body")
}

func TestCancellingTheContextEndsBothSides(t *testing.T) {
	ended := make(chan struct{})
	client, _ := start(t, func(w http.ResponseWriter, r *http.Request) {
		defer close(ended)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancel(t.Context())
	response := get(t, ctx, client)
	cancel()
	_, err := response.Body.Read(make([]byte, 1))
	assert.ErrorIs(t, err, context.Canceled)
	<-ended
}

func TestCancelledBeforeTheHeader(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	client, _ := start(t, func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://muster.invalid/", nil)
	require.NoError(t, err)
	_, err = client.Do(request) //nolint:bodyclose // there is none
	assert.ErrorIs(t, err, context.Canceled)
	_, err = client.Do(request) //nolint:bodyclose // there is none
	assert.ErrorIs(t, err, context.Canceled, "a request that is over before it begins does not reach the handler")
}

func TestSlowReaderMakesTheWriterWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var written atomic.Int64
		tr := transport.New(t.Context(), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			for range 64 {
				n, err := w.Write(make([]byte, 64<<10))
				assert.NoError(t, err)
				written.Add(int64(n))
			}
		}))
		defer tr.Stop()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://muster.invalid/", nil)
		require.NoError(t, err)
		response, err := tr.RoundTrip(request)
		require.NoError(t, err)
		defer func() { _ = response.Body.Close() }()

		synctest.Wait()
		assert.Equal(t, int64(256<<10), written.Load(), "the writer stops at the high-water mark")
		n, err := io.Copy(io.Discard, response.Body)
		require.NoError(t, err)
		assert.Equal(t, int64(4<<20), n)
	})
}

func TestUnblockedWriterDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		writers := make(chan http.ResponseWriter, 1)
		ended := make(chan struct{})
		tr := transport.New(t.Context(), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			defer close(ended)
			writers <- w
			for range 64 {
				_, _ = w.Write(make([]byte, 64<<10))
			}
		}))
		defer tr.Stop()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://muster.invalid/", nil)
		require.NoError(t, err)
		response, err := tr.RoundTrip(request)
		require.NoError(t, err)
		defer func() { _ = response.Body.Close() }()
		synctest.Wait()
		(<-writers).(interface{ Unblock() }).Unblock()
		<-ended
		n, err := io.Copy(io.Discard, response.Body)
		require.NoError(t, err)
		assert.Equal(t, int64(4<<20), n)
	})
}

func TestWritesToAReaderThatLeftAreDropped(t *testing.T) {
	client, tr := start(t, func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		for range 64 {
			n, err := w.Write(make([]byte, 64<<10))
			assert.NoError(t, err, "or the API server logs a fault for each client that goes away")
			assert.Equal(t, 64<<10, n)
		}
	})
	require.NoError(t, get(t, t.Context(), client).Body.Close())
	tr.Stop()
}

func TestPanicsReachTheClientAsErrors(t *testing.T) {
	cases := map[string]struct {
		fault   func()
		wantErr string
	}{
		"a panic":          {fault: func() { panic("oh no") }, wantErr: "handler panicked: oh no"},
		"an aborted one":   {fault: func() { panic(http.ErrAbortHandler) }, wantErr: "net/http: abort Handler"},
		"a goroutine exit": {fault: runtime.Goexit, wantErr: "net/http: abort Handler"},
	}
	for name, tc := range cases {
		t.Run(name+" before the header", func(t *testing.T) {
			client, _ := start(t, func(http.ResponseWriter, *http.Request) { tc.fault() })
			_, err := client.Get("https://muster.invalid/") //nolint:bodyclose,noctx // there is none
			assert.ErrorContains(t, err, tc.wantErr)
		})
		t.Run(name+" after part of the body", func(t *testing.T) {
			client, _ := start(t, func(w http.ResponseWriter, _ *http.Request) {
				_, _ = io.WriteString(w, "part")
				tc.fault()
			})
			response := get(t, t.Context(), client)
			body, err := io.ReadAll(response.Body)
			assert.Equal(t, "part", string(body))
			assert.ErrorContains(t, err, tc.wantErr)
		})
	}
}

func TestRequestBodyIsAlwaysClosed(t *testing.T) {
	cases := map[string]struct {
		handler http.HandlerFunc
		before  func(*transport.HandlerTransport)
	}{
		"unread":          {handler: func(http.ResponseWriter, *http.Request) {}},
		"read and closed": {handler: func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body); _ = r.Body.Close() }},
		"panic":           {handler: func(http.ResponseWriter, *http.Request) { panic("oh no") }},
		"stopped":         {before: func(tr *transport.HandlerTransport) { tr.Stop() }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tr := transport.New(t.Context(), tc.handler)
			if tc.before != nil {
				tc.before(tr)
			}
			body := &closeCounter{Reader: strings.NewReader("body")}
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://muster.invalid/", body)
			require.NoError(t, err)
			if response, err := tr.RoundTrip(request); err == nil {
				_ = response.Body.Close()
			}
			tr.Stop()
			assert.Equal(t, int64(1), body.closed.Load())
		})
	}
}

type closeCounter struct {
	io.Reader
	closed atomic.Int64
}

func (c *closeCounter) Close() error { c.closed.Add(1); return nil }

func TestManyRequestsAtOnce(t *testing.T) {
	client, _ := start(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) })
	payload := bytes.Repeat([]byte("0123456789abcdef"), 40<<10)
	errs := make(chan error)
	for range 16 {
		go func() {
			errs <- func() error {
				response, err := client.Post("https://muster.invalid/", "application/octet-stream", bytes.NewReader(payload)) //nolint:noctx // a test's
				if err != nil {
					return err
				}
				defer func() { _ = response.Body.Close() }()
				body, err := io.ReadAll(response.Body)
				if err == nil && !bytes.Equal(body, payload) {
					err = errors.New("the echo differs")
				}
				return err
			}()
		}()
	}
	for range 16 {
		assert.NoError(t, <-errs)
	}
}
