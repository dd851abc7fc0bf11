package nodelifecycle

import (
	"time"

	"k8s.io/utils/clock"

	"github.com/musterkube/muster/pkg/internal/check"
)

// The times of kube-controller-manager 1.36.
const (
	// DefaultMonitorPeriod is how often all nodes are looked at (--node-monitor-period).
	DefaultMonitorPeriod = 5 * time.Second
	// DefaultGracePeriod is how long a node may be silent (--node-monitor-grace-period).
	DefaultGracePeriod = 50 * time.Second
	// DefaultStartupGracePeriod is how long a node may be silent that never was heard of (--node-startup-grace-period).
	DefaultStartupGracePeriod = 60 * time.Second
)

// Options says how a [Controller] works. The zero value is that of the built-in controllers. [Options.Validate] says
// what makes no sense.
type Options struct {
	// MonitorPeriod is how often all nodes are looked at. The default is [DefaultMonitorPeriod].
	MonitorPeriod time.Duration
	// GracePeriod is for how long nothing has been heard of a node that is taken for unreachable. The default is
	// [DefaultGracePeriod]; kubelets renew Leases every ten seconds.
	GracePeriod time.Duration
	// StartupGracePeriod is the same for a node that never has reported its status, counted from its creation. The default
	// is [DefaultStartupGracePeriod].
	StartupGracePeriod time.Duration
	// Clock tells the time, and wakes the controller. The default is the real clock, which in a testing/synctest bubble is
	// the bubble's.
	Clock clock.WithTicker
}

// Validate returns an error that names every option which makes no sense, as [New] does; nil if all do. errors.As finds
// the first of them as a *field.Error (k8s.io/apimachinery/pkg/util/validation/field), whose Field is the Go path of the
// option, such as Options.GracePeriod, whose BadValue is what was given, and whose Detail says what is wanted.
func (o Options) Validate() error {
	faults := check.NotNegative(check.Option("MonitorPeriod"), o.MonitorPeriod)
	faults = append(faults, check.NotNegative(check.Option("GracePeriod"), o.GracePeriod)...)
	faults = append(faults, check.NotNegative(check.Option("StartupGracePeriod"), o.StartupGracePeriod)...)
	return check.Error(faults)
}

// complete returns o with each zero field filled in, or an error for what makes no sense.
func (o Options) complete() (Options, error) {
	if err := o.Validate(); err != nil {
		return o, err
	}
	for _, period := range []struct {
		value *time.Duration
		usual time.Duration
	}{
		{&o.MonitorPeriod, DefaultMonitorPeriod}, {&o.GracePeriod, DefaultGracePeriod}, {&o.StartupGracePeriod, DefaultStartupGracePeriod},
	} {
		if *period.value == 0 {
			*period.value = period.usual
		}
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	return o, nil
}
