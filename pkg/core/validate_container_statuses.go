package core

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateContainerStatuses checks users and allocated resources that a kubelet reports for containers.
func validateContainerStatuses(pod *corev1.Pod, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	kinds := []struct {
		name       string
		statuses   []corev1.ContainerStatus
		containers []corev1.Container
	}{
		{"containerStatuses", pod.Status.ContainerStatuses, pod.Spec.Containers},
		{"initContainerStatuses", pod.Status.InitContainerStatuses, pod.Spec.InitContainers},
		{"ephemeralContainerStatuses", pod.Status.EphemeralContainerStatuses, nil},
	}
	windows := pod.Spec.OS != nil && pod.Spec.OS.Name == corev1.Windows
	for _, kind := range kinds {
		for i := range kind.statuses {
			errs = append(errs, validateUser(kind.statuses[i].User, windows, path.Child(kind.name).Index(i).Child("user", "linux"))...)
		}
	}
	for _, kind := range kinds {
		for i := range kind.statuses {
			at := path.Child(kind.name).Index(i).Child("allocatedResourcesStatus")
			switch resources := kind.statuses[i].AllocatedResourcesStatus; {
			case len(resources) == 0:
			case kind.name == "ephemeralContainerStatuses":
				errs = append(errs, field.Forbidden(at, "must not be specified in container status"))
			default:
				errs = append(errs, validateAllocated(resources, containerNamed(kind.containers, kind.statuses[i].Name), at)...)
			}
		}
	}
	return errs
}

func containerNamed(containers []corev1.Container, name string) *corev1.Container {
	for i := range containers {
		if containers[i].Name == name {
			return &containers[i]
		}
	}
	return nil
}

func validateUser(user *corev1.ContainerUser, windows bool, path *field.Path) field.ErrorList {
	if user == nil || user.Linux == nil {
		return nil
	}
	if windows {
		return field.ErrorList{field.Forbidden(path, notOnWindows)}
	}
	errs := invalidEach(path.Child("uid"), user.Linux.UID, validation.IsValidUserID(user.Linux.UID))
	errs = append(errs, invalidEach(path.Child("gid"), user.Linux.GID, validation.IsValidGroupID(user.Linux.GID))...)
	for i, id := range user.Linux.SupplementalGroups {
		errs = append(errs, invalidEach(path.Child("supplementalGroups").Index(i), id, validation.IsValidGroupID(id))...)
	}
	return errs
}

// validateAllocated checks the health of devices (KEP-4680). What is reported for a container that the spec does not
// have is let through.
func validateAllocated(resources []corev1.ResourceStatus, container *corev1.Container, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range resources {
		resource, at := &resources[i], path.Index(i)
		if detail := notAllocated(resource.Name, container); detail != "" {
			errs = append(errs, field.Invalid(at.Child("name"), resource.Name, detail))
		}
		seen := sets.New[corev1.ResourceID]()
		for j := range resource.Resources {
			device, devicePath := &resource.Resources[j], at.Child("resources").Index(j)
			errs = append(errs, oneOf(device.Health, []corev1.ResourceHealthStatus{
				corev1.ResourceHealthStatusHealthy, corev1.ResourceHealthStatusUnhealthy, corev1.ResourceHealthStatusUnknown,
			}, devicePath.Child("health"))...)
			if message := device.Message; message != nil {
				switch {
				case *message == "":
					errs = append(errs, field.Required(devicePath.Child("message"), "must be non-empty if specified"))
				case len(*message) > corev1.ResourceHealthMessageMaxLength:
					errs = append(errs, field.TooLong(devicePath.Child("message"), *message, corev1.ResourceHealthMessageMaxLength))
				}
			}
			if seen.Has(device.ResourceID) {
				errs = append(errs, field.Duplicate(devicePath.Child("resourceID"), device.ResourceID))
			}
			seen.Insert(device.ResourceID)
		}
	}
	return errs
}

// notAllocated says why a container cannot have been given a resource, "" when it can.
func notAllocated(name corev1.ResourceName, container *corev1.Container) string {
	if container == nil {
		return ""
	}
	if !strings.HasPrefix(string(name), "claim:") {
		if _, requested := container.Resources.Requests[name]; requested {
			return ""
		}
		return "must match one of the container's resource requests"
	}
	if slices.ContainsFunc(container.Resources.Claims, func(c corev1.ResourceClaim) bool {
		claim := "claim:" + c.Name
		if c.Request != "" {
			claim += "/" + c.Request
		}
		return claim == string(name)
	}) {
		return ""
	}
	return "must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty"
}
