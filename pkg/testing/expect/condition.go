package expect

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/pkg/batch"
	"github.com/musterkube/muster/pkg/core"
)

// Condition is what to wait for in an object of type T. [That] makes one.
type Condition[T Object] struct {
	what  string
	holds func(object T) bool
	gone  bool
}

// String says what is waited for, to go after "to ".
func (c Condition[T]) String() string { return c.what }

// Holds tells whether an object is as it is to be; there is none if exists is false.
func (c Condition[T]) Holds(object T, exists bool) bool {
	if c.gone || !exists {
		return c.gone && !exists
	}
	return c.holds(object)
}

// That returns the condition that an object is there and a function true of it. The text says what that means, to go after
// "to ": "have two active pods". The function must not change the object.
func That[T Object](what string, holds func(object T) bool) Condition[T] {
	return Condition[T]{what: what, holds: holds}
}

// Exists is true of any object that is there.
func Exists[T Object]() Condition[T] { return That("exist", func(T) bool { return true }) }

// Gone is true when there is no object of the name. One that is being deleted and waits for its finalizers is still there.
func Gone[T Object]() Condition[T] { return Condition[T]{what: "be gone", gone: true} }

// JobIs is true of a Job one of whose conditions of the type, such as JobComplete, is True.
func JobIs(kind batchv1.JobConditionType) Condition[*batchv1.Job] {
	return That("be "+string(kind), func(job *batchv1.Job) bool { return batch.HasCondition(job, kind) })
}

// JobFinished is true of a Job that is Complete or Failed.
func JobFinished() Condition[*batchv1.Job] {
	return That("be Complete or Failed", func(job *batchv1.Job) bool {
		_, finished := batch.Finished(job)
		return finished
	})
}

// JobActive is true of a Job that counts so many active pods in status.active.
func JobActive(pods int32) Condition[*batchv1.Job] {
	return That(fmt.Sprintf("have %d active pods", pods), func(job *batchv1.Job) bool { return job.Status.Active == pods })
}

// PodIs is true of a Pod in a phase.
func PodIs(phase corev1.PodPhase) Condition[*corev1.Pod] {
	return That("be "+string(phase), func(pod *corev1.Pod) bool { return pod.Status.Phase == phase })
}

// PodBound is true of a Pod that has a node.
func PodBound() Condition[*corev1.Pod] {
	return That("be bound to a node", func(pod *corev1.Pod) bool { return pod.Spec.NodeName != "" })
}

// PodReady is true of a Pod whose condition Ready is True.
func PodReady() Condition[*corev1.Pod] { return That("be Ready", core.PodReady) }

// NodeReady is true of a Node whose condition Ready has a status, which may be Unknown.
func NodeReady(status corev1.ConditionStatus) Condition[*corev1.Node] {
	return That("have Ready="+string(status), func(node *corev1.Node) bool {
		for _, condition := range node.Status.Conditions {
			if condition.Type == corev1.NodeReady {
				return condition.Status == status
			}
		}
		return false
	})
}

// PodGroupScheduled is true of a PodGroup whose pods the scheduler has placed: the condition PodGroupScheduled is True.
func PodGroupScheduled() Condition[*schedulingv1alpha2.PodGroup] {
	return That("be scheduled", func(group *schedulingv1alpha2.PodGroup) bool {
		return meta.IsStatusConditionTrue(group.Status.Conditions, schedulingv1alpha2.PodGroupScheduled)
	})
}

// PodGroupUnschedulable is true of a PodGroup that the scheduler has found no room for: the condition PodGroupScheduled is
// False, for the reason Unschedulable.
func PodGroupUnschedulable() Condition[*schedulingv1alpha2.PodGroup] {
	return That("be unschedulable", func(group *schedulingv1alpha2.PodGroup) bool {
		found := meta.FindStatusCondition(group.Status.Conditions, schedulingv1alpha2.PodGroupScheduled)
		return found != nil && found.Status == metav1.ConditionFalse && found.Reason == schedulingv1alpha2.PodGroupReasonUnschedulable
	})
}
