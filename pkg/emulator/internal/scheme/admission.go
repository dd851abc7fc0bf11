package scheme

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// What admissionregistration.k8s.io/v1 fills in for webhooks.
const (
	webhookTimeoutSeconds = 10
	webhookPort           = 443
)

// registerAdmissionDefaults registers the defaults of webhook configurations and of admission policies.
func registerAdmissionDefaults(s *runtime.Scheme) {
	addDefaults(s, func(configuration *admissionregistrationv1.MutatingWebhookConfiguration) {
		for i := range configuration.Webhooks {
			hook := &configuration.Webhooks[i]
			setMatchingDefaults(&hook.FailurePolicy, &hook.MatchPolicy, &hook.NamespaceSelector, &hook.ObjectSelector)
			setCallDefaults(&hook.TimeoutSeconds, &hook.ClientConfig, hook.Rules)
			setDefault(&hook.ReinvocationPolicy, admissionregistrationv1.NeverReinvocationPolicy)
		}
	})
	addDefaults(s, func(configuration *admissionregistrationv1.ValidatingWebhookConfiguration) {
		for i := range configuration.Webhooks {
			hook := &configuration.Webhooks[i]
			setMatchingDefaults(&hook.FailurePolicy, &hook.MatchPolicy, &hook.NamespaceSelector, &hook.ObjectSelector)
			setCallDefaults(&hook.TimeoutSeconds, &hook.ClientConfig, hook.Rules)
		}
	})
	addDefaults(s, func(policy *admissionregistrationv1.MutatingAdmissionPolicy) {
		setDefault(&policy.Spec.FailurePolicy, admissionregistrationv1.Fail)
		setResourcesDefaults(policy.Spec.MatchConstraints)
	})
	addDefaults(s, func(policy *admissionregistrationv1.ValidatingAdmissionPolicy) {
		setDefault(&policy.Spec.FailurePolicy, admissionregistrationv1.Fail)
		setResourcesDefaults(policy.Spec.MatchConstraints)
	})
	addDefaults(s, func(binding *admissionregistrationv1.MutatingAdmissionPolicyBinding) {
		setResourcesDefaults(binding.Spec.MatchResources)
	})
	addDefaults(s, func(binding *admissionregistrationv1.ValidatingAdmissionPolicyBinding) {
		setResourcesDefaults(binding.Spec.MatchResources)
	})
}

// setDefault fills in a field that nobody has set.
func setDefault[T any](at **T, value T) {
	if *at == nil {
		*at = &value
	}
}

// setMatchingDefaults says when a webhook is called that does not say so itself: for every object and every version.
func setMatchingDefaults(failure **admissionregistrationv1.FailurePolicyType, match **admissionregistrationv1.MatchPolicyType,
	namespaces, objects **metav1.LabelSelector) {
	setDefault(failure, admissionregistrationv1.Fail)
	setDefault(match, admissionregistrationv1.Equivalent)
	setDefault(namespaces, metav1.LabelSelector{})
	setDefault(objects, metav1.LabelSelector{})
}

func setCallDefaults(timeout **int32, client *admissionregistrationv1.WebhookClientConfig, rules []admissionregistrationv1.RuleWithOperations) {
	setDefault(timeout, webhookTimeoutSeconds)
	if client.Service != nil {
		setDefault(&client.Service.Port, webhookPort)
	}
	for i := range rules {
		setDefault(&rules[i].Scope, admissionregistrationv1.AllScopes)
	}
}

// setResourcesDefaults says what a policy or a binding matches that leaves it open.
func setResourcesDefaults(match *admissionregistrationv1.MatchResources) {
	if match == nil {
		return
	}
	setDefault(&match.MatchPolicy, admissionregistrationv1.Equivalent)
	setDefault(&match.NamespaceSelector, metav1.LabelSelector{})
	setDefault(&match.ObjectSelector, metav1.LabelSelector{})
	for _, rules := range [][]admissionregistrationv1.NamedRuleWithOperations{match.ResourceRules, match.ExcludeResourceRules} {
		for i := range rules {
			setDefault(&rules[i].Scope, admissionregistrationv1.AllScopes)
		}
	}
}
