package podgroupprotection

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/musterkube/muster/generated/clientset/versioned"
	"github.com/musterkube/muster/pkg/internal/guard"
)

// ErrNotServed is returned by [Controller.Run] when the API server does not serve PodGroups of v1alpha2: a cluster of
// another release than 1.36, or one without the gate GenericWorkload, where there is nothing to protect.
var ErrNotServed = errors.New("scheduling.k8s.io/v1alpha2 is not served")

// manager names the controller to the API server: as user agent, and as the manager of the fields that it writes.
const manager = "muster-podgroup-protection"

// Controller takes the protection finalizer off PodGroups that no pod uses any more. [New] makes one.
type Controller struct {
	opts       Options
	kube       kubernetes.Interface
	scheduling versioned.Interface

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
		return nil, errors.New("making a podgroup protection controller: there is no rest.Config")
	}
	opts, err := opts.complete()
	if err != nil {
		return nil, fmt.Errorf("making a podgroup protection controller: %w", err)
	}
	kube, scheduling, err := newClients(cfg)
	if err != nil {
		return nil, fmt.Errorf("making a podgroup protection controller: %w", err)
	}
	return &Controller{opts: opts, kube: kube, scheduling: scheduling}, nil
}

// newClients returns typed clients that share one HTTP client.
func newClients(cfg *rest.Config) (kubernetes.Interface, versioned.Interface, error) {
	cfg = rest.CopyConfig(cfg)
	if cfg.UserAgent == "" {
		cfg.UserAgent = manager
	}
	if cfg.QPS == 0 && cfg.RateLimiter == nil {
		cfg.QPS = -1
	}
	if cfg.ContentType == "" && cfg.AcceptContentTypes == "" {
		cfg.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	}
	httpClient, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return nil, nil, fmt.Errorf("making an HTTP client: %w", err)
	}
	scheduling, err := versioned.NewForConfigAndClient(cfg, httpClient)
	if err != nil {
		return nil, nil, fmt.Errorf("making a client for podgroups: %w", err)
	}
	if cfg.ContentType == "" { // only now: a server that has Workloads as custom resources takes JSON alone
		cfg.ContentType = runtime.ContentTypeProtobuf
	}
	kube, err := kubernetes.NewForConfigAndClient(cfg, httpClient)
	if err != nil {
		return nil, nil, fmt.Errorf("making a client for pods: %w", err)
	}
	return kube, scheduling, nil
}

// Run sees to PodGroups until ctx ends, and returns nil when every goroutine it started has ended. While the API server
// cannot be reached it keeps trying. The one error is [ErrNotServed].
//
// A controller may be run again after it has ended, not twice at a time: a call while it runs is an error at once.
func (c *Controller) Run(ctx context.Context) error {
	if c == nil || c.kube == nil {
		return errors.New("running the podgroup protection controller: it was not made by New")
	}
	leave, err := c.running.Enter("running the podgroup protection controller")
	if err != nil {
		return err
	}
	defer leave()
	if err := c.checkServed(ctx); err != nil {
		return err
	}
	newReconciler(c).run(ctx)
	return nil
}

// checkServed asks for one PodGroup. Only an answer that there are none such is final; whatever else goes wrong, the
// caches try again by themselves and say so.
func (c *Controller) checkServed(ctx context.Context) error {
	_, err := c.scheduling.SchedulingV1alpha2().PodGroups(c.opts.Namespace).List(ctx, metav1.ListOptions{Limit: 1})
	if apierrors.IsNotFound(err) {
		return fmt.Errorf("running the podgroup protection controller: %w", ErrNotServed)
	}
	return nil
}
