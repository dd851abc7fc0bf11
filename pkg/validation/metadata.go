package validation

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The rules of object metadata as Kubernetes 1.36 words them. apimachinery's own words owner references and managed
// fields as 1.37 does; the parts that did not change are taken from there.

// validateMetadata judges the metadata of an object that is to be created. Both kinds are namespaced and have DNS
// subdomains for names.
func validateMetadata(meta *metav1.ObjectMeta) field.ErrorList {
	path := field.NewPath("metadata")
	var faults field.ErrorList
	if meta.GenerateName != "" {
		faults = append(faults, validateName(meta.GenerateName, true, path.Child("generateName"))...)
	}
	switch {
	case meta.Name != "":
		faults = append(faults, validateName(meta.Name, false, path.Child("name"))...)
	case meta.GenerateName == "":
		faults = append(faults, field.Required(path.Child("name"), "name or generateName is required"))
	}
	if meta.Namespace == "" {
		faults = append(faults, field.Required(path.Child("namespace"), ""))
	} else {
		for _, fault := range apivalidation.ValidateNamespaceName(meta.Namespace, false) {
			faults = append(faults, field.Invalid(path.Child("namespace"), meta.Namespace, fault))
		}
	}
	faults = append(faults, apivalidation.ValidateNonnegativeField(meta.Generation, path.Child("generation"))...)
	faults = append(faults, validateLabels(meta.Labels, path.Child("labels"))...)
	faults = append(faults, validateAnnotations(meta.Annotations, path.Child("annotations"))...)
	faults = append(faults, validateOwners(meta.OwnerReferences, path.Child("ownerReferences"))...)
	faults = append(faults, apivalidation.ValidateFinalizers(meta.Finalizers, path.Child("finalizers"))...)
	faults = append(faults, validateManagedFields(meta.ManagedFields, path.Child("managedFields"))...)
	return append(faults, validateFinalizerDomains(meta.Finalizers, path.Child("finalizers"))...)
}

// validateMetadataUpdate judges the metadata of an object that is to take the place of a stored one.
func validateMetadataUpdate(meta, old *metav1.ObjectMeta) field.ErrorList {
	path := field.NewPath("metadata")
	var faults field.ErrorList
	if old.DeletionTimestamp != nil {
		faults = append(faults, apivalidation.ValidateNoNewFinalizers(meta.Finalizers, old.Finalizers, path.Child("finalizers"))...)
	}
	if meta.ResourceVersion == "" {
		faults = append(faults, field.Invalid(path.Child("resourceVersion"), "", "must be specified for an update"))
	}
	if meta.Generation < old.Generation {
		faults = append(faults, field.Invalid(path.Child("generation"), meta.Generation, "must not be decremented"))
	}
	faults = append(faults, validateFixedMetadata(meta, old, path)...)
	faults = append(faults, validateLabels(meta.Labels, path.Child("labels"))...)
	faults = append(faults, validateAnnotations(meta.Annotations, path.Child("annotations"))...)
	faults = append(faults, validateOwners(meta.OwnerReferences, path.Child("ownerReferences"))...)
	faults = append(faults, validateManagedFields(meta.ManagedFields, path.Child("managedFields"))...)
	return append(faults, validateFinalizerDomains(meta.Finalizers, path.Child("finalizers"))...)
}

// validateFixedMetadata wants what the server alone decides to be as it was.
func validateFixedMetadata(meta, old *metav1.ObjectMeta, path *field.Path) field.ErrorList {
	var faults field.ErrorList
	for _, kept := range []struct {
		name     string
		now, was any
	}{
		{"name", meta.Name, old.Name},
		{"namespace", meta.Namespace, old.Namespace},
		{"uid", meta.UID, old.UID},
		{"creationTimestamp", meta.CreationTimestamp, old.CreationTimestamp},
		{"deletionTimestamp", meta.DeletionTimestamp, old.DeletionTimestamp},
		{"deletionGracePeriodSeconds", meta.DeletionGracePeriodSeconds, old.DeletionGracePeriodSeconds},
	} {
		faults = append(faults, apivalidation.ValidateImmutableField(kept.now, kept.was, path.Child(kept.name))...)
	}
	return faults
}

func validateName(name string, prefix bool, path *field.Path) field.ErrorList {
	var faults field.ErrorList
	for _, fault := range apivalidation.NameIsDNSSubdomain(name, prefix) {
		faults = append(faults, field.Invalid(path, name, fault))
	}
	return faults
}

// validateLabels lists faults by the label's key. The server lists them in the random order of a Go map.
func validateLabels(labels map[string]string, path *field.Path) field.ErrorList {
	faults := metav1validation.ValidateLabels(labels, path)
	if len(faults) < 2 {
		return faults
	}
	faults = nil
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		faults = append(faults, metav1validation.ValidateLabels(map[string]string{key: labels[key]}, path)...)
	}
	return faults
}

// validateAnnotations lists faults by the annotation's key. The server lists them in the random order of a Go map,
// and one for the size of all last.
func validateAnnotations(annotations map[string]string, path *field.Path) field.ErrorList {
	faults := apivalidation.ValidateAnnotations(annotations, path)
	slices.SortStableFunc(faults, func(a, b *field.Error) int {
		aSize, bSize := a.Type == field.ErrorTypeTooLong, b.Type == field.ErrorTypeTooLong
		switch {
		case aSize && !bSize:
			return 1
		case bSize && !aSize:
			return -1
		default:
			return strings.Compare(fmt.Sprint(a.BadValue), fmt.Sprint(b.BadValue))
		}
	})
	return faults
}

// validateOwners wants owner references to be whole, and one controller at most. 1.36 does not say in its paths which
// of the references is at fault.
func validateOwners(owners []metav1.OwnerReference, path *field.Path) field.ErrorList {
	var faults field.ErrorList
	controller := ""
	for i := range owners {
		owner := &owners[i]
		faults = append(faults, validateOwner(owner, path)...)
		if owner.Controller == nil || !*owner.Controller {
			continue
		}
		name := owner.Kind + "/" + owner.Name
		if controller == "" {
			controller = name
			continue
		}
		faults = append(faults, field.Invalid(path, owners,
			fmt.Sprintf("Only one reference can have Controller set to true. Found \"true\" in references for %v and %v", controller, name)))
	}
	return faults
}

func validateOwner(owner *metav1.OwnerReference, path *field.Path) field.ErrorList {
	var faults field.ErrorList
	kind := schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind)
	if kind.Version == "" {
		faults = append(faults, field.Invalid(path.Child("apiVersion"), owner.APIVersion, "version must not be empty"))
	}
	if kind.Kind == "" {
		faults = append(faults, field.Invalid(path.Child("kind"), owner.Kind, "must not be empty"))
	}
	if owner.Name == "" {
		faults = append(faults, field.Invalid(path.Child("name"), owner.Name, "must not be empty"))
	}
	if owner.UID == "" {
		faults = append(faults, field.Invalid(path.Child("uid"), owner.UID, "must not be empty"))
	}
	if _, banned := apivalidation.BannedOwners[kind]; banned {
		faults = append(faults, field.Invalid(path, *owner, fmt.Sprintf("%s is disallowed from being an owner", kind)))
	}
	return faults
}

// validateManagedFields has one rule that 1.36 words in its own way, the one for the operation.
func validateManagedFields(entries []metav1.ManagedFieldsEntry, path *field.Path) field.ErrorList {
	faults := metav1validation.ValidateManagedFields(entries, path)
	for i, fault := range faults {
		if strings.HasSuffix(fault.Field, ".operation") {
			faults[i] = &field.Error{Type: field.ErrorTypeInvalid, Field: fault.Field, BadValue: fault.BadValue, Detail: "must be `Apply` or `Update`"}
		}
	}
	return faults
}

// validateFinalizerDomains wants a finalizer either to name its domain or to be one of the three that Kubernetes gave
// no domain.
func validateFinalizerDomains(finalizers []string, path *field.Path) field.ErrorList {
	var faults field.ErrorList
	for i, name := range finalizers {
		switch {
		case strings.Contains(name, "/"):
		case name == "kubernetes", name == metav1.FinalizerOrphanDependents, name == metav1.FinalizerDeleteDependents:
		default:
			faults = append(faults, field.Invalid(path.Index(i), name, "name is neither a standard finalizer name nor is it fully qualified"))
		}
	}
	return faults
}
