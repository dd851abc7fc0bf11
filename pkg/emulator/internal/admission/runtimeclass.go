package admission

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apiserver/pkg/admission"
)

// runtimeClass is the plugin RuntimeClass, as far as it can be without that kind: what a class is called is taken on
// trust, for whoever names one means a cluster that has it.
type runtimeClass struct{ *admission.Handler }

var _ admission.ValidationInterface = runtimeClass{}

func newRuntimeClass() runtimeClass {
	return runtimeClass{admission.NewHandler(admission.Create)}
}

// Validate implements admission.ValidationInterface: an overhead comes from a class.
func (runtimeClass) Validate(_ context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	pod, ok := a.GetObject().(*corev1.Pod)
	if !ok || !concerns(a, corev1.Resource("pods")) {
		return nil
	}
	if pod.Spec.Overhead != nil && pod.Spec.RuntimeClassName == nil {
		return admission.NewForbidden(a, errors.New("pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"))
	}
	return nil
}
