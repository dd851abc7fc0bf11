package admission

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/admission"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/pkg/features"
)

// protectionFinalizer keeps a pod group until no pod that is still to run names it (KEP-4671).
const protectionFinalizer = "scheduling.k8s.io/podgroup-protection"

// newPodGroup returns the pod group that a is to create, nil if a is about anything else.
func newPodGroup(a admission.Attributes) *schedulingv1alpha2.PodGroup {
	group, ok := a.GetObject().(*schedulingv1alpha2.PodGroup)
	if !ok || !concerns(a, schedulingv1alpha2.Resource("podgroups")) {
		return nil
	}
	return group
}

// podGroupProtection is the plugin PodGroupProtection.
type podGroupProtection struct {
	*admission.Handler
	on bool
}

var _ admission.MutationInterface = podGroupProtection{}

func newPodGroupProtection(gates features.Gates) podGroupProtection {
	return podGroupProtection{admission.NewHandler(admission.Create), gates.Enabled(features.GenericWorkload)}
}

// Admit implements admission.MutationInterface.
func (p podGroupProtection) Admit(_ context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	group := newPodGroup(a)
	if !p.on || group == nil || slices.Contains(group.Finalizers, protectionFinalizer) {
		return nil
	}
	group.Finalizers = append(group.Finalizers, protectionFinalizer)
	return nil
}

// workloadExists is the plugin PodGroupWorkloadExists.
type workloadExists struct {
	*admission.Handler
	read reader
	on   bool
}

var _ admission.ValidationInterface = workloadExists{}

func newWorkloadExists(read reader, gates features.Gates) workloadExists {
	return workloadExists{admission.NewHandler(admission.Create), read, gates.Enabled(features.GenericWorkload)}
}

// Validate implements admission.ValidationInterface. Whether the group is like its template, it does not ask.
func (p workloadExists) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	group := newPodGroup(a)
	if !p.on || group == nil || group.Spec.PodGroupTemplateRef == nil || group.Spec.PodGroupTemplateRef.Workload == nil {
		return nil
	}
	ref := group.Spec.PodGroupTemplateRef.Workload
	rejected := func(format string, args ...any) error {
		return admission.NewForbidden(a, fmt.Errorf("PodGroup rejected: "+format, args...))
	}
	obj, err := p.read.get(ctx, schedulingv1alpha2.SchemeGroupVersion.WithResource("workloads"), a.GetNamespace(), ref.WorkloadName)
	switch {
	case apierrors.IsNotFound(err), apierrors.IsBadRequest(err): // The latter is about names that no object can have.
		return rejected("Workload %q not found", ref.WorkloadName)
	case err != nil:
		return apierrors.NewInternalError(err)
	}
	workload := obj.(*schedulingv1alpha2.Workload)
	if workload.DeletionTimestamp != nil {
		return rejected("Workload %q is being deleted", ref.WorkloadName)
	}
	for _, template := range workload.Spec.PodGroupTemplates {
		if template.Name == ref.PodGroupTemplateName {
			return nil
		}
	}
	return rejected("PodGroupTemplate %q not found in Workload %q", ref.PodGroupTemplateName, ref.WorkloadName)
}
