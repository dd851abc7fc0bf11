package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/musterkube/muster/pkg/features"
)

type options struct {
	kubeconfig     string
	inCluster      bool
	managedBy      string
	gates          features.Gates
	leaderElect    bool
	leaseNamespace string
	metrics        string
}

func parseFlags(args []string, usage io.Writer) (options, error) {
	var opts options
	flags := pflag.NewFlagSet("external-controller", pflag.ContinueOnError)
	flags.SetOutput(usage)
	flags.SortFlags = false
	flags.StringVar(&opts.kubeconfig, "kubeconfig", "", "run the external controller on the cluster of this file until told to stop, and no show")
	flags.BoolVar(&opts.inCluster, "in-cluster", false, "the same on the cluster that this process is a pod of")
	flags.StringVar(&opts.managedBy, "managed-by", managedBy, "what a Job has in spec.managedBy to be run by the external controller: a domain and a path")
	flags.Var(&opts.gates, "feature-gates", "feature gates to switch on or off; all are on by default, a cluster without Workloads needs WorkloadWithJob=false")
	flags.BoolVar(&opts.leaderElect, "leader-elect", false, "let one of several replicas work at a time")
	flags.StringVar(&opts.leaseNamespace, "lease-namespace", "muster-system", "namespace of the Lease that the replicas share; it must exist: kubectl create namespace muster-system")
	flags.StringVar(&opts.metrics, "metrics", "", "address to serve metrics on, such as 127.0.0.1:8080 (default: none)")
	flags.Usage = func() {
		fmt.Fprintf(usage, "Shows two Job controllers side by side, or runs the external one on a cluster.\n\nUsage: external-controller [flags]\n\n%s\n%s", flags.FlagUsages(), exitCodes)
	}
	if err := flags.Parse(args); err != nil {
		return options{}, err
	}
	if extra := flags.Args(); len(extra) > 0 {
		return options{}, fmt.Errorf("unexpected argument %q", extra[0])
	}
	if opts.kubeconfig != "" && opts.inCluster {
		return options{}, fmt.Errorf("--kubeconfig and --in-cluster name two clusters: want one")
	}
	if !opts.onCluster() && flags.NFlag() > 0 {
		return options{}, fmt.Errorf("the show takes no flags: --kubeconfig or --in-cluster says where to run the controller")
	}
	return opts, opts.check()
}

// exitCodes is what --help says of them.
const exitCodes = "Exit codes: 0 when the show is over or the controller was told to stop, 1 when something failed, " +
	"2 for wrong flags, or a file or address that a flag names and that cannot be used.\n"

// check returns an error that names the flag whose value could not work; the controller would refuse it too, in terms of
// its own, or not start.
func (o options) check() error {
	if faults := validation.IsDomainPrefixedPath(field.NewPath("--managed-by"), o.managedBy); len(faults) > 0 {
		return fmt.Errorf("--managed-by %q: want a domain and a path, such as %s: %s", o.managedBy, managedBy, faults[0].Detail)
	}
	if faults := validation.IsDNS1123Label(o.leaseNamespace); len(faults) > 0 {
		return fmt.Errorf("--lease-namespace %q: want the name of a namespace that exists, such as default: %s", o.leaseNamespace, faults[0])
	}
	if err := checkAddress(o.metrics); err != nil {
		return fmt.Errorf("--metrics %q: %w", o.metrics, err)
	}
	return nil
}

// checkAddress returns an error for what is no address to listen on. None at all is one.
func checkAddress(address string) error {
	if address == "" {
		return nil
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return errors.New("want HOST:PORT, such as 127.0.0.1:8080")
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return errors.New("want a port from 0 to 65535, such as 127.0.0.1:8080")
	}
	return nil
}

// flagError is a fault of a flag that shows only when the work begins.
type flagError struct{ error }

// onCluster reports whether the controller is to run on a cluster that is there already.
func (o options) onCluster() bool { return o.kubeconfig != "" || o.inCluster }
