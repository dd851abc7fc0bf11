package podgroupprotection

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/pkg/core"
)

// Finalizer keeps a PodGroup from going while pods use it. The API server adds it to each PodGroup that is created.
const Finalizer = "scheduling.k8s.io/podgroup-protection"

// isCandidate reports whether group waits for this controller: it is being deleted and has the finalizer.
func isCandidate(group *schedulingv1alpha2.PodGroup) bool {
	return group.DeletionTimestamp != nil && slices.Contains(group.Finalizers, Finalizer)
}

// released returns a copy of group without the finalizer.
func released(group *schedulingv1alpha2.PodGroup) *schedulingv1alpha2.PodGroup {
	group = group.DeepCopy()
	group.Finalizers = slices.DeleteFunc(group.Finalizers, func(name string) bool { return name == Finalizer })
	return group
}

// groupOf returns the PodGroup that pod names, if it names one.
func groupOf(pod *corev1.Pod) (cache.ObjectName, bool) {
	group := pod.Spec.SchedulingGroup
	if group == nil || group.PodGroupName == nil {
		return cache.ObjectName{}, false
	}
	return cache.NewObjectName(pod.Namespace, *group.PodGroupName), true
}

// heldBy returns the PodGroup that pod keeps from going: the one it names, until it has ended. A pod that is being
// deleted may still run, and holds its group.
func heldBy(pod *corev1.Pod) (cache.ObjectName, bool) {
	if core.PodFinished(pod) {
		return cache.ObjectName{}, false
	}
	return groupOf(pod)
}

// mayBeFree lists the PodGroups that an event of a pod may have set free: of a pod that has ended, one that is gone
// (after is nil), or one in whose place there is another of the same name, because an event in between was missed.
func mayBeFree(before, after *corev1.Pod) []cache.ObjectName {
	var groups []cache.ObjectName
	add := func(pod *corev1.Pod) {
		if group, ok := groupOf(pod); ok && !slices.Contains(groups, group) {
			groups = append(groups, group)
		}
	}
	if after != nil && core.PodFinished(after) {
		add(after)
	}
	if before != nil && (after == nil || before.UID != after.UID) {
		add(before)
	}
	return groups
}
