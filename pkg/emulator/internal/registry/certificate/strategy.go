package certificate

import (
	"context"
	"slices"

	certificatesv1 "k8s.io/api/certificates/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/utils/clock"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/musterkube/muster/pkg/core"
	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
)

// request is what the package is about.
type request = certificatesv1.CertificateSigningRequest

var version = certificatesv1.SchemeGroupVersion.String()

// strategy lets creates set what is asked for, and updates nothing but metadata.
type strategy struct {
	resource.Strategy
	clock clock.PassiveClock
}

// GetResetFields implements rest.ResetFieldsStrategy.
func (strategy) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return resource.ResetFields(version, []any{"spec"}, []any{"status"})
}

// PrepareForCreate implements rest.RESTCreateStrategy: who asks is who sent the request, whatever it says.
func (strategy) PrepareForCreate(ctx context.Context, obj runtime.Object) {
	created := obj.(*request)
	spec := &created.Spec
	spec.Username, spec.UID, spec.Groups, spec.Extra = "", "", nil, nil
	if who, found := genericapirequest.UserFrom(ctx); found {
		spec.Username, spec.UID, spec.Groups = who.GetName(), who.GetUID(), slices.Clone(who.GetGroups())
		for key, values := range who.GetExtra() {
			if spec.Extra == nil {
				spec.Extra = map[string]certificatesv1.ExtraValue{}
			}
			spec.Extra[key] = values
		}
	}
	created.Status = certificatesv1.CertificateSigningRequestStatus{}
}

// PrepareForUpdate implements rest.RESTUpdateStrategy.
func (strategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	changed, stored := obj.(*request), old.(*request)
	changed.Spec, changed.Status = stored.Spec, stored.Status
}

// Validate implements rest.RESTCreateStrategy.
func (strategy) Validate(_ context.Context, obj runtime.Object) field.ErrorList {
	created := obj.(*request)
	anyName := func(string, bool) []string { return nil } // what can stand in a path
	errs := core.ValidateObjectMeta(&created.ObjectMeta, false, anyName, field.NewPath("metadata"))
	return append(errs, validateSpec(&created.Spec, field.NewPath("spec"))...)
}

// ValidateUpdate implements rest.RESTUpdateStrategy.
func (strategy) ValidateUpdate(_ context.Context, obj, old runtime.Object) field.ErrorList {
	return core.ValidateObjectMetaUpdate(&obj.(*request).ObjectMeta, &old.(*request).ObjectMeta, field.NewPath("metadata"))
}

// statusStrategy updates the status but for what approval decides.
type statusStrategy struct{ strategy }

// GetResetFields implements rest.ResetFieldsStrategy.
func (statusStrategy) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return resource.ResetFields(version, []any{"spec"}, []any{"status", "conditions"})
}

// PrepareForUpdate implements rest.RESTUpdateStrategy. Conditions of approval that are as many as before are taken for
// those: a signer may send back what it has read some time ago.
func (s statusStrategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	changed, stored := obj.(*request), old.(*request)
	changed.Spec = stored.Spec
	for _, decision := range decisions {
		before := of(stored, decision)
		if count(&changed.Status, decision) != len(before) {
			continue
		}
		for i := range changed.Status.Conditions {
			if changed.Status.Conditions[i].Type == decision {
				changed.Status.Conditions[i], before = before[0], before[1:]
			}
		}
	}
	s.date(changed, stored)
}

// ValidateUpdate implements rest.RESTUpdateStrategy.
func (s statusStrategy) ValidateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	changed, stored := obj.(*request), old.(*request)
	errs := validateCertificate(changed.Status.Certificate, stored.Status.Certificate)
	errs = append(errs, validateConditions(changed.Status.Conditions, conditionsPath)...)
	errs = append(errs, validateKept(changed, stored)...)
	errs = append(errs, validateUndecided(changed, stored)...)
	return append(errs, s.strategy.ValidateUpdate(ctx, obj, old)...)
}

// approvalStrategy updates the conditions alone.
type approvalStrategy struct{ strategy }

// GetResetFields implements rest.ResetFieldsStrategy.
func (approvalStrategy) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return resource.ResetFields(version, []any{"spec"}, []any{"status", "certificate"})
}

// PrepareForUpdate implements rest.RESTUpdateStrategy.
func (s approvalStrategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	changed, stored := obj.(*request), old.(*request)
	s.date(changed, stored)
	conditions := changed.Status.Conditions
	changed.Spec, changed.Status = stored.Spec, stored.Status
	changed.Status.Conditions = conditions
}

// ValidateUpdate implements rest.RESTUpdateStrategy.
func (s approvalStrategy) ValidateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	changed, stored := obj.(*request), old.(*request)
	errs := validateConditions(changed.Status.Conditions, conditionsPath)
	errs = append(errs, validateKept(changed, stored)...)
	return append(errs, s.strategy.ValidateUpdate(ctx, obj, old)...)
}

// date gives conditions the times that their sender left out. One that has its status already keeps when it got it.
func (s strategy) date(changed, stored *request) {
	now := metav1.NewTime(s.clock.Now())
	for i := range changed.Status.Conditions {
		condition := &changed.Status.Conditions[i]
		if condition.LastUpdateTime.IsZero() {
			condition.LastUpdateTime = now
		}
		if !condition.LastTransitionTime.IsZero() {
			continue
		}
		condition.LastTransitionTime = now
		for _, before := range of(stored, condition.Type) {
			if before.Status == condition.Status && !before.LastTransitionTime.IsZero() {
				condition.LastTransitionTime = before.LastTransitionTime
				break
			}
		}
	}
}

// of returns the conditions of one type.
func of(r *request, wanted certificatesv1.RequestConditionType) []certificatesv1.CertificateSigningRequestCondition {
	var found []certificatesv1.CertificateSigningRequestCondition
	for _, condition := range r.Status.Conditions {
		if condition.Type == wanted {
			found = append(found, condition)
		}
	}
	return found
}

// count returns how many conditions are of one type.
func count(status *certificatesv1.CertificateSigningRequestStatus, wanted certificatesv1.RequestConditionType) int {
	return len(of(&request{Status: *status}, wanted))
}
