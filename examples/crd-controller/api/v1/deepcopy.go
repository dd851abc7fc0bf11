package v1

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// What controller-gen object or deepcopy-gen would write.

var _ runtime.Object = (*TrainingRun)(nil)
var _ runtime.Object = (*TrainingRunList)(nil)

// DeepCopyInto copies into a TrainingRun that shares nothing with this one.
func (in *TrainingRun) DeepCopyInto(out *TrainingRun) {
	*out = *in
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	in.Spec.DeepCopyInto(&out.Spec)
	in.Status.DeepCopyInto(&out.Status)
}

// DeepCopy returns a copy that shares nothing with this one.
func (in *TrainingRun) DeepCopy() *TrainingRun {
	if in == nil {
		return nil
	}
	out := &TrainingRun{}
	in.DeepCopyInto(out)
	return out
}

// DeepCopyObject is DeepCopy for runtime.Object.
func (in *TrainingRun) DeepCopyObject() runtime.Object { return in.DeepCopy() }

// DeepCopyInto copies into a spec that shares nothing with this one.
func (in *TrainingRunSpec) DeepCopyInto(out *TrainingRunSpec) {
	*out = *in
	in.Driver.Template.DeepCopyInto(&out.Driver.Template)
	in.Workers.Template.DeepCopyInto(&out.Workers.Template)
	if in.BackoffLimit != nil {
		out.BackoffLimit = new(*in.BackoffLimit)
	}
}

// DeepCopyInto copies into a status that shares nothing with this one.
func (in *TrainingRunStatus) DeepCopyInto(out *TrainingRunStatus) {
	*out = *in
	out.StartTime, out.CompletionTime = in.StartTime.DeepCopy(), in.CompletionTime.DeepCopy()
	out.Members = slices.Clone(in.Members)
	out.Conditions = make([]metav1.Condition, len(in.Conditions))
	for i := range in.Conditions {
		in.Conditions[i].DeepCopyInto(&out.Conditions[i])
	}
	if in.Conditions == nil {
		out.Conditions = nil
	}
}

// DeepCopyInto copies into a list that shares nothing with this one.
func (in *TrainingRunList) DeepCopyInto(out *TrainingRunList) {
	*out = *in
	in.ListMeta.DeepCopyInto(&out.ListMeta)
	out.Items = make([]TrainingRun, len(in.Items))
	for i := range in.Items {
		in.Items[i].DeepCopyInto(&out.Items[i])
	}
}

// DeepCopy returns a copy that shares nothing with this one.
func (in *TrainingRunList) DeepCopy() *TrainingRunList {
	if in == nil {
		return nil
	}
	out := &TrainingRunList{}
	in.DeepCopyInto(out)
	return out
}

// DeepCopyObject is DeepCopy for runtime.Object.
func (in *TrainingRunList) DeepCopyObject() runtime.Object { return in.DeepCopy() }
