package clustertest

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/musterkube/muster/generated/clientset/versioned"
	"github.com/musterkube/muster/pkg/cluster"
	"github.com/musterkube/muster/pkg/emulator/emulatortest"
)

// Cluster is a running cluster with the time that it lives in. Its methods fail the test where they cannot do what they
// say, and are for the goroutine of the test; the embedded Cluster's may be called from any.
type Cluster struct {
	*cluster.Cluster
	// Kube and Muster are clients of a cluster administrator, for Kubernetes' own APIs and for Workloads and PodGroups.
	Kube   kubernetes.Interface
	Muster versioned.Interface

	// look is the client of this package, whose requests are no part of what happens.
	look    kubernetes.Interface
	t       testing.TB
	virtual bool
	cancel  context.CancelFunc
	// run starts what the test has running beside the cluster.
	run func(func(context.Context) error)

	mu       sync.Mutex
	failures []error
}

// lookAgent is the user agent of what looks whether anything happens.
const lookAgent = "clustertest"

// start brings a cluster up that ends with the test.
func start(tb testing.TB, options cluster.Options, recorder *emulatortest.Recorder, virtual bool) *Cluster {
	tb.Helper()
	if options.Job.SyncDelay == 0 && !options.Parity {
		options.Job.SyncDelay = time.Nanosecond
	}
	options.WrapHandler = recorder.Before(options.WrapHandler)
	// The test's own cleanup functions, which run first, find the cluster working.
	ctx := klog.NewContext(context.WithoutCancel(tb.Context()), emulatortest.Logger(tb))
	started, err := cluster.Start(ctx, options)
	if err != nil {
		tb.Fatalf("starting the cluster: %v", err)
	}
	tb.Cleanup(started.Stop)
	c := &Cluster{Cluster: started, t: tb, virtual: virtual}
	if c.Kube, err = kubernetes.NewForConfig(started.Config()); err != nil {
		tb.Fatalf("making a client: %v", err)
	}
	looks := started.Config()
	looks.UserAgent = lookAgent
	looks.WarningHandler = rest.NoWarnings{} // it watches every kind, deprecated ones too
	if c.look, err = kubernetes.NewForConfig(looks); err != nil {
		tb.Fatalf("making a client: %v", err)
	}
	if c.Muster, err = versioned.NewForConfig(started.Config()); err != nil {
		tb.Fatalf("making a client: %v", err)
	}
	ctx, c.cancel = context.WithCancel(ctx)
	var running sync.WaitGroup
	c.run = func(run func(context.Context) error) { running.Go(func() { c.note(ctx, run(ctx)) }) }
	tb.Cleanup(func() { recorder.Report(tb) }) // of what goes wrong at the end
	tb.Cleanup(func() { c.end(&running) })
	tb.Cleanup(func() { recorder.Report(tb) })
	return c
}

// Go runs something beside the cluster, such as the controller that is tested, until its context ends, which is after the
// test and its cleanup functions and before the cluster. An error before that fails the test, at the latest at its end. An
// end before that without an error does not: a test may have brought it about, as of a leader that another is to follow.
// The test's log tells of it, because of a controller it is most likely a mistake.
func (c *Cluster) Go(run func(ctx context.Context) error) {
	where := "an unknown place"
	if _, file, line, ok := runtime.Caller(1); ok {
		where = fmt.Sprintf("%s:%d", filepath.Base(file), line)
	}
	c.run(func(ctx context.Context) error {
		err := run(ctx)
		if err == nil && ctx.Err() == nil {
			c.t.Logf("what was given to Go at %s has ended, without an error, while the cluster still runs", where)
		}
		return err
	})
}

// note keeps the error of something that ended by itself.
func (c *Cluster) note(ctx context.Context, err error) {
	if err == nil || ctx.Err() != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failures = append(c.failures, err)
}

// failed says what has ended by itself, the cluster's parts and the test's.
func (c *Cluster) failed() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return errors.Join(append([]error{c.Err()}, c.failures...)...)
}

// check fails the test if something has ended by itself.
func (c *Cluster) check() {
	c.t.Helper()
	if err := c.failed(); err != nil {
		c.t.Fatalf("something that runs in the cluster has failed: %v", err)
	}
}

// patience is how long what was given to Go may take to end.
const patience = time.Minute

// end stops what the test has running and says what has failed.
func (c *Cluster) end(running *sync.WaitGroup) {
	c.t.Helper()
	if err := c.failed(); err != nil && !c.t.Failed() {
		c.t.Errorf("something that runs in the cluster has failed: %v", err)
	}
	c.cancel()
	ended := make(chan struct{})
	go func() {
		running.Wait()
		close(ended)
	}()
	timer := clock.RealClock{}.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C():
		c.t.Errorf("what was given to Go still runs %v after its context has ended", patience)
	}
}

// watchHorizon ends a test that waits in vain: without a cluster there is nothing left to wait for, and the bubble says
// so.
func (c *Cluster) watchHorizon(ctx context.Context) error {
	timer := clock.RealClock{}.NewTimer(horizon)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C():
		c.t.Errorf("the test has lasted for %v of virtual time: the cluster is stopped", horizon)
		c.cancel()
		c.Stop()
	}
	return nil
}
