package builder

import (
	"errors"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
)

// ErrNotStored is returned for objects that have no name or no UID, as those have not that the API server has yet to
// store: whatever is made for them would refer to nothing. Create the object first, and use what the API server
// returned.
var ErrNotStored = errors.New("it needs a name and a UID: create it first")

// FromJob returns the Workload of a Job, as the Job controller of Kubernetes 1.36 makes it (KEP-5547): in the Job's
// namespace, controlled by the Job, and with one template whose gang counts spec.parallelism pods.
//
// For a Job that is not eligible ([Eligible]) there is no Workload: nil and no error. With opts.BasicGroup such a Job
// gets one with the basic policy instead, unless its pod template names a scheduling group, which its pods then have.
//
// The Job must have the name and the UID that the API server gave it; without them the error is [ErrNotStored].
func FromJob(job *batchv1.Job, opts Options) (*schedulingv1alpha2.Workload, error) {
	if job == nil {
		return nil, errors.New("making the Workload of a Job: there is no Job")
	}
	template := schedulingv1alpha2.PodGroupTemplate{Name: TemplateName(job.Name, opts)}
	switch gang, _ := Eligible(job); {
	case gang:
		template.SchedulingPolicy.Gang = &schedulingv1alpha2.GangSchedulingPolicy{MinCount: *job.Spec.Parallelism}
	case opts.BasicGroup && job.Spec.Template.Spec.SchedulingGroup == nil:
		template.SchedulingPolicy.Basic = &schedulingv1alpha2.BasicSchedulingPolicy{}
	default:
		return nil, nil
	}
	return newWorkload(job, batchv1.SchemeGroupVersion.WithKind("Job"), []schedulingv1alpha2.PodGroupTemplate{template}, opts)
}

// New returns a Workload for an owner of any kind, with the given templates: in the owner's namespace, controlled by
// the owner, and with a name made of the owner's name and UID ([WorkloadName]). The templates are copied in full;
// [Gang] and [Basic] make simple ones.
//
// The owner must have a name and a UID, or else the error is [ErrNotStored], and kind must name its version and kind.
// There must be one to eight templates, each with a name of its own that is a DNS label, because PodGroups refer to
// templates by name. Anything else is an error. What else the API server asks of a Workload is not looked at.
func New(owner metav1.Object, kind schema.GroupVersionKind, templates []schedulingv1alpha2.PodGroupTemplate, opts Options) (*schedulingv1alpha2.Workload, error) {
	if owner == nil {
		return nil, errors.New("making a Workload: there is no owner")
	}
	if kind.Version == "" || kind.Kind == "" {
		return nil, fmt.Errorf("making the Workload of %s/%s: version and kind of the owner are needed, not %q", owner.GetNamespace(), owner.GetName(), kind)
	}
	if err := checkTemplates(templates); err != nil {
		return nil, fmt.Errorf("making the Workload of %s %s/%s: %w", kind.Kind, owner.GetNamespace(), owner.GetName(), err)
	}
	copied := make([]schedulingv1alpha2.PodGroupTemplate, len(templates))
	for i := range templates {
		templates[i].DeepCopyInto(&copied[i])
	}
	return newWorkload(owner, kind, copied, opts)
}

// newWorkload puts templates, which it keeps, into the Workload of an owner.
func newWorkload(owner metav1.Object, kind schema.GroupVersionKind, templates []schedulingv1alpha2.PodGroupTemplate, opts Options) (*schedulingv1alpha2.Workload, error) {
	if owner.GetName() == "" || owner.GetUID() == "" {
		return nil, fmt.Errorf("making the Workload of %s %s/%s: %w", kind.Kind, owner.GetNamespace(), owner.GetName(), ErrNotStored)
	}
	return &schedulingv1alpha2.Workload{
		ObjectMeta: metav1.ObjectMeta{
			Name:            WorkloadName(owner.GetName(), owner.GetUID(), opts),
			Namespace:       owner.GetNamespace(),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(owner, kind)},
		},
		Spec: schedulingv1alpha2.WorkloadSpec{
			ControllerRef:     &schedulingv1alpha2.TypedLocalObjectReference{APIGroup: kind.Group, Kind: kind.Kind, Name: owner.GetName()},
			PodGroupTemplates: templates,
		},
	}, nil
}

// checkTemplates returns an error unless there are templates and PodGroups can refer to each of them by name.
func checkTemplates(templates []schedulingv1alpha2.PodGroupTemplate) error {
	if len(templates) == 0 || len(templates) > schedulingv1alpha2.WorkloadMaxPodGroupTemplates {
		return fmt.Errorf("a Workload has 1 to %d templates, not %d", schedulingv1alpha2.WorkloadMaxPodGroupTemplates, len(templates))
	}
	seen := make(map[string]bool, len(templates))
	for i := range templates {
		name := templates[i].Name
		if faults := validation.IsDNS1123Label(name); len(faults) > 0 {
			return fmt.Errorf("template %d has the name %q: %s", i, name, faults[0])
		}
		if seen[name] {
			return fmt.Errorf("template %d has the name %q, which another one has already", i, name)
		}
		seen[name] = true
	}
	return nil
}

// Gang returns a template whose pods are placed together or not at all: minCount of them at once, 1 or more.
func Gang(name string, minCount int32) schedulingv1alpha2.PodGroupTemplate {
	return schedulingv1alpha2.PodGroupTemplate{
		Name: name,
		SchedulingPolicy: schedulingv1alpha2.PodGroupSchedulingPolicy{
			Gang: &schedulingv1alpha2.GangSchedulingPolicy{MinCount: minCount},
		},
	}
}

// Basic returns a template whose pods are placed one by one, as pods without a group are.
func Basic(name string) schedulingv1alpha2.PodGroupTemplate {
	return schedulingv1alpha2.PodGroupTemplate{
		Name: name,
		SchedulingPolicy: schedulingv1alpha2.PodGroupSchedulingPolicy{
			Basic: &schedulingv1alpha2.BasicSchedulingPolicy{},
		},
	}
}
