package podgc

import (
	"fmt"
	"time"

	"k8s.io/utils/clock"
)

// The times of kube-controller-manager 1.36, which cannot be set there.
const (
	// DefaultPeriod is how often all pods are looked at.
	DefaultPeriod = 20 * time.Second
	// DefaultQuarantine is for how long a Node must have been missing.
	DefaultQuarantine = 40 * time.Second
)

// Options says how a [Controller] works. The zero value is useful.
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

// complete returns o with each zero field filled in, or an error for what makes no sense.
func (o Options) complete() (Options, error) {
	if o.Period < 0 || o.Quarantine < 0 || o.TerminatedThreshold < 0 {
		return o, fmt.Errorf("options: period, quarantine and threshold must not be negative: %s, %s, %d", o.Period, o.Quarantine, o.TerminatedThreshold)
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
