package emulator

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"sync"
	"time"

	"github.com/go-logr/logr"
)

const (
	// headerTimeout is how long a client may take to send its header, as with a kube-apiserver.
	headerTimeout = 32 * time.Second
	// closeGrace is how long connections may take to close when every request has ended.
	closeGrace = time.Second
)

// doors are the addresses at which a server listens.
type doors struct {
	// anywhere lets doors be open to other machines.
	anywhere bool

	mu        sync.Mutex
	closed    bool
	authority *authority
	open      []*door
}

// door is one of them.
type door struct {
	url    string
	server *http.Server
	// served is closed when the goroutine that accepts connections has ended.
	served chan struct{}
}

// Listen opens a door for clients outside the process and returns its URL: TLS with HTTP/2 on a loopback address such as
// 127.0.0.1:0, where port 0 takes a free one. Requests need a bearer token. The certificate is signed by an authority
// of this server's own; WriteKubeconfig writes down all that a client needs.
//
// The context bounds the call alone: the door closes with Stop. Other addresses than loopback ones are refused, for the
// server is made for tests, unless Options.ListenBeyondLoopback says otherwise. The certificate is then for the host of
// the address, or, if that is left out or means all addresses (0.0.0.0, ::), for the name and all addresses of this
// machine; the URL, which is for clients on this machine, has a loopback address in that case. Listen may be called
// again, for another address. In a testing/synctest bubble it is refused: the bubble's time would stand still while
// anything waits for a socket, which a server that listens always does.
func (s *Server) Listen(ctx context.Context, address string) (string, error) {
	fail := func(err error) (string, error) { return "", fmt.Errorf("listening at %q: %w", address, err) }
	if err := checkAddress(address, s.doors.anywhere); err != nil {
		return fail(err)
	}
	if inBubble() {
		return fail(errors.New("there can be no sockets in a testing/synctest bubble, whose time they would stop: " +
			"take clients from Server.Config, or start the server in a test in real time"))
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return fail(err)
	}
	opened, err := s.doors.add(listener, address, s.handler, s.logger)
	if err != nil {
		_ = listener.Close()
		return fail(err)
	}
	return opened.url, nil
}

// inBubble reports whether the caller is in a testing/synctest bubble. Only the first line of its stack tells: it reads
// "goroutine 7 [running, synctest bubble 1]:".
func inBubble() bool {
	stack := make([]byte, 128)
	header, _, _ := bytes.Cut(stack[:runtime.Stack(stack, false)], []byte("\n"))
	return bytes.Contains(header, []byte("synctest bubble"))
}

// checkAddress refuses addresses that another machine could reach, unless anywhere is fine. A host that is left out means
// all of them.
func checkAddress(address string, anywhere bool) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("want HOST:PORT: %w", err)
	}
	if host == "localhost" || anywhere {
		return nil
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return errors.New("want a loopback address, such as 127.0.0.1:0: this server is for tests and must not be reachable " +
			"from elsewhere, unless Options.ListenBeyondLoopback says so")
	}
	return nil
}

// add serves handler on listener, which was opened at an address.
func (d *doors) add(listener net.Listener, at string, handler http.Handler, logger logr.Logger) (*door, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, ErrStopped
	}
	address, ok := listener.Addr().(*net.TCPAddr)
	if !ok || !address.IP.IsLoopback() && !d.anywhere {
		return nil, fmt.Errorf("the address turned out to be %s, which is no loopback address", listener.Addr())
	}
	if d.authority == nil {
		made, err := newAuthority()
		if err != nil {
			return nil, err
		}
		d.authority = made
	}
	named, err := namesOf(at, address)
	if err != nil {
		return nil, err
	}
	certificate, err := d.authority.serving(named.hosts, named.ips)
	if err != nil {
		return nil, err
	}
	server, err := newHTTPServer(handler, certificate, logger)
	if err != nil {
		return nil, err
	}
	opened := &door{url: named.url, served: make(chan struct{}), server: server}
	go func() {
		defer close(opened.served)
		// The error is always that the server was closed, or that accepting failed for good; clients notice.
		_ = opened.server.ServeTLS(listener, "", "")
	}()
	d.open = append(d.open, opened)
	return opened, nil
}

// last returns the URL of the door opened last and the certificate of its authority, if there is one.
func (d *doors) last() (url string, authority []byte, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.open) == 0 {
		return "", nil, false
	}
	return d.open[len(d.open)-1].url, d.authority.pem(), true
}

// close closes the doors and their connections. Every request has ended by then.
func (d *doors) close(ctx context.Context) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	ctx, cancel := context.WithTimeout(ctx, closeGrace)
	defer cancel()
	for _, open := range d.open {
		if open.server.Shutdown(ctx) != nil {
			_ = open.server.Close()
		}
		<-open.served
	}
}
