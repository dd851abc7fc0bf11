package job

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/clock"

	"github.com/musterkube/muster/pkg/features"
	"github.com/musterkube/muster/pkg/internal/check"
)

// The defaults of [Options], those of kube-controller-manager 1.36.
const (
	// DefaultWorkers is how many Jobs are synced at a time.
	DefaultWorkers = 5
	// DefaultSyncDelay is how long pod events and status changes of a Job are gathered before it is synced.
	DefaultSyncDelay = time.Second
	// DefaultPodBackoff is the delay before a failed pod is replaced for the first time.
	DefaultPodBackoff = 10 * time.Second
	// DefaultMaxPodBackoff bounds the delay, which doubles with each failure in a row.
	DefaultMaxPodBackoff = 10 * time.Minute
	// DefaultRetryBackoff is the delay before a sync that failed is tried again for the first time.
	DefaultRetryBackoff = time.Second
	// DefaultMaxRetryBackoff bounds that delay, which doubles with each failure in a row.
	DefaultMaxRetryBackoff = time.Minute
	// DefaultMaxUncounted is how many pods may wait in status.uncountedTerminatedPods.
	DefaultMaxUncounted = 500
	// DefaultMaxPodsPerSync is how many pods one sync makes or deletes.
	DefaultMaxPodsPerSync = 500
	// DefaultExpectationTimeout is how long a sync waits to see pods that it made or deleted.
	DefaultExpectationTimeout = 5 * time.Minute
)

// maxHeldRetry bounds the time after which a Job whose pods are held back is looked at again.
const maxHeldRetry = 10 * time.Second

// component names the controller in events, as the built-in one is named there.
const component = "job-controller"

// Options says how a [Controller] works. The zero value is the standard controller with the limits of the built-in one
// and every gate on. [Options.Validate] says what makes no sense.
type Options struct {
	// ManagedBy is the value of spec.managedBy of the Jobs to run (KEP-4368): a domain-prefixed path such as
	// "example.com/queue". Every other Job is left alone, with its pods. The default runs the Jobs of the built-in
	// controller: those without the field and those that name kubernetes.io/job-controller in it. So does that name here.
	ManagedBy string

	// Gates switches features. WorkloadWithJob counts here: with it the API group version scheduling.k8s.io/v1alpha2
	// must be served. The default has every gate on.
	Gates features.Gates

	// Parity makes the controller behave as the built-in one of 1.36 also where that one is at fault: [Deviations] lists
	// where. The default does better.
	Parity bool

	// GangFallback says what becomes of the pods of a gang Job where it is not clear, or not possible, which PodGroup
	// they are to join: the condition [GangHeld] tells when. Without meaning under Parity, and so not to be set with it. The
	// default is [GangFallbackHold].
	GangFallback GangFallback

	// IgnoredFailures says whether a failure that a rule of spec.podFailurePolicy ignores puts off the next pod. The
	// default is [IgnoredFailuresBackoff], as in the built-in controller.
	IgnoredFailures IgnoredFailures

	// AtMostOnce makes a Job fail, with the reason [ReasonPodLost], when one of its pods has vanished before its end was
	// seen: somebody took its finalizer off, say, and it may have done its work or still be at it. Without the option the
	// Job makes another pod in its place. With it a pod is replaced only when it has ended, whatever
	// spec.podReplacementPolicy says. In doubt the Job fails: when the controller was stopped while it removed pods that
	// were too many, for instance. What counts as work that is run again on purpose, such as retries after a failure and
	// a Job that is suspended and resumed, is not affected.
	AtMostOnce bool

	// Workers is how many Jobs are synced at a time, and how many orphaned pods are cleared. The default is
	// [DefaultWorkers].
	Workers int

	// Clock tells the time and wakes the queues. The default is the real clock, which in a testing/synctest bubble is
	// the bubble's.
	Clock clock.WithTicker

	// Namespace limits the controller to one namespace. The default is all.
	Namespace string

	// SyncDelay is how long events of pods and of status are gathered before their Job is synced; changes of the spec
	// are synced at once. A cluster in one process has little use for the delay: a negative value is none, and a Job of
	// one pod then ends in milliseconds rather than seconds. The price is up to two status writes for each pod where many
	// end at almost the same time; some 20 ms save most of them. The default is [DefaultSyncDelay].
	SyncDelay time.Duration

	// PodBackoff is the delay before the first replacement of a failed pod; it doubles with each failure in a row, up to
	// MaxPodBackoff, and must not exceed it. The defaults are [DefaultPodBackoff] and [DefaultMaxPodBackoff]; where only
	// one of the two is set, to a value beyond the default of the other, the other has that value, too.
	PodBackoff, MaxPodBackoff time.Duration

	// RetryBackoff is the delay before a sync that returned an error is tried again; it doubles with each error in a
	// row, up to MaxRetryBackoff, and must not exceed it. The defaults are [DefaultRetryBackoff] and
	// [DefaultMaxRetryBackoff]; where only one of the two is set, it is as with PodBackoff.
	RetryBackoff, MaxRetryBackoff time.Duration

	// MaxUncounted bounds the pods that one sync puts into status.uncountedTerminatedPods, which bounds the size of
	// the status. The default is [DefaultMaxUncounted].
	MaxUncounted int

	// MaxPodsPerSync bounds the pods that one sync makes, and those that it deletes because there are too many. The
	// default is [DefaultMaxPodsPerSync].
	MaxPodsPerSync int

	// ExpectationTimeout is how long a sync refrains from making pods while pods that it made before have not shown up.
	// The default is [DefaultExpectationTimeout].
	ExpectationTimeout time.Duration

	// Metrics is the registry that New puts the controller's metrics into, where they stay. Two controllers cannot share
	// one, unless a label tells them apart: see [prometheus.WrapRegistererWith]. The default has no metrics.
	Metrics prometheus.Registerer

	// QueueMetrics puts the metrics of the controller's work queues into Metrics as well: see the package's documentation. The
	// registry, which has to be set, must not have workqueue_* of somebody else. The default leaves the queues to the provider
	// of the process, if it has one (workqueue.SetProvider).
	QueueMetrics bool
}

// GangFallback says what becomes of pods that cannot join the PodGroup they should.
type GangFallback string

const (
	// GangFallbackHold makes no pods until it is clear which PodGroup they are to join.
	GangFallbackHold GangFallback = "Hold"
	// GangFallbackPlainPods makes pods without a PodGroup, which start one by one.
	GangFallbackPlainPods GangFallback = "PlainPods"
)

// IgnoredFailures says whether failures that a pod failure policy ignores (action Ignore, KEP-3329) count for the
// back-off.
type IgnoredFailures string

const (
	// IgnoredFailuresBackoff has ignored failures put off the next pod as others do: pods that fail as soon as they
	// start do so in growing intervals.
	IgnoredFailuresBackoff IgnoredFailures = "Backoff"
	// IgnoredFailuresNoBackoff replaces such a pod at once: one whose node was drained, say, whose failure tells nothing
	// about the next.
	IgnoredFailuresNoBackoff IgnoredFailures = "NoBackoff"
)

// withDefaults returns o with each zero field filled in.
func (o Options) withDefaults() Options {
	setDefault(&o.Workers, DefaultWorkers)
	setDefault(&o.SyncDelay, DefaultSyncDelay)
	setDefault(&o.MaxPodBackoff, max(DefaultMaxPodBackoff, o.PodBackoff))
	setDefault(&o.PodBackoff, min(DefaultPodBackoff, o.MaxPodBackoff))
	setDefault(&o.MaxRetryBackoff, max(DefaultMaxRetryBackoff, o.RetryBackoff))
	setDefault(&o.RetryBackoff, min(DefaultRetryBackoff, o.MaxRetryBackoff))
	setDefault(&o.MaxUncounted, DefaultMaxUncounted)
	setDefault(&o.MaxPodsPerSync, DefaultMaxPodsPerSync)
	setDefault(&o.ExpectationTimeout, DefaultExpectationTimeout)
	setDefault(&o.GangFallback, GangFallbackHold)
	setDefault(&o.IgnoredFailures, IgnoredFailuresBackoff)
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.ManagedBy == "" {
		o.ManagedBy = batchv1.JobControllerName
	}
	o.SyncDelay = max(o.SyncDelay, 0)
	return o
}

func setDefault[T comparable](value *T, fallback T) {
	var zero T
	if *value == zero {
		*value = fallback
	}
}

// Validate returns an error that names every option which makes no sense, as [New] does; nil if all do. errors.As finds
// the first of them as a *field.Error (k8s.io/apimachinery/pkg/util/validation/field), whose Field is the Go path of the
// option, such as Options.Workers, whose BadValue is what was given, and whose Detail says what is wanted.
func (o Options) Validate() error {
	faults := check.Gates(check.Option("Gates"), o.Gates)
	faults = append(faults, o.validateChoices()...)
	for _, number := range []struct {
		name  string
		value int
	}{{"Workers", o.Workers}, {"MaxUncounted", o.MaxUncounted}, {"MaxPodsPerSync", o.MaxPodsPerSync}} {
		faults = append(faults, check.NotNegative(check.Option(number.name), number.value)...)
	}
	for _, delay := range []struct {
		name  string
		value time.Duration
	}{
		{"PodBackoff", o.PodBackoff}, {"MaxPodBackoff", o.MaxPodBackoff},
		{"RetryBackoff", o.RetryBackoff}, {"MaxRetryBackoff", o.MaxRetryBackoff}, {"ExpectationTimeout", o.ExpectationTimeout},
	} {
		faults = append(faults, check.NotNegative(check.Option(delay.name), delay.value)...)
	}
	faults = append(faults, check.NotAbove(check.Option("PodBackoff"), o.PodBackoff, "MaxPodBackoff", o.MaxPodBackoff)...)
	faults = append(faults, check.NotAbove(check.Option("RetryBackoff"), o.RetryBackoff, "MaxRetryBackoff", o.MaxRetryBackoff)...)
	return check.Error(faults)
}

// validateChoices judges the options that say which Jobs and how, rather than how fast.
func (o Options) validateChoices() field.ErrorList {
	var faults field.ErrorList
	if o.ManagedBy != "" {
		faults = append(faults, validation.IsDomainPrefixedPath(check.Option("ManagedBy"), o.ManagedBy)...)
	}
	faults = append(faults, check.OneOf(check.Option("GangFallback"), o.GangFallback, GangFallbackHold, GangFallbackPlainPods)...)
	if o.Parity && o.GangFallback != "" {
		faults = append(faults, field.Invalid(check.Option("GangFallback"), o.GangFallback, "has no meaning with Parity: leave one of them out"))
	}
	if o.QueueMetrics && o.Metrics == nil {
		faults = append(faults, field.Forbidden(check.Option("QueueMetrics"), "there is no registry for them: set Options.Metrics"))
	}
	faults = append(faults, check.OneOf(check.Option("IgnoredFailures"), o.IgnoredFailures, IgnoredFailuresBackoff, IgnoredFailuresNoBackoff)...)
	return append(faults, check.Namespace(check.Option("Namespace"), o.Namespace)...)
}

// limits are the parts of [Options] that decisions rest on.
type limits struct {
	// ignoredWait says that ignored failures put off the next pod; atMostOnce is [Options].AtMostOnce.
	ignoredWait, atMostOnce   bool
	podBackoff, maxPodBackoff time.Duration
	uncounted, podsPerSync    int
	// heldRetry is when a Job whose pods are held back is looked at again, for what no event tells.
	heldRetry time.Duration
	// minRequeue is the shortest delay of a planned requeue.
	minRequeue time.Duration
}

func (o Options) limits() limits {
	return limits{
		ignoredWait: o.IgnoredFailures == IgnoredFailuresBackoff, atMostOnce: o.AtMostOnce,
		podBackoff: o.PodBackoff, maxPodBackoff: o.MaxPodBackoff,
		uncounted: o.MaxUncounted, podsPerSync: o.MaxPodsPerSync,
		heldRetry: min(o.MaxRetryBackoff, maxHeldRetry), minRequeue: o.SyncDelay,
	}
}
