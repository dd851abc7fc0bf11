package job

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/musterkube/muster/generated/clientset/versioned"
	"github.com/musterkube/muster/pkg/batch"
	"github.com/musterkube/muster/pkg/features"
	"github.com/musterkube/muster/pkg/internal/guard"
)

// ErrNotServed is returned by [Controller.Run] when the gate WorkloadWithJob is on and the API server does not serve
// Workloads and PodGroups: a cluster of another release than 1.36, or one without the gate GenericWorkload. Jobs that
// should start together would not, so the gate must be switched off in [Options].Gates to run them all the same.
var ErrNotServed = errors.New("scheduling.k8s.io/v1alpha2 is not served")

// userAgent names the controller to the API server, which takes the manager of managed fields from it.
const userAgent = "muster-job-controller"

// Controller runs the Jobs of a cluster. [New] makes one.
type Controller struct {
	opts       Options
	better     deviations
	kube       kubernetes.Interface
	scheduling versioned.Interface
	metrics    metrics

	// running says that Run is under way.
	running guard.Exclusive
}

// New returns a controller for the cluster of cfg, which may have a transport of its own, in memory for instance. It
// starts nothing and sends nothing. Requests are not throttled unless cfg sets QPS or a rate limiter. cfg is not kept.
//
// Options that make no sense are an error that names all of them, see [Options.Validate], as are a cfg that no client can
// be made of and a registry that has the metrics of another Job controller.
func New(cfg *rest.Config, opts Options) (*Controller, error) {
	if cfg == nil {
		return nil, errors.New("making a job controller: there is no rest.Config")
	}
	if err := opts.Validate(); err != nil {
		return nil, fmt.Errorf("making a job controller: %w", err)
	}
	kube, scheduling, err := newClients(cfg)
	if err != nil {
		return nil, fmt.Errorf("making a job controller: %w", err)
	}
	c := newController(kube, scheduling, opts)
	if c.metrics, err = newMetrics(opts); err != nil {
		return nil, fmt.Errorf("making a job controller: %w", err)
	}
	return c, nil
}

func newController(kube kubernetes.Interface, scheduling versioned.Interface, opts Options) *Controller {
	return &Controller{opts: opts.withDefaults(), better: deviationsOf(opts.Parity), kube: kube, scheduling: scheduling, metrics: noMetrics{}}
}

// newClients returns typed clients that share one HTTP client.
func newClients(cfg *rest.Config) (kubernetes.Interface, versioned.Interface, error) {
	cfg = rest.CopyConfig(cfg)
	if cfg.UserAgent == "" {
		cfg.UserAgent = userAgent
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
		return nil, nil, fmt.Errorf("making a client for workloads: %w", err)
	}
	if cfg.ContentType == "" { // only now: a server that has Workloads as custom resources takes JSON alone
		cfg.ContentType = runtime.ContentTypeProtobuf
	}
	kube, err := kubernetes.NewForConfigAndClient(cfg, httpClient)
	if err != nil {
		return nil, nil, fmt.Errorf("making a client for jobs: %w", err)
	}
	return kube, scheduling, nil
}

// stopGrace is how long syncs that are under way may go on after the controller was told to stop.
const stopGrace = 5 * time.Second

// Run runs Jobs until ctx ends, and returns nil when every goroutine it started has ended. Syncs that are under way
// then, and events of what has happened, have a few seconds to finish. While the API server cannot be reached Run keeps
// trying. The one error, apart from wrong use, is [ErrNotServed].
//
// A controller may be run again after it has ended, not twice at a time: a call while it runs is an error at once. It
// remembers nothing of the run before.
func (c *Controller) Run(ctx context.Context) error {
	if c == nil || c.kube == nil {
		return errors.New("running the job controller: it was not made by New")
	}
	leave, err := c.running.Enter("running the job controller")
	if err != nil {
		return err
	}
	defer leave()
	if err := c.checkServed(ctx); err != nil {
		return err
	}
	r := newReconciler(c)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	since, err := r.currentVersions(ctx)
	if err != nil {
		r.shutDownQueues()
		return nil
	}

	told := make(chan struct{})
	stopEvents := inBackground(ctx, func(ctx context.Context) { r.events.run(ctx, told) })
	r.startCaches(ctx)
	if r.waitForCaches(ctx, since) {
		r.work(ctx)
	}
	r.shutDownQueues()
	cancel()
	close(told)
	stopEvents(eventDrain)
	r.stopCaches()
	return nil
}

// checkServed returns an error if the controller needs an API that the server does not have.
func (c *Controller) checkServed(ctx context.Context) error {
	if !c.better.servedAPI || !c.opts.Gates.Enabled(features.WorkloadWithJob) {
		return nil
	}
	return c.untilDone(ctx, "asking for the Workload API", func() error {
		_, err := c.scheduling.SchedulingV1alpha2().Workloads(c.opts.Namespace).List(ctx, metav1.ListOptions{Limit: 1})
		if apierrors.IsNotFound(err) {
			return permanent{ErrNotServed}
		}
		return err
	})
}

// permanent marks an error that trying again would not mend.
type permanent struct{ error }

// untilDone calls f until it succeeds, fails for good or ctx ends. It returns what f returns for good, and nil when ctx
// has ended: that is no error of a controller, and everything after it ends at once too.
func (c *Controller) untilDone(ctx context.Context, what string, f func() error) error {
	for delay := c.opts.RetryBackoff; ctx.Err() == nil; delay = min(2*delay, c.opts.MaxRetryBackoff) {
		err := f()
		if err == nil {
			return nil
		}
		if final := (permanent{}); errors.As(err, &final) {
			return final.error
		}
		if ctx.Err() == nil {
			klog.FromContext(ctx).Error(err, "Trying again", "what", what, "delay", delay)
			wait(ctx, c.opts.Clock, delay)
		}
	}
	return nil
}

// wait waits for a while, or for the end of ctx.
func wait(ctx context.Context, clock clock.Clock, d time.Duration) {
	timer := clock.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C():
	case <-ctx.Done():
	}
}

// work syncs Jobs until ctx ends. Syncs that have begun then have a while to finish: a write whose answer is not waited
// for leaves more to find out for the controller that comes next.
func (r *reconciler) work(ctx context.Context) {
	stop := inBackground(ctx, func(lasting context.Context) {
		var workers sync.WaitGroup
		for range r.opts.Workers {
			workers.Go(func() { drain(ctx, r.queue, func(key jobKey) { r.processJob(lasting, key) }) })
			workers.Go(func() { drain(ctx, r.orphans, func(key orphanKey) { r.processOrphan(lasting, key) }) })
		}
		workers.Wait()
	})
	<-ctx.Done()
	r.shutDownQueues()
	stop(stopGrace)
}

// inBackground runs f with a context that does not end with ctx. The function that it returns waits for f, which must
// have been told to end, and ends that context if f takes longer than grace.
func inBackground(ctx context.Context, f func(context.Context)) (stop func(grace time.Duration)) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	running.Go(func() { f(ctx) })
	return func(grace time.Duration) {
		limit, end := context.WithTimeout(ctx, grace)
		keep := context.AfterFunc(limit, cancel)
		running.Wait()
		keep()
		end()
		cancel()
	}
}

// queue is the part of a work queue that workers use.
type queue[K comparable] interface {
	Get() (key K, shutdown bool)
	Done(key K)
}

// drain processes the keys of a queue until it is shut down. What is left in it when ctx ends is dropped.
func drain[K comparable](ctx context.Context, q queue[K], process func(K)) {
	for {
		key, shutdown := q.Get()
		if shutdown {
			return
		}
		if ctx.Err() == nil {
			process(key)
		}
		q.Done(key)
	}
}

// processJob syncs a Job and sees to it that a sync which failed comes again.
func (r *reconciler) processJob(ctx context.Context, key jobKey) {
	err := r.sync(ctx, key)
	switch {
	case err == nil:
		r.queue.Forget(key)
		r.stale.Forget(key)
	case errors.Is(err, errStale), apierrors.IsConflict(err):
		// The cache is behind, and will not be for long.
		klog.FromContext(ctx).V(4).Info("Putting off sync", "job", key, "reason", err)
		r.queue.AddAfter(key, r.stale.When(key))
	case ctx.Err() != nil:
		// Requests fail because the controller ends.
	default:
		klog.FromContext(ctx).Error(err, "Syncing job failed", "job", key)
		r.queue.AddRateLimited(key)
	}
}

// manages reports whether job is one of this controller's.
func (r *reconciler) manages(job *batchv1.Job) bool {
	return !batch.ManagedByOther(job, r.opts.ManagedBy)
}
