package scheduler

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"

	"github.com/musterkube/muster/pkg/features"
	"github.com/musterkube/muster/pkg/internal/check"
)

// Options says how a [Scheduler] schedules. The zero value is useful. [Options.Validate] says what makes no sense.
type Options struct {
	// SchedulerName is the spec.schedulerName of the pods to place; others are left alone. Default: "default-scheduler",
	// which is what the API server fills in.
	SchedulerName string
	// Gates says which features the scheduler has. GenericWorkload makes it know groups at all, GangScheduling hold
	// gangs back, TopologyAwareWorkloadScheduling heed spec.schedulingConstraints of a PodGroup, and
	// WorkloadAwarePreemption let a group preempt as one. Default: all on.
	Gates features.Gates
	// Parity makes the scheduler behave as kube-scheduler 1.36 where that one serves users badly: members of a gang that
	// succeeded do not count towards its quorum, so that once one index of a Job is done the retry of another waits for
	// ever; and a group that did not fit is tried again after its back-off only, whatever becomes of the cluster.
	// Default: members that succeeded count, and a group is tried again as soon as there is room.
	Parity bool
	// Clock tells the time for back-off and conditions. Default: the real one, which also works in testing/synctest.
	Clock clock.WithTicker
}

// Validate returns an error if an option makes no sense, as [New] does; nil if all do. errors.As finds it as a
// *field.Error (k8s.io/apimachinery/pkg/util/validation/field), whose Field is the Go path of the option, such as
// Options.Gates, whose BadValue is what was given, and whose Detail says what is wanted.
func (o Options) Validate() error {
	return check.Error(check.Gates(check.Option("Gates"), o.Gates))
}

func (o Options) policy() policy {
	return policy{
		schedulerName: cmp.Or(o.SchedulerName, corev1.DefaultSchedulerName),
		gates:         o.Gates,
		parity:        o.Parity,
	}
}

func (o Options) clock() clock.WithTicker {
	if o.Clock == nil {
		return clock.RealClock{}
	}
	return o.Clock
}
