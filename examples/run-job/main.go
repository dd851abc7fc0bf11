// Command run-job takes Jobs to their end on a cluster inside its own process, and shows it happening.
//
// Without -f it runs a gang Job of four pods. It prints a line for each thing that happens, with the progress of the
// Job, and at the end the conditions, Workloads, PodGroups and pods, with the time of each step.
//
// Containers are played: they end after a while, as the flags say. With --runtime process their commands run on this
// machine, isolated from nothing, and the end of what they write is shown.
//
// It exits with 0 when every Job is Complete (or there was nothing to run), with 1 when a Job failed or time ran out,
// and with 2 when it was called wrongly or a manifest is bad.
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
	"k8s.io/klog/v2"

	"github.com/musterkube/muster/pkg/cluster"
	"github.com/musterkube/muster/pkg/controller/job"
)

// The exit codes that scripts may rely on.
const (
	exitDone   = 0 // every Job is Complete, or there was nothing to run
	exitFailed = 1 // a Job failed, or time ran out
	exitUsage  = 2 // wrong flags or a bad manifest
)

func main() {
	// What the libraries below log is not for this program's users; what matters to them is printed.
	klog.SetLogger(logr.Discard())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is the program without its process: what main does, with everything it touches as a parameter.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	stdout, stderr = &syncWriter{out: stdout}, &syncWriter{out: stderr}
	opts, err := parseFlags(args, stdout)
	if errors.Is(err, pflag.ErrHelp) {
		return exitDone
	}
	if err != nil {
		fmt.Fprintf(stderr, "run-job: %v\nSee run-job --help.\n", err)
		return exitUsage
	}
	docs, err := readManifests(opts.files, stdin)
	if err != nil {
		fmt.Fprintf(stderr, "run-job: %v\n", err)
		return exitUsage
	}
	c, err := startCluster(ctx, opts)
	if err != nil {
		fmt.Fprintf(stderr, "run-job: %v\n", err)
		return exitFailed
	}
	defer c.Stop()
	return play(ctx, c, docs, opts, stdout, stderr)
}

func startCluster(ctx context.Context, opts options) (*cluster.Cluster, error) {
	return cluster.Start(ctx, cluster.Options{
		Nodes:        opts.nodes,
		NodeCapacity: opts.nodeCapacity(),
		Script:       opts.script(),
		Runtime:      opts.containers(),
		Job:          job.Options{PodBackoff: opts.backoff},
	})
}

// syncWriter lets the goroutine that tells what happens and the one that reports write to the same place.
type syncWriter struct {
	mu  sync.Mutex
	out io.Writer
}

// Write implements io.Writer.
func (w *syncWriter) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.Write(text)
}

// play creates the documents' objects on the cluster, follows them to their end and prints how it went.
func play(ctx context.Context, c *cluster.Cluster, docs []document, opts options, stdout, stderr io.Writer) int {
	clients, err := newClients(c.Config())
	if err != nil {
		fmt.Fprintf(stderr, "run-job: %v\n", err)
		return exitFailed
	}
	// Structured output owns stdout, so that it can be piped; the lines of progress then go to stderr.
	progress := stdout
	if opts.output != outputText {
		progress = stderr
	}
	start := time.Now()
	f, err := follow(ctx, clients, start, progress)
	if err != nil {
		fmt.Fprintf(stderr, "run-job: %v\n", err)
		return exitFailed
	}
	defer f.stop()

	made, warnings, err := clients.create(ctx, docs)
	for _, warning := range warnings {
		fmt.Fprintf(stderr, "warning: %s\n", warning)
	}
	if err != nil {
		fmt.Fprintf(stderr, "%v\n", err)
		return exitUsage
	}
	waitCtx, cancel := context.WithTimeout(ctx, opts.timeout)
	defer cancel()
	f.wait(waitCtx, made)

	r, err := clients.report(context.WithoutCancel(ctx), made, f)
	if err != nil {
		fmt.Fprintf(stderr, "run-job: %v\n", err)
		return exitFailed
	}
	r.explain(opts.timeout, ctx.Err() != nil)
	if err := r.print(stdout, opts.output); err != nil {
		fmt.Fprintf(stderr, "run-job: %v\n", err)
		return exitFailed
	}
	clients.printLogs(context.WithoutCancel(ctx), progress, opts.logs)
	if !r.Done {
		fmt.Fprintf(stderr, "run-job: %s\n", r.Reason)
		return exitFailed
	}
	return exitDone
}
