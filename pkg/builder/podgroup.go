package builder

import (
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
)

// PodGroups returns one PodGroup for each template of a Workload, in the order of the templates.
//
// A PodGroup has two owners: the Workload's controller first, as its controller too (for [FromJob], the Job), and then
// the Workload itself, which does not wait for it when it is deleted. A Workload without a controller, as a user may
// bring one, gives PodGroups that the Workload alone owns; a controller that wants to own them adds its reference.
// The PodGroup refers to its template by name and copies what it says: all of it, or the policy alone with
// opts.PolicyOnly, as the built-in Job controller does even for a user's own Workload that says more.
//
// The Workload must be one that the API server has stored, with name and UID, since PodGroups are refused without it;
// else the error is [ErrNotStored]. A Workload without templates is an error, too.
func PodGroups(workload *schedulingv1alpha2.Workload, opts Options) ([]*schedulingv1alpha2.PodGroup, error) {
	if err := checkStored(workload); err != nil {
		return nil, err
	}
	groups := make([]*schedulingv1alpha2.PodGroup, len(workload.Spec.PodGroupTemplates))
	for i := range workload.Spec.PodGroupTemplates {
		groups[i] = newPodGroup(workload, &workload.Spec.PodGroupTemplates[i], opts)
	}
	return groups, nil
}

// PodGroup returns the PodGroup of one template of a Workload, as [PodGroups] does. A controller that makes several
// groups from one template, one for each replica say, gives each a name of its own in place of the one made here.
// A template that the Workload does not have is an error.
func PodGroup(workload *schedulingv1alpha2.Workload, templateName string, opts Options) (*schedulingv1alpha2.PodGroup, error) {
	if err := checkStored(workload); err != nil {
		return nil, err
	}
	i := slices.IndexFunc(workload.Spec.PodGroupTemplates, func(t schedulingv1alpha2.PodGroupTemplate) bool { return t.Name == templateName })
	if i < 0 {
		return nil, fmt.Errorf("making a PodGroup of Workload %s/%s: it has no template %q", workload.Namespace, workload.Name, templateName)
	}
	return newPodGroup(workload, &workload.Spec.PodGroupTemplates[i], opts), nil
}

// SchedulingGroup returns the value of a pod's spec.schedulingGroup that makes it a pod of this PodGroup. The pod must
// be in the PodGroup's namespace, and must have the value when it is created: it cannot be changed later.
// It is nil for no PodGroup.
func SchedulingGroup(group *schedulingv1alpha2.PodGroup) *corev1.PodSchedulingGroup {
	if group == nil {
		return nil
	}
	return &corev1.PodSchedulingGroup{PodGroupName: new(group.Name)}
}

// SetSchedulingGroup makes the pods that are made from template from now on pods of this PodGroup, or of none if group is
// nil. Without a template it does nothing.
func SetSchedulingGroup(template *corev1.PodTemplateSpec, group *schedulingv1alpha2.PodGroup) {
	if template == nil {
		return
	}
	template.Spec.SchedulingGroup = SchedulingGroup(group)
}

// checkStored returns an error unless PodGroups can be made of a Workload.
func checkStored(workload *schedulingv1alpha2.Workload) error {
	switch {
	case workload == nil:
		return errors.New("making PodGroups: there is no Workload")
	case workload.Name == "" || workload.UID == "":
		return fmt.Errorf("making PodGroups of Workload %s/%s: %w", workload.Namespace, workload.Name, ErrNotStored)
	case len(workload.Spec.PodGroupTemplates) == 0:
		return fmt.Errorf("making PodGroups of Workload %s/%s: it has no templates", workload.Namespace, workload.Name)
	}
	return nil
}

func newPodGroup(workload *schedulingv1alpha2.Workload, template *schedulingv1alpha2.PodGroupTemplate, opts Options) *schedulingv1alpha2.PodGroup {
	return &schedulingv1alpha2.PodGroup{
		ObjectMeta: metav1.ObjectMeta{
			Name:            PodGroupName(workload.Name, template.Name, opts),
			Namespace:       workload.Namespace,
			OwnerReferences: groupOwners(workload),
		},
		Spec: groupSpec(workload.Name, template, opts),
	}
}

// groupOwners returns the owners of a PodGroup: the Workload's controller, where it has one, and the Workload.
func groupOwners(workload *schedulingv1alpha2.Workload) []metav1.OwnerReference {
	var owners []metav1.OwnerReference
	if controller := metav1.GetControllerOf(workload); controller != nil {
		// Whatever a user's Workload says: a controller that is deleted in the foreground waits for its PodGroups.
		controller.BlockOwnerDeletion = new(true)
		owners = append(owners, *controller)
	}
	// No blockOwnerDeletion: a PodGroup lives on while its pods do, and must not hold up the Workload that long.
	return append(owners, metav1.OwnerReference{
		APIVersion: schedulingv1alpha2.SchemeGroupVersion.String(),
		Kind:       "Workload",
		Name:       workload.Name,
		UID:        workload.UID,
	})
}

// groupSpec returns what a PodGroup takes over from its template.
func groupSpec(workloadName string, template *schedulingv1alpha2.PodGroupTemplate, opts Options) schedulingv1alpha2.PodGroupSpec {
	template = template.DeepCopy()
	spec := schedulingv1alpha2.PodGroupSpec{
		PodGroupTemplateRef: &schedulingv1alpha2.PodGroupTemplateReference{
			Workload: &schedulingv1alpha2.WorkloadPodGroupTemplateReference{
				WorkloadName:         workloadName,
				PodGroupTemplateName: template.Name,
			},
		},
		SchedulingPolicy: template.SchedulingPolicy,
	}
	if opts.PolicyOnly {
		return spec
	}
	spec.SchedulingConstraints = template.SchedulingConstraints
	spec.ResourceClaims = template.ResourceClaims
	spec.DisruptionMode = template.DisruptionMode
	spec.PriorityClassName = template.PriorityClassName
	spec.Priority = template.Priority
	return spec
}
