package core

import (
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/musterkube/muster/pkg/internal/metadata"
)

// ValidateObjectMeta validates the metadata of a new object as kube-apiserver 1.36 does, names of finalizers without a
// domain included. A name that was generated must be there already.
func ValidateObjectMeta(meta *metav1.ObjectMeta, namespaced bool, nameRule apivalidation.ValidateNameFunc, path *field.Path) field.ErrorList {
	if meta == nil {
		return field.ErrorList{field.Required(path, "there is no metadata")}
	}
	return metadata.Validate(meta, namespaced, nameRule, path)
}

// ValidateObjectMetaUpdate validates changed metadata as kube-apiserver 1.36 does. A generation below zero is for
// [ValidateObjectMeta] to report, of an update too.
func ValidateObjectMetaUpdate(meta, old *metav1.ObjectMeta, path *field.Path) field.ErrorList {
	if meta == nil || old == nil {
		return field.ErrorList{field.Required(path, "there is no metadata")}
	}
	return metadata.ValidateUpdate(meta, old, path)
}
