package core

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/musterkube/muster/pkg/features"
)

// gatedField is a part of a pod that a server keeps only when its gate is on or the stored object has it already.
type gatedField struct {
	used func(*corev1.PodSpec) bool
	drop func(*corev1.PodSpec)
}

// alwaysOff lists the parts of a pod's spec behind gates that Kubernetes 1.36 leaves off and this library does not
// switch.
func alwaysOff() []gatedField {
	return []gatedField{
		{ // ContainerStopSignals
			used: func(spec *corev1.PodSpec) bool {
				return anyContainer(spec, func(c *corev1.Container) bool {
					return c.Lifecycle != nil && c.Lifecycle.StopSignal != nil
				})
			},
			drop: func(spec *corev1.PodSpec) {
				forEachContainer(spec, func(c *corev1.Container) { dropStopSignal(c) })
			},
		},
		{ // ClusterTrustBundleProjection
			used: func(spec *corev1.PodSpec) bool {
				return anyProjection(spec, func(p *corev1.VolumeProjection) bool { return p.ClusterTrustBundle != nil })
			},
			drop: func(spec *corev1.PodSpec) {
				forEachProjection(spec, func(p *corev1.VolumeProjection) { p.ClusterTrustBundle = nil })
			},
		},
		{ // PodCertificateRequest
			used: func(spec *corev1.PodSpec) bool {
				return anyProjection(spec, func(p *corev1.VolumeProjection) bool { return p.PodCertificate != nil })
			},
			drop: func(spec *corev1.PodSpec) {
				forEachProjection(spec, func(p *corev1.VolumeProjection) { p.PodCertificate = nil })
			},
		},
	}
}

func dropDisabledSpec(spec, old *corev1.PodSpec, gates features.Gates) {
	fields := alwaysOff()
	if !gates.Enabled(features.GenericWorkload) {
		fields = append(fields, gatedField{
			used: func(spec *corev1.PodSpec) bool { return spec.SchedulingGroup != nil },
			drop: func(spec *corev1.PodSpec) { spec.SchedulingGroup = nil },
		})
	}
	for _, field := range fields {
		if old == nil || !field.used(old) {
			field.drop(spec)
		}
	}
}

func dropStopSignal(c *corev1.Container) {
	if c.Lifecycle == nil || c.Lifecycle.StopSignal == nil {
		return
	}
	c.Lifecycle.StopSignal = nil
	if *c.Lifecycle == (corev1.Lifecycle{}) {
		c.Lifecycle = nil
	}
}

func dropDisabledStatus(status, old *corev1.PodStatus) {
	if old == nil || len(old.NodeAllocatableResourceClaimStatuses) == 0 {
		status.NodeAllocatableResourceClaimStatuses = nil
	}
	if old != nil && anyMountStatus(old, func(s *corev1.VolumeMountStatus) bool { return s.VolumeStatus != nil }) {
		return
	}
	anyMountStatus(status, func(s *corev1.VolumeMountStatus) bool {
		s.VolumeStatus = nil
		return false
	})
}

// anyMountStatus calls visit with each volume mount of each container status until it returns true.
func anyMountStatus(status *corev1.PodStatus, visit func(*corev1.VolumeMountStatus) bool) bool {
	for _, statuses := range [][]corev1.ContainerStatus{
		status.ContainerStatuses, status.InitContainerStatuses, status.EphemeralContainerStatuses,
	} {
		for i := range statuses {
			for j := range statuses[i].VolumeMounts {
				if visit(&statuses[i].VolumeMounts[j]) {
					return true
				}
			}
		}
	}
	return false
}
