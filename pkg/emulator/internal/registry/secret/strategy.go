package secret

import (
	"context"
	"crypto/tls"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/musterkube/muster/pkg/core"
	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
)

// strategy checks what each type of Secret must hold, and the promise not to change.
type strategy struct{ resource.Strategy }

// PrepareForUpdate implements rest.RESTUpdateStrategy: an update without a type keeps the stored one.
func (strategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	if changed := obj.(*corev1.Secret); changed.Type == "" {
		changed.Type = old.(*corev1.Secret).Type
	}
}

// Validate implements rest.RESTCreateStrategy.
func (strategy) Validate(_ context.Context, obj runtime.Object) field.ErrorList {
	return validate(obj.(*corev1.Secret))
}

// ValidateUpdate implements rest.RESTUpdateStrategy.
func (strategy) ValidateUpdate(_ context.Context, obj, old runtime.Object) field.ErrorList {
	changed, stored := obj.(*corev1.Secret), old.(*corev1.Secret)
	errs := core.ValidateObjectMetaUpdate(&changed.ObjectMeta, &stored.ObjectMeta, field.NewPath("metadata"))
	errs = append(errs, apivalidation.ValidateImmutableField(changed.Type, stored.Type, field.NewPath("type"))...)
	if stored.Immutable != nil && *stored.Immutable {
		const reason = "field is immutable when `immutable` is set"
		if changed.Immutable == nil || !*changed.Immutable {
			errs = append(errs, field.Forbidden(field.NewPath("immutable"), reason))
		}
		if !equality.Semantic.DeepEqual(changed.Data, stored.Data) {
			errs = append(errs, field.Forbidden(field.NewPath("data"), reason))
		}
	}
	return append(errs, validate(changed)...)
}

// WarningsOnCreate implements rest.RESTCreateStrategy.
func (strategy) WarningsOnCreate(_ context.Context, obj runtime.Object) []string {
	return warnings(obj.(*corev1.Secret))
}

// WarningsOnUpdate implements rest.RESTUpdateStrategy.
func (strategy) WarningsOnUpdate(_ context.Context, obj, _ runtime.Object) []string {
	return warnings(obj.(*corev1.Secret))
}

// warnings tells of a certificate that does not go with its key.
func warnings(secret *corev1.Secret) []string {
	if secret.Type != corev1.SecretTypeTLS {
		return nil
	}
	if _, err := tls.X509KeyPair(secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey]); err != nil {
		return []string{err.Error()}
	}
	return nil
}
