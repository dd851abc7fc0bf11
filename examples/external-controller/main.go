// Command external-controller runs two Job controllers side by side on one server: the standard one, and an external one
// that spec.managedBy names (KEP-4368). It creates Jobs for both, and one for a controller that does not exist, and
// prints who did what.
//
// With --kubeconfig it is an external controller for a cluster of yours, and runs the Jobs that name it until it is told
// to stop. What it may do there, the manifests rbac.yaml in pkg/controller/job and, with --leader-elect,
// pkg/controller/leader say. With --leader-elect the namespace of the Lease must exist: the first of these manifests has
// muster-system in it, kubectl create namespace muster-system makes it too, and --lease-namespace names another.
//
//	go run ./examples/external-controller --kubeconfig FILE --managed-by example.com/my-queue --metrics 127.0.0.1:8080
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/pflag"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/musterkube/muster/pkg/cluster"
	"github.com/musterkube/muster/pkg/controller/job"
)

// The exit codes of the program.
const (
	exitDone   = 0 // the show is over, or the controller was told to stop
	exitFailed = 1
	exitUsage  = 2 // wrong flags, or a file or address that a flag names and that cannot be used
)

// managedBy is what a Job has in spec.managedBy to be run by the external controller.
const managedBy = "example.com/external-controller"

// patience is how long the Jobs may take.
const patience = 30 * time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is the program without its process: what main does, with everything it touches as a parameter.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	opts, err := parseFlags(args, stdout)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		return exitDone
	case err != nil:
		return wrongUse(stderr, err)
	case opts.onCluster():
		err = serve(ctx, opts, stdout)
	default:
		// What the libraries below log is not for those who watch.
		klog.SetLogger(logr.Discard())
		err = show(ctx, stdout)
	}
	var wrong *flagError
	switch {
	case errors.As(err, &wrong):
		return wrongUse(stderr, err)
	case err != nil:
		fmt.Fprintf(stderr, "external-controller: %v\n", err)
		return exitFailed
	}
	return exitDone
}

func wrongUse(stderr io.Writer, err error) int {
	fmt.Fprintf(stderr, "external-controller: %v\nSee external-controller --help.\n", err)
	return exitUsage
}

// show starts a cluster with its standard controller, the external one beside it, and follows the Jobs of both.
func show(ctx context.Context, out io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	c, err := cluster.Start(ctx, cluster.Options{Nodes: 2})
	if err != nil {
		return err
	}
	defer c.Stop()
	stop, err := startExternal(ctx, c.Config())
	if err != nil {
		return err
	}
	defer stop()

	client, err := kubernetes.NewForConfig(c.Config())
	if err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	if err := createJobs(ctx, client); err != nil {
		return err
	}
	if err := awaitJobs(ctx, client); err != nil {
		return err
	}
	return report(ctx, client, out)
}

// newExternal makes the external controller: it touches no Job but those that name it.
func newExternal(cfg *rest.Config) (*job.Controller, error) {
	cfg = rest.CopyConfig(cfg)
	cfg.UserAgent = "external-controller"
	return job.New(cfg, job.Options{ManagedBy: managedBy, SyncDelay: cluster.DefaultJobSyncDelay})
}

// startExternal runs the external controller until stop is called, which waits for its end.
func startExternal(ctx context.Context, cfg *rest.Config) (stop func(), err error) {
	controller, err := newExternal(cfg)
	if err != nil {
		return nil, fmt.Errorf("making the external controller: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := controller.Run(ctx); err != nil {
			fmt.Fprintf(os.Stderr, "external-controller: %v\n", err)
		}
	}()
	return func() {
		cancel()
		<-ended
	}, nil
}
