package wrappers

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/pkg/builder"
)

// WorkloadWrapper is a Workload in the making.
type WorkloadWrapper struct{ workload *schedulingv1alpha2.Workload }

// MakeWorkload starts a Workload without templates. A server asks for one at least.
func MakeWorkload(name, namespace string) *WorkloadWrapper {
	return &WorkloadWrapper{&schedulingv1alpha2.Workload{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace}}}
}

// Obj returns the Workload itself, not a copy.
func (w *WorkloadWrapper) Obj() *schedulingv1alpha2.Workload { return w.workload }

// Clone returns a wrapper of a copy.
func (w *WorkloadWrapper) Clone() *WorkloadWrapper { return &WorkloadWrapper{w.workload.DeepCopy()} }

// Do hands the Workload to a function, for what there is no method for.
func (w *WorkloadWrapper) Do(change func(*schedulingv1alpha2.Workload)) *WorkloadWrapper {
	change(w.workload)
	return w
}

func (w *WorkloadWrapper) meta() metadata { return metadata{&w.workload.ObjectMeta} }

// Label adds a label, in place of one of the same key.
func (w *WorkloadWrapper) Label(key, value string) *WorkloadWrapper {
	w.meta().label(key, value)
	return w
}

// Finalizer adds a finalizer: when deleted, the object stays until somebody takes it off.
func (w *WorkloadWrapper) Finalizer(name string) *WorkloadWrapper {
	w.meta().finalizer(name)
	return w
}

// UID sets the UID, as for a Workload that a server has stored.
func (w *WorkloadWrapper) UID(uid types.UID) *WorkloadWrapper { w.meta().uid(uid); return w }

// OwnedBy adds an owner; see [Owner].
func (w *WorkloadWrapper) OwnedBy(owner metav1.OwnerReference) *WorkloadWrapper {
	w.meta().owner(owner)
	return w
}

// ControlledBy makes an object of the same namespace the one that the Workload is for: spec.controllerRef and the owner.
func (w *WorkloadWrapper) ControlledBy(owner metav1.Object, kind schema.GroupVersionKind) *WorkloadWrapper {
	w.workload.Spec.ControllerRef = &schedulingv1alpha2.TypedLocalObjectReference{
		APIGroup: kind.Group, Kind: kind.Kind, Name: owner.GetName(),
	}
	return w.OwnedBy(Owner(owner, kind))
}

// Gang adds a template whose pods are placed together or not at all, so many at once.
func (w *WorkloadWrapper) Gang(template string, minCount int32) *WorkloadWrapper {
	return w.Template(builder.Gang(template, minCount))
}

// Basic adds a template whose pods are placed one by one.
func (w *WorkloadWrapper) Basic(template string) *WorkloadWrapper {
	return w.Template(builder.Basic(template))
}

// Template adds a template, of which a Workload can have eight.
func (w *WorkloadWrapper) Template(template schedulingv1alpha2.PodGroupTemplate) *WorkloadWrapper {
	w.workload.Spec.PodGroupTemplates = append(w.workload.Spec.PodGroupTemplates, template)
	return w
}
