package core

import (
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	maxFileMode      = 0o777
	badFileMode      = "must be a number between 0 and 0777 (octal), both inclusive"
	maxDriverName    = 63
	notAbsolute      = "must be a relative path"
	noBacksteps      = "must not contain '..'"
	notWithBacksteps = "must not start with '..'"
)

func validateEmptyDir(dir *corev1.EmptyDirVolumeSource, at *field.Path) field.ErrorList {
	if dir.SizeLimit == nil || dir.SizeLimit.Cmp(resource.Quantity{}) >= 0 {
		return nil
	}
	return field.ErrorList{field.Forbidden(at.Child("sizeLimit"), "SizeLimit field must be a valid resource quantity")}
}

func validateHostPath(host *corev1.HostPathVolumeSource, at *field.Path) field.ErrorList {
	if host.Path == "" {
		return field.ErrorList{field.Required(at.Child("path"), "")}
	}
	errs := validateNoBacksteps(host.Path, at.Child("path"))
	if host.Type == nil {
		return errs
	}
	return append(errs, oneOf(*host.Type, []corev1.HostPathType{
		corev1.HostPathUnset, corev1.HostPathBlockDev, corev1.HostPathCharDev, corev1.HostPathDirectory,
		corev1.HostPathDirectoryOrCreate, corev1.HostPathFile, corev1.HostPathFileOrCreate, corev1.HostPathSocket,
	}, at.Child("type"))...)
}

func validateGitRepo(repo *corev1.GitRepoVolumeSource, at *field.Path) field.ErrorList {
	return append(requireText(repo.Repository, at.Child("repository")), validateDescendingPath(repo.Directory, at.Child("directory"))...)
}

func validateNFS(nfs *corev1.NFSVolumeSource, at *field.Path) field.ErrorList {
	errs := append(requireText(nfs.Server, at.Child("server")), requireText(nfs.Path, at.Child("path"))...)
	if !path.IsAbs(nfs.Path) {
		errs = append(errs, field.Invalid(at.Child("path"), nfs.Path, "must be an absolute path"))
	}
	return errs
}

// validateFiles checks a volume whose files are the keys of a config map or a secret.
func validateFiles(nameField, name string, mode *int32, items []corev1.KeyToPath, at *field.Path) field.ErrorList {
	errs := requireText(name, at.Child(nameField))
	errs = append(errs, validateMode(mode, at.Child("defaultMode"))...)
	for i := range items {
		errs = append(errs, validateItem(&items[i], at.Child("items").Index(i))...)
	}
	return errs
}

func validateItem(item *corev1.KeyToPath, at *field.Path) field.ErrorList {
	errs := append(requireText(item.Key, at.Child("key")), requireText(item.Path, at.Child("path"))...)
	errs = append(errs, validateLocalPath(item.Path, at.Child("path"))...)
	return append(errs, validateMode(item.Mode, at.Child("mode"))...)
}

func validateMode(mode *int32, at *field.Path) field.ErrorList {
	if mode == nil || (*mode >= 0 && *mode <= maxFileMode) {
		return nil
	}
	return field.ErrorList{field.Invalid(at, *mode, badFileMode)}
}

func validateDownwardAPI(volume *corev1.DownwardAPIVolumeSource, at *field.Path) field.ErrorList {
	errs := validateMode(volume.DefaultMode, at.Child("defaultMode"))
	for i := range volume.Items {
		// The path carries no index: so it is in Kubernetes.
		errs = append(errs, validateDownwardFile(&volume.Items[i], at)...)
	}
	return errs
}

func validateDownwardFile(file *corev1.DownwardAPIVolumeFile, at *field.Path) field.ErrorList {
	errs := requireText(file.Path, at.Child("path"))
	errs = append(errs, validateLocalPath(file.Path, at.Child("path"))...)
	switch {
	case file.FieldRef != nil:
		errs = append(errs, validateFieldRef(file.FieldRef, []string{
			"metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid",
		}, at.Child("fieldRef"))...)
		if file.ResourceFieldRef != nil {
			errs = append(errs, field.Invalid(at, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously"))
		}
	case file.ResourceFieldRef != nil:
		errs = append(errs, validateResourceFieldRef(file.ResourceFieldRef, true, at.Child("resourceFieldRef"))...)
	default:
		errs = append(errs, field.Required(at, "one of fieldRef and resourceFieldRef is required"))
	}
	return append(errs, validateMode(file.Mode, at.Child("mode"))...)
}

func validateCSI(csi *corev1.CSIVolumeSource, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if driverPath := at.Child("driver"); csi.Driver == "" {
		errs = append(errs, field.Required(driverPath, ""))
	} else {
		if len(csi.Driver) > maxDriverName {
			errs = append(errs, field.TooLong(driverPath, "", maxDriverName))
		}
		errs = append(errs, invalidEach(driverPath, csi.Driver, validation.IsDNS1123Subdomain(strings.ToLower(csi.Driver)))...)
	}
	switch secret := csi.NodePublishSecretRef; {
	case secret == nil:
	case secret.Name == "":
		errs = append(errs, field.Required(at.Child("nodePublishSecretRef", "name"), ""))
	default:
		errs = append(errs, invalidEach(at.Child("name"), secret.Name, apivalidation.NameIsDNSSubdomain(secret.Name, false))...)
	}
	return errs
}

// validateLocalPath checks the path of a file in a volume: relative, without steps up, and not among the names that
// start with two dots, which the kubelet uses itself.
func validateLocalPath(file string, at *field.Path) field.ErrorList {
	errs := validateDescendingPath(file, at)
	if strings.HasPrefix(file, "..") && !strings.HasPrefix(file, "../") {
		errs = append(errs, field.Invalid(at, file, notWithBacksteps))
	}
	return errs
}

// validateDescendingPath checks that a path is relative and stays below where it starts.
func validateDescendingPath(file string, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if path.IsAbs(file) {
		errs = append(errs, field.Invalid(at, file, notAbsolute))
	}
	return append(errs, validateNoBacksteps(file, at)...)
}

func validateNoBacksteps(file string, at *field.Path) field.ErrorList {
	if !slices.Contains(strings.Split(file, "/"), "..") {
		return nil
	}
	return field.ErrorList{field.Invalid(at, file, noBacksteps)}
}
