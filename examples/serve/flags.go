package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/musterkube/muster/pkg/cluster"
	"github.com/musterkube/muster/pkg/emulator"
	"github.com/musterkube/muster/pkg/features"
	"github.com/musterkube/muster/pkg/kubelet"
)

// noControllers is the value of --controllers that runs none.
const noControllers = "none"

type options struct {
	listen      string
	kubeconfig  string
	token       string
	users       map[string]emulator.User
	rbac        bool
	gates       features.Gates
	controllers []string
	nodes       int
	podDuration time.Duration
	runtime     string
	jobParity   bool
	crds        []string
}

// What containers run in.
const (
	runtimeScript  = "script"
	runtimeProcess = "process"
)

func parseFlags(args []string, usage io.Writer) (options, error) {
	var opts options
	flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	flags.SetOutput(usage)
	flags.SortFlags = false
	flags.StringVar(&opts.listen, "listen", "127.0.0.1:0", "loopback address to serve on; port 0 takes a free one")
	flags.StringVar(&opts.kubeconfig, "kubeconfig", "", "file to write a cluster administrator's kubeconfig to (default: a temporary one, removed at the end)")
	flags.StringVar(&opts.token, "token", "", "bearer token of the cluster administrator (default: a random one, found in the kubeconfig)")
	users := flags.StringArray("user-token", nil, "NAME[,GROUP…]=TOKEN: another user and its bearer token; may be given again")
	mode := flags.String("authorization-mode", modeAlwaysAllow, "AlwaysAllow lets users do everything; RBAC has roles and bindings decide")
	flags.Var(&opts.gates, "feature-gates", "feature gates to switch on or off; all are on by default")
	flags.StringSliceVar(&opts.controllers, "controllers", nil, "controllers to run, or none (default: "+strings.Join(cluster.Controllers(), ",")+")")
	flags.IntVar(&opts.nodes, "nodes", 3, "how many nodes there are; 0 starts neither scheduler nor kubelet")
	flags.DurationVar(&opts.podDuration, "pod-duration", time.Second, "how long each pod runs before it succeeds")
	flags.StringVar(&opts.runtime, "runtime", runtimeScript, "script plays the containers; process runs their commands on this machine, isolated from nothing: see kubectl logs")
	flags.StringArrayVar(&opts.crds, "crd", nil, "file or folder of CustomResourceDefinitions to install; may be given several times")
	flags.BoolVar(&opts.jobParity, "job-parity", false, "make the Job controller and the scheduler behave as those of Kubernetes 1.36, faults included")
	flags.Usage = func() {
		fmt.Fprintf(usage, "Serves a cluster inside this process for kubectl and for controllers in other processes.\n\nUsage: serve [flags]\n\n%s\n%s", flags.FlagUsages(), exitCodes)
	}
	if err := flags.Parse(args); err != nil {
		return options{}, err
	}
	if extra := flags.Args(); len(extra) > 0 {
		return options{}, fmt.Errorf("unexpected argument %q", extra[0])
	}
	if opts.nodes < 0 || opts.nodes > cluster.MaxNodes {
		return options{}, fmt.Errorf("--nodes %d: want 0 to %d", opts.nodes, cluster.MaxNodes)
	}
	if err := checkListen(opts.listen); err != nil {
		return options{}, fmt.Errorf("--listen %q: %w", opts.listen, err)
	}
	if strings.ContainsFunc(opts.token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return options{}, errors.New("--token: want printable ASCII characters without white space")
	}
	if err := opts.letIn(*users, *mode); err != nil {
		return options{}, err
	}
	if err := checkDefinitions(opts.crds); err != nil {
		return options{}, err
	}
	if opts.podDuration < 0 {
		return options{}, fmt.Errorf("--pod-duration %s: want 0 or more", opts.podDuration)
	}
	if opts.runtime != runtimeScript && opts.runtime != runtimeProcess {
		return options{}, fmt.Errorf("--runtime %q: want script or process", opts.runtime)
	}
	if flags.Changed("controllers") {
		return opts, opts.chooseControllers()
	}
	return opts, nil
}

// exitCodes is what --help says of them.
const exitCodes = `Exit codes:
  0  stopped when told to, by SIGINT or SIGTERM
  1  could not start, or a part of the cluster failed
  2  wrong flags, or a file or address that a flag names and that cannot be used
`

// checkDefinitions reads what --crd names, once for each that is given. The server reads it again, to say which file a
// definition that it refuses is from.
func checkDefinitions(paths []string) error {
	from := map[string]string{}
	for _, path := range paths {
		definitions, err := emulator.ReadCRDs(path)
		if err != nil {
			return fmt.Errorf("--crd %q: %w: want a file or folder of CustomResourceDefinitions of apiextensions.k8s.io/v1", path, err)
		}
		for _, definition := range definitions {
			if other, twice := from[definition.Name]; twice {
				return fmt.Errorf("--crd %q: %s is in %s too: want it once", path, definition.Name, other)
			}
			from[definition.Name] = path
		}
	}
	return nil
}

// checkListen returns an error for an address that nothing could be served at; the server would refuse it too, but only
// once it runs.
func checkListen(address string) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return errors.New("want HOST:PORT, such as 127.0.0.1:0")
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return errors.New("want a loopback address, such as 127.0.0.1:0")
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return errors.New("want a port from 0 to 65535")
	}
	return nil
}

// chooseControllers turns the words of --controllers into names; the cluster would refuse them too, but later.
func (o *options) chooseControllers() error {
	if len(o.controllers) == 1 && o.controllers[0] == noControllers {
		o.controllers = []string{}
		return nil
	}
	if err := cluster.CheckControllers(o.controllers); err != nil {
		return fmt.Errorf("--controllers: %w", err)
	}
	return nil
}

func (o options) cluster() cluster.Options {
	c := cluster.Options{
		Nodes:       o.nodes,
		Gates:       o.gates,
		Token:       o.token,
		Tokens:      o.users,
		RBAC:        o.rbac,
		Controllers: o.controllers,
		Parity:      o.jobParity,
		CRDPaths:    o.crds,
	}
	switch {
	case o.nodes == 0: // nothing runs
	case o.runtime == runtimeProcess:
		c.Runtime = kubelet.Processes(kubelet.ProcessOptions{})
	default:
		c.Script = kubelet.Fixed{Duration: o.podDuration}
	}
	return c
}
