package configmap

import (
	"context"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/musterkube/muster/pkg/core"
	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
)

// strategy checks keys, size and the promise not to change.
type strategy struct{ resource.Strategy }

// Validate implements rest.RESTCreateStrategy.
func (strategy) Validate(_ context.Context, obj runtime.Object) field.ErrorList {
	return validate(obj.(*corev1.ConfigMap))
}

// ValidateUpdate implements rest.RESTUpdateStrategy.
func (strategy) ValidateUpdate(_ context.Context, obj, old runtime.Object) field.ErrorList {
	changed, stored := obj.(*corev1.ConfigMap), old.(*corev1.ConfigMap)
	errs := core.ValidateObjectMetaUpdate(&changed.ObjectMeta, &stored.ObjectMeta, field.NewPath("metadata"))
	if stored.Immutable != nil && *stored.Immutable {
		const reason = "field is immutable when `immutable` is set"
		if changed.Immutable == nil || !*changed.Immutable {
			errs = append(errs, field.Forbidden(field.NewPath("immutable"), reason))
		}
		if !equality.Semantic.DeepEqual(changed.Data, stored.Data) {
			errs = append(errs, field.Forbidden(field.NewPath("data"), reason))
		}
		if !equality.Semantic.DeepEqual(changed.BinaryData, stored.BinaryData) {
			errs = append(errs, field.Forbidden(field.NewPath("binaryData"), reason))
		}
	}
	return append(errs, validate(changed)...)
}

func validate(configMap *corev1.ConfigMap) field.ErrorList {
	errs := core.ValidateObjectMeta(&configMap.ObjectMeta, true, apivalidation.NameIsDNSSubdomain, field.NewPath("metadata"))
	size := 0
	for _, key := range slices.Sorted(maps.Keys(configMap.Data)) {
		path := field.NewPath("data").Key(key)
		errs = append(errs, validateKey(path, key)...)
		if _, twice := configMap.BinaryData[key]; twice {
			errs = append(errs, field.Invalid(path, key, "duplicate of key present in binaryData"))
		}
		size += len(configMap.Data[key])
	}
	for _, key := range slices.Sorted(maps.Keys(configMap.BinaryData)) {
		errs = append(errs, validateKey(field.NewPath("binaryData").Key(key), key)...)
		size += len(configMap.BinaryData[key])
	}
	if size > corev1.MaxSecretSize {
		// The limit is on the whole, so no field is named.
		errs = append(errs, field.TooLong(field.NewPath(""), "", corev1.MaxSecretSize))
	}
	return errs
}

func validateKey(path *field.Path, key string) field.ErrorList {
	var errs field.ErrorList
	for _, message := range validation.IsConfigMapKey(key) {
		errs = append(errs, field.Invalid(path, key, message))
	}
	return errs
}
