package core

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/musterkube/muster/pkg/features"
)

// Options says under which circumstances pods are validated. The zero value is right for a new pod on a server with
// every gate on.
type Options struct {
	// Gates of the server. Fields of a gate that is off are not validated: a server drops them before it validates, as
	// [DropDisabledPodFields] does. Default: all on.
	Gates features.Gates
}

// DropDisabledPodFields removes from pod what a server with these gates does not keep: spec.schedulingGroup without
// GenericWorkload, and the fields of gates that Kubernetes 1.36 leaves off by default and that this library has no
// switch for (container stop signals, projected trust bundles and pod certificates, digests of image volumes,
// node-allocatable claim statuses). Fields that old, the stored pod, has as well stay. old is nil on create.
func DropDisabledPodFields(pod, old *corev1.Pod, gates features.Gates) {
	var oldSpec *corev1.PodSpec
	var oldStatus *corev1.PodStatus
	if old != nil {
		oldSpec, oldStatus = &old.Spec, &old.Status
	}
	dropDisabledSpec(&pod.Spec, oldSpec, gates)
	dropDisabledStatus(&pod.Status, oldStatus)
}

// DropDisabledTemplateFields is [DropDisabledPodFields] for the pod template of a Job and the like.
func DropDisabledTemplateFields(template, old *corev1.PodTemplateSpec, gates features.Gates) {
	var oldSpec *corev1.PodSpec
	if old != nil {
		oldSpec = &old.Spec
	}
	dropDisabledSpec(&template.Spec, oldSpec, gates)
}
