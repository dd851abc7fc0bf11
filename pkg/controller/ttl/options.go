package ttl

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"
)

// DefaultWorkers is how many Jobs are looked at at a time, as in kube-controller-manager 1.36.
const DefaultWorkers = 5

// Options says how a [Controller] works. The zero value is that of the built-in controller.
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
}

// complete returns o with each zero field filled in, or an error for what makes no sense.
func (o Options) complete() (Options, error) {
	if o.Workers < 0 {
		return o, fmt.Errorf("options: workers must not be negative: %d", o.Workers)
	}
	if o.Workers == 0 {
		o.Workers = DefaultWorkers
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	return o, nil
}
