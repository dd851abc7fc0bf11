package core

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/diff"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ValidateEphemeralContainersUpdate says what an API server of Kubernetes 1.36 holds against an update of the
// ephemeralcontainers subresource that turns old into pod (KEP-277). Containers can be added; those that are there can
// neither change nor go. Both pods must have their defaults, and all but the containers must be as in old.
func ValidateEphemeralContainersUpdate(pod, old *corev1.Pod, opts Options) field.ErrorList {
	if pod == nil || old == nil {
		return field.ErrorList{field.Required(field.NewPath(""), "there is no Pod")}
	}
	errs := ValidateObjectMetaUpdate(&pod.ObjectMeta, &old.ObjectMeta, field.NewPath("metadata"))
	errs = append(errs, validateWholePod(pod, old, opts)...)
	if _, static := old.Annotations[corev1.MirrorPodAnnotationKey]; static {
		return field.ErrorList{field.Forbidden(field.NewPath(""), "static pods do not support ephemeral containers")}
	}
	now := map[string]*corev1.EphemeralContainer{}
	for i := range pod.Spec.EphemeralContainers {
		now[pod.Spec.EphemeralContainers[i].Name] = &pod.Spec.EphemeralContainers[i]
	}
	path := field.NewPath("spec", "ephemeralContainers")
	for i := range old.Spec.EphemeralContainers {
		before := &old.Spec.EphemeralContainers[i]
		after, found := now[before.Name]
		switch {
		case !found:
			errs = append(errs, field.Forbidden(path, fmt.Sprintf("existing ephemeral containers %q may not be removed\n", before.Name)))
		case !equality.Semantic.DeepEqual(before, after):
			errs = append(errs, field.Forbidden(path, fmt.Sprintf("existing ephemeral containers %q may not be changed\n%v", before.Name, diff.Diff(*before, *after))))
		}
	}
	return errs
}
