package admission

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/utils/ptr"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/pkg/features"
)

var podGroups = schedulingv1alpha2.SchemeGroupVersion.WithResource("podgroups")

// jobValidation is the plugin JobValidation (KEP-5547).
type jobValidation struct {
	*admission.Handler
	read reader
	on   bool
}

var _ admission.ValidationInterface = jobValidation{}

func newJobValidation(read reader, gates features.Gates) jobValidation {
	on := gates.Enabled(features.GenericWorkload) || gates.Enabled(features.WorkloadWithJob)
	return jobValidation{admission.NewHandler(admission.Update), read, on}
}

// Validate implements admission.ValidationInterface. The gang that counts is that of the stored Job.
func (p jobValidation) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	job, isJob := a.GetObject().(*batchv1.Job)
	old, wasJob := a.GetOldObject().(*batchv1.Job)
	if !p.on || !isJob || !wasJob || !concerns(a, batchv1.Resource("jobs")) || ptr.Equal(job.Spec.Parallelism, old.Spec.Parallelism) {
		return nil
	}
	if gang := p.gangOf(ctx, old); gang != nil {
		return admission.NewForbidden(a, fmt.Errorf("cannot change parallelism for a Job referencing gang-scheduled PodGroup %q", gang.Name))
	}
	return nil
}

// gangOf returns the pod group that the Job's pods must start together with, nil if there is none. The Job's template
// names it, or else the Job owns it. Groups that cannot be read are in nobody's way, as in Kubernetes.
func (p jobValidation) gangOf(ctx context.Context, job *batchv1.Job) *schedulingv1alpha2.PodGroup {
	if group := job.Spec.Template.Spec.SchedulingGroup; group != nil && group.PodGroupName != nil {
		obj, err := p.read.get(ctx, podGroups, job.Namespace, *group.PodGroupName)
		if err != nil {
			return nil
		}
		if named := obj.(*schedulingv1alpha2.PodGroup); isGang(named) {
			return named
		}
		return nil
	}
	obj, err := p.read.list(ctx, podGroups, job.Namespace)
	if err != nil {
		return nil
	}
	groups := obj.(*schedulingv1alpha2.PodGroupList).Items
	for i := range groups {
		if metav1.IsControlledBy(&groups[i], job) && isGang(&groups[i]) {
			return &groups[i]
		}
	}
	return nil
}

func isGang(group *schedulingv1alpha2.PodGroup) bool {
	return group.Spec.SchedulingPolicy.Gang != nil
}
