package transport

import (
	"errors"
	"io"
	"sync"
)

// highWater is how many unread bytes make a writer wait. One write may go over it, so a big object never waits for
// itself; it is some hundred watch events, as much as a kernel's socket buffers would hold.
const highWater = 256 << 10

// errBodyClosed is what net/http says of the same mistake.
var errBodyClosed = errors.New("http: read on closed response body")

// pipe is a buffered byte stream with one writer and one reader.
type pipe struct {
	mu      sync.Mutex
	changed sync.Cond
	buffer  []byte
	start   int   // of what is unread in buffer
	unbound bool  // the writer no longer waits
	ended   bool  // the writer is done
	end     error // what the reader gets then, after the bytes; io.EOF for a good end
	gone    error // why the reader is gone; bytes are dropped from then on
}

func newPipe() *pipe {
	p := &pipe{}
	p.changed.L = &p.mu
	return p
}

// write appends data, waiting while the reader is far behind. When nobody reads any more the bytes are dropped and
// count as written: the handler learns of that by its context. An error here would have the API server report each
// client that goes away as a fault of the server.
func (p *pipe) write(data []byte) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.gone == nil && !p.unbound && len(p.buffer)-p.start >= highWater {
		p.changed.Wait()
	}
	if p.gone == nil {
		if p.start > 0 && len(p.buffer)+len(data) > cap(p.buffer) {
			p.buffer = p.buffer[:copy(p.buffer, p.buffer[p.start:])]
			p.start = 0
		}
		p.buffer = append(p.buffer, data...)
		p.changed.Broadcast()
	}
	return len(data)
}

// read fills data with what is there, or waits for some.
func (p *pipe) read(data []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.gone == nil && !p.ended && p.start == len(p.buffer) && len(data) > 0 {
		p.changed.Wait()
	}
	switch {
	case p.gone != nil:
		return 0, p.gone
	case p.start < len(p.buffer):
		n := copy(data, p.buffer[p.start:])
		p.start += n
		if p.start == len(p.buffer) {
			p.buffer, p.start = p.buffer[:0], 0
			if cap(p.buffer) > highWater {
				p.buffer = nil // one big object must not occupy a watch for its whole life
			}
		}
		p.changed.Broadcast()
		return n, nil
	case p.ended:
		return 0, p.end
	default:
		return 0, nil
	}
}

// closeWrite marks the end of the stream. A nil error is a good end.
func (p *pipe) closeWrite(err error) {
	if err == nil {
		err = io.EOF
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ended {
		p.ended, p.end = true, err
		p.changed.Broadcast()
	}
}

// abort makes reads fail with err from now on, unless the writer has already come to its end: then the client has an
// answer, and no less of it for the request being over.
func (p *pipe) abort(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ended {
		p.discard(err)
	}
}

// unblock lets the writer go on without waiting for the reader, which still gets everything.
func (p *pipe) unblock() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.unbound = true
	p.changed.Broadcast()
}

// closeRead says that the reader wants no more.
func (p *pipe) closeRead() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.discard(errBodyClosed)
}

// discard drops what is unread and what is still to come. The caller holds the lock.
func (p *pipe) discard(err error) {
	if p.gone == nil {
		p.gone = err
		p.buffer, p.start = nil, 0
		p.changed.Broadcast()
	}
}
