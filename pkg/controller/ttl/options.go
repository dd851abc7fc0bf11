package ttl

import (
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/clock"

	"github.com/musterkube/muster/pkg/internal/check"
)

// DefaultWorkers is how many Jobs are looked at at a time, as in kube-controller-manager 1.36.
const DefaultWorkers = 5

// Options says how a [Controller] works. The zero value is that of the built-in controller. [Options.Validate] says
// what makes no sense.
type Options struct {
	// Workers is how many Jobs are looked at at a time. The default is [DefaultWorkers].
	Workers int

	// Clock tells whether the time of a Job is over, and wakes the controller when it is. The default is the real
	// clock, which in a testing/synctest bubble is the bubble's.
	Clock clock.WithTicker

	// Namespace limits the controller to one namespace. The default is all.
	Namespace string

	// Metrics is the registry that New puts ttl_after_finished_controller_job_deletion_duration_seconds into, where it
	// stays. Two controllers cannot share one, unless a label tells them apart: see [prometheus.WrapRegistererWith]. The
	// default has no metrics.
	Metrics prometheus.Registerer

	// QueueMetrics puts the metrics workqueue_* of the controller's work queue, whose name is ttl_jobs_to_delete, into Metrics
	// as well. The registry, which has to be set, must not have workqueue_* of somebody else. The default leaves the queue to
	// the provider of the process, if it has one (workqueue.SetProvider).
	QueueMetrics bool
}

// Validate returns an error that names every option which makes no sense, as [New] does; nil if all do. errors.As finds
// the first of them as a *field.Error (k8s.io/apimachinery/pkg/util/validation/field), whose Field is the Go path of the
// option, such as Options.Workers, whose BadValue is what was given, and whose Detail says what is wanted.
func (o Options) Validate() error {
	faults := check.NotNegative(check.Option("Workers"), o.Workers)
	if o.QueueMetrics && o.Metrics == nil {
		faults = append(faults, field.Forbidden(check.Option("QueueMetrics"), "there is no registry for them: set Options.Metrics"))
	}
	faults = append(faults, check.Namespace(check.Option("Namespace"), o.Namespace)...)
	return check.Error(faults)
}

// complete returns o with each zero field filled in, or an error for what makes no sense.
func (o Options) complete() (Options, error) {
	if err := o.Validate(); err != nil {
		return o, err
	}
	if o.Workers == 0 {
		o.Workers = DefaultWorkers
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	return o, nil
}
