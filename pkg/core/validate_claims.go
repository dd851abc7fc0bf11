package core

import (
	"reflect"
	"unicode"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/musterkube/muster/pkg/internal/metadata"
)

// validateEphemeralVolume checks the template of a claim that is made for each pod (KEP-1698).
func validateEphemeralVolume(volume *corev1.EphemeralVolumeSource, path *field.Path) field.ErrorList {
	template, at := volume.VolumeClaimTemplate, path.Child("volumeClaimTemplate")
	if template == nil {
		return field.ErrorList{field.Required(at, "")}
	}
	metaPath := at.Child("metadata")
	errs := metadata.ValidateAnnotations(template.Annotations, metaPath.Child("annotations"))
	errs = append(errs, metadata.ValidateLabels(template.Labels, metaPath.Child("labels"))...)
	errs = append(errs, onlyFields(template.ObjectMeta, sets.New("Annotations", "Labels"), "cannot be set", metaPath)...)
	return append(errs, validateClaim(&template.Spec, at.Child("spec"))...)
}

// onlyFields refuses every field of the struct value that is set and not allowed.
func onlyFields(value any, allowed sets.Set[string], detail string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	fields := reflect.ValueOf(value)
	for i := range fields.NumField() {
		name := fields.Type().Field(i).Name
		if !allowed.Has(name) && !fields.Field(i).IsZero() {
			errs = append(errs, field.Forbidden(path.Child(string(unicode.ToLower(rune(name[0])))+name[1:]), detail))
		}
	}
	return errs
}

func validateClaim(claim *corev1.PersistentVolumeClaimSpec, path *field.Path) field.ErrorList {
	errs := validateAccessModes(claim, path)
	storagePath := path.Child("resources").Key(string(corev1.ResourceStorage))
	switch storage, given := claim.Resources.Requests[corev1.ResourceStorage]; {
	case !given:
		errs = append(errs, field.Required(storagePath, ""))
	case storage.Sign() <= 0:
		errs = append(errs, field.Invalid(storagePath, storage.String(), "must be greater than zero"))
	}
	if class := claim.StorageClassName; class != nil && *class != "" {
		errs = append(errs, invalidEach(path.Child("storageClassName"), *class, apivalidation.NameIsDNSSubdomain(*class, false))...)
	}
	if claim.VolumeMode != nil {
		errs = append(errs, oneOf(*claim.VolumeMode,
			[]corev1.PersistentVolumeMode{corev1.PersistentVolumeBlock, corev1.PersistentVolumeFilesystem}, path.Child("volumeMode"))...)
	}
	errs = append(errs, validateDataSources(claim, path)...)
	if class := claim.VolumeAttributesClassName; class != nil && *class != "" {
		errs = append(errs, invalidEach(path.Child("volumeAttributesClassName"), *class, apivalidation.NameIsDNSSubdomain(*class, false))...)
	}
	return errs
}

func validateAccessModes(claim *corev1.PersistentVolumeClaimSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	modesPath := path.Child("accessModes")
	if len(claim.AccessModes) == 0 {
		errs = append(errs, field.Required(modesPath, "at least 1 access mode is required"))
	}
	if claim.Selector != nil {
		errs = append(errs, ValidateLabelSelector(claim.Selector, metavalidation.LabelSelectorValidationOptions{}, path.Child("selector"))...)
	}
	single, shared := false, false
	for _, mode := range claim.AccessModes {
		faults := oneOf(mode, []corev1.PersistentVolumeAccessMode{
			corev1.ReadOnlyMany, corev1.ReadWriteMany, corev1.ReadWriteOnce, corev1.ReadWriteOncePod,
		}, modesPath)
		errs = append(errs, faults...)
		single = single || mode == corev1.ReadWriteOncePod
		shared = shared || (mode != corev1.ReadWriteOncePod && len(faults) == 0)
	}
	if single && shared {
		errs = append(errs, field.Forbidden(modesPath, "may not use ReadWriteOncePod with other access modes"))
	}
	return errs
}

// validateDataSources checks what a claim is filled from.
func validateDataSources(claim *corev1.PersistentVolumeClaimSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	source, ref := claim.DataSource, claim.DataSourceRef
	if source != nil {
		errs = append(errs, validateDataSource(source.APIGroup, source.Kind, source.Name, path.Child("dataSource"))...)
	}
	if ref == nil {
		return errs
	}
	errs = append(errs, validateDataSource(ref.APIGroup, ref.Kind, ref.Name, path.Child("dataSourceRef"))...)
	elsewhere := ref.Namespace != nil && *ref.Namespace != ""
	if elsewhere {
		errs = append(errs, invalidEach(path.Child("dataSourceRef", "namespace"), *ref.Namespace, apivalidation.ValidateNamespaceName(*ref.Namespace, false))...)
	}
	if source == nil {
		return errs
	}
	if elsewhere {
		return append(errs, field.Invalid(path, path.Child("dataSource"), "may not be specified when dataSourceRef.namespace is specified"))
	}
	if !reflect.DeepEqual(source.APIGroup, ref.APIGroup) || source.Kind != ref.Kind || source.Name != ref.Name {
		errs = append(errs, field.Invalid(path, path.Child("dataSource"), "must match dataSourceRef"))
	}
	return errs
}

func validateDataSource(group *string, kind, name string, path *field.Path) field.ErrorList {
	errs := append(requireText(name, path.Child("name")), requireText(kind, path.Child("kind"))...)
	if group == nil || *group == "" {
		if kind != "PersistentVolumeClaim" {
			errs = append(errs, field.Invalid(path, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup"))
		}
		return errs
	}
	return append(errs, invalidEach(path.Child("apiGroup"), *group, validation.IsDNS1123Subdomain(*group))...)
}
