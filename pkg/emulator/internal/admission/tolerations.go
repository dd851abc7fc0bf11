package admission

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apiserver/pkg/admission"
)

// DefaultToleration is how many seconds pods stay on a node that is gone, unless they or the server say otherwise.
const DefaultToleration = 300

// tolerations is the plugin DefaultTolerationSeconds.
type tolerations struct {
	*admission.Handler
	seconds int64
}

var _ admission.MutationInterface = tolerations{}

// newTolerationSeconds returns the plugin; nil seconds are [DefaultToleration].
func newTolerationSeconds(seconds *int64) tolerations {
	t := tolerations{admission.NewHandler(admission.Create, admission.Update), DefaultToleration}
	if seconds != nil {
		t.seconds = *seconds
	}
	return t
}

// Admit implements admission.MutationInterface.
func (p tolerations) Admit(_ context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	pod, ok := a.GetObject().(*corev1.Pod)
	if !ok || !concerns(a, corev1.Resource("pods")) {
		return nil
	}
	given := pod.Spec.Tolerations
	for _, key := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
		if slices.ContainsFunc(given, func(t corev1.Toleration) bool { return coversNoExecute(t, key) }) {
			continue
		}
		pod.Spec.Tolerations = append(pod.Spec.Tolerations, corev1.Toleration{
			Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: new(p.seconds),
		})
	}
	return nil
}

// coversNoExecute reports whether a toleration says what to do about taints of the key that evict. An empty key or effect
// stands for all.
func coversNoExecute(t corev1.Toleration, key string) bool {
	return (t.Key == key || t.Key == "") && (t.Effect == corev1.TaintEffectNoExecute || t.Effect == "")
}
