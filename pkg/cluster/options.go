package cluster

import (
	"fmt"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/musterkube/muster/pkg/controller/job"
	"github.com/musterkube/muster/pkg/controller/nodelifecycle"
	"github.com/musterkube/muster/pkg/emulator"
	"github.com/musterkube/muster/pkg/features"
	"github.com/musterkube/muster/pkg/kubelet"
)

// Options says what a cluster consists of. The zero value is a server with every controller and no node.
type Options struct {
	// Nodes is how many nodes the kubelet registers, named node-1 and up. With 0, the default, there is neither kubelet
	// nor scheduler, and pods stay as clients leave them.
	Nodes int

	// NodeCapacity is what each node has to give. Entries that are missing have the defaults of kubelet.Node.
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

	// Script says how long each pod runs and how it ends. Default: every pod exits with 0 at once.
	Script kubelet.Script

	// Runtime is what containers run in. Default: they are played by the script. kubelet.Processes runs their commands on
	// this machine, and isolates nothing.
	Runtime kubelet.Runtime

	// WrapHandler, if set, returns what takes the server's place for every request, those of the cluster's own parts
	// included; see emulator.Options. Default: the server itself.
	WrapHandler func(http.Handler) http.Handler

	// Job tunes the Job controller. Its Gates, Parity and Metrics are taken from above, and its SyncDelay is
	// [DefaultJobSyncDelay] unless set here or under Parity.
	Job job.Options

	// NodeGracePeriod is for how long nothing has been heard of a node that is taken for unreachable
	// (--node-monitor-grace-period). The nodes renew their Leases five times in it, and are looked at ten times. Default:
	// the 50 seconds of nodelifecycle.DefaultGracePeriod.
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

func (o Options) validate() error {
	if o.Nodes < 0 || o.Nodes > MaxNodes {
		return fmt.Errorf("checking cluster options: Nodes is %d: want 0 to %d", o.Nodes, MaxNodes)
	}
	if o.NodeGracePeriod < 0 {
		return fmt.Errorf("checking cluster options: NodeGracePeriod is %s: want 0 or more", o.NodeGracePeriod)
	}
	if err := o.Gates.Validate(); err != nil {
		return fmt.Errorf("checking cluster options: %w", err)
	}
	if err := CheckControllers(o.Controllers); err != nil {
		return fmt.Errorf("checking cluster options: %w", err)
	}
	return nil
}

// nodes returns what the kubelet is to register.
func (o Options) nodes() []kubelet.Node {
	nodes := make([]kubelet.Node, o.Nodes)
	for i := range nodes {
		nodes[i] = kubelet.Node{Name: fmt.Sprintf("node-%d", i+1), Capacity: o.NodeCapacity.DeepCopy()}
	}
	return nodes
}
