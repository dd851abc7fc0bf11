package core

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// anyContainer reports whether visit returns true for any container of spec, of any kind.
func anyContainer(spec *corev1.PodSpec, visit func(*corev1.Container) bool) bool {
	for _, list := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range list {
			if visit(&list[i]) {
				return true
			}
		}
	}
	for i := range spec.EphemeralContainers {
		// The common part of an ephemeral container has the fields of a container, one for one.
		if visit((*corev1.Container)(&spec.EphemeralContainers[i].EphemeralContainerCommon)) {
			return true
		}
	}
	return false
}

func forEachContainer(spec *corev1.PodSpec, visit func(*corev1.Container)) {
	anyContainer(spec, func(c *corev1.Container) bool {
		visit(c)
		return false
	})
}

func anyProjection(spec *corev1.PodSpec, visit func(*corev1.VolumeProjection) bool) bool {
	for i := range spec.Volumes {
		if spec.Volumes[i].Projected == nil {
			continue
		}
		for j := range spec.Volumes[i].Projected.Sources {
			if visit(&spec.Volumes[i].Projected.Sources[j]) {
				return true
			}
		}
	}
	return false
}

func forEachProjection(spec *corev1.PodSpec, visit func(*corev1.VolumeProjection)) {
	anyProjection(spec, func(p *corev1.VolumeProjection) bool {
		visit(p)
		return false
	})
}

// visitContainers calls visit with each container of spec and its path: init, regular, ephemeral.
func visitContainers(spec *corev1.PodSpec, path *field.Path, visit func(*corev1.Container, *field.Path)) {
	for i := range spec.InitContainers {
		visit(&spec.InitContainers[i], path.Child("initContainers").Index(i))
	}
	for i := range spec.Containers {
		visit(&spec.Containers[i], path.Child("containers").Index(i))
	}
	for i := range spec.EphemeralContainers {
		visit((*corev1.Container)(&spec.EphemeralContainers[i].EphemeralContainerCommon), path.Child("ephemeralContainers").Index(i))
	}
}
