package podgc

import (
	"time"

	"k8s.io/utils/clock"

	"github.com/musterkube/muster/pkg/internal/check"
)

// The times of kube-controller-manager 1.36, which cannot be set there.
const (
	// DefaultPeriod is how often all pods are looked at.
	DefaultPeriod = 20 * time.Second
	// DefaultQuarantine is for how long a Node must have been missing.
	DefaultQuarantine = 40 * time.Second
)

// Options says how a [Controller] works. The zero value is useful. [Options.Validate] says
// what makes no sense.
type Options struct {
	// Period is how often all pods are looked at. The default is [DefaultPeriod].
	Period time.Duration
	// Quarantine is for how long a Node must have been missing before the pods that are bound to it are removed. The default
	// is [DefaultQuarantine].
	Quarantine time.Duration
	// TerminatedThreshold is how many pods that have ended may be there. The default is any number: that of
	// kube-controller-manager is 12500 (--terminated-pod-gc-threshold).
	TerminatedThreshold int
	// Clock tells the time, and wakes the controller. The default is the real clock, which in a testing/synctest bubble is
	// the bubble's.
	Clock clock.WithTicker
}

// Validate returns an error that names every option which makes no sense, as [New] does; nil if all do. errors.As finds
// the first of them as a *field.Error (k8s.io/apimachinery/pkg/util/validation/field), whose Field is the Go path of the
// option, such as Options.Period, whose BadValue is what was given, and whose Detail says what is wanted.
func (o Options) Validate() error {
	faults := check.NotNegative(check.Option("Period"), o.Period)
	faults = append(faults, check.NotNegative(check.Option("Quarantine"), o.Quarantine)...)
	faults = append(faults, check.NotNegative(check.Option("TerminatedThreshold"), o.TerminatedThreshold)...)
	return check.Error(faults)
}

// complete returns o with each zero field filled in, or an error for what makes no sense.
func (o Options) complete() (Options, error) {
	if err := o.Validate(); err != nil {
		return o, err
	}
	if o.Period == 0 {
		o.Period = DefaultPeriod
	}
	if o.Quarantine == 0 {
		o.Quarantine = DefaultQuarantine
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	return o, nil
}
