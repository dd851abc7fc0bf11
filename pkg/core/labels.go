package core

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/musterkube/muster/pkg/internal/metadata"
)

// ValidateLabelSelector validates a selector as a kube-apiserver does, its labels in the order of their keys.
func ValidateLabelSelector(
	selector *metav1.LabelSelector, options metavalidation.LabelSelectorValidationOptions, path *field.Path,
) field.ErrorList {
	if selector == nil {
		return nil
	}
	labels := path.Child("matchLabels")
	errs := metavalidation.ValidateLabelSelector(selector, options, path)
	return metadata.InOrder(errs, labels, func() field.ErrorList { return metadata.ValidateLabels(selector.MatchLabels, labels) })
}
