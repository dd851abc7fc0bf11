package scheduler

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/generated/clientset/versioned"
	"github.com/musterkube/muster/pkg/features"
	"github.com/musterkube/muster/pkg/internal/guard"
)

// ErrNotServed is returned by [Scheduler.Run] when the gate GenericWorkload is on and the API server does not serve
// PodGroups: a cluster of another release than 1.36, or one without that gate. Pods of a group would be placed as if they
// had none, so the gate must be switched off in [Options].Gates to run all the same.
var ErrNotServed = errors.New("scheduling.k8s.io/v1alpha2 is not served")

// writers is how many requests are under way at once.
const writers = 16

// gathering is how long the scheduler waits for more pods before it looks at those that are there. In virtual time this is
// after other controllers, which wait for a nanosecond or not at all, have made what they make in an instant; no clock on
// a wall is so fine.
const gathering = 10 * time.Nanosecond

// batch bounds the cycles that run while the informers wait.
const batch = 64

// Scheduler places pods on nodes. Make one with [New].
type Scheduler struct {
	kube   kubernetes.Interface
	muster versioned.Interface
	policy policy
	clock  clock.WithTicker

	// mu guards cluster and queue: informers change them, the loop reads and changes them.
	mu      sync.Mutex
	cluster *cluster
	queue   *queue
	// wake holds a token when there may be something to do.
	wake chan struct{}
	// tokens bounds the requests under way.
	tokens chan struct{}

	// begun says that Run was called.
	begun guard.Once
}

// New makes a scheduler for the API server of cfg. It sends nothing before [Scheduler.Run]. Requests are not throttled
// unless cfg.QPS says so.
//
// Options that make no sense are an error that names all of them: see [Options.Validate]. So is a cfg that no client can
// be made of.
func New(cfg *rest.Config, options Options) (*Scheduler, error) {
	if cfg == nil {
		return nil, errors.New("making scheduler: there is no rest.Config")
	}
	if err := options.Validate(); err != nil {
		return nil, fmt.Errorf("making scheduler: %w", err)
	}
	cfg = rest.CopyConfig(cfg)
	if cfg.UserAgent == "" {
		cfg.UserAgent = "muster-scheduler"
	}
	if cfg.QPS == 0 {
		cfg.QPS = -1
	}
	if cfg.ContentType == "" && cfg.AcceptContentTypes == "" {
		cfg.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	}
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return nil, fmt.Errorf("making scheduler: %w", err)
	}
	muster, err := versioned.NewForConfigAndClient(cfg, client)
	if err != nil {
		return nil, fmt.Errorf("making scheduler: %w", err)
	}
	if cfg.ContentType == "" { // only now: a server that has Workloads as custom resources takes JSON alone
		cfg.ContentType = runtime.ContentTypeProtobuf
	}
	kube, err := kubernetes.NewForConfigAndClient(cfg, client)
	if err != nil {
		return nil, fmt.Errorf("making scheduler: %w", err)
	}
	return newScheduler(kube, muster, options), nil
}

func newScheduler(kube kubernetes.Interface, muster versioned.Interface, options Options) *Scheduler {
	p := options.policy()
	return &Scheduler{
		kube:    kube,
		muster:  muster,
		policy:  p,
		clock:   options.clock(),
		cluster: newCluster(p),
		queue:   newQueue(),
		wake:    make(chan struct{}, 1),
		tokens:  make(chan struct{}, writers),
	}
}

// Run schedules until ctx is done and returns nil then, after everything that it started has ended. It returns an error
// if it cannot start, [ErrNotServed] for instance. A Scheduler runs once: another call is an error.
func (s *Scheduler) Run(ctx context.Context) error {
	if s == nil || s.kube == nil {
		return errors.New("starting scheduler: it was not made by New")
	}
	if err := s.begun.Enter("starting scheduler"); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ctx = klog.NewContext(ctx, klog.LoggerWithName(klog.FromContext(ctx), "scheduler"))

	if err := s.checkServed(); err != nil {
		return fmt.Errorf("starting scheduler: %w", err)
	}
	events := record.NewBroadcaster(record.WithContext(ctx))
	defer events.Shutdown()
	events.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: s.kube.CoreV1().Events("")})
	recorder := events.NewRecorder(scheme.Scheme, corev1.EventSource{Component: s.policy.schedulerName})

	stopInformers, err := s.watch(ctx)
	defer stopInformers()
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return fmt.Errorf("starting scheduler: %w", err)
	}
	s.loop(ctx, &writer{scheduler: s, recorder: recorder})
	cancel()
	return nil
}

// checkServed finds out early whether there can be groups at all; an informer would ask for them for ever.
func (s *Scheduler) checkServed() error {
	if !s.policy.groups() {
		return nil
	}
	version := schedulingv1alpha2.SchemeGroupVersion.String()
	if _, err := s.muster.Discovery().ServerResourcesForGroupVersion(version); apierrors.IsNotFound(err) {
		return fmt.Errorf("%w: without PodGroups, switch the gate %s off: %w", ErrNotServed, features.GenericWorkload, err)
	}
	return nil
}

// loop runs cycles one after another, and leaves their outcomes to the writer.
func (s *Scheduler) loop(ctx context.Context, w *writer) {
	var writing sync.WaitGroup
	defer writing.Wait()
	for ctx.Err() == nil {
		s.gather(ctx)
		tried := s.cycles(batch)
		if len(tried) == 0 {
			s.rest(ctx)
			continue
		}
		for _, a := range tried {
			writing.Go(func() {
				failed := w.write(ctx, &a.decision)
				s.settle(a.unit, &a.decision, failed)
			})
		}
	}
}

// gather waits for next to no time. In virtual time that is until everything else that happens in this instant has
// happened, so that what comes of it does not depend on which goroutine ran first; on a real clock a burst of pods is
// looked at by priority rather than one by one. The options' clock does not tell when others are at rest, but that of the
// runtime does.
func (s *Scheduler) gather(ctx context.Context) {
	timer := clock.RealClock{}.NewTimer(gathering)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C():
	}
}

// attempt is a cycle that has been run for a unit, with its outcome yet to be written.
type attempt struct {
	unit     *unit
	decision Decision
}

// cycles tries the units whose turn it is, as many as that at most. Nothing else changes in between.
func (s *Scheduler) cycles(most int) []attempt {
	s.mu.Lock()
	defer s.mu.Unlock()
	var tried []attempt
	for len(tried) < most {
		u, decision := s.cycle()
		if u == nil {
			break
		}
		tried = append(tried, attempt{u, decision})
	}
	return tried
}

// rest waits for something to do: a change, or the end of a back-off.
func (s *Scheduler) rest(ctx context.Context) {
	s.mu.Lock()
	due, found := s.queue.next()
	s.mu.Unlock()
	var timeout <-chan time.Time
	if found {
		timer := s.clock.NewTimer(due.Sub(s.clock.Now()))
		defer timer.Stop()
		timeout = timer.C()
	}
	select {
	case <-ctx.Done():
	case <-s.wake:
	case <-timeout:
	}
}

// cycle tries the unit whose turn it is. It returns nil if none is due. The caller holds the lock.
func (s *Scheduler) cycle() (*unit, Decision) {
	for {
		u := s.queue.pop(s.clock.Now())
		if u == nil {
			return nil, Decision{}
		}
		decision, tried := Decision{}, false
		if s.cluster.admitted(u.key) { // members may have gone while it waited
			decision, tried = s.cluster.schedule(u.key)
		}
		if !tried {
			s.queue.rest(u, false)
			continue
		}
		u.unplaced = decision.unplaced
		return u, decision
	}
}

// settle puts the unit of a decision back where it belongs once the decision is written. The pods in failed could not
// be bound.
func (s *Scheduler) settle(u *unit, decision *Decision, failed []*corev1.Pod) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock.Now()
	for _, pod := range failed {
		if p := s.cluster.pods[uidOf(pod)]; p != nil && p.assumed {
			node := p.node
			s.cluster.forget(uidOf(pod))
			s.freed(node, now)
		}
	}
	if s.queue.units[u.key] == u {
		s.requeue(u, now, len(decision.Rejections)+len(failed) > 0, len(failed) > 0)
	}
	s.signal()
}

// requeue decides what is next for a unit after an attempt, which left pods over or not.
func (s *Scheduler) requeue(u *unit, now time.Time, leftOver, failed bool) {
	switch {
	case len(s.cluster.candidates(u.key)) == 0:
		s.queue.drop(u.key)
	case !s.cluster.admitted(u.key):
		s.queue.rest(u, false)
	case leftOver:
		// A pod on its own waits for the cluster to change. A group always comes back: kube-scheduler cannot tell which
		// changes help a group, and a group may wait for more than one.
		s.queue.retry(u, now, !u.key.group && !failed, s.policy.parity)
	case u.again == activated:
		s.queue.rest(u, true)
		s.activate(u.key)
	default:
		s.queue.rest(u, true)
	}
}

// signal tells the loop to look again.
func (s *Scheduler) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}
