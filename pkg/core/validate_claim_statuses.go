package core

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateClaimStatuses checks which resource claims were made for the pod (KEP-4381).
func validateClaimStatuses(pod *corev1.Pod, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	seen := sets.New[string]()
	for i, claim := range pod.Status.ResourceClaimStatuses {
		at := path.Index(i)
		if !slices.ContainsFunc(pod.Spec.ResourceClaims, func(c corev1.PodResourceClaim) bool { return c.Name == claim.Name }) {
			errs = append(errs, field.Invalid(at.Child("name"), claim.Name, "must match the name of an entry in `spec.resourceClaims`"))
		}
		if seen.Has(claim.Name) {
			errs = append(errs, field.Duplicate(at.Child("name"), claim.Name))
		}
		seen.Insert(claim.Name)
		if name := claim.ResourceClaimName; name != nil {
			errs = append(errs, invalidEach(at.Child("resourceClaimName"), *name, apivalidation.NameIsDNSSubdomain(*name, false))...)
		}
	}
	return errs
}

// validateExtendedClaimStatus checks the claim that was made for what containers request as extended resources
// (KEP-5004).
func validateExtendedClaimStatus(pod *corev1.Pod, path *field.Path) field.ErrorList {
	status := pod.Status.ExtendedResourceClaimStatus
	if status == nil {
		return nil
	}
	var errs field.ErrorList
	mappingsPath := path.Child("requestMappings")
	if len(status.RequestMappings) == 0 {
		errs = append(errs, field.Required(mappingsPath, "at least one request mapping is required"))
	}
	seen := sets.New[corev1.ContainerExtendedResourceRequest]()
	for i, mapping := range status.RequestMappings {
		at := mappingsPath.Index(i)
		if container := lastContainerNamed(&pod.Spec, mapping.ContainerName); container == nil {
			errs = append(errs, field.Invalid(at.Child("containerName"), mapping.ContainerName,
				"must match the name of an entry in spec.initContainers.name or spec.containers.name"))
		} else if _, found := container.Resources.Requests[corev1.ResourceName(mapping.ResourceName)]; !found {
			errs = append(errs, field.Invalid(at.Child("resourceName"), mapping.ResourceName, "must match the extended resource name "+
				"of an entry in spec.initContainers.resources.requests or spec.containers.resources.requests"))
		}
		// The path carries no index: so it is in Kubernetes.
		errs = append(errs, invalidEach(path.Child("requestName"), mapping.RequestName, validation.IsDNS1123Label(mapping.RequestName))...)
		if seen.Has(mapping) {
			errs = append(errs, field.Duplicate(at.Child("containerName"), mapping.ContainerName),
				field.Duplicate(at.Child("resourceName"), mapping.ResourceName), field.Duplicate(at.Child("requestName"), mapping.RequestName))
		}
		seen.Insert(mapping)
	}
	namePath := path.Child("resourceClaimName")
	if status.ResourceClaimName == "" {
		return append(errs, field.Required(namePath, ""))
	}
	return append(errs, invalidEach(namePath, status.ResourceClaimName, apivalidation.NameIsDNSSubdomain(status.ResourceClaimName, false))...)
}

// lastContainerNamed returns the container of that name: where several have it, the last, and init containers come first.
func lastContainerNamed(spec *corev1.PodSpec, name string) *corev1.Container {
	var found *corev1.Container
	for _, list := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range list {
			if list[i].Name == name {
				found = &list[i]
			}
		}
	}
	return found
}
