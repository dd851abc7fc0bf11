package scheduler

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
)

// Decision is the outcome of one scheduling cycle: what is to become of one pod, or of all waiting pods of one group.
// For a gang the bindings are those of a quorum and more, or there are none.
type Decision struct {
	// PodGroup names the group whose pods were looked at. It is empty for a pod on its own.
	PodGroup types.NamespacedName
	// Bindings are the pods that go to nodes, in the order in which they were placed.
	Bindings []Binding
	// Rejections are the pods that stay where they are, each with its reason.
	Rejections []Rejection
	// Condition is the PodGroupScheduled condition that the cycle calls for; nil for a pod on its own. Whether it is
	// written is another matter: a group that was scheduled once stays so.
	Condition *metav1.Condition
	// Evictions are the pods that lose their place to this pod or group. The cycle does not place what they make room
	// for; a later one does.
	Evictions []Eviction

	// unplaced are the pods for which no node was found, whatever became of the rest.
	unplaced []*podInfo
}

// Binding is one pod with the node that it goes to.
type Binding struct {
	Pod  *corev1.Pod
	Node string
}

// Rejection is one pod that was not placed: the PodScheduled=False condition that it gets.
type Rejection struct {
	Pod *corev1.Pod
	// Reason is Unschedulable, or SchedulerError when the scheduler rather than the cluster is at fault.
	Reason string
	// Message is what the condition and the FailedScheduling event say.
	Message string
	// NominatedNode is where room is being made for the pod (status.nominatedNodeName), empty when there is none.
	NominatedNode string
}

// Eviction is one pod that is preempted.
type Eviction struct {
	Pod *corev1.Pod
	// For says who takes the place: "pod" or "podgroup".
	For string
	// ForUID is the UID of that pod or group.
	ForUID types.UID
	// From is what the pod is evicted from: the node that the preempting pod wants, or "cluster" for a group.
	From string
}

func groupCondition(status metav1.ConditionStatus, reason, message string) *metav1.Condition {
	return &metav1.Condition{
		Type:    schedulingv1alpha2.PodGroupScheduled,
		Status:  status,
		Reason:  reason,
		Message: message,
	}
}
