package admission

import (
	"context"
	"errors"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/admission"
)

// runtimeClass is the plugin RuntimeClass: a pod gets the overhead, the nodes and the tolerations of the class that it
// names (KEP-585, KEP-688).
type runtimeClass struct {
	*admission.Handler
	read reader
}

var (
	_ admission.MutationInterface   = runtimeClass{}
	_ admission.ValidationInterface = runtimeClass{}
)

func newRuntimeClass(read reader) runtimeClass {
	return runtimeClass{admission.NewHandler(admission.Create), read}
}

// Admit implements admission.MutationInterface.
func (p runtimeClass) Admit(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	pod, class, err := p.objects(ctx, a)
	if err != nil || class == nil {
		return err
	}
	if class.Overhead != nil {
		if len(pod.Spec.Overhead) > 0 && !equality.Semantic.DeepEqual(class.Overhead.PodFixed, pod.Spec.Overhead) {
			return admission.NewForbidden(a, errOtherOverhead)
		}
		pod.Spec.Overhead = class.Overhead.PodFixed.DeepCopy()
	}
	if class.Scheduling != nil {
		return schedule(a, pod, class.Scheduling)
	}
	return nil
}

var (
	errOtherOverhead = errors.New("pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead")
	errOwnOverhead   = errors.New("pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead")
)

// Validate implements admission.ValidationInterface: an overhead comes from a class.
func (p runtimeClass) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	pod, class, err := p.objects(ctx, a)
	switch {
	case err != nil || pod == nil:
		return err
	case class != nil && class.Overhead != nil:
		if !equality.Semantic.DeepEqual(class.Overhead.PodFixed, pod.Spec.Overhead) {
			return admission.NewForbidden(a, errOtherOverhead)
		}
	case pod.Spec.Overhead != nil:
		return admission.NewForbidden(a, errOwnOverhead)
	}
	return nil
}

// objects returns the pod that a request is for, nil if it is for none, and the class that it names.
func (p runtimeClass) objects(ctx context.Context, a admission.Attributes) (*corev1.Pod, *nodev1.RuntimeClass, error) {
	pod, ok := a.GetObject().(*corev1.Pod)
	if !ok || !concerns(a, corev1.Resource("pods")) {
		return nil, nil, nil
	}
	if pod.Spec.RuntimeClassName == nil {
		return pod, nil, nil
	}
	name := *pod.Spec.RuntimeClassName
	class, err := p.read.get(ctx, nodev1.SchemeGroupVersion.WithResource("runtimeclasses"), "", name)
	if apierrors.IsNotFound(err) {
		return pod, nil, admission.NewForbidden(a, fmt.Errorf("pod rejected: RuntimeClass %q not found", name))
	}
	if err != nil {
		return pod, nil, err
	}
	return pod, class.(*nodev1.RuntimeClass), nil
}

// schedule sends a pod to the nodes that have its class.
func schedule(a admission.Attributes, pod *corev1.Pod, scheduling *nodev1.Scheduling) error {
	selector := maps.Clone(pod.Spec.NodeSelector)
	if selector == nil && scheduling.NodeSelector != nil {
		selector = map[string]string{}
	}
	for key, value := range scheduling.NodeSelector {
		if own, found := selector[key]; found && own != value {
			return admission.NewForbidden(a, fmt.Errorf("conflict: runtimeClass.scheduling.nodeSelector[%s] = %s; pod.spec.nodeSelector[%s] = %s", key, value, key, own))
		}
		selector[key] = value
	}
	pod.Spec.NodeSelector = selector
	pod.Spec.Tolerations = mergeTolerations(pod.Spec.Tolerations, scheduling.Tolerations)
	return nil
}

// mergeTolerations joins two lists, less those that another one makes needless.
func mergeTolerations(first, second []corev1.Toleration) []corev1.Toleration {
	all := append(append([]corev1.Toleration{}, first...), second...)
	var merged []corev1.Toleration
	for i := range all {
		needless := false
		for j := range merged {
			needless = needless || includes(&merged[j], &all[i])
		}
		for j := i + 1; j < len(all); j++ {
			needless = needless || (!equality.Semantic.DeepEqual(all[i], all[j]) && includes(&all[j], &all[i]))
		}
		if !needless {
			merged = append(merged, all[i])
		}
	}
	return merged
}

// includes tells whether one toleration tolerates all that another does.
func includes(wide, narrow *corev1.Toleration) bool {
	if equality.Semantic.DeepEqual(wide, narrow) {
		return true
	}
	everything := wide.Key == "" && wide.Operator == corev1.TolerationOpExists
	if wide.Key != narrow.Key && !everything || wide.Effect != "" && wide.Effect != narrow.Effect {
		return false
	}
	if wide.Effect == corev1.TaintEffectNoExecute && wide.TolerationSeconds != nil &&
		(narrow.TolerationSeconds == nil || *narrow.TolerationSeconds > *wide.TolerationSeconds) {
		return false
	}
	switch wide.Operator {
	case corev1.TolerationOpEqual, "":
		return narrow.Operator == corev1.TolerationOpEqual && narrow.Value == wide.Value
	case corev1.TolerationOpExists:
		return true
	}
	return false
}
