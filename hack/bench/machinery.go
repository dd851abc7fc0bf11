package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/musterkube/muster/pkg/controller/job"
	"github.com/musterkube/muster/pkg/controller/podgroupprotection"
	"github.com/musterkube/muster/pkg/controller/ttl"
	"github.com/musterkube/muster/pkg/emulator"
	"github.com/musterkube/muster/pkg/kubelet"
	"github.com/musterkube/muster/pkg/scheduler"
)

// machinery is a server with all that pkg/cluster puts round it, each part with a client of its own whose requests are
// counted.
type machinery struct {
	server   *emulator.Server
	requests *requests
	cancel   context.CancelFunc
	parts    sync.WaitGroup
	failed   chan error
}

// part is something that runs until its context ends.
type part interface {
	Run(ctx context.Context) error
}

// startMachinery starts a server and the controllers. With nodes there are a scheduler and a kubelet too, under which
// every pod ends well at once. syncDelay is how long the Job controller gathers events of pods.
func startMachinery(ctx context.Context, nodes []kubelet.Node, syncDelay time.Duration) (*machinery, error) {
	server, err := emulator.Start(ctx, emulator.Options{})
	if err != nil {
		return nil, err
	}
	m := &machinery{server: server, requests: newRequests(), failed: make(chan error, 1)}
	ctx, m.cancel = context.WithCancel(ctx)
	if err := m.startParts(ctx, nodes, syncDelay); err != nil {
		m.stop()
		return nil, err
	}
	return m, nil
}

func (m *machinery) startParts(ctx context.Context, nodes []kubelet.Node, syncDelay time.Duration) error {
	jobs, errJobs := job.New(m.config("job controller"), job.Options{SyncDelay: syncDelay})
	protection, errProtection := podgroupprotection.New(m.config("podgroup protection"), podgroupprotection.Options{})
	expiry, errExpiry := ttl.New(m.config("ttl"), ttl.Options{})
	if err := errors.Join(errJobs, errProtection, errExpiry); err != nil {
		return err
	}
	parts := []part{jobs, protection, expiry}
	if len(nodes) > 0 {
		placing, errScheduler := scheduler.New(m.config("scheduler"), scheduler.Options{})
		playing, errKubelet := kubelet.New(m.config("kubelet"), kubelet.Options{Nodes: nodes})
		if err := errors.Join(errScheduler, errKubelet); err != nil {
			return err
		}
		parts = append(parts, placing, playing)
	}
	for _, p := range parts {
		m.run(ctx, p.Run)
	}
	return nil
}

// run runs something beside the rest until ctx ends. If it ends before that, the measurement has failed.
func (m *machinery) run(ctx context.Context, run func(context.Context) error) {
	m.parts.Go(func() {
		if err := run(ctx); err != nil || ctx.Err() == nil {
			select {
			case m.failed <- fmt.Errorf("a part of the cluster ended early: %w", err):
			default:
			}
		}
	})
}

// config is the configuration of a client whose requests are counted under that name.
func (m *machinery) config(client string) *rest.Config {
	return m.requests.of(client, m.server.Config())
}

// stop ends everything.
func (m *machinery) stop() {
	m.cancel()
	m.parts.Wait()
	m.server.Stop()
}

// client makes a client that speaks protobuf, as the components of Kubernetes do.
func client(cfg *rest.Config) (*kubernetes.Clientset, error) {
	cfg = rest.CopyConfig(cfg)
	cfg.ContentType, cfg.AcceptContentTypes = protobuf, protobuf+",application/json"
	return kubernetes.NewForConfig(cfg)
}

const protobuf = "application/vnd.kubernetes.protobuf"
