package core

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	minTokenSeconds = 10 * 60
	maxTokenSeconds = 1 << 32
)

// projected checks a volume that brings files from several sources together. Trust bundles and pod certificates are
// behind gates that are off.
func (c *specCheck) projected(volume *corev1.ProjectedVolumeSource, path *field.Path) field.ErrorList {
	errs := validateMode(volume.DefaultMode, path.Child("defaultMode"))
	files := sets.New[string]()
	// taken reports a file that another source brings already.
	taken := func(file, value string) field.ErrorList {
		if file == "" {
			return nil
		}
		if files.Has(file) {
			return field.ErrorList{field.Invalid(path, value, "conflicting duplicate paths")}
		}
		files.Insert(file)
		return nil
	}
	for i := range volume.Sources {
		source, at := &volume.Sources[i], path.Child("sources").Index(i)
		given := 0
		if secret := source.Secret; secret != nil {
			given++
			errs = append(errs, projectedItems(secret.Name, secret.Items, at.Child("secret"), taken)...)
		}
		if config := source.ConfigMap; config != nil {
			given++
			errs = append(errs, projectedItems(config.Name, config.Items, at.Child("configMap"), taken)...)
		}
		if source.DownwardAPI != nil {
			given++
			for j := range source.DownwardAPI.Items {
				file := &source.DownwardAPI.Items[j]
				errs = append(errs, validateDownwardFile(file, at.Child("downwardAPI"))...)
				errs = append(errs, taken(file.Path, file.Path)...)
			}
		}
		if source.ServiceAccountToken != nil {
			given++
			errs = append(errs, c.projectedToken(source.ServiceAccountToken, at.Child("serviceAccountToken"), path)...)
		}
		if given > 1 {
			errs = append(errs, field.Forbidden(at, "may not specify more than 1 volume type per source"))
		}
	}
	return errs
}

func projectedItems(name string, items []corev1.KeyToPath, path *field.Path, taken func(file, value string) field.ErrorList) field.ErrorList {
	errs := requireText(name, path.Child("name"))
	for i := range items {
		errs = append(errs, validateItem(&items[i], path.Child("items").Index(i))...)
		errs = append(errs, taken(items[i].Path, name)...)
	}
	return errs
}

// projectedToken checks a service account token. Its file is reported at the volume, not at the source: so it is in
// Kubernetes.
func (c *specCheck) projectedToken(token *corev1.ServiceAccountTokenProjection, path, volumePath *field.Path) field.ErrorList {
	var errs field.ErrorList
	if seconds := token.ExpirationSeconds; seconds != nil {
		if *seconds < minTokenSeconds {
			errs = append(errs, field.Invalid(path.Child("expirationSeconds"), *seconds, "may not specify a duration less than 10 minutes"))
		}
		if *seconds > maxTokenSeconds {
			errs = append(errs, field.Invalid(path.Child("expirationSeconds"), *seconds, "may not specify a duration larger than 2^32 seconds"))
		}
	}
	switch filePath := volumePath.Child("path"); {
	case token.Path == "":
		errs = append(errs, field.Required(filePath, ""))
	case !c.tokenPaths:
		errs = append(errs, validateLocalPath(token.Path, filePath)...)
	}
	return errs
}

// validateTokensHaveAccount refuses tokens of pods that have no service account. Templates get theirs later.
func validateTokensHaveAccount(spec *corev1.PodSpec, path *field.Path) field.ErrorList {
	if spec.ServiceAccountName != "" {
		return nil
	}
	var errs field.ErrorList
	for i := range spec.Volumes {
		projected := spec.Volumes[i].Projected
		if projected == nil {
			continue
		}
		for j := range projected.Sources {
			if projected.Sources[j].ServiceAccountToken != nil {
				errs = append(errs, field.Forbidden(path.Index(i).Child("projected", "sources").Index(j).Child("serviceAccountToken"),
					"must not be specified when serviceAccountName is not set"))
			}
		}
	}
	return errs
}
