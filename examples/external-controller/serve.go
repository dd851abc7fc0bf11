package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/musterkube/muster/pkg/controller/job"
	"github.com/musterkube/muster/pkg/controller/leader"
)

// readHeaderTimeout bounds how long a client of the metrics may take to say what it wants.
const readHeaderTimeout = 10 * time.Second

// serve runs the external controller on a cluster until ctx ends.
func serve(ctx context.Context, opts options, out io.Writer) error {
	cfg, err := opts.config()
	if err != nil {
		return err
	}
	registry := prometheus.NewRegistry()
	controller, err := job.New(cfg, job.Options{ManagedBy: opts.managedBy, Gates: opts.gates, Metrics: registry, QueueMetrics: true})
	if err != nil {
		return err
	}
	if opts.metrics != "" {
		stop, err := serveMetrics(ctx, opts.metrics, registry, out)
		if err != nil {
			return err
		}
		defer stop()
	}
	work := func(ctx context.Context) error {
		fmt.Fprintf(out, "Running the Jobs of %s.\n", opts.managedBy)
		return controller.Run(ctx)
	}
	if !opts.leaderElect {
		return work(ctx)
	}
	err = leader.Run(ctx, cfg, leader.Options{Name: "external-controller", Namespace: opts.leaseNamespace}, work)
	if apierrors.IsNotFound(err) {
		return fmt.Errorf("%w\n--lease-namespace names another one", err)
	}
	return err
}

// config returns the configuration of a client for the cluster.
func (o options) config() (cfg *rest.Config, err error) {
	if o.inCluster {
		if cfg, err = rest.InClusterConfig(); err != nil {
			return nil, &flagError{fmt.Errorf("--in-cluster: %w: name a cluster with --kubeconfig", err)}
		}
	} else if cfg, err = readKubeconfig(o.kubeconfig); err != nil {
		return nil, &flagError{fmt.Errorf("--kubeconfig %q: %w: want the kubeconfig of a cluster", o.kubeconfig, err)}
	}
	cfg.UserAgent = "external-controller"
	return cfg, nil
}

// readKubeconfig returns what a kubeconfig says of its current context, or why no client can be made of it. The file is not
// named again.
func readKubeconfig(file string) (*rest.Config, error) {
	cfg, err := clientcmd.BuildConfigFromFlags("", file)
	if err == nil {
		_, err = rest.HTTPClientFor(cfg) // reads keys and certificates
	}
	var unreadable *fs.PathError
	switch {
	case clientcmd.IsEmptyConfig(err):
		return nil, errors.New("there is no cluster in it")
	case errors.As(err, &unreadable) && unreadable.Path == file:
		return nil, unreadable.Err
	}
	return cfg, err
}

// metricsFault returns why an address could not be listened on, in words of the flag.
func metricsFault(address string, err error) error {
	if reason, ok := errors.AsType[syscall.Errno](err); ok {
		err = reason
	}
	return &flagError{fmt.Errorf("--metrics %q: %w: name another address, such as 127.0.0.1:0 for one with a free port", address, err)}
}

// serveMetrics serves what is in a registry until stop is called, which waits for the end.
func serveMetrics(ctx context.Context, address string, registry prometheus.Gatherer, out io.Writer) (stop func(), err error) {
	var listening net.ListenConfig
	listener, err := listening.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, metricsFault(address, err)
	}
	server := &http.Server{Handler: promhttp.HandlerFor(registry, promhttp.HandlerOpts{}), ReadHeaderTimeout: readHeaderTimeout}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			fmt.Fprintf(out, "Metrics are not served any more: %v\n", err)
		}
	}()
	fmt.Fprintf(out, "Serving metrics on http://%s.\n", listener.Addr())
	return func() {
		_ = server.Close()
		<-ended
	}, nil
}
