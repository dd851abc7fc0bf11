package core

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	moreThanOneSource = "may not have more than one field specified at a time"
	hugePageRequests  = "requests.hugepages-"
	hugePageLimits    = "limits.hugepages-"
)

func validateEnv(vars []corev1.EnvVar, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range vars {
		at := path.Index(i)
		if vars[i].Name == "" {
			errs = append(errs, field.Required(at.Child("name"), ""))
		} else {
			errs = append(errs, invalidEach(at.Child("name"), vars[i].Name, validation.IsRelaxedEnvVarName(vars[i].Name))...)
		}
		if vars[i].ValueFrom != nil {
			errs = append(errs, validateValueFrom(&vars[i], at.Child("valueFrom"))...)
		}
	}
	return errs
}

func validateValueFrom(env *corev1.EnvVar, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	sources, from := 0, env.ValueFrom
	if from.FieldRef != nil {
		sources++
		errs = append(errs, validateFieldRef(from.FieldRef, []string{
			"metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName",
			"status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs",
		}, path.Child("fieldRef"))...)
	}
	if from.ResourceFieldRef != nil {
		sources++
		errs = append(errs, validateResourceFieldRef(from.ResourceFieldRef, false, path.Child("resourceFieldRef"))...)
	}
	if ref := from.ConfigMapKeyRef; ref != nil {
		sources++
		errs = append(errs, validateKeyRef(ref.Name, ref.Key, path.Child("configMapKeyRef"))...)
	}
	if ref := from.SecretKeyRef; ref != nil {
		sources++
		errs = append(errs, validateKeyRef(ref.Name, ref.Key, path.Child("secretKeyRef"))...)
	}
	if from.FileKeyRef != nil {
		sources++
		errs = append(errs, validateFileKeyRef(from.FileKeyRef, path.Child("fileKeyRef"))...)
	}
	switch {
	case sources == 0:
		errs = append(errs, field.Invalid(path, "",
			"must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"))
	case env.Value != "":
		errs = append(errs, field.Invalid(path, "", "may not be specified when `value` is not empty"))
	case sources > 1:
		errs = append(errs, field.Invalid(path, "", moreThanOneSource))
	}
	return errs
}

func validateKeyRef(name, key string, path *field.Path) field.ErrorList {
	errs := invalidEach(path.Child("name"), name, apivalidation.NameIsDNSSubdomain(name, false))
	if key == "" {
		return append(errs, field.Required(path.Child("key"), ""))
	}
	return append(errs, invalidEach(path.Child("key"), key, validation.IsConfigMapKey(key))...)
}

// validateFileKeyRef checks a variable that is read from a file in a volume (KEP-3721).
func validateFileKeyRef(ref *corev1.FileKeySelector, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if ref.Key == "" {
		errs = append(errs, field.Required(path.Child("key"), ""))
	} else {
		errs = append(errs, invalidEach(path.Child("key"), ref.Key, validation.IsRelaxedEnvVarName(ref.Key))...)
	}
	if ref.VolumeName == "" {
		errs = append(errs, field.Required(path.Child("volumeName"), ""))
	} else {
		errs = append(errs, invalidEach(path.Child("volumeName"), ref.VolumeName, validation.IsDNS1123Label(ref.VolumeName))...)
	}
	if ref.Path == "" {
		return append(errs, field.Required(path.Child("path"), ""))
	}
	return append(errs, validateNoBacksteps(ref.Path, path.Child("path"))...)
}

// validateEnvFiles checks that files with variables come from an empty directory, which the containers themselves fill.
func validateEnvFiles(spec *corev1.PodSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	visitContainers(spec, path, func(container *corev1.Container, at *field.Path) {
		for i := range container.Env {
			from := container.Env[i].ValueFrom
			if from == nil || from.FileKeyRef == nil {
				continue
			}
			name := from.FileKeyRef.VolumeName
			namePath := at.Child("env").Index(i).Child("valueFrom", "fileKeyRef", "volumeName")
			// Of volumes of the same name the last one counts.
			volume := -1
			for j := range spec.Volumes {
				if spec.Volumes[j].Name == name {
					volume = j
				}
			}
			switch {
			case volume < 0:
				errs = append(errs, field.NotFound(namePath, name))
			case spec.Volumes[volume].EmptyDir == nil:
				errs = append(errs, field.Invalid(namePath, name, "referenced volume must be of type emptyDir"))
			}
		}
	})
	return errs
}

func validateEnvFrom(sources []corev1.EnvFromSource, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range sources {
		source, at := &sources[i], path.Index(i)
		if source.Prefix != "" {
			errs = append(errs, invalidEach(at.Child("prefix"), source.Prefix, validation.IsRelaxedEnvVarName(source.Prefix))...)
		}
		given := 0
		if source.ConfigMapRef != nil {
			given++
			errs = append(errs, validateEnvObject(source.ConfigMapRef.Name, at.Child("configMapRef", "name"))...)
		}
		if source.SecretRef != nil {
			given++
			errs = append(errs, validateEnvObject(source.SecretRef.Name, at.Child("secretRef", "name"))...)
		}
		switch {
		case given == 0:
			errs = append(errs, field.Invalid(path, "", "must specify one of: `configMapRef` or `secretRef`"))
		case given > 1:
			errs = append(errs, field.Invalid(path, "", moreThanOneSource))
		}
	}
	return errs
}

func validateEnvObject(name string, path *field.Path) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(path, "")}
	}
	// The rule is that of a name's beginning, so a trailing dash passes: so it is in Kubernetes.
	return invalidEach(path, name, apivalidation.NameIsDNSSubdomain(name, true))
}

// validateFieldRef checks a reference to a field of the pod (downward API). supported are the fields that it may name
// besides single labels and annotations.
func validateFieldRef(ref *corev1.ObjectFieldSelector, supported []string, path *field.Path) field.ErrorList {
	if ref.APIVersion == "" {
		return field.ErrorList{field.Required(path.Child("apiVersion"), "")}
	}
	if ref.FieldPath == "" {
		return field.ErrorList{field.Required(path.Child("fieldPath"), "")}
	}
	name, key, subscripted := splitSubscript(ref.FieldPath)
	if name == "spec.host" {
		name = "spec.nodeName"
	}
	if problem := downwardProblem(ref.APIVersion, ref.FieldPath, name, subscripted); problem != "" {
		return field.ErrorList{field.Invalid(path.Child("fieldPath"), ref.FieldPath, "error converting fieldPath: "+problem)}
	}
	switch {
	case subscripted && name == "metadata.annotations":
		key = strings.ToLower(key)
		return invalidEach(path, key, validation.IsQualifiedName(key))
	case subscripted:
		return invalidEach(path, key, validation.IsQualifiedName(key))
	case !slices.Contains(supported, name):
		return field.ErrorList{field.NotSupported(path.Child("fieldPath"), name, supported)}
	}
	return nil
}

// downwardProblem says why a field path cannot be read off a pod, "" when it can.
func downwardProblem(version, fieldPath, name string, subscripted bool) string {
	switch {
	case version != "v1":
		return "unsupported pod version: " + version
	case subscripted && name != "metadata.annotations" && name != "metadata.labels":
		return "field label does not support subscript: " + fieldPath
	}
	switch name {
	case "metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName",
		"spec.restartPolicy", "spec.serviceAccountName", "spec.schedulerName", "status.phase", "status.hostIP",
		"status.hostIPs", "status.podIP", "status.podIPs":
		return ""
	}
	return "field label not supported: " + fieldPath
}

// splitSubscript parts metadata.labels['key'] into its path and its key.
func splitSubscript(fieldPath string) (name, key string, found bool) {
	inner, found := strings.CutSuffix(fieldPath, "']")
	if !found {
		return fieldPath, "", false
	}
	name, key, found = strings.Cut(inner, "['")
	if !found || name == "" {
		return fieldPath, "", false
	}
	return name, key, true
}

// validateResourceFieldRef checks a reference to a resource of a container (downward API). In a volume the container
// must be named.
func validateResourceFieldRef(ref *corev1.ResourceFieldSelector, inVolume bool, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	supported := []string{
		"limits.cpu", "limits.ephemeral-storage", "limits.memory",
		"requests.cpu", "requests.ephemeral-storage", "requests.memory",
	}
	hugePages := strings.HasPrefix(ref.Resource, hugePageRequests) || strings.HasPrefix(ref.Resource, hugePageLimits)
	switch {
	case inVolume && ref.ContainerName == "":
		errs = append(errs, field.Required(path.Child("containerName"), ""))
	case ref.Resource == "":
		errs = append(errs, field.Required(path.Child("resource"), ""))
	case !hugePages && !slices.Contains(supported, ref.Resource):
		errs = append(errs, field.NotSupported(path.Child("resource"), ref.Resource, supported))
	}
	return append(errs, validateDivisor(ref, hugePages, path.Child("divisor"))...)
}

func validateDivisor(ref *corev1.ResourceFieldSelector, hugePages bool, path *field.Path) field.ErrorList {
	if ref.Divisor.IsZero() {
		return nil
	}
	values, what := []string{"1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"}, ""
	listed := strings.Join(values, ", ")
	kind, resource, _ := strings.Cut(ref.Resource, ".")
	switch {
	case hugePages:
		what = "hugepages"
	case kind != "limits" && kind != "requests":
	case resource == "cpu":
		values, listed, what = []string{"1m", "1"}, "1m and 1", "cpu"
	case resource == "memory":
		what = "memory"
	case resource == "ephemeral-storage":
		what = "local ephemeral storage"
	}
	if what == "" || slices.Contains(values, ref.Divisor.String()) {
		return nil
	}
	return field.ErrorList{field.Invalid(path, ref.Resource,
		fmt.Sprintf("only divisor's values %s are supported with the %s resource", listed, what))}
}
