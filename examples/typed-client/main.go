// Command typed-client shows the typed clients of Workloads and PodGroups on any cluster: it asks what is served, starts an
// informer, applies a Workload and a PodGroup of it with apply configurations, reads them from a lister, applies them again
// with a change, and takes them away.
//
//	go run ./examples/typed-client     # the cluster of your kubeconfig, or that of this pod
//	go run ./examples/typed-client --kubeconfig FILE --context NAME --namespace default
//
// For a cluster to try it on, leave the first of these running in another terminal:
//
//	go run ./examples/serve --kubeconfig /tmp/muster.kubeconfig
//	go run ./examples/typed-client --kubeconfig /tmp/muster.kubeconfig
//
// Where scheduling.k8s.io/v1alpha2 is not served it says what is, and what to do, and exits with 3.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/musterkube/muster/generated/clientset/versioned"
)

// The exit codes of the program.
const (
	exitDone      = 0
	exitFailed    = 1
	exitUsage     = 2 // wrong flags, or a kubeconfig that cannot be used
	exitNotServed = 3 // the cluster does not have the API
)

// patience is how long the tour may take.
const patience = 30 * time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is the program without its process.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	overrides := &clientcmd.ConfigOverrides{}
	flags := pflag.NewFlagSet("typed-client", pflag.ContinueOnError)
	flags.SetOutput(stdout)
	flags.StringVar(&rules.ExplicitPath, "kubeconfig", "", "kubeconfig file (default: $KUBECONFIG, ~/.kube/config, or the ServiceAccount of this pod)")
	flags.StringVar(&overrides.CurrentContext, "context", "", "context of the kubeconfig (default: its current one)")
	flags.StringVarP(&overrides.Context.Namespace, "namespace", "n", "", "namespace to work in (default: that of the context)")
	flags.Usage = func() {
		fmt.Fprintf(stdout, "Shows the typed clients of Workloads and PodGroups on a cluster.\n\nUsage: typed-client [flags]\n\n%s\n%s", flags.FlagUsages(), exitCodes)
	}
	if err := flags.Parse(args); errors.Is(err, pflag.ErrHelp) {
		return exitDone
	} else if err == nil && flags.NArg() > 0 {
		return wrongUse(stderr, fmt.Errorf("unexpected argument %q", flags.Arg(0)))
	} else if err != nil {
		return wrongUse(stderr, err)
	}
	cfg, namespace, err := find(rules, overrides)
	switch {
	case clientcmd.IsEmptyConfig(err):
		fmt.Fprintf(stderr, "typed-client: %s", noCluster)
		return exitFailed
	case err != nil:
		return wrongUse(stderr, err)
	}
	err = visit(ctx, cfg, namespace, stdout)
	var missing *notServedError
	switch {
	case errors.As(err, &missing):
		fmt.Fprintf(stderr, "typed-client: %v\n%s", err, missing.advice())
		return exitNotServed
	case err != nil:
		fmt.Fprintf(stderr, "typed-client: %v\n", err)
		return exitFailed
	}
	return exitDone
}

func wrongUse(stderr io.Writer, err error) int {
	fmt.Fprintf(stderr, "typed-client: %v\nSee typed-client --help.\n", err)
	return exitUsage
}

// find returns the configuration of a client for the cluster that a kubeconfig names, or else for that of this pod, and the
// namespace to work in. What is wrong it says in words of the flags.
func find(rules *clientcmd.ClientConfigLoadingRules, overrides *clientcmd.ConfigOverrides) (cfg *rest.Config, namespace string, err error) {
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides)
	if all, err := loader.RawConfig(); err == nil && overrides.CurrentContext != "" && all.Contexts[overrides.CurrentContext] == nil {
		return nil, "", fmt.Errorf("--context %q: there is no such context: kubectl config get-contexts lists those that there are", overrides.CurrentContext)
	}
	cfg, err = loader.ClientConfig()
	if err == nil {
		_, err = rest.HTTPClientFor(cfg) // reads keys and certificates
	}
	if err == nil {
		namespace, _, err = loader.Namespace()
	}
	return cfg, namespace, kubeconfigFault(rules.ExplicitPath, err)
}

// kubeconfigFault returns what is wrong with the file of --kubeconfig, or, if none was named, with where else a kubeconfig
// is looked for.
func kubeconfigFault(file string, err error) error {
	var unreadable *fs.PathError
	switch {
	case err == nil || file == "" && clientcmd.IsEmptyConfig(err):
		return err
	case file == "":
		return fmt.Errorf("reading the kubeconfig: %w: name another one with --kubeconfig", err)
	case clientcmd.IsEmptyConfig(err):
		err = errors.New("there is no cluster in it")
	case errors.As(err, &unreadable) && unreadable.Path == file:
		err = unreadable.Err
	}
	return fmt.Errorf("--kubeconfig %q: %w: want the kubeconfig of a cluster", file, err)
}

// noCluster is what there is to say where nothing names a cluster.
const noCluster = `there is no cluster to go to: no --kubeconfig, nothing in $KUBECONFIG or ~/.kube/config, and this process is in no pod.
For a cluster to try it on, leave this running in another terminal
  go run ./examples/serve --kubeconfig FILE
and then
  go run ./examples/typed-client --kubeconfig FILE
`

// exitCodes is what --help says of them.
const exitCodes = `Exit codes:
  0  the tour is over
  1  something failed, or there is no cluster to go to
  2  wrong flags, or a kubeconfig that cannot be used
  3  the cluster does not serve scheduling.k8s.io/v1alpha2; what is said then tells how it would
`

// visit asks whether there is anything to see, and goes on the tour.
func visit(ctx context.Context, cfg *rest.Config, namespace string, out io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cfg.UserAgent = fieldManager
	client, err := versioned.NewForConfig(cfg)
	if err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	if err := checkServed(client.Discovery(), cfg.Host); err != nil {
		return err
	}
	return tour(ctx, client, namespace, out)
}
