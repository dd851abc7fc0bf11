package core

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// mounts checks the volumes that a container mounts as directories.
func (c *specCheck) mounts(container *corev1.Container, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	places := sets.New[string]()
	deviceNames, devicePaths := deviceNamesAndPaths(container.VolumeDevices)
	for i := range container.VolumeMounts {
		mount, at := &container.VolumeMounts[i], path.Index(i)
		errs = append(errs, requireText(mount.Name, at.Child("name"))...)
		if _, found := c.volumes[mount.Name]; !found {
			errs = append(errs, field.NotFound(at.Child("name"), mount.Name))
		}
		errs = append(errs, requireText(mount.MountPath, at.Child("mountPath"))...)
		if places.Has(mount.MountPath) {
			errs = append(errs, field.Invalid(at.Child("mountPath"), mount.MountPath, "must be unique"))
		}
		places.Insert(mount.MountPath)
		if slices.Contains(deviceNames, mount.Name) {
			errs = append(errs, field.Invalid(at.Child("name"), mount.Name, "must not already exist in volumeDevices"))
		}
		if slices.Contains(devicePaths, mount.MountPath) {
			errs = append(errs, field.Invalid(at.Child("mountPath"), mount.MountPath, "must not already exist as a path in volumeDevices"))
		}
		errs = append(errs, validateSubPaths(mount, path, at)...)
		errs = append(errs, validatePropagation(mount, container, path.Child("mountPropagation"))...)
		errs = append(errs, validateRecursiveReadOnly(mount, path.Child("recursiveReadOnly"))...)
	}
	return errs
}

// validateSubPaths checks which part of a volume is mounted. Some paths lack the index of the mount: so it is in
// Kubernetes.
func validateSubPaths(mount *corev1.VolumeMount, path, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if mount.SubPath != "" {
		errs = append(errs, validateDescendingPath(mount.SubPath, path.Child("subPath"))...)
	}
	if mount.SubPathExpr == "" {
		return errs
	}
	if mount.SubPath != "" {
		errs = append(errs, field.Invalid(at.Child("subPathExpr"), mount.SubPathExpr, "subPathExpr and subPath are mutually exclusive"))
	}
	return append(errs, validateDescendingPath(mount.SubPathExpr, path.Child("subPathExpr"))...)
}

func validatePropagation(mount *corev1.VolumeMount, container *corev1.Container, path *field.Path) field.ErrorList {
	if mount.MountPropagation == nil {
		return nil
	}
	errs := oneOf(*mount.MountPropagation, []corev1.MountPropagationMode{
		corev1.MountPropagationBidirectional, corev1.MountPropagationHostToContainer, corev1.MountPropagationNone,
	}, path)
	security := container.SecurityContext
	privileged := security != nil && security.Privileged != nil && *security.Privileged
	if *mount.MountPropagation == corev1.MountPropagationBidirectional && !privileged {
		errs = append(errs, field.Forbidden(path, "Bidirectional mount propagation is available only to privileged containers"))
	}
	return errs
}

func validateRecursiveReadOnly(mount *corev1.VolumeMount, path *field.Path) field.ErrorList {
	if mount.RecursiveReadOnly == nil || *mount.RecursiveReadOnly == corev1.RecursiveReadOnlyDisabled {
		return nil
	}
	errs := oneOf(*mount.RecursiveReadOnly, []corev1.RecursiveReadOnlyMode{
		corev1.RecursiveReadOnlyDisabled, corev1.RecursiveReadOnlyEnabled, corev1.RecursiveReadOnlyIfPossible,
	}, path)
	if len(errs) > 0 {
		return errs
	}
	if !mount.ReadOnly {
		errs = append(errs, field.Forbidden(path, "may only be specified when readOnly is true"))
	}
	if mount.MountPropagation != nil && *mount.MountPropagation != corev1.MountPropagationNone {
		errs = append(errs, field.Forbidden(path, "may only be specified when mountPropagation is None or not specified"))
	}
	return errs
}

// devices checks the volumes that a container uses as raw block devices.
func (c *specCheck) devices(container *corev1.Container, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	names, places := sets.New[string](), sets.New[string]()
	mountNames, mountPaths := mountNamesAndPaths(container.VolumeMounts)
	for i := range container.VolumeDevices {
		device, at := &container.VolumeDevices[i], path.Index(i)
		namePath, placePath := at.Child("name"), at.Child("devicePath")
		errs = append(errs, requireText(device.Name, namePath)...)
		if names.Has(device.Name) {
			errs = append(errs, field.Invalid(namePath, device.Name, "must be unique"))
		}
		if volume, found := c.volumes[device.Name]; !found {
			errs = append(errs, field.NotFound(namePath, device.Name))
		} else if volume.PersistentVolumeClaim == nil && volume.Ephemeral == nil {
			errs = append(errs, field.Invalid(namePath, device.Name,
				"can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"))
		}
		errs = append(errs, requireText(device.DevicePath, placePath)...)
		if places.Has(device.DevicePath) {
			errs = append(errs, field.Invalid(placePath, device.DevicePath, "must be unique"))
		}
		if slices.Contains(strings.Split(device.DevicePath, "/"), "..") {
			errs = append(errs, field.Invalid(placePath, device.DevicePath, "can not contain backsteps ('..')"))
		} else {
			places.Insert(device.DevicePath)
		}
		if slices.Contains(mountNames, device.Name) {
			errs = append(errs, field.Invalid(namePath, device.Name, "must not already exist in volumeMounts"))
		}
		if slices.Contains(mountPaths, device.DevicePath) {
			errs = append(errs, field.Invalid(placePath, device.DevicePath, "must not already exist as a path in volumeMounts"))
		}
		if device.Name != "" {
			names.Insert(device.Name)
		}
	}
	return errs
}

// deviceNamesAndPaths and mountNamesAndPaths list what the other kind must not use again. Of several entries of one
// name only the path of the last one counts.
func deviceNamesAndPaths(devices []corev1.VolumeDevice) (names, paths []string) {
	last := map[string]string{}
	for _, device := range devices {
		last[device.Name] = device.DevicePath
	}
	return split(last)
}

func mountNamesAndPaths(mounts []corev1.VolumeMount) (names, paths []string) {
	last := map[string]string{}
	for _, mount := range mounts {
		last[mount.Name] = mount.MountPath
	}
	return split(last)
}

func split(pathOf map[string]string) (names, paths []string) {
	for name, path := range pathOf {
		names, paths = append(names, name), append(paths, path)
	}
	return names, paths
}
