package kubelet

import (
	"bytes"
	"sync"
	"time"
)

const (
	// longestLine is where a line is cut that does not end, as container runtimes cut it.
	longestLine = 16 << 10
	// The end of a log that becomes a termination message under FallbackToLogsOnError.
	messageLines = 80
	messageBytes = 2048
)

// output is what one run of a container has written, line by line. It keeps the newest lines, up to a limit. It may be
// used by many goroutines.
type output struct {
	limit int

	mu sync.Mutex
	// lines are those that are kept; the first of them has the number first, counted from the start of the container.
	lines []line
	first int
	size  int
	// partial is the beginning of a line whose end has not come yet, begun says that a part of it is in lines already.
	partial []byte
	begun   bool
	// changed is closed when there is more, if somebody waits for that; closed says that there will be no more.
	changed chan struct{}
	closed  bool
}

// line is a line with its newline, or a part of one that is too long or without an end.
type line struct {
	at   time.Time
	text []byte
	// goesOn says that it continues the one before.
	goesOn bool
}

func newOutput(limit int) *output {
	return &output{limit: limit}
}

// write adds what a container has written by then.
func (o *output) write(at time.Time, text []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(text) > 0 && !o.closed {
		taken := len(text)
		if end := bytes.IndexByte(text, '\n'); end >= 0 {
			taken = end + 1
		}
		taken = min(taken, longestLine-len(o.partial))
		o.partial, text = append(o.partial, text[:taken]...), text[taken:]
		if whole := o.partial[len(o.partial)-1] == '\n'; whole || len(o.partial) == longestLine {
			o.add(at, !whole)
		}
	}
	o.tell()
}

// add turns what is partial into a line; more says that the line is not over.
func (o *output) add(at time.Time, more bool) {
	o.lines = append(o.lines, line{at: at, text: o.partial, goesOn: o.begun})
	o.size += len(o.partial)
	o.partial, o.begun = nil, more
	for o.size > o.limit && len(o.lines) > 1 {
		o.size -= len(o.lines[0].text)
		o.lines[0].text = nil
		o.lines = o.lines[1:]
		o.first++
	}
}

// close says that nothing more will come.
func (o *output) close(at time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return
	}
	if len(o.partial) > 0 {
		o.add(at, false)
	}
	o.closed = true
	o.tell()
}

func (o *output) tell() {
	if o.changed != nil {
		close(o.changed)
		o.changed = nil
	}
}

// from returns the lines from a number on, and the number after them. If there are none yet, more is closed when there
// may be; it is nil if there will be none.
func (o *output) from(number int) (lines []line, next int, more <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	number = max(number, o.first)
	next = o.first + len(o.lines)
	if !o.closed {
		if o.changed == nil {
			o.changed = make(chan struct{})
		}
		more = o.changed
	}
	return append([]line(nil), o.lines[min(number, next)-o.first:]...), next, more
}

// tail returns the number of the first of the last so many lines.
func (o *output) tail(count int64) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	if count >= int64(len(o.lines)) {
		return o.first
	}
	return o.first + len(o.lines) - int(count)
}

// message returns the end of the output in the size of a termination message.
func (o *output) message() string {
	lines, _, _ := o.from(o.tail(messageLines))
	var text []byte
	for _, l := range lines {
		text = append(text, l.text...)
	}
	return string(text[max(0, len(text)-messageBytes):])
}
