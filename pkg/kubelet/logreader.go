package kubelet

import (
	"context"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// logTime is the form of the times before lines, which has all nine digits.
const logTime = "2006-01-02T15:04:05.000000000Z07:00"

// logReader reads an output as the options of a request have it: the last lines first, those that are old enough left
// out, each with its time if asked, up to so many bytes in all.
type logReader struct {
	done   <-chan struct{}
	cancel context.CancelFunc
	of     *output
	follow bool
	stamps bool
	since  time.Time

	next    int
	left    int64 // bytes that may still be read; negative without a limit
	pending []byte
}

var _ io.ReadCloser = (*logReader)(nil)

// read begins to read an output. The reader ends with ctx, or when it is closed.
func (o *output) read(ctx context.Context, options *corev1.PodLogOptions, now time.Time) *logReader {
	ctx, cancel := context.WithCancel(ctx)
	r := &logReader{
		done: ctx.Done(), cancel: cancel, of: o, follow: options.Follow, stamps: options.Timestamps, left: -1,
	}
	switch {
	case options.SinceSeconds != nil:
		r.since = now.Add(-time.Duration(*options.SinceSeconds) * time.Second)
	case options.SinceTime != nil:
		r.since = options.SinceTime.Time
	}
	if options.TailLines != nil {
		r.next = o.tail(*options.TailLines)
	}
	if options.LimitBytes != nil {
		r.left = *options.LimitBytes
	}
	return r
}

// Read implements io.Reader. It waits for more while the container runs, if the log is followed.
func (r *logReader) Read(into []byte) (int, error) {
	for len(r.pending) == 0 {
		if r.left == 0 {
			return 0, io.EOF
		}
		lines, next, more := r.of.from(r.next)
		r.next = next
		r.render(lines)
		if len(r.pending) > 0 {
			break
		}
		if more == nil || !r.follow {
			return 0, io.EOF
		}
		select {
		case <-more:
		case <-r.done:
			return 0, io.EOF
		}
	}
	n := copy(into, r.pending)
	r.pending = r.pending[n:]
	return n, nil
}

func (r *logReader) render(lines []line) {
	for _, l := range lines {
		if l.at.Before(r.since) {
			continue
		}
		if r.stamps && !l.goesOn {
			r.pending = append(append(r.pending, l.at.UTC().Format(logTime)...), ' ')
		}
		r.pending = append(r.pending, l.text...)
	}
	if r.left >= 0 {
		r.pending = r.pending[:min(int64(len(r.pending)), r.left)]
		r.left -= int64(len(r.pending))
	}
}

// Close implements io.Closer. A Read that waits returns.
func (r *logReader) Close() error {
	r.cancel()
	return nil
}
