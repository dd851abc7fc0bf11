package core

import (
	"errors"
	"fmt"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ErrNotBindable is returned when a pod cannot be put on a node: it is being deleted, is on a node already, or is held
// back by scheduling gates.
var ErrNotBindable = errors.New("pod cannot be bound")

// notBindable says why in the words of kube-apiserver, which a client sees, and is an [ErrNotBindable].
type notBindable struct{ why string }

func (e notBindable) Error() string        { return e.why }
func (e notBindable) Is(target error) bool { return target == ErrNotBindable }

// ValidateBinding says what an API server holds against a binding before it looks at the pod: the target must be a
// node, and named.
func ValidateBinding(binding *corev1.Binding) field.ErrorList {
	if binding == nil {
		return field.ErrorList{field.Required(field.NewPath(""), "there is no Binding")}
	}
	var errs field.ErrorList
	target := field.NewPath("target")
	if kind := binding.Target.Kind; kind != "" && kind != "Node" {
		errs = append(errs, field.NotSupported(target.Child("kind"), kind, []string{"Node", "<empty>"}))
	}
	if binding.Target.Name == "" {
		errs = append(errs, field.Required(target.Child("name"), ""))
	}
	return errs
}

// Bind puts pod on the node that binding names, as the pods/binding subresource does: annotations and labels of the
// binding are copied to the pod, a nominated node is forgotten and the condition PodScheduled turns True at the time
// given. An error that is an [ErrNotBindable] has the wording of kube-apiserver, and pod is unchanged then.
func Bind(pod *corev1.Pod, binding *corev1.Binding, at time.Time) error {
	switch {
	case pod == nil || binding == nil:
		return errors.New("binding a pod: there is no pod or no binding")
	case pod.DeletionTimestamp != nil:
		return notBindable{fmt.Sprintf("pod %s is being deleted, cannot be assigned to a host", pod.Name)}
	case pod.Spec.NodeName != "":
		return notBindable{fmt.Sprintf("pod %s is already assigned to node %q", pod.Name, pod.Spec.NodeName)}
	case len(pod.Spec.SchedulingGates) > 0:
		return notBindable{fmt.Sprintf("pod %s has non-empty .spec.schedulingGates", pod.Name)}
	}
	pod.Spec.NodeName = binding.Target.Name
	pod.Status.NominatedNodeName = ""
	merge(&pod.Annotations, binding.Annotations)
	merge(&pod.Labels, binding.Labels)
	SetPodCondition(pod, corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionTrue}, at)
	return nil
}

func merge(into *map[string]string, from map[string]string) {
	if len(from) == 0 {
		return
	}
	if *into == nil {
		*into = map[string]string{}
	}
	maps.Copy(*into, from)
}
