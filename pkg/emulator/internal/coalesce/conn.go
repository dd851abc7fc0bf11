package coalesce

import (
	"crypto/tls"
	"net"
	"runtime"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

const (
	// limit is how many bytes may wait to be sent. Who writes more waits with them.
	limit = 256 << 10
	// keep is how large a buffer is that is used again.
	keep = 64 << 10
	// closeGrace is how long Close lets what has been written be sent.
	closeGrace = time.Second
)

// Conn is a TLS connection that sends in pieces as large as come together. Its methods may be called from any goroutine.
// A write that fails is told of by the next one, and by Close.
type Conn struct {
	*tls.Conn

	mu      sync.Mutex
	changed sync.Cond // of pending, closed and err
	pending []byte
	closed  bool
	err     error
	// sent is closed when nothing is going to be sent any more.
	sent chan struct{}
}

// New returns a connection that sends on conn, and that has to be closed in its place.
func New(conn *tls.Conn) *Conn {
	c := &Conn{Conn: conn, sent: make(chan struct{})}
	c.changed.L = &c.mu
	go c.send()
	return c
}

// Write implements net.Conn. It returns when data is on its way, before it has been sent.
func (c *Conn) Write(data []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.pending) >= limit && c.err == nil && !c.closed {
		c.changed.Wait()
	}
	switch {
	case c.err != nil:
		return 0, c.err
	case c.closed:
		return 0, net.ErrClosed
	}
	if c.pending = append(c.pending, data...); len(c.pending) == len(data) {
		c.changed.Broadcast()
	}
	return len(data), nil
}

// Close sends what was written and closes the connection. A peer that takes nothing holds it up for a second.
func (c *Conn) Close() error {
	c.mu.Lock()
	c.closed = true
	c.changed.Broadcast()
	c.mu.Unlock()
	_ = c.SetWriteDeadline(clock.RealClock{}.Now().Add(closeGrace)) // if it cannot be set, nothing can be sent either
	<-c.sent
	err := c.Conn.Close()
	if c.err != nil {
		return c.err
	}
	return err
}

// send sends until the connection is closed or broken.
func (c *Conn) send() {
	defer close(c.sent)
	var spare []byte
	for {
		data := c.next(spare)
		if len(data) == 0 {
			return
		}
		if _, err := c.Conn.Write(data); err != nil {
			c.fail(err)
			return
		}
		spare = data[:0]
		if cap(spare) > keep {
			spare = nil
		}
	}
}

// next waits for something to send and returns it, nothing when the connection has been closed. Others write to empty
// meanwhile.
func (c *Conn) next(empty []byte) []byte {
	c.mu.Lock()
	for len(c.pending) == 0 && !c.closed {
		c.changed.Wait()
	}
	c.mu.Unlock()
	runtime.Gosched() // for others who are about to write
	c.mu.Lock()
	defer c.mu.Unlock()
	data := c.pending
	c.pending = empty
	if len(data) >= limit {
		c.changed.Broadcast()
	}
	return data
}

// fail has writes return an error from now on.
func (c *Conn) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = err
	c.changed.Broadcast()
}
