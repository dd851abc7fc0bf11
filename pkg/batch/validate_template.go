package batch

import (
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ValidateTemplate says what an API server of Kubernetes 1.36 holds against the template of Jobs in a CronJob, which
// stands at path (CronJobSpec.JobTemplate). It must have gone through [SetTemplateDefaults]. Selectors are generated for
// each Job that is made, so a template must have none.
func ValidateTemplate(template *batchv1.JobTemplateSpec, path *field.Path, opts Options) field.ErrorList {
	errs := validateUnselected(&template.Spec, path.Child("spec"), jobRules{opts: opts})
	if selector := template.Spec.Selector; selector != nil {
		errs = append(errs, field.Invalid(path.Child("spec", "selector"), selector, "`selector` will be auto-generated"))
	}
	if manual := template.Spec.ManualSelector; manual != nil && *manual {
		errs = append(errs, field.NotSupported(path.Child("spec", "manualSelector"), manual, []string{"nil", "false"}))
	}
	return errs
}
