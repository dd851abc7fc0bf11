package scheduler

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// keyOf names the unit that a pod is scheduled with.
func keyOf(pod *corev1.Pod, p policy) unitKey {
	if sg := pod.Spec.SchedulingGroup; p.groups() && sg != nil && sg.PodGroupName != nil {
		return unitKey{group: true, NamespacedName: types.NamespacedName{Namespace: pod.Namespace, Name: *sg.PodGroupName}}
	}
	return unitKey{NamespacedName: types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}}
}

// candidates are the pods of a unit that may be placed now, the most urgent first.
func (c *cluster) candidates(key unitKey) []*podInfo {
	if key.group {
		if g := c.groups[key.NamespacedName]; g != nil {
			return g.candidates()
		}
		return nil
	}
	if p := c.singles[key.NamespacedName]; p != nil && p.eligible() {
		return []*podInfo{p}
	}
	return nil
}

// admitted says whether a unit may be tried at all, which for a pod on its own is always.
func (c *cluster) admitted(key unitKey) bool {
	if !key.group {
		return true
	}
	g := c.groups[key.NamespacedName]
	return g != nil && g.admitted(c.policy)
}

// schedule runs a cycle for a unit. It reports false if there is nothing to place.
func (c *cluster) schedule(key unitKey) (Decision, bool) {
	if len(c.candidates(key)) == 0 {
		return Decision{}, false
	}
	if key.group {
		return c.scheduleGroup(c.groups[key.NamespacedName]), true
	}
	return c.schedulePod(c.singles[key.NamespacedName]), true
}
