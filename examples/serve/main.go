// Command serve runs a cluster for kubectl and for controllers in other processes: an API server on loopback with the
// Job controller, the gang scheduler and a kubelet that plays pods, or with --runtime process runs their commands on this
// machine, isolated from nothing.
//
//	go run ./examples/serve --kubeconfig muster.kubeconfig
//	kubectl --kubeconfig muster.kubeconfig get workloads -A
//
// With --user-token there are other users than the administrator, and with --authorization-mode RBAC roles and bindings
// decide what they may do.
//
// It prints one line when it is ready and stops on SIGINT or SIGTERM, within three seconds whatever clients do. A second
// signal ends it at once.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"syscall"

	"github.com/go-logr/logr"
	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/klog/v2"

	"github.com/musterkube/muster/pkg/cluster"
)

// The exit codes that scripts may rely on.
const (
	exitStopped = 0 // stopped when told to
	exitFailed  = 1 // could not start, or a part of the cluster failed
	exitUsage   = 2 // wrong flags, or a file or address that a flag names and that cannot be used
)

// garbagePercent is how much garbage may pile up, in percent of what is in use, before it is collected. A small cluster
// makes much of it, and collecting that at Go's 100 percent takes one fifth of all CPU time. The variable GOGC wins.
const garbagePercent = 400

func main() {
	// What the libraries below log is not for this program's users.
	klog.SetLogger(logr.Discard())
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbagePercent)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is the program without its process: what main does, with everything it touches as a parameter.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	opts, err := parseFlags(args, stdout)
	if errors.Is(err, pflag.ErrHelp) {
		return exitStopped
	}
	if err != nil {
		fmt.Fprintf(stderr, "serve: %v\nSee serve --help.\n", err)
		return exitUsage
	}
	err = serve(ctx, opts, stdout)
	var wrong *flagError
	switch {
	case errors.As(err, &wrong):
		fmt.Fprintf(stderr, "serve: %v\nSee serve --help.\n", err)
		return exitUsage
	case err != nil:
		fmt.Fprintf(stderr, "serve: %v\n", err)
		return exitFailed
	}
	return exitStopped
}

// flagError is a fault of a flag that shows only when the cluster is started.
type flagError struct{ error }

func serve(ctx context.Context, opts options, stdout io.Writer) error {
	c, err := cluster.Start(ctx, opts.cluster())
	if err != nil {
		if ctx.Err() != nil {
			return nil // told to stop before it was ready
		}
		if len(opts.crds) > 0 && apierrors.IsInvalid(err) {
			return &flagError{fmt.Errorf("--crd: %w", err)}
		}
		return err
	}
	defer c.Stop()
	url, err := c.Server().Listen(ctx, opts.listen)
	if err != nil {
		return listenFault(opts.listen, err)
	}
	kubeconfig := opts.kubeconfig
	if kubeconfig == "" {
		// It outlives a process that is killed with SIGKILL. That does no harm: its token opened a server that is gone.
		folder, err := os.MkdirTemp("", "muster-serve-")
		if err != nil {
			return fmt.Errorf("making a folder for the kubeconfig: %w", err)
		}
		defer func() { _ = os.RemoveAll(folder) }()
		kubeconfig = filepath.Join(folder, "kubeconfig")
	}
	if err := c.Server().WriteKubeconfig(kubeconfig); err != nil {
		return kubeconfigFault(opts.kubeconfig, err)
	}
	fmt.Fprintf(stdout, "serving %s, kubeconfig %s\n", url, kubeconfig)
	select {
	case <-ctx.Done():
		return nil
	case <-c.Failed():
		return c.Err()
	}
}

// listenFault returns why an address could not be listened on, in words of the flag.
func listenFault(address string, err error) error {
	var reason syscall.Errno
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return &flagError{fmt.Errorf("--listen %q: %w: name another port, or 0 for a free one", address, syscall.EADDRINUSE)}
	case errors.As(err, &reason):
		return &flagError{fmt.Errorf("--listen %q: %w: name another address, such as 127.0.0.1:0", address, reason)}
	}
	return err
}

// kubeconfigFault returns why the file that a user named could not be written, without the names of files that he did not.
func kubeconfigFault(path string, err error) error {
	var reason syscall.Errno
	switch {
	case path == "":
		return err
	case errors.Is(err, fs.ErrNotExist):
		return &flagError{fmt.Errorf("--kubeconfig %q: there is no folder %s: make it, or name another file", path, filepath.Dir(path))}
	case errors.As(err, &reason):
		return &flagError{fmt.Errorf("--kubeconfig %q: %w: name a file that can be written", path, reason)}
	}
	return &flagError{fmt.Errorf("--kubeconfig %q: %w", path, err)}
}
