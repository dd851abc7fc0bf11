package core

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ValidateObjectMeta validates the metadata of a new object as kube-apiserver 1.36 does, names of finalizers without a
// domain included. A name that was generated must be there already.
func ValidateObjectMeta(meta *metav1.ObjectMeta, namespaced bool, nameRule apivalidation.ValidateNameFunc, path *field.Path) field.ErrorList {
	if meta == nil {
		return field.ErrorList{field.Required(path, "there is no metadata")}
	}
	errs := metaInOrder(apivalidation.ValidateObjectMeta(meta, namespaced, nameRule, path), meta, path)
	return append(as136(errs, path), validateFinalizers(meta, path)...)
}

// ValidateObjectMetaUpdate validates changed metadata as kube-apiserver 1.36 does. A generation below zero is for
// [ValidateObjectMeta] to report, of an update too.
func ValidateObjectMetaUpdate(meta, old *metav1.ObjectMeta, path *field.Path) field.ErrorList {
	if meta == nil || old == nil {
		return field.ErrorList{field.Required(path, "there is no metadata")}
	}
	errs := apivalidation.ValidateObjectMetaUpdate(meta, old, path)
	generation := path.Child("generation").String()
	errs = slices.DeleteFunc(errs, func(err *field.Error) bool {
		return err.Field == generation && err.Detail == apivalidation.IsNegativeErrorMsg
	})
	return append(as136(metaInOrder(errs, meta, path), path), validateFinalizers(meta, path)...)
}

func metaInOrder(errs field.ErrorList, meta *metav1.ObjectMeta, path *field.Path) field.ErrorList {
	labels, annotations := path.Child("labels"), path.Child("annotations")
	errs = inOrder(errs, labels, func() field.ErrorList { return validateLabels(meta.Labels, labels) })
	return inOrder(errs, annotations, func() field.ErrorList { return validateAnnotations(meta.Annotations, annotations) })
}

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

// as136 restates what k8s.io/apimachinery 0.37 says of owner references and managed fields in the words of Kubernetes
// 1.36: the paths of owner references carry no index, and an empty field is an invalid one. It edits errs in place.
func as136(errs field.ErrorList, path *field.Path) field.ErrorList {
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
