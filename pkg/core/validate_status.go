package core

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"
)

// ValidatePodStatusUpdate says what an API server of Kubernetes 1.36 holds against replacing the status of the stored
// pod old by that of pod, which must have gone through [PreparePodForStatusUpdate].
//
// A container that has ended may only run again where its restart policy lets it. Phases are not checked: any may
// follow any other.
func ValidatePodStatusUpdate(pod, old *corev1.Pod, opts Options) field.ErrorList {
	if pod == nil || old == nil {
		return field.ErrorList{field.Required(field.NewPath(""), "there is no Pod")}
	}
	rules := specRules{opts: opts, pod: &pod.ObjectMeta}
	rules.forgive(&old.Spec, &old.ObjectMeta)
	metaPath, path := field.NewPath("metadata"), field.NewPath("status")
	status, was := &pod.Status, &old.Status
	errs := ValidateObjectMetaUpdate(&pod.ObjectMeta, &old.ObjectMeta, metaPath)
	errs = append(errs, validateAnnotationUpdate(pod, old, metaPath.Child("annotations"), rules)...)
	errs = append(errs, validateConditions(status.Conditions, path.Child("conditions"))...)
	if pod.Spec.NodeName != old.Spec.NodeName {
		errs = append(errs, field.Forbidden(path.Child("nodeName"), "may not be changed directly"))
	}
	errs = append(errs, validateNomination(pod, old, path.Child("nominatedNodeName"))...)
	if status.ObservedGeneration < 0 {
		errs = append(errs, field.Invalid(path.Child("observedGeneration"), status.ObservedGeneration, "must be a non-negative integer"))
	}
	errs = append(errs, apivalidation.ValidateImmutableField(status.QOSClass, was.QOSClass, path.Child("qosClass"))...)
	errs = append(errs, validateRestarts(pod, old, path)...)
	errs = append(errs, validateClaimStatuses(pod, path.Child("resourceClaimStatuses"))...)
	errs = append(errs, validateExtendedClaimStatus(pod, path.Child("extendedResourceClaimStatus"))...)
	errs = append(errs, validateIPs(podIPs(status), podIPs(was), status.PodIPs, path.Child("podIPs"))...)
	if len(status.HostIPs) > 0 {
		hostPath := path.Child("hostIPs")
		if status.HostIP != status.HostIPs[0].IP {
			errs = append(errs, field.Invalid(hostPath.Index(0).Child("ip"), status.HostIPs[0].IP, "must be equal to `hostIP`"))
		}
		errs = append(errs, validateIPs(hostIPs(status), hostIPs(was), status.HostIPs, hostPath)...)
	}
	return append(errs, validateContainerStatuses(pod, path)...)
}

func validateConditions(conditions []corev1.PodCondition, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range conditions {
		condition, at := &conditions[i], path.Index(i)
		if condition.ObservedGeneration < 0 {
			errs = append(errs, field.Invalid(at.Child("observedGeneration"), condition.ObservedGeneration, "must be a non-negative integer"))
		}
		switch condition.Type {
		case corev1.PodScheduled, corev1.PodReady, corev1.PodInitialized:
		default:
			name := string(condition.Type)
			errs = append(errs, invalidEach(at.Child("Type"), name, validation.IsQualifiedName(name))...)
		}
	}
	return errs
}

// validateNomination checks the node that a pod is to get once others have made room.
func validateNomination(pod, old *corev1.Pod, path *field.Path) field.ErrorList {
	node := pod.Status.NominatedNodeName
	if node == "" || node == old.Status.NominatedNodeName {
		return nil
	}
	errs := invalidEach(path, node, apivalidation.NameIsDNSSubdomain(node, false))
	if old.Spec.NodeName != "" {
		errs = append(errs, field.Forbidden(path, "may not be set on pods that are already bound to a node"))
	}
	return errs
}

// validateRestarts checks that only containers run again which their restart policy lets.
func validateRestarts(pod, old *corev1.Pod, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if !restartsAll(&old.Spec) {
		errs = append(errs, validateReturns(pod.Status.ContainerStatuses, old.Status.ContainerStatuses,
			&old.Spec, old.Spec.Containers, path.Child("containerStatuses"))...)
		errs = append(errs, validateReturns(pod.Status.InitContainerStatuses, old.Status.InitContainerStatuses,
			&old.Spec, old.Spec.InitContainers, path.Child("initContainerStatuses"))...)
	}
	return append(errs, validateReturns(pod.Status.EphemeralContainerStatuses, old.Status.EphemeralContainerStatuses,
		&old.Spec, nil, path.Child("ephemeralContainerStatuses"))...)
}

// restartsAll reports whether the end of one container may restart all of them (KEP-5532).
func restartsAll(spec *corev1.PodSpec) bool {
	for _, list := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range list {
			for _, rule := range list[i].RestartPolicyRules {
				if rule.Action == corev1.ContainerRestartRuleActionRestartAllContainers {
					return true
				}
			}
		}
	}
	return false
}

func validateReturns(statuses, old []corev1.ContainerStatus, spec *corev1.PodSpec, containers []corev1.Container, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range old {
		ended := old[i].State.Terminated
		if ended == nil || !slices.ContainsFunc(statuses, func(s corev1.ContainerStatus) bool {
			return s.Name == old[i].Name && s.State.Terminated == nil
		}) {
			continue
		}
		at := slices.IndexFunc(containers, func(c corev1.Container) bool { return c.Name == old[i].Name })
		if at < 0 || !shouldRestart(&containers[at], spec, ended.ExitCode) {
			errs = append(errs, field.Forbidden(path.Index(i).Child("state"), "may not be transitioned to non-terminated state"))
		}
	}
	return errs
}

// shouldRestart reports whether a container that ended with that code is started again: by the first of its rules that
// matches, by its own policy, or by that of the pod (KEP-5307).
func shouldRestart(container *corev1.Container, spec *corev1.PodSpec, code int32) bool {
	policy := string(spec.RestartPolicy)
	if container.RestartPolicy != nil {
		for _, rule := range container.RestartPolicyRules {
			if rule.ExitCodes == nil {
				continue
			}
			listed := slices.Contains(rule.ExitCodes.Values, code)
			if (rule.ExitCodes.Operator == corev1.ContainerRestartRuleOnExitCodesOpIn && listed) ||
				(rule.ExitCodes.Operator == corev1.ContainerRestartRuleOnExitCodesOpNotIn && !listed) {
				return true
			}
		}
		policy = string(*container.RestartPolicy)
	}
	switch policy {
	case string(corev1.RestartPolicyNever):
		return false
	case string(corev1.RestartPolicyOnFailure):
		return code != 0
	default:
		return true
	}
}

func podIPs(status *corev1.PodStatus) []string {
	ips := make([]string, 0, len(status.PodIPs))
	for _, ip := range status.PodIPs {
		ips = append(ips, ip.IP)
	}
	return ips
}

func hostIPs(status *corev1.PodStatus) []string {
	ips := make([]string, 0, len(status.HostIPs))
	for _, ip := range status.HostIPs {
		ips = append(ips, ip.IP)
	}
	return ips
}

// validateIPs checks that addresses are well formed, unless they were stored before, and at most one of each family.
func validateIPs(ips, old []string, value any, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, ip := range ips {
		errs = append(errs, validation.IsValidIPForLegacyField(path.Index(i), ip, true, old)...)
	}
	if len(ips) <= 1 {
		return errs
	}
	both, err := netutils.IsDualStackIPStrings(ips)
	if err != nil {
		errs = append(errs, field.InternalError(path, fmt.Errorf("failed to check for dual stack with error:%w", err)))
	}
	if !both || len(ips) > 2 {
		errs = append(errs, field.Invalid(path, value, "may specify no more than one IP for each IP family"))
	}
	return errs
}
