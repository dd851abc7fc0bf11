package main

import (
	"fmt"
	"io"

	"github.com/spf13/pflag"

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
	flags.StringVar(&opts.managedBy, "managed-by", managedBy, "what a Job has in spec.managedBy to be run by the external controller")
	flags.Var(&opts.gates, "feature-gates", "feature gates to switch on or off; all are on by default, a cluster without Workloads needs WorkloadWithJob=false")
	flags.BoolVar(&opts.leaderElect, "leader-elect", false, "let one of several replicas work at a time")
	flags.StringVar(&opts.leaseNamespace, "lease-namespace", "muster-system", "namespace of the Lease that the replicas share")
	flags.StringVar(&opts.metrics, "metrics", "", "address to serve metrics on, such as 127.0.0.1:8080 (default: none)")
	flags.Usage = func() {
		fmt.Fprintf(usage, "Shows two Job controllers side by side, or runs the external one on a cluster.\n\nUsage: external-controller [flags]\n\n%s", flags.FlagUsages())
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
	return opts, nil
}

// onCluster reports whether the controller is to run on a cluster that is there already.
func (o options) onCluster() bool { return o.kubeconfig != "" || o.inCluster }
