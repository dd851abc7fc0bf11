package admissionregistration

import (
	"fmt"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	webhookutil "k8s.io/apiserver/pkg/util/webhook"

	"github.com/musterkube/muster/pkg/core"
)

// The bounds of timeoutSeconds.
const (
	minTimeoutSeconds = 1
	maxTimeoutSeconds = 30
)

// reviewVersions are the versions of AdmissionReview that a server speaks.
var reviewVersions = []string{"v1", "v1beta1"}

// webhook is what the webhooks of both kinds of configurations have.
type webhook struct {
	admissionregistrationv1.ValidatingWebhook
	reinvocation *admissionregistrationv1.ReinvocationPolicyType
}

func mutatingWebhooks(configuration *admissionregistrationv1.MutatingWebhookConfiguration) []webhook {
	if configuration == nil {
		return nil
	}
	hooks := make([]webhook, 0, len(configuration.Webhooks))
	for _, hook := range configuration.Webhooks {
		hooks = append(hooks, webhook{admissionregistrationv1.ValidatingWebhook{
			Name: hook.Name, ClientConfig: hook.ClientConfig, Rules: hook.Rules, FailurePolicy: hook.FailurePolicy,
			MatchPolicy: hook.MatchPolicy, NamespaceSelector: hook.NamespaceSelector, ObjectSelector: hook.ObjectSelector,
			SideEffects: hook.SideEffects, TimeoutSeconds: hook.TimeoutSeconds,
			AdmissionReviewVersions: hook.AdmissionReviewVersions, MatchConditions: hook.MatchConditions,
		}, hook.ReinvocationPolicy})
	}
	return hooks
}

func validatingWebhooks(configuration *admissionregistrationv1.ValidatingWebhookConfiguration) []webhook {
	if configuration == nil {
		return nil
	}
	hooks := make([]webhook, 0, len(configuration.Webhooks))
	for _, hook := range configuration.Webhooks {
		hooks = append(hooks, webhook{ValidatingWebhook: hook})
	}
	return hooks
}

// validateMutatingWebhooks validates a configuration; old is nil for a new one.
func validateMutatingWebhooks(configuration, old *admissionregistrationv1.MutatingWebhookConfiguration) field.ErrorList {
	return validateWebhooks(&configuration.ObjectMeta, mutatingWebhooks(configuration), mutatingWebhooks(old), old != nil)
}

// validateValidatingWebhooks validates a configuration; old is nil for a new one.
func validateValidatingWebhooks(configuration, old *admissionregistrationv1.ValidatingWebhookConfiguration) field.ErrorList {
	return validateWebhooks(&configuration.ObjectMeta, validatingWebhooks(configuration), validatingWebhooks(old), old != nil)
}

// leniency is what an update may keep that a new configuration may not have.
type leniency struct {
	sideEffects    bool
	unknownReviews bool
	sameNames      bool
	badLabels      bool
	conditions     bool
	// expressions are those that were stored, and so may use what new ones may not use yet.
	expressions map[string]bool
}

// keep returns the leniency for changing old into hooks.
func keep(hooks, old []webhook) leniency {
	l := leniency{conditions: len(hooks) == len(old), expressions: map[string]bool{}}
	names := map[string]bool{}
	for i, hook := range old {
		l.sideEffects = l.sideEffects || hook.SideEffects == nil || !slices.Contains(noSideEffects, *hook.SideEffects)
		l.unknownReviews = l.unknownReviews || len(hook.AdmissionReviewVersions) > 0 && !knowsReview(hook.AdmissionReviewVersions)
		l.sameNames = l.sameNames || names[hook.Name]
		names[hook.Name] = true
		for _, selector := range []*metav1.LabelSelector{hook.NamespaceSelector, hook.ObjectSelector} {
			l.badLabels = l.badLabels || len(core.ValidateLabelSelector(selector, metavalidation.LabelSelectorValidationOptions{}, field.NewPath(""))) > 0
		}
		l.conditions = l.conditions && slices.Equal(hooks[i].MatchConditions, hook.MatchConditions)
		for _, condition := range hook.MatchConditions {
			l.expressions[condition.Expression] = true
		}
	}
	return l
}

func validateWebhooks(meta *metav1.ObjectMeta, hooks, old []webhook, update bool) field.ErrorList {
	var kept leniency
	if update {
		kept = keep(hooks, old)
	}
	errs := core.ValidateObjectMeta(meta, false, apivalidation.NameIsDNSSubdomain, field.NewPath("metadata"))
	names := map[string]bool{}
	for i, hook := range hooks {
		path := field.NewPath("webhooks").Index(i)
		errs = append(errs, validateWebhook(hook, kept, path)...)
		errs = append(errs, validateReviewVersions(hook.AdmissionReviewVersions, kept.unknownReviews, path.Child("admissionReviewVersions"))...)
		if !kept.sameNames && hook.Name != "" && names[hook.Name] {
			errs = append(errs, field.Duplicate(path.Child("name"), hook.Name))
		}
		names[hook.Name] = true
	}
	return errs
}

func validateWebhook(hook webhook, kept leniency, path *field.Path) field.ErrorList {
	errs := validation.IsFullyQualifiedName(path.Child("name"), hook.Name)
	for i := range hook.Rules {
		errs = append(errs, validateRule(&hook.Rules[i], path.Child("rules").Index(i))...)
	}
	errs = append(errs, oneOf(path.Child("failurePolicy"), hook.FailurePolicy, failurePolicies)...)
	errs = append(errs, oneOf(path.Child("matchPolicy"), hook.MatchPolicy, matchPolicies)...)
	errs = append(errs, validateSideEffects(hook.SideEffects, kept.sideEffects, path.Child("sideEffects"))...)
	if timeout := hook.TimeoutSeconds; timeout != nil && (*timeout > maxTimeoutSeconds || *timeout < minTimeoutSeconds) {
		errs = append(errs, field.Invalid(path.Child("timeoutSeconds"), *timeout, "the timeout value must be between 1 and 30 seconds"))
	}
	selectors := metavalidation.LabelSelectorValidationOptions{AllowInvalidLabelValueInSelector: kept.badLabels}
	errs = append(errs, core.ValidateLabelSelector(hook.NamespaceSelector, selectors, path.Child("namespaceSelector"))...)
	errs = append(errs, core.ValidateLabelSelector(hook.ObjectSelector, selectors, path.Child("objectSelector"))...)
	errs = append(errs, oneOf(path.Child("reinvocationPolicy"), hook.reinvocation, reinvocationPolicies)...)
	errs = append(errs, validateClient(&hook.ClientConfig, path.Child("clientConfig"))...)
	if !kept.conditions {
		errs = append(errs, validateConditions(hook.MatchConditions, false, kept.expressions, path.Child("matchConditions"))...)
	}
	return errs
}

func validateSideEffects(class *admissionregistrationv1.SideEffectClass, lenient bool, path *field.Path) field.ErrorList {
	allowed := noSideEffects
	if lenient {
		allowed = sideEffects
	}
	if class == nil {
		return field.ErrorList{field.Required(path, fmt.Sprintf("must specify one of %v", strings.Join(texts(allowed), ", ")))}
	}
	return oneOf(path, class, allowed)
}

func validateClient(client *admissionregistrationv1.WebhookClientConfig, path *field.Path) field.ErrorList {
	switch {
	case (client.URL == nil) == (client.Service == nil):
		return field.ErrorList{field.Required(path, "exactly one of url or service is required")}
	case client.URL != nil:
		return webhookutil.ValidateWebhookURL(path.Child("url"), *client.URL, true)
	}
	var port int32
	if client.Service.Port != nil {
		port = *client.Service.Port
	}
	// Kubernetes hands name and namespace over the wrong way round: it reports that one is missing of the other.
	return webhookutil.ValidateWebhookService(path.Child("service"), client.Service.Name, client.Service.Namespace, client.Service.Path, port)
}

func knowsReview(versions []string) bool {
	return slices.ContainsFunc(versions, func(version string) bool { return slices.Contains(reviewVersions, version) })
}

func validateReviewVersions(versions []string, lenient bool, path *field.Path) field.ErrorList {
	known := strings.Join(reviewVersions, ", ")
	if len(versions) == 0 {
		return field.ErrorList{field.Required(path, "must specify one of "+known)}
	}
	var errs field.ErrorList
	for i, version := range versions {
		if slices.Contains(versions[:i], version) {
			errs = append(errs, field.Invalid(path.Index(i), version, "duplicate version"))
			continue
		}
		for _, message := range validation.IsDNS1035Label(version) {
			errs = append(errs, field.Invalid(path.Index(i), version, message))
		}
	}
	if !lenient && !knowsReview(versions) {
		errs = append(errs, field.Invalid(path, versions, "must include at least one of "+known))
	}
	return errs
}
