package kubelet

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/clock"

	"github.com/musterkube/muster/pkg/internal/check"
)

// Options says what a [Kubelet] plays and how. The zero value is useful. [Options.Validate] says what makes no sense.
type Options struct {
	// Nodes are the nodes that the kubelet registers at its start and serves, each with a name of its own. Default: none,
	// and then it serves every node that somebody else has made.
	Nodes []Node
	// Script says how long containers run and how they end. Annotations of the pod win over it. Default: [Fixed]{}, under
	// which every container ends well at once. There must be none where Runtime is [Processes].
	Script Script
	// Runtime is what containers run in. Default: they are played by the script. [Processes] runs their commands.
	Runtime Runtime
	// LogLimit is how many bytes are kept of what a container writes, of its present run and of the one before each; older
	// lines go first. It must not be negative. Default: 1 MiB.
	LogLimit int
	// LeaseInterval is how often the Lease of each node, in namespace kube-node-lease, is renewed, by which others see that
	// the node is alive. Default: 10 seconds. None are made if it is negative.
	LeaseInterval time.Duration
	// StartDelay is how long a pod is pending on its node before its first container starts: the time to pull images.
	// It must not be negative. Default: none.
	StartDelay time.Duration
	// Clock tells the time. Default: the real one, which also works in testing/synctest.
	Clock clock.WithTicker
}

// Node is a node that a [Kubelet] registers.
type Node struct {
	// Name is the node's name and host name: a DNS subdomain (RFC 1123).
	Name string
	// Labels are its labels, beside those of host name, operating system and architecture that each node has.
	Labels map[string]string
	// Capacity is what it has to give, which is all allocatable. Default, for each of cpu, memory, ephemeral-storage and
	// pods that is not there: 4 cores, 16Gi, 100Gi and 110 pods.
	Capacity corev1.ResourceList
	// Taints keep pods away. Default: none.
	Taints []corev1.Taint
}

// Validate returns an error that names every option which makes no sense, as [New] does; nil if all do. errors.As finds
// the first of them as a *field.Error (k8s.io/apimachinery/pkg/util/validation/field), whose Field is the Go path of the
// option, such as Options.Nodes[2].Name, whose BadValue is what was given, and whose Detail says what is wanted.
//
// Of scripts it looks at [Fixed], at [ScriptFunc]s that are nil, and at what [Failure.Before] and [FailIndex] return. What
// others answer is looked at when they are asked: see [Outcome].
func (o Options) Validate() error {
	var faults field.ErrorList
	names := map[string]bool{}
	for i, node := range o.Nodes {
		at := check.Option("Nodes").Index(i)
		faults = append(faults, node.validate(at)...)
		if names[node.Name] && node.Name != "" {
			faults = append(faults, field.Duplicate(at.Child("Name"), node.Name))
		}
		names[node.Name] = true
	}
	faults = append(faults, validateScript(check.Option("Script"), o.Script)...)
	if o.Runtime.processes != nil {
		if o.Script != nil {
			faults = append(faults, field.Forbidden(check.Option("Script"), "is not asked where Options.Runtime runs commands: leave one of them out"))
		}
		faults = append(faults, check.NotNegative(check.Option("Runtime", "StopGrace"), o.Runtime.processes.StopGrace)...)
	}
	faults = append(faults, check.NotNegative(check.Option("LogLimit"), o.LogLimit)...)
	faults = append(faults, check.NotNegative(check.Option("StartDelay"), o.StartDelay)...)
	return check.Error(faults)
}

func (n *Node) validate(at *field.Path) field.ErrorList {
	faults := check.Name(at.Child("Name"), n.Name, "a node needs a name")
	faults = append(faults, check.Labels(at.Child("Labels"), n.Labels)...)
	faults = append(faults, check.Capacity(at.Child("Capacity"), n.Capacity)...)
	return append(faults, check.Taints(at.Child("Taints"), n.Taints)...)
}
