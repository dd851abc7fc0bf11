package cluster

import (
	"fmt"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/musterkube/muster/pkg/controller/job"
	"github.com/musterkube/muster/pkg/controller/nodelifecycle"
	"github.com/musterkube/muster/pkg/emulator"
	"github.com/musterkube/muster/pkg/features"
	"github.com/musterkube/muster/pkg/internal/check"
	"github.com/musterkube/muster/pkg/kubelet"
)

// Options says what a cluster consists of. The zero value is a server with every controller and no node.
// [Options.Validate] says what makes no sense.
type Options struct {
	// Nodes is how many nodes the kubelet registers, named node-1 and up. With 0, the default, there is neither kubelet
	// nor scheduler, and pods stay as clients leave them.
	Nodes int

	// NodeCapacity is what each node has to give; there must be nodes then. Entries that are missing have the defaults of
	// kubelet.Node.
	NodeCapacity corev1.ResourceList

	// Gates are the feature gates of the server, the controllers and the scheduler. Default: all on.
	Gates features.Gates

	// Token is the bearer token of a cluster administrator. Default: a random one.
	Token string

	// CRDs are CustomResourceDefinitions to install, and CRDPaths are files and folders to read more from: see
	// emulator.Options. Default: none.
	CRDs     []*apiextensionsv1.CustomResourceDefinition
	CRDPaths []string

	// Tokens names other users by their bearer tokens, and RBAC has roles and bindings decide what they may do, see
	// emulator.Options. The controllers and the nodes of the cluster act as the administrator. Default: no other user,
	// and no RBAC.
	Tokens map[string]emulator.User
	RBAC   bool

	// Controllers names the controllers to run, see the Controller constants. Nil, the default, runs every one of
	// [Controllers]; an empty list runs none. Naming [ControllerScheduler] runs the scheduler also with 0 nodes.
	Controllers []string

	// Parity makes the Job controller and the scheduler behave as those of Kubernetes 1.36, faults included.
	Parity bool

	// Script says how long each pod runs and how it ends. There must be nodes then, and no Runtime that runs commands.
	// Default: every pod exits with 0 at once.
	Script kubelet.Script

	// Runtime is what containers run in; there must be nodes then. Default: they are played by the script. kubelet.Processes
	// runs their commands on this machine, and isolates nothing.
	Runtime kubelet.Runtime

	// WrapHandler, if set, returns what takes the server's place for every request, those of the cluster's own parts
	// included; see emulator.Options. Default: the server itself.
	WrapHandler func(http.Handler) http.Handler

	// Job tunes the Job controller. Its Gates, Parity and Metrics are taken from above, and its SyncDelay is
	// [DefaultJobSyncDelay] unless set here or under Parity.
	Job job.Options

	// NodeGracePeriod is for how long nothing has been heard of a node that is taken for unreachable
	// (--node-monitor-grace-period). The nodes renew their Leases five times in it, and are looked at ten times. It must be
	// [MinNodeGracePeriod] or more. Default: the 50 seconds of nodelifecycle.DefaultGracePeriod.
	NodeGracePeriod time.Duration

	// TolerationSeconds is for how long pods that do not say otherwise stay on a node that is not ready or not reachable.
	// Default: 300. See emulator.Options.
	TolerationSeconds *int64

	// Metrics is the registry that Start puts the metrics of the controllers into, under the names that they have in
	// Kubernetes: see pkg/controller/job and pkg/controller/ttl. They stay there, so it serves one cluster. Default: no
	// metrics.
	Metrics prometheus.Registerer
}

// DefaultJobSyncDelay is how long the Job controller gathers events before a sync. On a real cluster it is a second,
// which spares an API server that is far away; one in the same process need not be spared.
const DefaultJobSyncDelay = 10 * time.Millisecond

// job returns the options of the Job controller.
func (o Options) job() job.Options {
	options := o.Job
	options.Gates, options.Parity, options.Metrics = o.Gates, o.Parity, o.Metrics
	if options.SyncDelay == 0 && !o.Parity {
		options.SyncDelay = DefaultJobSyncDelay
	}
	return options
}

// leases and looks are how often in a grace period a node renews its Lease, and how often all nodes are looked at: as in
// Kubernetes, where that is every ten and every five of fifty seconds.
const (
	leases = 5
	looks  = 10
)

// nodeLifecycle returns the options of the controller that finds nodes out of reach.
func (o Options) nodeLifecycle() nodelifecycle.Options {
	return nodelifecycle.Options{GracePeriod: o.NodeGracePeriod, MonitorPeriod: o.NodeGracePeriod / looks}
}

// MaxNodes bounds Options.Nodes, so that a slip of the keyboard is an error and does not eat the machine's memory.
const MaxNodes = 100_000

// MinNodeGracePeriod bounds Options.NodeGracePeriod from below: a fifth of it passes between two signs of life, and a
// machine that is busy needs some of that to get them through.
const MinNodeGracePeriod = 500 * time.Millisecond

// Validate returns an error that names every option which makes no sense, as [Start] does; nil if all do. errors.As finds
// the first of them as a *field.Error (k8s.io/apimachinery/pkg/util/validation/field), whose Field is the Go path of the
// option, such as Options.Nodes or Options.Job.Workers, whose BadValue is what was given, unless that is a secret, and
// whose Detail says what is wanted. What can only be found out by doing, it leaves to Start: see emulator.Options.
func (o Options) Validate() error {
	var faults field.ErrorList
	if o.Nodes < 0 || o.Nodes > MaxNodes {
		faults = append(faults, field.Invalid(check.Option("Nodes"), o.Nodes, fmt.Sprintf("must be 0 to %d", MaxNodes)))
	}
	if o.Nodes == 0 {
		faults = append(faults, o.validateWithoutNodes()...)
	}
	pods := kubelet.Options{Nodes: []kubelet.Node{{Name: nodeName(0), Capacity: o.NodeCapacity}}, Script: o.Script, Runtime: o.Runtime}
	faults = append(faults, check.Move(check.All(pods.Validate()), check.Option("Nodes").Index(0).Child("Capacity"), check.Option("NodeCapacity"))...)
	faults = append(faults, check.EachOf(check.Option("Controllers"), o.Controllers, append(Controllers(), ControllerScheduler))...)
	jobs := o.job()
	jobs.Gates = features.Gates{} // the server's are the same
	faults = append(faults, check.Move(check.All(jobs.Validate()), field.NewPath("Options"), check.Option("Job"))...)
	if o.NodeGracePeriod != 0 && o.NodeGracePeriod < MinNodeGracePeriod {
		faults = append(faults, field.Invalid(check.Option("NodeGracePeriod"), o.NodeGracePeriod, fmt.Sprintf("must be %s or more", MinNodeGracePeriod)))
	}
	return check.Error(append(faults, check.All(o.server().Validate())...))
}

// validateWithoutNodes refuses what only nodes make use of.
func (o Options) validateWithoutNodes() field.ErrorList {
	var faults field.ErrorList
	if len(o.NodeCapacity) > 0 {
		faults = append(faults, field.Invalid(check.Option("NodeCapacity"), o.NodeCapacity, "there are no nodes to have it: set Options.Nodes"))
	}
	if o.Script != nil {
		faults = append(faults, field.Forbidden(check.Option("Script"), "there are no nodes whose pods it could be asked about: set Options.Nodes"))
	}
	if o.Runtime != (kubelet.Runtime{}) {
		faults = append(faults, field.Forbidden(check.Option("Runtime"), "there are no nodes for containers to run on: set Options.Nodes"))
	}
	return faults
}

// server returns the options of the API server, whose options have the same names.
func (o Options) server() emulator.Options {
	return emulator.Options{
		Gates: o.Gates, Token: o.Token, Tokens: o.Tokens, RBAC: o.RBAC, DisabledControllers: o.disabled(),
		TolerationSeconds: o.TolerationSeconds, CRDs: o.CRDs, CRDPaths: o.CRDPaths, WrapHandler: o.WrapHandler,
	}
}

// nodes returns what the kubelet is to register.
func (o Options) nodes() []kubelet.Node {
	nodes := make([]kubelet.Node, o.Nodes)
	for i := range nodes {
		nodes[i] = kubelet.Node{Name: nodeName(i), Capacity: o.NodeCapacity.DeepCopy()}
	}
	return nodes
}

func nodeName(i int) string { return fmt.Sprintf("node-%d", i+1) }
