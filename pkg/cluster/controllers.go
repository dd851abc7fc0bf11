package cluster

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/client-go/rest"

	"github.com/musterkube/muster/pkg/controller/job"
	"github.com/musterkube/muster/pkg/controller/nodelifecycle"
	"github.com/musterkube/muster/pkg/controller/podgc"
	"github.com/musterkube/muster/pkg/controller/podgroupprotection"
	"github.com/musterkube/muster/pkg/controller/ttl"
	"github.com/musterkube/muster/pkg/emulator"
	"github.com/musterkube/muster/pkg/features"
	"github.com/musterkube/muster/pkg/kubelet"
	"github.com/musterkube/muster/pkg/scheduler"
)

// The controllers by name, as kube-controller-manager spells them where it has them.
const (
	// ControllerJob runs Jobs, see pkg/controller/job.
	ControllerJob = "job"
	// ControllerPodGroupProtection keeps a deleted PodGroup until its pods have ended, see pkg/controller/podgroupprotection.
	ControllerPodGroupProtection = "podgroup-protection"
	// ControllerTTLAfterFinished deletes finished Jobs, see pkg/controller/ttl.
	ControllerTTLAfterFinished = "ttl-after-finished"
	// ControllerGarbageCollector deletes what a deleted owner leaves behind.
	ControllerGarbageCollector = emulator.ControllerGarbageCollector
	// ControllerNamespace empties deleted namespaces.
	ControllerNamespace = emulator.ControllerNamespace
	// ControllerClusterRoleAggregation fills in the rules of ClusterRoles that aggregate others.
	ControllerClusterRoleAggregation = emulator.ControllerClusterRoleAggregation
	// ControllerNodeLifecycle finds nodes that are out of reach and moves their pods away, see pkg/controller/nodelifecycle.
	// By default it runs where there are nodes, up to [MaxWatchedNodes] of them; its name asks for it where there are more,
	// and on a cluster whose nodes clients make, which then have to renew their Leases. The cluster's own nodes renew theirs
	// where it runs.
	ControllerNodeLifecycle = "node-lifecycle"
	// ControllerPodGarbageCollector removes the pods of nodes that do not exist, see pkg/controller/podgc. By default it
	// runs where there are nodes; its name asks for it on a cluster whose nodes clients make.
	ControllerPodGarbageCollector = "pod-garbage-collector"
	// ControllerScheduler is the scheduler. It runs wherever there are nodes; its name asks for it on a cluster whose
	// nodes clients make.
	ControllerScheduler = "scheduler"
)

// MaxWatchedNodes is for how many nodes Leases are kept by default. Each is a write every ten seconds, of about a
// millisecond.
const MaxWatchedNodes = 1000

// Controllers returns the names of the controllers that run by default on a cluster with nodes. On one without, those
// that look after nodes do not.
func Controllers() []string {
	return []string{
		ControllerJob, ControllerPodGroupProtection, ControllerTTLAfterFinished, ControllerGarbageCollector, ControllerNamespace,
		ControllerClusterRoleAggregation, ControllerNodeLifecycle, ControllerPodGarbageCollector,
	}
}

// CheckControllers returns an error that names the first controller of which there is none.
func CheckControllers(names []string) error {
	known := append(Controllers(), ControllerScheduler)
	for _, name := range names {
		if !slices.Contains(known, name) {
			return fmt.Errorf("there is no controller %q: have %s", name, strings.Join(known, ", "))
		}
	}
	return nil
}

// controllers returns the names of the controllers to run.
func (o Options) controllers() []string {
	if o.Controllers != nil {
		return o.Controllers
	}
	return slices.DeleteFunc(Controllers(), func(name string) bool {
		return o.Nodes == 0 && (name == ControllerNodeLifecycle || name == ControllerPodGarbageCollector) ||
			o.Nodes > MaxWatchedNodes && name == ControllerNodeLifecycle
	})
}

// disabled returns the names of the server's own controllers that are not to run.
func (o Options) disabled() []string {
	return slices.DeleteFunc(emulator.Controllers(), func(name string) bool { return slices.Contains(o.controllers(), name) })
}

// runner is a part of the cluster: it works until ctx ends.
type runner struct {
	name string
	run  func(ctx context.Context) error
}

// kubelet makes what runs the pods of the nodes, nil if there are none.
func (o Options) kubelet(cfg *rest.Config) (*kubelet.Kubelet, error) {
	if o.Nodes == 0 {
		return nil, nil
	}
	options := kubelet.Options{
		Nodes: o.nodes(), Script: o.Script, Runtime: o.Runtime, LeaseInterval: o.NodeGracePeriod / leases,
	}
	if !slices.Contains(o.controllers(), ControllerNodeLifecycle) {
		options.LeaseInterval = -1 // nobody would look
	}
	nodes, err := kubelet.New(cfg, options)
	if err != nil {
		return nil, fmt.Errorf("making kubelet: %w", err)
	}
	return nodes, nil
}

// runners makes every part that the options ask for, without starting one.
func (o Options) runners(cfg *rest.Config, nodes *kubelet.Kubelet) ([]runner, error) {
	names := o.controllers()
	builders := []struct {
		name   string
		wanted bool
		build  func() (interface{ Run(context.Context) error }, error)
	}{
		{ControllerJob, slices.Contains(names, ControllerJob), func() (interface{ Run(context.Context) error }, error) {
			return job.New(cfg, o.job())
		}},
		{ControllerPodGroupProtection, slices.Contains(names, ControllerPodGroupProtection) && o.Gates.Enabled(features.GenericWorkload), func() (interface{ Run(context.Context) error }, error) {
			return podgroupprotection.New(cfg, podgroupprotection.Options{})
		}},
		{ControllerTTLAfterFinished, slices.Contains(names, ControllerTTLAfterFinished), func() (interface{ Run(context.Context) error }, error) {
			return ttl.New(cfg, ttl.Options{Metrics: o.Metrics})
		}},
		{ControllerNodeLifecycle, slices.Contains(names, ControllerNodeLifecycle), func() (interface{ Run(context.Context) error }, error) {
			return nodelifecycle.New(cfg, o.nodeLifecycle())
		}},
		{ControllerPodGarbageCollector, slices.Contains(names, ControllerPodGarbageCollector), func() (interface{ Run(context.Context) error }, error) {
			return podgc.New(cfg, podgc.Options{})
		}},
		{ControllerScheduler, o.Nodes > 0 || slices.Contains(names, ControllerScheduler), func() (interface{ Run(context.Context) error }, error) {
			return scheduler.New(cfg, scheduler.Options{Gates: o.Gates, Parity: o.Parity})
		}},
		{"kubelet", nodes != nil, func() (interface{ Run(context.Context) error }, error) { return nodes, nil }},
	}
	var parts []runner
	for _, b := range builders {
		if !b.wanted {
			continue
		}
		part, err := b.build()
		if err != nil {
			return nil, fmt.Errorf("making %s: %w", b.name, err)
		}
		parts = append(parts, runner{b.name, part.Run})
	}
	return parts, nil
}
