package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"k8s.io/client-go/rest"

	"github.com/musterkube/muster/pkg/emulator"
	"github.com/musterkube/muster/pkg/kubelet"
)

// Cluster is a running cluster. Its methods may be called from any goroutine.
type Cluster struct {
	server  *emulator.Server
	kubelet *kubelet.Kubelet // nil without nodes
	cancel  context.CancelFunc
	parts   sync.WaitGroup
	failed  chan struct{} // closed when a part ended by itself

	mu  sync.Mutex
	err error
}

// Start brings a cluster up and returns when its API server answers and its own nodes are Ready; the controllers start
// beside it and catch up. The cluster works until Stop is called or ctx ends, and Stop must be called in either case: it
// alone waits until every goroutine of the cluster has ended.
//
// Options that make no sense are an error that names all of them: see [Options.Validate].
func Start(ctx context.Context, opts Options) (*Cluster, error) {
	if err := opts.Validate(); err != nil {
		return nil, fmt.Errorf("checking cluster options: %w", err)
	}
	logs := &logs{ready: make(chan struct{})}
	serverOptions := opts.server()
	serverOptions.Logs = logs.source(opts.Nodes)
	server, err := emulator.Start(ctx, serverOptions)
	if err != nil {
		return nil, fmt.Errorf("starting API server: %w", err)
	}
	nodes, err := opts.kubelet(server.Config())
	if err != nil {
		server.Stop()
		return nil, err
	}
	logs.have(nodes)
	parts, err := opts.runners(server.Config(), nodes)
	if err != nil {
		server.Stop()
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	c := &Cluster{server: server, kubelet: nodes, cancel: cancel, failed: make(chan struct{})}
	for _, part := range parts {
		c.parts.Go(func() { c.supervise(ctx, part) })
	}
	if err := c.awaitNodes(ctx, opts.nodes()); err != nil {
		c.Stop()
		return nil, fmt.Errorf("waiting for the nodes to be Ready: %w", err)
	}
	return c, nil
}

// supervise runs a part. One that ends before it is told to is a failure of the cluster.
func (c *Cluster) supervise(ctx context.Context, part runner) {
	err := part.run(ctx)
	if ctx.Err() != nil {
		return
	}
	if err == nil {
		err = errors.New("ended by itself")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		close(c.failed)
	}
	c.err = errors.Join(c.err, fmt.Errorf("running %s: %w", part.name, err))
}

// Config returns a client configuration for a cluster administrator, which reaches the server without a socket. The
// caller may change it.
func (c *Cluster) Config() *rest.Config { return c.server.Config() }

// Server returns the cluster's API server, through which it can be opened to other processes.
func (c *Cluster) Server() *emulator.Server { return c.server }

// Kubelet returns what runs the pods of the cluster's nodes, through which a node can be lost and found again. It is nil
// if the cluster has no nodes of its own.
func (c *Cluster) Kubelet() *kubelet.Kubelet { return c.kubelet }

// Failed is closed when a part of the cluster ended by itself; Err then says which and why.
func (c *Cluster) Failed() <-chan struct{} { return c.failed }

// Err returns what went wrong with the parts that ended by themselves, or nil.
func (c *Cluster) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Stop ends the cluster and returns when every goroutine of it has ended. It may be called more than once,
// and of the nil that a failed Start returns.
func (c *Cluster) Stop() {
	if c == nil || c.cancel == nil {
		return
	}
	c.cancel()
	c.parts.Wait()
	c.server.Stop()
}
