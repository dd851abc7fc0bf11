package serviceaccount

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/musterkube/muster/pkg/core"
	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
)

// enforceMountableSecrets is an annotation that Kubernetes 1.32 deprecated.
const enforceMountableSecrets = "kubernetes.io/enforce-mountable-secrets"

// strategy reduces references to Secrets to their names.
type strategy struct{ resource.Strategy }

// PrepareForCreate implements rest.RESTCreateStrategy.
func (strategy) PrepareForCreate(_ context.Context, obj runtime.Object) {
	keepNames(obj.(*corev1.ServiceAccount))
}

// PrepareForUpdate implements rest.RESTUpdateStrategy.
func (strategy) PrepareForUpdate(_ context.Context, obj, _ runtime.Object) {
	keepNames(obj.(*corev1.ServiceAccount))
}

func keepNames(account *corev1.ServiceAccount) {
	for i, secret := range account.Secrets {
		account.Secrets[i] = corev1.ObjectReference{Name: secret.Name}
	}
}

// Validate implements rest.RESTCreateStrategy.
func (strategy) Validate(_ context.Context, obj runtime.Object) field.ErrorList {
	return validate(obj.(*corev1.ServiceAccount))
}

// ValidateUpdate implements rest.RESTUpdateStrategy.
func (strategy) ValidateUpdate(_ context.Context, obj, old runtime.Object) field.ErrorList {
	changed, stored := obj.(*corev1.ServiceAccount), old.(*corev1.ServiceAccount)
	errs := core.ValidateObjectMetaUpdate(&changed.ObjectMeta, &stored.ObjectMeta, field.NewPath("metadata"))
	return append(errs, validate(changed)...)
}

func validate(account *corev1.ServiceAccount) field.ErrorList {
	return core.ValidateObjectMeta(&account.ObjectMeta, true, apivalidation.ValidateServiceAccountName, field.NewPath("metadata"))
}

// WarningsOnCreate implements rest.RESTCreateStrategy.
func (strategy) WarningsOnCreate(_ context.Context, obj runtime.Object) []string {
	return warnings(obj.(*corev1.ServiceAccount), nil)
}

// WarningsOnUpdate implements rest.RESTUpdateStrategy.
func (strategy) WarningsOnUpdate(_ context.Context, obj, old runtime.Object) []string {
	return warnings(obj.(*corev1.ServiceAccount), old.(*corev1.ServiceAccount))
}

// warnings tells of the deprecated annotation when it is new on the account.
func warnings(account, old *corev1.ServiceAccount) []string {
	if old != nil {
		if _, had := old.Annotations[enforceMountableSecrets]; had {
			return nil
		}
	}
	if _, has := account.Annotations[enforceMountableSecrets]; !has {
		return nil
	}
	return []string{fmt.Sprintf("metadata.annotations[%s]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets", enforceMountableSecrets)}
}
