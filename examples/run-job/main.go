// Command run-job takes Jobs to their end on a cluster inside its own process, and shows it happening.
//
// Without -f it runs a gang Job of four pods. It prints a line for each thing that happens, with the progress of the
// Job, and at the end the conditions, Workloads, PodGroups and pods, with the time of each step.
//
// Containers are played: they end after a while, as the flags say. With --runtime process their commands run on this
// machine, isolated from nothing, and the end of what they write is shown.
//
// It exits with 0 when every Job is Complete (or there was nothing to run), with 1 when a Job failed, time ran out or the
// cluster failed, with 2 when it was called wrongly or a manifest is bad, and with 130 when SIGINT or SIGTERM ended it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/klog/v2"

	"github.com/musterkube/muster/pkg/cluster"
	"github.com/musterkube/muster/pkg/kubelet"
)

// The exit codes that scripts may rely on.
const (
	exitDone        = 0   // every Job is Complete, or there was nothing to run
	exitFailed      = 1   // a Job failed, time ran out, or the cluster failed
	exitUsage       = 2   // wrong flags, a file that cannot be written, or a bad manifest
	exitInterrupted = 130 // SIGINT or SIGTERM came before the end
)

func main() {
	// What the libraries below log is not for this program's users; what matters to them is printed.
	klog.SetLogger(logr.Discard())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// errInterrupted says that a signal came.
var errInterrupted = errors.New("interrupted")

// run is the program without its process: what main does, with everything it touches as a parameter.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	stdout, stderr = &syncWriter{out: stdout}, &syncWriter{out: stderr}
	opts, err := parseFlags(args, stdout)
	if errors.Is(err, pflag.ErrHelp) {
		return exitDone
	}
	if err != nil {
		complain(stderr, err)
		fmt.Fprintln(stderr, "See run-job --help.")
		return exitUsage
	}
	input, err := readManifests(ctx, opts.files, stdin)
	if err != nil {
		return quit(ctx, stderr, err, exitUsage)
	}
	warn(stderr, input.hints)
	rehearsal := opts.rehearse()
	c, err := startCluster(ctx, opts, rehearsal)
	if err != nil {
		return quit(ctx, stderr, err, exitFailed)
	}
	defer c.Stop()
	return play(ctx, c, input.docs, opts, rehearsal, stdout, stderr)
}

// quit complains of an error that ends the program and returns the exit code for it: the given one, unless the error is
// that of an interrupt.
func quit(ctx context.Context, stderr io.Writer, err error, code int) int {
	if ctx.Err() != nil {
		err, code = errInterrupted, exitInterrupted
	}
	complain(stderr, err)
	return code
}

func warn(stderr io.Writer, texts []string) {
	for _, text := range texts {
		fmt.Fprintf(stderr, "run-job: warning: %s\n", text)
	}
}

func startCluster(ctx context.Context, opts options, script kubelet.Script) (*cluster.Cluster, error) {
	return cluster.Start(ctx, opts.cluster(script))
}

// syncWriter lets the goroutine that tells what happens and the one that reports write to the same place.
type syncWriter struct {
	mu  sync.Mutex
	out io.Writer
}

// redirect has what is written from now on go somewhere else.
func (w *syncWriter) redirect(out io.Writer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.out = out
}

// Write implements io.Writer.
func (w *syncWriter) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.Write(text)
}

// play creates the documents' objects on the cluster, follows them to their end and prints how it went.
func play(ctx context.Context, c *cluster.Cluster, docs []document, opts options, rehearsal *rehearsal, stdout, stderr io.Writer) int {
	clients, err := newClients(c.Config())
	if err != nil {
		return quit(ctx, stderr, err, exitFailed)
	}
	// Structured output owns stdout, so that it can be piped; the lines of progress then go to stderr.
	shown := stdout
	if opts.output != outputText {
		shown = stderr
	}
	progress := &syncWriter{out: shown}
	fmt.Fprint(progress, opts.lossNote())
	f, err := follow(ctx, clients, time.Now(), progress)
	if err != nil {
		return quit(ctx, stderr, err, exitFailed)
	}
	defer f.stop()

	created := clients.create(ctx, docs)
	warn(stderr, created.warnings)
	if err := errors.Join(append(created.failed, created.wrong...)...); err != nil || ctx.Err() != nil {
		return quit(ctx, stderr, err, created.code())
	}
	hide, err := f.showLive(opts, progress)
	if err != nil {
		return quit(ctx, stderr, err, exitFailed)
	}
	defer hide()
	end, missed := followToEnd(ctx, c, f, created.made, opts)
	if err := f.drain(context.WithoutCancel(ctx), clients); err != nil {
		complain(stderr, err)
		return exitFailed
	}
	f.stop()
	hide()

	r := f.report(created.made)
	r.explain(f.world, created.made, end, time.Now(), opts.backoff)
	if err := r.print(stdout, opts.output); err != nil {
		complain(stderr, fmt.Errorf("writing the report: %w", err))
		return exitFailed
	}
	if err := f.draw(opts); err != nil {
		complain(stderr, err)
		return exitFailed
	}
	clients.printLogs(context.WithoutCancel(ctx), progress, opts.logs)
	warn(stderr, rehearsal.unplayed(r))
	warn(stderr, missedLosses(missed))
	switch {
	case r.Done:
		return exitDone
	case r.unfinished && ctx.Err() != nil:
		complain(stderr, errors.New(r.Reason))
		return exitInterrupted
	default:
		complain(stderr, errors.New(r.Reason))
		return exitFailed
	}
}

// followToEnd returns when everything has ended, having lost nodes meanwhile as the flags say. It returns why it was not
// waited for any longer, if it was not, and the losses that did not come to it.
func followToEnd(ctx context.Context, c *cluster.Cluster, f *follower, made []*unstructured.Unstructured, opts options) (end string, missed []loss) {
	losing, stopLosing := context.WithCancel(ctx)
	defer stopLosing()
	var parts sync.WaitGroup
	parts.Go(func() { missed = loseNodes(losing, opts.losses, c.Kubelet(), f.say) })
	end = waitForEnd(ctx, c, f, made, opts.timeout)
	stopLosing()
	parts.Wait()
	return end, missed
}

// waitForEnd returns when everything that runs has ended, and otherwise says why it was not waited for any longer.
func waitForEnd(ctx context.Context, c *cluster.Cluster, f *follower, made []*unstructured.Unstructured, timeout time.Duration) string {
	late := fmt.Errorf("time ran out after %s", timeout)
	waiting, cancel := context.WithTimeoutCause(ctx, timeout, late)
	defer cancel()
	waiting, fail := context.WithCancelCause(waiting)
	defer fail(nil)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-c.Failed():
			fail(fmt.Errorf("the cluster failed: %w", c.Err()))
		case <-waiting.Done():
		}
	}()
	f.await(waiting, func(w *world) bool { return w.ended(made) })
	end := context.Cause(waiting)
	fail(nil)
	<-watched
	switch {
	case end == nil:
		return ""
	case ctx.Err() != nil:
		return errInterrupted.Error()
	default:
		return end.Error()
	}
}
