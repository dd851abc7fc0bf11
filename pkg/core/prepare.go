package core

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/musterkube/muster/pkg/features"
)

// PreparePodForCreate does to a pod what an API server does between admission and validation of a create: the pod
// starts Pending in generation 1 with its quality of service class, held back with a condition when it has scheduling
// gates (KEP-3521); matchLabelKeys are written into the selectors they extend (KEP-3633, KEP-3243); fields of gates
// that are off are dropped. The pod must have its defaults. at is the transition time of the condition.
//
// It returns the warnings that the server sends back for what it had to rewrite, apart from those of [PodWarnings].
func PreparePodForCreate(pod *corev1.Pod, gates features.Gates, at time.Time) []string {
	class := pod.Status.QOSClass
	if class == "" {
		class = QOSClass(pod)
	}
	pod.Generation = 1
	pod.Status = corev1.PodStatus{Phase: corev1.PodPending, QOSClass: class}
	DropDisabledPodFields(pod, nil, gates)
	if len(pod.Spec.SchedulingGates) > 0 {
		SetPodCondition(pod, corev1.PodCondition{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonSchedulingGated,
			Message: "Scheduling is blocked due to non-empty scheduling gates",
		}, at)
	}
	forEachAffinityTerm(pod.Spec.Affinity, func(term *corev1.PodAffinityTerm) {
		extendSelector(term.LabelSelector, term.MatchLabelKeys, metav1.LabelSelectorOpIn, pod.Labels)
		extendSelector(term.LabelSelector, term.MismatchLabelKeys, metav1.LabelSelectorOpNotIn, pod.Labels)
	})
	for i := range pod.Spec.TopologySpreadConstraints {
		constraint := &pod.Spec.TopologySpreadConstraints[i]
		extendSelector(constraint.LabelSelector, constraint.MatchLabelKeys, metav1.LabelSelectorOpIn, pod.Labels)
	}
	return takeOverAppArmor(pod)
}

// takeOverAppArmor writes AppArmor annotations (KEP-24) into the fields that have taken their place, unless the
// container has one, or the pod has the same one for all. It warns of those that are news, and of those that it does not
// understand.
func takeOverAppArmor(pod *corev1.Pod) []string {
	spec := &pod.Spec
	if spec.OS != nil && spec.OS.Name == corev1.Windows {
		return nil
	}
	var warnings []string
	forEachContainer(spec, func(c *corev1.Container) {
		key := appArmorContainer + c.Name
		annotation, found := pod.Annotations[key]
		if !found || (c.SecurityContext != nil && c.SecurityContext.AppArmorProfile != nil) {
			return
		}
		profile := appArmorOf(annotation)
		valid := profile != nil && len(validateAppArmor(profile, field.NewPath("appArmorProfile"))) == 0
		if valid && spec.SecurityContext != nil && equality.Semantic.DeepEqual(profile, spec.SecurityContext.AppArmorProfile) {
			return
		}
		warnings = append(warnings, fmt.Sprintf(`metadata.annotations[%s]: deprecated since v1.30; use the "appArmorProfile" field instead`, key))
		if !valid {
			return
		}
		if c.SecurityContext == nil {
			c.SecurityContext = &corev1.SecurityContext{}
		}
		c.SecurityContext.AppArmorProfile = profile
	})
	return warnings
}

// extendSelector adds a requirement for each of the keys that the pod has a label for. A selector that is not there
// matches nothing, and stays so.
func extendSelector(selector *metav1.LabelSelector, keys []string, operator metav1.LabelSelectorOperator, labels map[string]string) {
	if selector == nil {
		return
	}
	for _, key := range keys {
		if value, found := labels[key]; found {
			selector.MatchExpressions = append(selector.MatchExpressions,
				metav1.LabelSelectorRequirement{Key: key, Operator: operator, Values: []string{value}})
		}
	}
}

// PreparePodForUpdate does to a changed pod what an API server does before it validates an update of the main
// resource: the status stays as stored, and the generation grows by one when the spec has changed.
func PreparePodForUpdate(pod, old *corev1.Pod, gates features.Gates) {
	old.Status.DeepCopyInto(&pod.Status)
	DropDisabledPodFields(pod, old, gates)
	pod.Generation = old.Generation
	if !equality.Semantic.DeepEqual(pod.Spec, old.Spec) {
		pod.Generation++
	}
}

// PreparePodForStatusUpdate does to a changed pod what an API server does before it validates an update of the status
// subresource: spec, owner references and deletion stay as stored, and what a kubelet of an older release leaves out
// (qosClass, observedGeneration) is kept.
func PreparePodForStatusUpdate(pod, old *corev1.Pod, gates features.Gates) {
	old.Spec.DeepCopyInto(&pod.Spec)
	pod.DeletionTimestamp = nil // Validation sets it to the stored one.
	pod.OwnerReferences = nil
	for i := range old.OwnerReferences {
		pod.OwnerReferences = append(pod.OwnerReferences, *old.OwnerReferences[i].DeepCopy())
	}
	if pod.Status.QOSClass == "" {
		pod.Status.QOSClass = old.Status.QOSClass
	}
	keepObservedGenerations(&pod.Status, &old.Status)
	DropDisabledPodFields(pod, old, gates)
}

// keepObservedGenerations fills in observedGeneration where it is missing. Conditions of one type are taken in turn:
// the API does not refuse the same type twice.
func keepObservedGenerations(status, old *corev1.PodStatus) {
	if status.ObservedGeneration == 0 {
		status.ObservedGeneration = old.ObservedGeneration
	}
	stored := map[corev1.PodConditionType][]int64{}
	for _, condition := range old.Conditions {
		stored[condition.Type] = append(stored[condition.Type], condition.ObservedGeneration)
	}
	for i := range status.Conditions {
		condition := &status.Conditions[i]
		generations := stored[condition.Type]
		if len(generations) == 0 {
			continue
		}
		stored[condition.Type] = generations[1:]
		if condition.ObservedGeneration == 0 {
			condition.ObservedGeneration = generations[0]
		}
	}
}

// SetPodCondition puts condition into the status of pod and reports whether that changed anything. The transition time
// is at when the condition is new or its status changes, and stays otherwise.
func SetPodCondition(pod *corev1.Pod, condition corev1.PodCondition, at time.Time) bool {
	condition.LastTransitionTime = metav1.NewTime(at)
	have := PodCondition(pod, condition.Type)
	if have == nil {
		pod.Status.Conditions = append(pod.Status.Conditions, condition)
		return true
	}
	if have.Status == condition.Status {
		condition.LastTransitionTime = have.LastTransitionTime
	}
	changed := !equality.Semantic.DeepEqual(*have, condition)
	*have = condition
	return changed
}

// DeletionGracePeriod returns how many seconds a pod gets to end when it is deleted: what the request asks for, or
// else what its spec says. A pod that is on no node, or has finished, gets none; a negative period counts as 1.
func DeletionGracePeriod(pod *corev1.Pod, asked *int64) int64 {
	var grace int64
	switch {
	case asked != nil:
		grace = *asked
	case pod.Spec.TerminationGracePeriodSeconds != nil:
		grace = *pod.Spec.TerminationGracePeriodSeconds
	}
	if pod.Spec.NodeName == "" || PodFinished(pod) {
		return 0
	}
	if grace < 0 {
		return 1
	}
	return grace
}
