package validation

import (
	"slices"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/musterkube/muster/pkg/internal/metadata"
)

// validateMetadata judges the metadata of an object that is to be created. Both kinds are namespaced and have DNS
// subdomains for names. A server generates names before it judges; here what leads to a name will do.
func validateMetadata(meta *metav1.ObjectMeta) field.ErrorList {
	faults := metadata.Validate(meta, true, apivalidation.NameIsDNSSubdomain, field.NewPath("metadata"))
	if meta.GenerateName == "" {
		return faults
	}
	return slices.DeleteFunc(faults, func(fault *field.Error) bool {
		return fault.Type == field.ErrorTypeRequired && fault.Field == "metadata.name"
	})
}

// validateMetadataUpdate judges the metadata of an object that is to take the place of a stored one.
func validateMetadataUpdate(meta, old *metav1.ObjectMeta) field.ErrorList {
	return metadata.ValidateUpdate(meta, old, field.NewPath("metadata"))
}
