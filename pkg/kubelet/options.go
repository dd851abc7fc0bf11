package kubelet

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
)

// Options says what a [Kubelet] plays and how. The zero value is useful.
type Options struct {
	// Nodes are the nodes that the kubelet registers at its start and serves. Default: none, and then it serves every
	// node that somebody else has made.
	Nodes []Node
	// Script says how long containers run and how they end. Annotations of the pod win over it. Default: [Fixed]{}, under
	// which every container ends well at once.
	Script Script
	// Runtime is what containers run in. Default: they are played by the script. [Processes] runs their commands.
	Runtime Runtime
	// LogLimit is how many bytes are kept of what a container writes, of its present run and of the one before each; older
	// lines go first. Default: 1 MiB.
	LogLimit int
	// LeaseInterval is how often the Lease of each node, in namespace kube-node-lease, is renewed, by which others see that
	// the node is alive. Default: 10 seconds. None are made if it is negative.
	LeaseInterval time.Duration
	// StartDelay is how long a pod is pending on its node before its first container starts: the time to pull images.
	// Default: none.
	StartDelay time.Duration
	// Clock tells the time. Default: the real one, which also works in testing/synctest.
	Clock clock.WithTicker
}

// Node is a node that a [Kubelet] registers.
type Node struct {
	// Name is the node's name and host name.
	Name string
	// Labels are its labels, beside those of host name, operating system and architecture that each node has.
	Labels map[string]string
	// Capacity is what it has to give, which is all allocatable. Default, for each of cpu, memory, ephemeral-storage and
	// pods that is not there: 4 cores, 16Gi, 100Gi and 110 pods.
	Capacity corev1.ResourceList
	// Taints keep pods away. Default: none.
	Taints []corev1.Taint
}
