package admission

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/admission"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/pkg/features"
)

var priorityClasses = schedulingv1.SchemeGroupVersion.WithResource("priorityclasses")

// priority is the plugin Priority.
type priority struct {
	*admission.Handler
	read reader
	// groups is whether pod groups have priorities.
	groups bool
}

var (
	_ admission.MutationInterface   = priority{}
	_ admission.ValidationInterface = priority{}
)

func newPriority(read reader, gates features.Gates) priority {
	return priority{admission.NewHandler(admission.Create, admission.Update), read, gates.Enabled(features.WorkloadAwarePreemption)}
}

// Admit implements admission.MutationInterface.
func (p priority) Admit(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	switch obj := a.GetObject().(type) {
	case *corev1.Pod:
		if !concerns(a, corev1.Resource("pods")) {
			return nil
		}
		if old, ok := a.GetOldObject().(*corev1.Pod); ok && a.GetOperation() == admission.Update {
			keepPriority(&obj.Spec, &old.Spec)
			return nil
		}
		return p.admitPod(ctx, a, &obj.Spec)
	case *schedulingv1alpha2.PodGroup:
		if p.groups && a.GetOperation() == admission.Create && concerns(a, schedulingv1alpha2.Resource("podgroups")) {
			return p.admitGroup(ctx, a, &obj.Spec)
		}
	}
	return nil
}

// keepPriority fills in what an update left out. Validation refuses other changes.
func keepPriority(spec, stored *corev1.PodSpec) {
	if spec.Priority == nil {
		spec.Priority = stored.Priority
	}
	if spec.PreemptionPolicy == nil {
		spec.PreemptionPolicy = stored.PreemptionPolicy
	}
}

func (p priority) admitPod(ctx context.Context, a admission.Attributes, spec *corev1.PodSpec) error {
	class, err := p.resolve(ctx, a, spec.PriorityClassName)
	if err != nil {
		return err
	}
	if spec.Priority != nil && *spec.Priority != class.value {
		return admission.NewForbidden(a, fmt.Errorf("the integer value of priority (%d) must not be provided in pod spec; "+
			"priority admission controller computed %d from the given PriorityClass name", *spec.Priority, class.value))
	}
	spec.PriorityClassName, spec.Priority = class.name, &class.value
	if class.policy == nil {
		return nil
	}
	if spec.PreemptionPolicy != nil && *spec.PreemptionPolicy != *class.policy {
		return admission.NewForbidden(a, fmt.Errorf("the string value of PreemptionPolicy (%s) must not be provided in pod spec; "+
			"priority admission controller computed %s from the given PriorityClass name", *spec.PreemptionPolicy, *class.policy))
	}
	spec.PreemptionPolicy = class.policy
	return nil
}

// admitGroup is admitPod for pod groups, which have no preemption policy.
func (p priority) admitGroup(ctx context.Context, a admission.Attributes, spec *schedulingv1alpha2.PodGroupSpec) error {
	class, err := p.resolve(ctx, a, spec.PriorityClassName)
	if err != nil {
		return err
	}
	if spec.Priority != nil && *spec.Priority != class.value {
		return admission.NewForbidden(a, fmt.Errorf("priority set in the pod group (%d) must match the priority computed (%d) "+
			"based on the priority class set in the spec", *spec.Priority, class.value))
	}
	spec.PriorityClassName, spec.Priority = class.name, &class.value
	return nil
}

// resolved is what a class gives.
type resolved struct {
	name   string
	value  int32
	policy *corev1.PreemptionPolicy
}

// resolve returns what the named class gives or, for no name, the default class or, without one, priority 0.
func (p priority) resolve(ctx context.Context, a admission.Attributes, name string) (resolved, error) {
	if name == "" {
		class, err := p.globalDefault(ctx)
		if err != nil {
			return resolved{}, fmt.Errorf("error occurred while retrieving default priority class: %w", err)
		}
		if class == nil {
			return resolved{policy: new(corev1.PreemptLowerPriority)}, nil
		}
		return resolved{class.Name, class.Value, class.PreemptionPolicy}, nil
	}
	obj, err := p.read.get(ctx, priorityClasses, "", name)
	switch {
	case apierrors.IsNotFound(err), apierrors.IsBadRequest(err): // The latter is about names that no object can have.
		return resolved{}, admission.NewForbidden(a, fmt.Errorf("no PriorityClass with name %v was found", name))
	case err != nil:
		return resolved{}, fmt.Errorf("failed to resolve PriorityClass with name %s: %w", name, err)
	}
	class := obj.(*schedulingv1.PriorityClass)
	return resolved{class.Name, class.Value, class.PreemptionPolicy}, nil
}

// globalDefault returns the class for those who name none, nil if there is none. If several have slipped in, it is the
// lowest.
func (p priority) globalDefault(ctx context.Context) (*schedulingv1.PriorityClass, error) {
	obj, err := p.read.list(ctx, priorityClasses, "")
	if err != nil {
		return nil, err
	}
	var lowest *schedulingv1.PriorityClass
	classes := obj.(*schedulingv1.PriorityClassList).Items
	for i := range classes {
		if classes[i].GlobalDefault && (lowest == nil || classes[i].Value < lowest.Value) {
			lowest = &classes[i]
		}
	}
	return lowest, nil
}

// Validate implements admission.ValidationInterface: there may be one default class.
func (p priority) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	class, ok := a.GetObject().(*schedulingv1.PriorityClass)
	if !ok || !class.GlobalDefault || !concerns(a, priorityClasses.GroupResource()) {
		return nil
	}
	other, err := p.globalDefault(ctx)
	if err != nil {
		return fmt.Errorf("failed to get default priority class: %w", err)
	}
	if other == nil || (a.GetOperation() == admission.Update && other.Name == class.Name) {
		return nil
	}
	return admission.NewForbidden(a, fmt.Errorf("PriorityClass %v is already marked as default. Only one default can exist", other.Name))
}
