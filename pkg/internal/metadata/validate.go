package metadata

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Validate judges the metadata, at path, of an object that is to be created, names of finalizers without a domain
// included. A name that was generated must be there already.
func Validate(meta *metav1.ObjectMeta, namespaced bool, nameRule apivalidation.ValidateNameFunc, path *field.Path) field.ErrorList {
	errs := mapsInOrder(apivalidation.ValidateObjectMeta(meta, namespaced, nameRule, path), meta, path)
	return append(As136(errs, path), validateFinalizers(meta, path)...)
}

// ValidateUpdate judges the metadata, at path, of an object that is to take the place of a stored one. A generation below
// zero is for [Validate] to report, of an update too.
func ValidateUpdate(meta, old *metav1.ObjectMeta, path *field.Path) field.ErrorList {
	errs := apivalidation.ValidateObjectMetaUpdate(meta, old, path)
	generation := path.Child("generation").String()
	errs = slices.DeleteFunc(errs, func(err *field.Error) bool {
		return err.Field == generation && err.Detail == apivalidation.IsNegativeErrorMsg
	})
	return append(As136(mapsInOrder(errs, meta, path), path), validateFinalizers(meta, path)...)
}

func mapsInOrder(errs field.ErrorList, meta *metav1.ObjectMeta, path *field.Path) field.ErrorList {
	labels, annotations := path.Child("labels"), path.Child("annotations")
	errs = InOrder(errs, labels, func() field.ErrorList { return ValidateLabels(meta.Labels, labels) })
	return InOrder(errs, annotations, func() field.ErrorList { return ValidateAnnotations(meta.Annotations, annotations) })
}

// validateFinalizers wants a finalizer either to name its domain or to be one of the three that Kubernetes gave none.
func validateFinalizers(meta *metav1.ObjectMeta, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, name := range meta.Finalizers {
		switch {
		case strings.Contains(name, "/"):
		case name == string(corev1.FinalizerKubernetes), name == metav1.FinalizerOrphanDependents, name == metav1.FinalizerDeleteDependents:
		default:
			errs = append(errs, field.Invalid(path.Child("finalizers").Index(i), name,
				"name is neither a standard finalizer name nor is it fully qualified"))
		}
	}
	return errs
}

// As136 restates what k8s.io/apimachinery 0.37 says of owner references and managed fields, in metadata at path, in the
// words of Kubernetes 1.36: the paths of owner references carry no index, and an empty field is an invalid one. It edits
// errs in place.
func As136(errs field.ErrorList, path *field.Path) field.ErrorList {
	if len(errs) == 0 {
		return errs
	}
	owners, managers := path.Child("ownerReferences").String(), path.Child("managedFields").String()
	for _, err := range errs {
		switch {
		case strings.HasPrefix(err.Field, owners+"["):
			_, name, _ := strings.Cut(err.Field, "]")
			err.Field = owners + name
			if name != "" {
				err.Type, err.Detail = field.ErrorTypeInvalid, "must not be empty"
			}
			if name == ".apiVersion" {
				err.Detail = "version must not be empty"
			}
		case strings.HasPrefix(err.Field, managers+"[") && strings.HasSuffix(err.Field, ".operation"):
			err.Type, err.Detail = field.ErrorTypeInvalid, "must be `Apply` or `Update`"
		}
	}
	return errs
}
