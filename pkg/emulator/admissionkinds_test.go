package emulator_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	applyv1 "k8s.io/client-go/applyconfigurations/admissionregistration/v1"
	"k8s.io/client-go/rest"

	"github.com/musterkube/muster/pkg/emulator"
)

// wantAdmissionResources is what discovery says of the kinds that configure admission.
func wantAdmissionResources() map[string]described {
	want := map[string]described{
		"admissionregistration.k8s.io/v1 validatingadmissionpolicies/status": {Kind: "ValidatingAdmissionPolicy", Verbs: statusVerbs},
	}
	for plural, names := range map[string][2]string{
		"mutatingadmissionpolicies":         {"mutatingadmissionpolicy", "MutatingAdmissionPolicy"},
		"mutatingadmissionpolicybindings":   {"mutatingadmissionpolicybinding", "MutatingAdmissionPolicyBinding"},
		"mutatingwebhookconfigurations":     {"mutatingwebhookconfiguration", "MutatingWebhookConfiguration"},
		"validatingadmissionpolicies":       {"validatingadmissionpolicy", "ValidatingAdmissionPolicy"},
		"validatingadmissionpolicybindings": {"validatingadmissionpolicybinding", "ValidatingAdmissionPolicyBinding"},
		"validatingwebhookconfigurations":   {"validatingwebhookconfiguration", "ValidatingWebhookConfiguration"},
	} {
		want["admissionregistration.k8s.io/v1 "+plural] = described{Singular: names[0], Kind: names[1], Categories: []string{"api-extensions"}, Verbs: allVerbs}
	}
	return want
}

// nowhere is a webhook that is never called: it has no rules.
func nowhere(hook *admissionregistrationv1.ValidatingWebhook) { hook.Rules = nil }

// admissionKindTests are tests of the kinds that configure admission, as kindTests has them of others.
func admissionKindTests(t *testing.T, config *rest.Config) map[string]func(*testing.T) {
	t.Helper()
	const name, group = "crud.example.com", ".admissionregistration.k8s.io/v1"
	api := kube(t, config).AdmissionregistrationV1()
	mutating := mutatingHook(name, atService("hooks", "/"))
	mutating.Webhooks[0].Rules = nil
	policy := policyOf(expression("true"))
	policy.Name = name
	binding := bind(admissionregistrationv1.Deny)
	binding.Name, binding.Spec.PolicyName = name, "absent"
	change := mutation(apply("Object{}"))
	mutatingPolicy := change[0].(*admissionregistrationv1.MutatingAdmissionPolicy)
	mutatingPolicy.Name = name
	mutatingBinding := change[1].(*admissionregistrationv1.MutatingAdmissionPolicyBinding)
	mutatingBinding.Name, mutatingBinding.Spec.PolicyName = name, "absent"
	return map[string]func(*testing.T){
		"mutatingwebhookconfigurations" + group:     crud(api.MutatingWebhookConfigurations(), mutating),
		"validatingwebhookconfigurations" + group:   crud(api.ValidatingWebhookConfigurations(), validatingHook(name, atService("hooks", "/"), nowhere)),
		"mutatingadmissionpolicies" + group:         crud(api.MutatingAdmissionPolicies(), mutatingPolicy),
		"mutatingadmissionpolicybindings" + group:   crud(api.MutatingAdmissionPolicyBindings(), mutatingBinding),
		"validatingadmissionpolicies" + group:       crud(api.ValidatingAdmissionPolicies(), policy),
		"validatingadmissionpolicybindings" + group: crud(api.ValidatingAdmissionPolicyBindings(), binding),
	}
}

func TestDefaultsOfAdmissionKinds(t *testing.T) {
	api := kube(t, start(t, emulator.Options{}).Config()).AdmissionregistrationV1()
	webhooks, err := api.MutatingWebhookConfigurations().Create(t.Context(), mutatingHook("a.example.com", atService("hooks", "/")), metav1.CreateOptions{})
	require.NoError(t, err)
	assert.Equal(t, int64(1), webhooks.Generation)
	hook := webhooks.Webhooks[0]
	assert.Equal(t, admissionregistrationv1.Fail, *hook.FailurePolicy)
	assert.Equal(t, admissionregistrationv1.Equivalent, *hook.MatchPolicy)
	assert.Equal(t, admissionregistrationv1.NeverReinvocationPolicy, *hook.ReinvocationPolicy)
	assert.Equal(t, int32(10), *hook.TimeoutSeconds)
	assert.Equal(t, int32(443), *hook.ClientConfig.Service.Port)
	assert.Equal(t, admissionregistrationv1.AllScopes, *hook.Rules[0].Scope)
	assert.Equal(t, &metav1.LabelSelector{}, hook.NamespaceSelector)
	assert.Equal(t, &metav1.LabelSelector{}, hook.ObjectSelector)

	policy := policyOf(expression("true"))
	policy.Status.ObservedGeneration = 7
	policy, err = api.ValidatingAdmissionPolicies().Create(t.Context(), policy, metav1.CreateOptions{})
	require.NoError(t, err)
	assert.Equal(t, admissionregistrationv1.Fail, *policy.Spec.FailurePolicy)
	assert.Equal(t, admissionregistrationv1.AllScopes, *policy.Spec.MatchConstraints.ResourceRules[0].Scope)
	assert.Zero(t, policy.Status)
	policy.Status.ObservedGeneration, policy.Spec.Validations = 1, nil
	policy, err = api.ValidatingAdmissionPolicies().UpdateStatus(t.Context(), policy, metav1.UpdateOptions{})
	require.NoError(t, err)
	assert.Equal(t, int64(1), policy.Status.ObservedGeneration)
	assert.Len(t, policy.Spec.Validations, 1, "the status alone is written")

	applied, err := api.ValidatingAdmissionPolicies().Apply(t.Context(), applyv1.ValidatingAdmissionPolicy("rule").WithSpec(
		applyv1.ValidatingAdmissionPolicySpec().WithValidations(applyv1.Validation().WithExpression("1 == 1"))), metav1.ApplyOptions{FieldManager: "applier", Force: true})
	require.NoError(t, err)
	assert.Equal(t, "1 == 1", applied.Spec.Validations[0].Expression)
	assert.Equal(t, int64(2), applied.Generation)
}

func TestTablesOfAdmissionKinds(t *testing.T) {
	server := start(t, emulator.Options{})
	policy := policyOf(expression("true"))
	policy.Spec.ParamKind = &admissionregistrationv1.ParamKind{APIVersion: "v1", Kind: "ConfigMap"}
	binding := bind(admissionregistrationv1.Deny)
	binding.Spec.ParamRef = &admissionregistrationv1.ParamRef{Name: "params", ParameterNotFoundAction: new(admissionregistrationv1.DenyAction)}
	register(t, kube(t, server.Config()), append(mutation(apply("Object{}")), policy, binding,
		mutatingHook("a.example.com", atService("hooks", "/")), validatingHook("b.example.com", atService("hooks", "/")))...)
	for resource, want := range map[string][]any{
		"mutatingwebhookconfigurations":     {"a.example.com", float64(1)},
		"validatingwebhookconfigurations":   {"b.example.com", float64(1)},
		"mutatingadmissionpolicies":         {"change", float64(1), "<unset>"},
		"mutatingadmissionpolicybindings":   {"bound", "change", "<unset>"},
		"validatingadmissionpolicies":       {"rule", float64(1), "v1/ConfigMap"},
		"validatingadmissionpolicybindings": {"bound", "rule", "*/params"},
	} {
		code, _, body := raw(t, server.Config(), http.MethodGet, "/apis/admissionregistration.k8s.io/v1/"+resource, "", http.Header{"Accept": {"application/json;as=Table;v=v1;g=meta.k8s.io"}})
		require.Equal(t, http.StatusOK, code)
		var table metav1.Table
		require.NoError(t, json.Unmarshal([]byte(body), &table))
		require.Len(t, table.Rows, 1, resource)
		assert.Equal(t, want, table.Rows[0].Cells[:len(want)], resource)
	}
}
