package wrappers

import (
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/pkg/builder"
)

// PodGroupWrapper is a PodGroup in the making.
type PodGroupWrapper struct{ group *schedulingv1alpha2.PodGroup }

// MakePodGroup starts a PodGroup whose pods are placed one by one, as with Basic, and that belongs to no Workload.
func MakePodGroup(name, namespace string) *PodGroupWrapper {
	w := &PodGroupWrapper{&schedulingv1alpha2.PodGroup{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace}}}
	return w.Basic()
}

// Obj returns the PodGroup itself, not a copy.
func (w *PodGroupWrapper) Obj() *schedulingv1alpha2.PodGroup { return w.group }

// Clone returns a wrapper of a copy.
func (w *PodGroupWrapper) Clone() *PodGroupWrapper { return &PodGroupWrapper{w.group.DeepCopy()} }

// Do hands the PodGroup to a function, for what there is no method for.
func (w *PodGroupWrapper) Do(change func(*schedulingv1alpha2.PodGroup)) *PodGroupWrapper {
	change(w.group)
	return w
}

func (w *PodGroupWrapper) meta() metadata { return metadata{&w.group.ObjectMeta} }

// Label adds a label, in place of one of the same key.
func (w *PodGroupWrapper) Label(key, value string) *PodGroupWrapper {
	w.meta().label(key, value)
	return w
}

// Annotation adds an annotation, in place of one of the same key.
func (w *PodGroupWrapper) Annotation(key, value string) *PodGroupWrapper {
	w.meta().annotation(key, value)
	return w
}

// Finalizer adds a finalizer: when deleted, the object stays until somebody takes it off.
func (w *PodGroupWrapper) Finalizer(name string) *PodGroupWrapper {
	w.meta().finalizer(name)
	return w
}

// UID sets the UID, as for a PodGroup that a server has stored.
func (w *PodGroupWrapper) UID(uid types.UID) *PodGroupWrapper { w.meta().uid(uid); return w }

// Deleted sets the time of deletion, as for a PodGroup whose pods are waited for.
func (w *PodGroupWrapper) Deleted(at time.Time) *PodGroupWrapper { w.meta().deleted(at); return w }

// OwnedBy adds an owner; see [Owner].
func (w *PodGroupWrapper) OwnedBy(owner metav1.OwnerReference) *PodGroupWrapper {
	w.meta().owner(owner)
	return w
}

// Of names the Workload and the template that the PodGroup is made from. A server asks for a Workload that is there.
func (w *PodGroupWrapper) Of(workload, template string) *PodGroupWrapper {
	w.group.Spec.PodGroupTemplateRef = &schedulingv1alpha2.PodGroupTemplateReference{
		Workload: &schedulingv1alpha2.WorkloadPodGroupTemplateReference{WorkloadName: workload, PodGroupTemplateName: template},
	}
	return w
}

// Gang has the pods placed together or not at all, so many at once.
func (w *PodGroupWrapper) Gang(minCount int32) *PodGroupWrapper {
	w.group.Spec.SchedulingPolicy = builder.Gang("", minCount).SchedulingPolicy
	return w
}

// Basic has the pods placed one by one.
func (w *PodGroupWrapper) Basic() *PodGroupWrapper {
	w.group.Spec.SchedulingPolicy = builder.Basic("").SchedulingPolicy
	return w
}

// Topology has the pods placed on nodes with one value of a label.
func (w *PodGroupWrapper) Topology(key string) *PodGroupWrapper {
	w.group.Spec.SchedulingConstraints = &schedulingv1alpha2.PodGroupSchedulingConstraints{
		Topology: []schedulingv1alpha2.TopologyConstraint{{Key: key}},
	}
	return w
}

// PriorityClass sets spec.priorityClassName.
func (w *PodGroupWrapper) PriorityClass(name string) *PodGroupWrapper {
	w.group.Spec.PriorityClassName = name
	return w
}

// Priority sets spec.priority, which on a server comes from the priority class.
func (w *PodGroupWrapper) Priority(priority int32) *PodGroupWrapper {
	w.group.Spec.Priority = &priority
	return w
}

// Disruption sets whether the scheduler may disrupt single pods or only the whole group.
func (w *PodGroupWrapper) Disruption(mode schedulingv1alpha2.DisruptionMode) *PodGroupWrapper {
	w.group.Spec.DisruptionMode = &mode
	return w
}

// FinishedMembers notes how many members have ended for good; see builder.FinishedMembersAnnotation.
func (w *PodGroupWrapper) FinishedMembers(n int) *PodGroupWrapper {
	return w.Annotation(builder.FinishedMembersAnnotation, strconv.Itoa(n))
}

// Condition adds a condition to the status, PodGroupScheduled for instance. A server asks for a reason.
func (w *PodGroupWrapper) Condition(kind string, status metav1.ConditionStatus, reason string, at time.Time) *PodGroupWrapper {
	w.group.Status.Conditions = append(w.group.Status.Conditions, metav1.Condition{
		Type: kind, Status: status, Reason: reason, LastTransitionTime: metav1.NewTime(at),
	})
	return w
}
