package core

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Annotations from before the fields that took their place.
const (
	tolerationsAnnotation = "scheduler.alpha.kubernetes.io/tolerations"
	seccompPod            = corev1.SeccompPodAnnotationKey
	seccompContainer      = corev1.SeccompContainerAnnotationKeyPrefix
	appArmorContainer     = corev1.DeprecatedAppArmorBetaContainerAnnotationKeyPrefix
)

// validatePodAnnotations checks the annotations that mean something for the pod.
func validatePodAnnotations(annotations map[string]string, spec *corev1.PodSpec, path *field.Path, rules specRules) field.ErrorList {
	var errs field.ErrorList
	if value, mirror := annotations[corev1.MirrorPodAnnotationKey]; mirror && spec.NodeName == "" {
		errs = append(errs, field.Invalid(path.Key(corev1.MirrorPodAnnotationKey), value, "must set spec.nodeName if mirror pod annotation is set"))
	}
	if text := annotations[tolerationsAnnotation]; text != "" {
		if tolerations, err := tolerationsIn(text); err != nil {
			errs = append(errs, field.Invalid(path, tolerationsAnnotation, err.Error()))
		} else {
			errs = append(errs, validateTolerations(tolerations, path.Child(tolerationsAnnotation), rules)...)
		}
	}
	if !rules.deletionCost && checkDeletionCost(annotations) != nil {
		errs = append(errs, field.Invalid(path.Key(corev1.PodDeletionCost), annotations[corev1.PodDeletionCost], "must be a 32bit integer"))
	}
	errs = append(errs, validateSeccompAnnotations(annotations, path)...)
	return append(errs, validateAppArmorAnnotations(annotations, spec, path)...)
}

// tolerationsIn reads the tolerations of an annotation from before pods had a field for them. The types have the names
// and fields of those inside a kube-apiserver: errors of encoding/json name them.
func tolerationsIn(text string) ([]corev1.Toleration, error) {
	type TolerationOperator string
	type TaintEffect string
	type Toleration struct {
		Key               string
		Operator          TolerationOperator
		Value             string
		Effect            TaintEffect
		TolerationSeconds *int64
	}
	var read []Toleration
	if err := json.Unmarshal([]byte(text), &read); err != nil {
		return nil, err
	}
	tolerations := make([]corev1.Toleration, 0, len(read))
	for _, t := range read {
		tolerations = append(tolerations, corev1.Toleration{
			Key: t.Key, Operator: corev1.TolerationOperator(t.Operator), Value: t.Value, Effect: corev1.TaintEffect(t.Effect),
			TolerationSeconds: t.TolerationSeconds,
		})
	}
	return tolerations, nil
}

func validateSeccompAnnotations(annotations map[string]string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if value, found := annotations[seccompPod]; found {
		errs = append(errs, validateSeccompValue(value, path.Child(seccompPod))...)
	}
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		if strings.HasPrefix(key, seccompContainer) {
			errs = append(errs, validateSeccompValue(annotations[key], path.Child(key))...)
		}
	}
	return errs
}

func validateSeccompValue(value string, path *field.Path) field.ErrorList {
	switch value {
	case corev1.SeccompProfileRuntimeDefault, corev1.DeprecatedSeccompProfileDockerDefault, corev1.SeccompProfileNameUnconfined:
		return nil
	}
	if file, local := strings.CutPrefix(value, corev1.SeccompLocalhostProfileNamePrefix); local {
		return validateDescendingPath(file, path)
	}
	return field.ErrorList{field.Invalid(path, value, "must be a valid seccomp profile")}
}

func validateAppArmorAnnotations(annotations map[string]string, spec *corev1.PodSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		name, found := strings.CutPrefix(key, appArmorContainer)
		if !found {
			continue
		}
		if !anyContainer(spec, func(c *corev1.Container) bool { return c.Name == name }) {
			errs = append(errs, field.Invalid(path.Key(key), name, "container not found"))
		}
		value := annotations[key]
		known := value == "" || value == corev1.DeprecatedAppArmorBetaProfileRuntimeDefault || value == corev1.DeprecatedAppArmorBetaProfileNameUnconfined
		if !known && !strings.HasPrefix(value, corev1.DeprecatedAppArmorBetaProfileNamePrefix) {
			errs = append(errs, field.Invalid(path.Key(key), value, fmt.Sprintf("invalid AppArmor profile name: %q", value)))
		}
	}
	return errs
}

// validateProfilesMatch checks that security profiles which are given both as annotation and as field agree.
func validateProfilesMatch(meta *metav1.ObjectMeta, spec *corev1.PodSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if spec.SecurityContext != nil {
		errs = append(errs, matchSeccomp(meta, seccompPod, spec.SecurityContext.SeccompProfile, path.Child("securityContext", "seccompProfile"))...)
	}
	visitContainers(spec, path, func(c *corev1.Container, at *field.Path) {
		if c.SecurityContext != nil {
			errs = append(errs, matchSeccomp(meta, seccompContainer+c.Name, c.SecurityContext.SeccompProfile,
				at.Child("securityContext", "seccompProfile"))...)
		}
	})
	if spec.OS != nil && spec.OS.Name == corev1.Windows {
		return errs
	}
	visitContainers(spec, path, func(c *corev1.Container, at *field.Path) {
		var profile *corev1.AppArmorProfile
		if spec.SecurityContext != nil {
			profile = spec.SecurityContext.AppArmorProfile
		}
		if c.SecurityContext != nil && c.SecurityContext.AppArmorProfile != nil {
			profile = c.SecurityContext.AppArmorProfile
		}
		errs = append(errs, matchAppArmor(meta, appArmorContainer+c.Name, profile, at.Child("securityContext", "appArmorProfile"))...)
	})
	return errs
}

func matchSeccomp(meta *metav1.ObjectMeta, key string, profile *corev1.SeccompProfile, path *field.Path) field.ErrorList {
	value, found := meta.Annotations[key]
	if !found || profile == nil {
		return nil
	}
	matches, local := true, ""
	switch profile.Type {
	case corev1.SeccompProfileTypeUnconfined:
		matches = value == corev1.SeccompProfileNameUnconfined
	case corev1.SeccompProfileTypeRuntimeDefault:
		matches = value == corev1.SeccompProfileRuntimeDefault || value == corev1.DeprecatedSeccompProfileDockerDefault
	case corev1.SeccompProfileTypeLocalhost:
		local, matches = strings.CutPrefix(value, corev1.SeccompLocalhostProfileNamePrefix)
		if matches && (profile.LocalhostProfile == nil || local != *profile.LocalhostProfile) {
			return field.ErrorList{field.Forbidden(path.Child("localhostProfile"), "seccomp profile in annotation and field must match")}
		}
	}
	if matches {
		return nil
	}
	return field.ErrorList{field.Forbidden(path.Child("type"), "seccomp type in annotation and field must match")}
}

func matchAppArmor(meta *metav1.ObjectMeta, key string, profile *corev1.AppArmorProfile, path *field.Path) field.ErrorList {
	value, found := meta.Annotations[key]
	if !found || profile == nil {
		return nil
	}
	matches, local := true, ""
	switch profile.Type {
	case corev1.AppArmorProfileTypeUnconfined:
		matches = value == corev1.DeprecatedAppArmorBetaProfileNameUnconfined
	case corev1.AppArmorProfileTypeRuntimeDefault:
		matches = value == corev1.DeprecatedAppArmorBetaProfileRuntimeDefault
	case corev1.AppArmorProfileTypeLocalhost:
		local, matches = strings.CutPrefix(value, corev1.DeprecatedAppArmorBetaProfileNamePrefix)
		if matches && (profile.LocalhostProfile == nil || local != *profile.LocalhostProfile) {
			return field.ErrorList{field.Forbidden(path.Child("localhostProfile"), "apparmor profile in annotation and field must match")}
		}
	}
	if matches {
		return nil
	}
	return field.ErrorList{field.Forbidden(path.Child("type"), "apparmor type in annotation and field must match")}
}

func validateImagesTrimmed(containers []corev1.Container, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range containers {
		errs = append(errs, validateImageTrimmed(&containers[i], path.Index(i))...)
	}
	return errs
}

// validateImageTrimmed refuses white space round an image. In templates it stays: some fill in the image later.
func validateImageTrimmed(container *corev1.Container, path *field.Path) field.ErrorList {
	if strings.TrimSpace(container.Image) == container.Image {
		return nil
	}
	return field.ErrorList{field.Invalid(path.Child("image"), container.Image, "must not have leading or trailing whitespace")}
}
