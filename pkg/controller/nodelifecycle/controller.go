package nodelifecycle

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/musterkube/muster/pkg/internal/guard"
)

// userAgent names the controller to the API server.
const userAgent = "muster-node-lifecycle"

// Controller finds nodes that are out of reach. [New] makes one.
type Controller struct {
	opts Options
	kube kubernetes.Interface

	// running says that Run is under way.
	running guard.Exclusive
}

// New returns a controller for the cluster of cfg, which may have a transport of its own, in memory for instance. It
// starts nothing and sends nothing. Requests are not throttled unless cfg sets QPS or a rate limiter. cfg is not kept.
//
// Options that make no sense are an error that names all of them, see [Options.Validate], as is a cfg that no client can
// be made of.
func New(cfg *rest.Config, opts Options) (*Controller, error) {
	if cfg == nil {
		return nil, errors.New("making a node lifecycle controller: there is no rest.Config")
	}
	opts, err := opts.complete()
	if err != nil {
		return nil, fmt.Errorf("making a node lifecycle controller: %w", err)
	}
	kube, err := newClient(cfg)
	if err != nil {
		return nil, fmt.Errorf("making a node lifecycle controller: %w", err)
	}
	return &Controller{opts: opts, kube: kube}, nil
}

func newClient(cfg *rest.Config) (kubernetes.Interface, error) {
	cfg = rest.CopyConfig(cfg)
	if cfg.UserAgent == "" {
		cfg.UserAgent = userAgent
	}
	if cfg.QPS == 0 && cfg.RateLimiter == nil {
		cfg.QPS = -1
	}
	if cfg.ContentType == "" {
		cfg.ContentType = runtime.ContentTypeProtobuf
		cfg.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	}
	httpClient, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return nil, fmt.Errorf("making an HTTP client: %w", err)
	}
	kube, err := kubernetes.NewForConfigAndClient(cfg, httpClient)
	if err != nil {
		return nil, fmt.Errorf("making a client for nodes: %w", err)
	}
	return kube, nil
}

// Run works until ctx ends, and returns nil when every goroutine it started has ended. While the API server cannot be
// reached it keeps trying. It returns no other error.
//
// A controller may be run again after it has ended, not twice at a time: a call while it runs is an error at once.
func (c *Controller) Run(ctx context.Context) error {
	if c == nil || c.kube == nil {
		return errors.New("running the node lifecycle controller: it was not made by New")
	}
	leave, err := c.running.Enter("running the node lifecycle controller")
	if err != nil {
		return err
	}
	defer leave()
	newReconciler(c).run(ctx)
	return nil
}
