// Command external-controller runs two Job controllers side by side on one server: the standard one, and an external one
// that spec.managedBy names (KEP-4368). It creates Jobs for both, and one for a controller that does not exist, and
// prints who did what.
//
// An external controller for a cluster of yours is the part in newExternal: a rest.Config, and the value that your users
// put into spec.managedBy.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/musterkube/muster/pkg/cluster"
	"github.com/musterkube/muster/pkg/controller/job"
)

// managedBy is what a Job has in spec.managedBy to be run by the external controller.
const managedBy = "example.com/external-controller"

// patience is how long the Jobs may take.
const patience = 30 * time.Second

func main() {
	// What the libraries below log is not for this program's users.
	klog.SetLogger(logr.Discard())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "external-controller: %v\n", err)
		os.Exit(1)
	}
}

// run starts a cluster with its standard controller, the external one beside it, and follows the Jobs of both.
func run(ctx context.Context, out io.Writer) error {
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
