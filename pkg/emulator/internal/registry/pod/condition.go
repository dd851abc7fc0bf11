package pod

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
)

// setCondition adds the condition or replaces that of the same type. The time of transition is now, unless the status of
// the condition was the same before.
func setCondition(status *corev1.PodStatus, condition corev1.PodCondition, now clock.PassiveClock) {
	condition.LastTransitionTime = metav1.NewTime(now.Now())
	for i := range status.Conditions {
		stored := &status.Conditions[i]
		if stored.Type != condition.Type {
			continue
		}
		if stored.Status == condition.Status {
			condition.LastTransitionTime = stored.LastTransitionTime
		}
		*stored = condition
		return
	}
	status.Conditions = append(status.Conditions, condition)
}
