package plain

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/musterkube/muster/pkg/core"
)

// mismatch is what those are told whose selector does not select what their template makes.
const mismatch = "`selector` does not match template `labels`"

// validateSelectedTemplate checks the selector of a workload and its pod template: the one has to match the other, and
// pods that are kept running restart. Owner is the kind that messages name.
func validateSelectedTemplate(s *metav1.LabelSelector, template *corev1.PodTemplateSpec, path *field.Path, owner string, opts core.Options) field.ErrorList {
	var errs field.ErrorList
	at := path.Child("template")
	matcher, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		return field.ErrorList{field.Invalid(path.Child("selector"), s, "invalid label selector")}
	}
	if !matcher.Empty() && !matcher.Matches(labels.Set(template.Labels)) {
		errs = append(errs, field.Invalid(at.Child("metadata", "labels"), template.Labels, mismatch))
	}
	errs = append(errs, core.ValidatePodTemplate(template, at, opts)...)
	return append(errs, validateEndless(template, at, owner)...)
}

// validateEndless wants the pods of a template to run on and on.
func validateEndless(template *corev1.PodTemplateSpec, path *field.Path, owner string) field.ErrorList {
	var errs field.ErrorList
	if policy := template.Spec.RestartPolicy; policy != corev1.RestartPolicyAlways {
		errs = append(errs, field.NotSupported(path.Child("spec", "restartPolicy"), policy, []string{string(corev1.RestartPolicyAlways)}))
	}
	if template.Spec.ActiveDeadlineSeconds != nil {
		errs = append(errs, field.Forbidden(path.Child("spec", "activeDeadlineSeconds"), "activeDeadlineSeconds in "+owner+" is not Supported"))
	}
	return errs
}

// requiredSelector wants a selector that selects something.
func requiredSelector(s *metav1.LabelSelector, path *field.Path, owner string) field.ErrorList {
	if s == nil {
		return field.ErrorList{field.Required(path, "")}
	}
	errs := selector(s, path)
	if len(s.MatchLabels)+len(s.MatchExpressions) == 0 {
		errs = append(errs, field.Invalid(path, s, "empty selector is invalid for "+owner))
	}
	return errs
}

// templateWarnings are those of the pod template at spec.template, when an object is new or wants something else.
func templateWarnings[T any](template func(obj *T) *corev1.PodTemplateSpec, changed, stored *T) []string {
	if stored != nil && meta(changed).Generation == meta(stored).Generation {
		return nil
	}
	return core.TemplateWarnings(template(changed), field.NewPath("spec", "template"))
}

// nameWarning warns of names that are no DNS labels where names of pods are made of them.
func nameWarning(name string) []string {
	messages := validation.IsDNS1123Label(name)
	if len(messages) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; "+
		"a DNS label is recommended: %v", messages)}
}

// selected returns what a selector is in a Scale.
func selected(s *metav1.LabelSelector) (string, error) {
	matcher, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		return "", err
	}
	return matcher.String(), nil
}
