package cluster

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/client-go/rest"

	"github.com/musterkube/muster/pkg/controller/job"
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
	// ControllerScheduler is the scheduler. It runs wherever there are nodes; its name asks for it on a cluster whose
	// nodes clients make.
	ControllerScheduler = "scheduler"
)

// Controllers returns the names of the controllers that run by default.
func Controllers() []string {
	return []string{ControllerJob, ControllerPodGroupProtection, ControllerTTLAfterFinished, ControllerGarbageCollector, ControllerNamespace}
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
	if o.Controllers == nil {
		return Controllers()
	}
	return o.Controllers
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

// runners makes every part that the options ask for, without starting one.
func (o Options) runners(cfg *rest.Config) ([]runner, error) {
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
		{ControllerScheduler, o.Nodes > 0 || slices.Contains(names, ControllerScheduler), func() (interface{ Run(context.Context) error }, error) {
			return scheduler.New(cfg, scheduler.Options{Gates: o.Gates, Parity: o.Parity})
		}},
		{"kubelet", o.Nodes > 0, func() (interface{ Run(context.Context) error }, error) {
			return kubelet.New(cfg, kubelet.Options{Nodes: o.nodes(), Script: o.Script})
		}},
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
