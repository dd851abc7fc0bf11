package admissionregistration_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/musterkube/muster/pkg/emulator/internal/registry/registrytest"
	"github.com/musterkube/muster/pkg/emulator/internal/scheme"
	"github.com/musterkube/muster/pkg/features"
)

func clientOf(t *testing.T, resource string) registrytest.Client {
	t.Helper()
	return registrytest.New(t, features.Gates{}).Client(t, admissionregistrationv1.SchemeGroupVersion.WithResource(resource), "")
}

func defaulted[T runtime.Object](obj T) T {
	scheme.New().Default(obj)
	return obj
}

func makeRule() admissionregistrationv1.RuleWithOperations {
	return admissionregistrationv1.RuleWithOperations{
		Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
		Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
	}
}

func makeWebhooks(change func(*admissionregistrationv1.MutatingWebhook)) *admissionregistrationv1.MutatingWebhookConfiguration {
	hook := admissionregistrationv1.MutatingWebhook{
		Name: "a.example.com", ClientConfig: admissionregistrationv1.WebhookClientConfig{URL: new("https://127.0.0.1/x")},
		SideEffects: new(admissionregistrationv1.SideEffectClassNone), AdmissionReviewVersions: []string{"v1"},
		Rules: []admissionregistrationv1.RuleWithOperations{makeRule()},
	}
	change(&hook)
	return defaulted(&admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "a"}, Webhooks: []admissionregistrationv1.MutatingWebhook{hook},
	})
}

func TestWebhooksAreRefused(t *testing.T) {
	const prefix = `MutatingWebhookConfiguration.admissionregistration.k8s.io "a" is invalid: `
	client := clientOf(t, "mutatingwebhookconfigurations")
	for name, tc := range map[string]struct {
		change func(*admissionregistrationv1.MutatingWebhook)
		want   string
	}{
		"a name of two parts": {
			func(hook *admissionregistrationv1.MutatingWebhook) { hook.Name = "a.b" },
			`webhooks[0].name: Invalid value: "a.b": should be a domain with at least three segments separated by dots`,
		},
		"no side effects said": {
			func(hook *admissionregistrationv1.MutatingWebhook) { hook.SideEffects = nil },
			"webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun",
		},
		"side effects": {
			func(hook *admissionregistrationv1.MutatingWebhook) {
				hook.SideEffects = new(admissionregistrationv1.SideEffectClassSome)
			},
			`webhooks[0].sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"`,
		},
		"a long wait": {
			func(hook *admissionregistrationv1.MutatingWebhook) { hook.TimeoutSeconds = new(int32(31)) },
			"webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds",
		},
		"nobody to call": {
			func(hook *admissionregistrationv1.MutatingWebhook) {
				hook.ClientConfig = admissionregistrationv1.WebhookClientConfig{}
			},
			"webhooks[0].clientConfig: Required value: exactly one of url or service is required",
		},
		"a service without a namespace": {
			func(hook *admissionregistrationv1.MutatingWebhook) {
				hook.ClientConfig = admissionregistrationv1.WebhookClientConfig{Service: &admissionregistrationv1.ServiceReference{Name: "x"}}
			},
			"webhooks[0].clientConfig.service.name: Required value",
		},
		"a URL without TLS": {
			func(hook *admissionregistrationv1.MutatingWebhook) { hook.ClientConfig.URL = new("http://a") },
			`webhooks[0].clientConfig.url: Invalid value: "http": 'https' is the only allowed URL scheme; desired format: https://host[/path]`,
		},
		"a policy that there is not": {
			func(hook *admissionregistrationv1.MutatingWebhook) {
				hook.ReinvocationPolicy = new(admissionregistrationv1.ReinvocationPolicyType("Often"))
			},
			`webhooks[0].reinvocationPolicy: Unsupported value: "Often": supported values: "IfNeeded", "Never"`,
		},
		"reviews that the server does not speak": {
			func(hook *admissionregistrationv1.MutatingWebhook) {
				hook.AdmissionReviewVersions = []string{"v2", "v2"}
			},
			`[webhooks[0].admissionReviewVersions[1]: Invalid value: "v2": duplicate version, ` +
				`webhooks[0].admissionReviewVersions: Invalid value: ["v2","v2"]: must include at least one of v1, v1beta1]`,
		},
		"everything and something": {
			func(hook *admissionregistrationv1.MutatingWebhook) {
				hook.Rules[0].Operations = []admissionregistrationv1.OperationType{"*", "CREATE"}
				hook.Rules[0].APIGroups = []string{"*", "apps"}
				hook.Rules[0].Resources = []string{"pods/*", "pods/status"}
			},
			`[webhooks[0].rules[0].operations: Invalid value: ["*","CREATE"]: if '*' is present, must not specify other operations, ` +
				`webhooks[0].rules[0].apiGroups: Invalid value: ["*","apps"]: if '*' is present, must not specify other API groups, ` +
				`webhooks[0].rules[0].resources[1]: Invalid value: "pods/status": if 'pods/*' is present, must not specify pods/status]`,
		},
		"conditions": {
			func(hook *admissionregistrationv1.MutatingWebhook) {
				hook.MatchConditions = []admissionregistrationv1.MatchCondition{{Name: "a", Expression: "1"}, {Name: "a", Expression: " "}}
			},
			`[webhooks[0].matchConditions[0].expression: Invalid value: "1": must evaluate to bool but got int, ` +
				`webhooks[0].matchConditions[1].expression: Required value, webhooks[0].matchConditions[1].name: Duplicate value: "a"]`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := client.Create(makeWebhooks(tc.change))
			require.EqualError(t, err, prefix+tc.want)
		})
	}
}

func TestWebhooksAreUpdated(t *testing.T) {
	client := clientOf(t, "mutatingwebhookconfigurations")
	_, err := client.Create(makeWebhooks(func(*admissionregistrationv1.MutatingWebhook) {}))
	require.NoError(t, err)
	for _, tc := range []struct {
		change     func(*admissionregistrationv1.MutatingWebhookConfiguration)
		generation int64
	}{
		{func(c *admissionregistrationv1.MutatingWebhookConfiguration) { c.Labels = map[string]string{"a": "b"} }, 1},
		{func(c *admissionregistrationv1.MutatingWebhookConfiguration) {
			c.Webhooks[0].TimeoutSeconds = new(int32(3))
		}, 2},
	} {
		updated, err := client.Update("a", "", func(obj runtime.Object) {
			tc.change(obj.(*admissionregistrationv1.MutatingWebhookConfiguration))
		})
		require.NoError(t, err)
		assert.Equal(t, tc.generation, updated.(*admissionregistrationv1.MutatingWebhookConfiguration).Generation)
	}
	_, err = client.Update("a", "", func(obj runtime.Object) { obj.(metav1.Object).SetResourceVersion("") })
	require.ErrorContains(t, err, "metadata.resourceVersion: Invalid value: 0: must be specified for an update")
}

func makePolicy(change func(*admissionregistrationv1.ValidatingAdmissionPolicySpec)) *admissionregistrationv1.ValidatingAdmissionPolicy {
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
		MatchConstraints: &admissionregistrationv1.MatchResources{
			ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: makeRule()}},
		},
		Validations: []admissionregistrationv1.Validation{{Expression: "true"}},
	}}
	change(&policy.Spec)
	return defaulted(policy)
}

func TestPoliciesAreRefused(t *testing.T) {
	const prefix = `ValidatingAdmissionPolicy.admissionregistration.k8s.io "p" is invalid: `
	client := clientOf(t, "validatingadmissionpolicies")
	for name, tc := range map[string]struct {
		change func(*admissionregistrationv1.ValidatingAdmissionPolicySpec)
		want   string
	}{
		"nothing to match": {
			func(spec *admissionregistrationv1.ValidatingAdmissionPolicySpec) { spec.MatchConstraints = nil },
			"spec.matchConstraints: Required value",
		},
		"nothing to do": {
			func(spec *admissionregistrationv1.ValidatingAdmissionPolicySpec) { spec.Validations = nil },
			"[spec.validations: Required value: validations or auditAnnotations must contain at least one item, " +
				"spec.auditAnnotations: Required value: validations or auditAnnotations must contain at least one item]",
		},
		"an expression of the wrong type": {
			func(spec *admissionregistrationv1.ValidatingAdmissionPolicySpec) {
				spec.Validations[0].Expression = "1"
			},
			`spec.validations[0].expression: Invalid value: "1": must evaluate to bool but got int`,
		},
		"a message in lines and one of no type": {
			func(spec *admissionregistrationv1.ValidatingAdmissionPolicySpec) {
				spec.Validations[0].Message, spec.Validations[0].MessageExpression = "a\nb", "object.a"
			},
			`[spec.validations[0].messageExpression: Invalid value: "object.a": must evaluate to string but got dyn, ` +
				`spec.validations[0].message: Invalid value: "a\nb": must not contain line breaks]`,
		},
		"a reason that is none": {
			func(spec *admissionregistrationv1.ValidatingAdmissionPolicySpec) {
				spec.Validations[0].Reason = new(metav1.StatusReasonUnauthorized)
			},
			`spec.validations[0].reason: Unsupported value: "Unauthorized": supported values: "Forbidden", "Invalid", "RequestEntityTooLarge"`,
		},
		"a variable that cannot be named": {
			func(spec *admissionregistrationv1.ValidatingAdmissionPolicySpec) {
				spec.Variables = []admissionregistrationv1.Variable{{Name: "in", Expression: "1"}, {Name: "ok"}}
			},
			`[spec.variables[0].name: Invalid value: "in": must be a valid CEL identifier, spec.variables[1].expression: Required value: expression is not specified]`,
		},
		"a kind of parameters that cannot be": {
			func(spec *admissionregistrationv1.ValidatingAdmissionPolicySpec) {
				spec.ParamKind = &admissionregistrationv1.ParamKind{APIVersion: "a/b/c"}
			},
			`[spec.paramKind.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c, spec.paramKind.kind: Required value]`,
		},
		"the same annotation twice": {
			func(spec *admissionregistrationv1.ValidatingAdmissionPolicySpec) {
				spec.AuditAnnotations = []admissionregistrationv1.AuditAnnotation{{Key: "a", ValueExpression: "'x'"}, {Key: "a", ValueExpression: " "}}
			},
			`[spec.auditAnnotations[1].valueExpression: Required value: valueExpression is not specified, spec.auditAnnotations[1].key: Duplicate value: "a"]`,
		},
		"the same name twice": {
			func(spec *admissionregistrationv1.ValidatingAdmissionPolicySpec) {
				spec.MatchConstraints.ResourceRules[0].ResourceNames = []string{"a", "a", ".."}
			},
			`[spec.matchConstraints.resourceRules[0].resourceNames[1]: Duplicate value: "a", ` +
				`spec.matchConstraints.resourceRules[0].resourceNames[2]: Invalid value: "..": may not be '..']`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := client.Create(makePolicy(tc.change))
			require.EqualError(t, err, prefix+tc.want)
		})
	}
}

func TestMutatingPoliciesAreRefused(t *testing.T) {
	client := clientOf(t, "mutatingadmissionpolicies")
	apply := &admissionregistrationv1.ApplyConfiguration{Expression: "Object{}"}
	for name, tc := range map[string]struct {
		mutation admissionregistrationv1.Mutation
		want     string
	}{
		"no kind of patch": {want: "spec.mutations[0].patchType: Required value"},
		"the wrong patch": {
			admissionregistrationv1.Mutation{PatchType: admissionregistrationv1.PatchTypeJSONPatch, ApplyConfiguration: apply},
			"[spec.mutations[0].jsonPatch: Required value: must be specified when patchType is JSONPatch, " +
				`spec.mutations[0].applyConfiguration: Invalid value: "{applyConfiguration}": must not be specified when patchType is JSONPatch]`,
		},
		"no object": {
			admissionregistrationv1.Mutation{PatchType: admissionregistrationv1.PatchTypeApplyConfiguration, ApplyConfiguration: &admissionregistrationv1.ApplyConfiguration{Expression: "1"}},
			`spec.mutations[0].applyConfiguration.expression: Invalid value: "1": must evaluate to Object but got int`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			policy := defaulted(&admissionregistrationv1.MutatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: admissionregistrationv1.MutatingAdmissionPolicySpec{
				MatchConstraints: &admissionregistrationv1.MatchResources{
					ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: makeRule()}},
				},
				Mutations: []admissionregistrationv1.Mutation{tc.mutation}, ReinvocationPolicy: admissionregistrationv1.NeverReinvocationPolicy,
			}})
			_, err := client.Create(policy)
			require.EqualError(t, err, `MutatingAdmissionPolicy.admissionregistration.k8s.io "p" is invalid: `+tc.want)
		})
	}
}

func TestBindingsAreRefused(t *testing.T) {
	client := clientOf(t, "validatingadmissionpolicybindings")
	for name, tc := range map[string]struct {
		spec admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec
		want string
	}{
		"nothing at all": {
			want: "[spec.policyName: Required value, spec.validationActions: Required value: at least one validation action is required]",
		},
		"to refuse and to warn": {
			admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{PolicyName: "p", ValidationActions: []admissionregistrationv1.ValidationAction{"Deny", "Warn"}},
			`spec.validationActions: Invalid value: ["Deny","Warn"]: must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)`,
		},
		"parameters two ways": {
			admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
				PolicyName: "p", ValidationActions: []admissionregistrationv1.ValidationAction{"Deny"},
				ParamRef: &admissionregistrationv1.ParamRef{Name: "a", Selector: &metav1.LabelSelector{}},
			},
			"[spec.paramRef.name: Forbidden: name and selector are mutually exclusive, spec.paramRef.selector: Forbidden: name and selector are mutually exclusive, " +
				"spec.paramRef.parameterNotFoundAction: Required value]",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := client.Create(defaulted(&admissionregistrationv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: "b"}, Spec: tc.spec}))
			require.EqualError(t, err, `ValidatingAdmissionPolicyBinding.admissionregistration.k8s.io "b" is invalid: `+tc.want)
		})
	}
}
