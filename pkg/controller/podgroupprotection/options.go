package podgroupprotection

import (
	"k8s.io/utils/clock"

	"github.com/musterkube/muster/pkg/internal/check"
)

// DefaultWorkers is how many PodGroups are looked at at a time, as in kube-controller-manager 1.36.
const DefaultWorkers = 1

// Options says how a [Controller] works. The zero value is that of the built-in controller. [Options.Validate] says
// what makes no sense.
type Options struct {
	// Workers is how many PodGroups are looked at at a time. The default is [DefaultWorkers].
	Workers int

	// Clock wakes the queue when a write that failed is tried again. The default is the real clock, which in a
	// testing/synctest bubble is the bubble's.
	Clock clock.WithTicker

	// Namespace limits the controller to one namespace. The default is all.
	Namespace string
}

// Validate returns an error that names every option which makes no sense, as [New] does; nil if all do. errors.As finds
// the first of them as a *field.Error (k8s.io/apimachinery/pkg/util/validation/field), whose Field is the Go path of the
// option, such as Options.Workers, whose BadValue is what was given, and whose Detail says what is wanted.
func (o Options) Validate() error {
	faults := check.NotNegative(check.Option("Workers"), o.Workers)
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
