package plain

import (
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/clock"

	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
)

func podDisruptionBudgets() row {
	spec := field.NewPath("spec")
	return &kind[policyv1.PodDisruptionBudget]{
		version: policyv1.SchemeGroupVersion, plural: "poddisruptionbudgets", singular: "poddisruptionbudget",
		short: []string{"pdb"}, list: &policyv1.PodDisruptionBudgetList{},
		conditional: true,
		name:        func(string, bool) []string { return nil }, // what can stand in a path
		wants:       specChanged[policyv1.PodDisruptionBudget],
		validate: func(b *policyv1.PodDisruptionBudget) field.ErrorList {
			return validateBudgetSpec(&b.Spec, spec)
		},
		status: &status[policyv1.PodDisruptionBudget]{validate: func(changed, _ *policyv1.PodDisruptionBudget) field.ErrorList {
			path, s := field.NewPath("status"), &changed.Status
			errs := metavalidation.ValidateConditions(s.Conditions, path.Child("conditions"))
			errs = append(errs, nonNegative(s.DisruptionsAllowed, path.Child("disruptionsAllowed"))...)
			errs = append(errs, nonNegative(s.CurrentHealthy, path.Child("currentHealthy"))...)
			errs = append(errs, nonNegative(s.DesiredHealthy, path.Child("desiredHealthy"))...)
			return append(errs, nonNegative(s.ExpectedPods, path.Child("expectedPods"))...)
		}},
		columns: columns([]metav1.TableColumnDefinition{
			resource.Column("Min Available", "The minimum number of pods that must be available."),
			resource.Column("Max Unavailable", "The maximum number of pods that may be unavailable."),
			number("Allowed Disruptions", "Calculated number of pods that may be disrupted at this time."),
			resource.AgeColumn(),
		}),
		cells: func(now clock.PassiveClock, b *policyv1.PodDisruptionBudget) []any {
			least, most := "N/A", "N/A"
			if b.Spec.MinAvailable != nil {
				least = b.Spec.MinAvailable.String()
			}
			if b.Spec.MaxUnavailable != nil {
				most = b.Spec.MaxUnavailable.String()
			}
			return []any{b.Name, least, most, int64(b.Status.DisruptionsAllowed), age(now, &b.ObjectMeta)}
		},
	}
}

func validateBudgetSpec(spec *policyv1.PodDisruptionBudgetSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if spec.MinAvailable != nil && spec.MaxUnavailable != nil {
		errs = append(errs, field.Invalid(path, *spec, "minAvailable and maxUnavailable cannot be both set"))
	}
	if spec.MinAvailable != nil {
		errs = append(errs, intOrPercent(*spec.MinAvailable, path.Child("minAvailable"))...)
		errs = append(errs, atMostAll(*spec.MinAvailable, path.Child("minAvailable"))...)
	}
	if spec.MaxUnavailable != nil {
		errs = append(errs, intOrPercent(*spec.MaxUnavailable, path.Child("maxUnavailable"))...)
		errs = append(errs, atMostAll(*spec.MaxUnavailable, path.Child("maxUnavailable"))...)
	}
	errs = append(errs, selector(spec.Selector, path.Child("selector"))...)
	if policy := spec.UnhealthyPodEvictionPolicy; policy != nil {
		errs = append(errs, oneOf(*policy, path.Child("unhealthyPodEvictionPolicy"), policyv1.AlwaysAllow, policyv1.IfHealthyBudget)...)
	}
	return errs
}
