package podgroupprotection

import (
	"fmt"

	"k8s.io/utils/clock"
)

// DefaultWorkers is how many PodGroups are looked at at a time, as in kube-controller-manager 1.36.
const DefaultWorkers = 1

// Options says how a [Controller] works. The zero value is that of the built-in controller.
type Options struct {
	// Workers is how many PodGroups are looked at at a time. The default is [DefaultWorkers].
	Workers int

	// Clock wakes the queue when a write that failed is tried again. The default is the real clock, which in a
	// testing/synctest bubble is the bubble's.
	Clock clock.WithTicker

	// Namespace limits the controller to one namespace. The default is all.
	Namespace string
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
