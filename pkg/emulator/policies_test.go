package emulator_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/musterkube/muster/pkg/emulator"
)

func namedRules(operations ...admissionregistrationv1.OperationType) []admissionregistrationv1.NamedRuleWithOperations {
	return []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: onConfigMaps(operations...)[0]}}
}

// rule is a policy for ConfigMaps, less what is to be changed.
func policyOf(validations []admissionregistrationv1.Validation, changes ...func(*admissionregistrationv1.ValidatingAdmissionPolicySpec)) *admissionregistrationv1.ValidatingAdmissionPolicy {
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{ObjectMeta: objectMeta("rule"), Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
		MatchConstraints: &admissionregistrationv1.MatchResources{ResourceRules: namedRules(admissionregistrationv1.Create, admissionregistrationv1.Update)},
		Validations:      validations,
	}}
	for _, change := range changes {
		change(&policy.Spec)
	}
	return policy
}

// bind binds the policy rule.
func bind(actions ...admissionregistrationv1.ValidationAction) *admissionregistrationv1.ValidatingAdmissionPolicyBinding {
	return &admissionregistrationv1.ValidatingAdmissionPolicyBinding{ObjectMeta: objectMeta("bound"), Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
		PolicyName: "rule", ValidationActions: actions,
	}}
}

func expression(text string) []admissionregistrationv1.Validation {
	return []admissionregistrationv1.Validation{{Expression: text}}
}

const denied = `configmaps "a" is forbidden: ValidatingAdmissionPolicy 'rule' with binding 'bound' denied request: `

func TestValidatingPolicies(t *testing.T) {
	for name, tc := range map[string]struct {
		policy  *admissionregistrationv1.ValidatingAdmissionPolicy
		wantErr string
		reason  metav1.StatusReason
	}{
		"what is true is let through": {policy: policyOf(expression("object.data.key == 'value'"))},
		"what is false is refused, with the expression": {
			policy:  policyOf(expression("object.data.key == 'other'")),
			wantErr: denied + "failed expression: object.data.key == 'other'",
			reason:  metav1.StatusReasonInvalid,
		},
		"a message and a reason": {
			policy: policyOf([]admissionregistrationv1.Validation{{
				Expression: "false", Message: "just no", Reason: new(metav1.StatusReasonForbidden),
			}}),
			wantErr: denied + "just no",
			reason:  metav1.StatusReasonForbidden,
		},
		"a message that is an expression goes first": {
			policy: policyOf([]admissionregistrationv1.Validation{{
				Expression: "false", Message: "just no", MessageExpression: "'no, because of ' + object.data.key",
			}}),
			wantErr: denied + "no, because of value",
			reason:  metav1.StatusReasonInvalid,
		},
		"variables may use those before them": {
			policy: policyOf([]admissionregistrationv1.Validation{{Expression: "variables.long", MessageExpression: "'only ' + string(variables.length)"}},
				func(spec *admissionregistrationv1.ValidatingAdmissionPolicySpec) {
					spec.Variables = []admissionregistrationv1.Variable{
						{Name: "length", Expression: "size(object.data.key)"}, {Name: "long", Expression: "variables.length > 100"},
					}
				}),
			wantErr: denied + "only 5",
			reason:  metav1.StatusReasonInvalid,
		},
		"the namespace and the request are there": {
			policy:  policyOf(expression("namespaceObject.metadata.name == 'default' && request.operation == 'CREATE' && oldObject == null && request.userInfo.username != 'kubernetes-admin'")),
			wantErr: denied + "failed expression: namespaceObject.metadata.name == 'default' && request.operation == 'CREATE' && oldObject == null && request.userInfo.username != 'kubernetes-admin'",
			reason:  metav1.StatusReasonInvalid,
		},
		"the authorizer answers": {
			policy:  policyOf(expression("!authorizer.group('').resource('pods').namespace('default').check('create').allowed()")),
			wantErr: denied + "failed expression: !authorizer.group('').resource('pods').namespace('default').check('create').allowed()",
			reason:  metav1.StatusReasonInvalid,
		},
		"conditions come before": {
			policy: policyOf(expression("false"), func(spec *admissionregistrationv1.ValidatingAdmissionPolicySpec) {
				spec.MatchConditions = []admissionregistrationv1.MatchCondition{{Name: "never", Expression: "object.data.key == 'never'"}}
			}),
		},
		"an expression that fails refuses": {
			policy:  policyOf(expression("object.data.missing == 'x'")),
			wantErr: denied + "expression 'object.data.missing == 'x'' resulted in error: no such key: missing",
			reason:  metav1.StatusReasonInvalid,
		},
		"unless that is to be ignored": {
			policy: policyOf(expression("object.data.missing == 'x'"), func(spec *admissionregistrationv1.ValidatingAdmissionPolicySpec) {
				spec.FailurePolicy = new(admissionregistrationv1.Ignore)
			}),
		},
		"other operations are none of its business": {
			policy: policyOf(expression("false"), func(spec *admissionregistrationv1.ValidatingAdmissionPolicySpec) {
				spec.MatchConstraints.ResourceRules = namedRules(admissionregistrationv1.Delete)
			}),
		},
		"nor what is excluded": {
			policy: policyOf(expression("false"), func(spec *admissionregistrationv1.ValidatingAdmissionPolicySpec) {
				spec.MatchConstraints.ExcludeResourceRules = namedRules(admissionregistrationv1.OperationAll)
			}),
		},
	} {
		t.Run(name, func(t *testing.T) {
			client := kube(t, start(t, emulator.Options{}).Config())
			register(t, client, tc.policy)
			_, err := client.CoreV1().ConfigMaps("kube-system").Create(t.Context(), makeConfigMap("unbound"), metav1.CreateOptions{})
			require.NoError(t, err, "a policy without a binding does nothing")
			register(t, client, bind(admissionregistrationv1.Deny))
			_, err = createConfigMap(t, client, makeConfigMap("a"))
			if tc.wantErr == "" {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err, tc.wantErr)
			assert.Equal(t, tc.reason, apierrors.ReasonForError(err))
		})
	}
}

func TestPoliciesChangeAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := kube(t, start(t, emulator.Options{}).Config())
		policies := client.AdmissionregistrationV1().ValidatingAdmissionPolicies()
		register(t, client, policyOf(expression("false")), bind(admissionregistrationv1.Deny))
		_, err := createConfigMap(t, client, makeConfigMap("a"))
		require.Error(t, err)
		policy, err := policies.Get(t.Context(), "rule", metav1.GetOptions{})
		require.NoError(t, err)
		policy.Spec.Validations[0].Expression = "true"
		policy, err = policies.Update(t.Context(), policy, metav1.UpdateOptions{})
		require.NoError(t, err)
		assert.Equal(t, int64(2), policy.Generation)
		_, err = createConfigMap(t, client, makeConfigMap("a"))
		require.NoError(t, err)

		policy.Spec.Validations[0].Expression = "false"
		_, err = policies.Update(t.Context(), policy, metav1.UpdateOptions{})
		require.NoError(t, err)
		_, err = createConfigMap(t, client, makeConfigMap("b"))
		require.Error(t, err)
		require.NoError(t, client.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}))
		_, err = createConfigMap(t, client, makeConfigMap("b"))
		require.NoError(t, err)
	})
}

func TestPolicyActions(t *testing.T) {
	for name, tc := range map[string]struct {
		actions []admissionregistrationv1.ValidationAction
		want    []string
	}{
		"a warning": {
			actions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Warn},
			want:    []string{"Validation failed for ValidatingAdmissionPolicy 'rule' with binding 'bound': just no"},
		},
		"a note in the audit log, which there is none of": {actions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Audit}},
	} {
		t.Run(name, func(t *testing.T) {
			config, heard := withWarnings(start(t, emulator.Options{}).Config())
			client := kube(t, config)
			policy := policyOf([]admissionregistrationv1.Validation{{Expression: "false", Message: "just no"}})
			policy.Spec.AuditAnnotations = []admissionregistrationv1.AuditAnnotation{{Key: "who", ValueExpression: "request.userInfo.username"}}
			register(t, client, policy, bind(tc.actions...))
			_, err := createConfigMap(t, client, makeConfigMap("a"))
			require.NoError(t, err)
			assert.Equal(t, tc.want, heard.text)
		})
	}
}

func TestPolicyParameters(t *testing.T) {
	withParams := func(kind *admissionregistrationv1.ParamKind) *admissionregistrationv1.ValidatingAdmissionPolicy {
		return policyOf([]admissionregistrationv1.Validation{{Expression: "object.data.key == params.data.want", MessageExpression: "'want ' + params.data.want"}},
			func(spec *admissionregistrationv1.ValidatingAdmissionPolicySpec) { spec.ParamKind = kind })
	}
	configMaps := &admissionregistrationv1.ParamKind{APIVersion: "v1", Kind: "ConfigMap"}
	ref := func(ref admissionregistrationv1.ParamRef) *admissionregistrationv1.ValidatingAdmissionPolicyBinding {
		binding := bind(admissionregistrationv1.Deny)
		if ref.ParameterNotFoundAction == nil {
			ref.ParameterNotFoundAction = new(admissionregistrationv1.DenyAction)
		}
		binding.Spec.ParamRef = &ref
		return binding
	}
	for name, tc := range map[string]struct {
		policy  *admissionregistrationv1.ValidatingAdmissionPolicy
		binding *admissionregistrationv1.ValidatingAdmissionPolicyBinding
		wantErr string
	}{
		"by name": {
			policy: withParams(configMaps), binding: ref(admissionregistrationv1.ParamRef{Name: "strict", Namespace: "kube-system"}),
			wantErr: denied + "want this",
		},
		"by name, in the namespace of the object": {
			policy: withParams(configMaps), binding: ref(admissionregistrationv1.ParamRef{Name: "lenient"}),
		},
		"by label": {
			policy: withParams(configMaps), binding: ref(admissionregistrationv1.ParamRef{Namespace: "kube-system", Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"params": "yes"}}}),
			wantErr: denied + "want this",
		},
		"that are not there": {
			policy: withParams(configMaps), binding: ref(admissionregistrationv1.ParamRef{Name: "absent"}),
			wantErr: `configmaps "a" is forbidden: ValidatingAdmissionPolicy 'rule' with binding 'bound' denied request: failed to configure binding: no params found for policy binding with ` +
				"`Deny` parameterNotFoundAction",
		},
		"that are not there and need not be": {
			policy: withParams(configMaps), binding: ref(admissionregistrationv1.ParamRef{Name: "absent", ParameterNotFoundAction: new(admissionregistrationv1.AllowAction)}),
		},
		"of a kind that there is not": {
			policy:  withParams(&admissionregistrationv1.ParamKind{APIVersion: "example.com/v1", Kind: "Limit"}),
			binding: ref(admissionregistrationv1.ParamRef{Name: "strict"}),
			wantErr: `configmaps "a" is forbidden: ValidatingAdmissionPolicy 'rule' denied request: failed to configure policy: failed to find resource referenced by paramKind: 'example.com/v1, Kind=Limit'`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := kube(t, start(t, emulator.Options{}).Config())
				lenient := makeConfigMap("lenient")
				lenient.Data = map[string]string{"want": "value"}
				_, err := createConfigMap(t, client, lenient)
				require.NoError(t, err)
				strict := &corev1.ConfigMap{ObjectMeta: objectMeta("strict"), Data: map[string]string{"want": "this"}}
				strict.Labels = map[string]string{"params": "yes"}
				_, err = client.CoreV1().ConfigMaps("kube-system").Create(t.Context(), strict, metav1.CreateOptions{})
				require.NoError(t, err)
				register(t, client, tc.policy, tc.binding)
				_, err = createConfigMap(t, client, makeConfigMap("a"))
				if tc.wantErr == "" {
					require.NoError(t, err)
					return
				}
				require.EqualError(t, err, tc.wantErr)
			})
		})
	}
}

// mutation is a policy that changes ConfigMaps, with its binding.
func mutation(mutations ...admissionregistrationv1.Mutation) []any {
	return []any{
		&admissionregistrationv1.MutatingAdmissionPolicy{ObjectMeta: objectMeta("change"), Spec: admissionregistrationv1.MutatingAdmissionPolicySpec{
			MatchConstraints:   &admissionregistrationv1.MatchResources{ResourceRules: namedRules(admissionregistrationv1.Create)},
			Mutations:          mutations,
			ReinvocationPolicy: admissionregistrationv1.NeverReinvocationPolicy,
		}},
		&admissionregistrationv1.MutatingAdmissionPolicyBinding{ObjectMeta: objectMeta("bound"), Spec: admissionregistrationv1.MutatingAdmissionPolicyBindingSpec{PolicyName: "change"}},
	}
}

func apply(text string) admissionregistrationv1.Mutation {
	return admissionregistrationv1.Mutation{
		PatchType: admissionregistrationv1.PatchTypeApplyConfiguration, ApplyConfiguration: &admissionregistrationv1.ApplyConfiguration{Expression: text},
	}
}

func jsonPatch(text string) admissionregistrationv1.Mutation {
	return admissionregistrationv1.Mutation{
		PatchType: admissionregistrationv1.PatchTypeJSONPatch, JSONPatch: &admissionregistrationv1.JSONPatch{Expression: text},
	}
}

func TestMutatingPolicies(t *testing.T) {
	for name, tc := range map[string]struct {
		mutations []admissionregistrationv1.Mutation
		want      map[string]string
		wantErr   string
	}{
		"by an apply configuration": {
			mutations: []admissionregistrationv1.Mutation{apply(`Object{metadata: Object.metadata{labels: {"of": object.metadata.name}}}`)},
			want:      map[string]string{"given": "yes", "of": "a"},
		},
		"by a JSON patch": {
			mutations: []admissionregistrationv1.Mutation{jsonPatch(`[JSONPatch{op: "add", path: "/metadata/labels/of", value: object.metadata.name}]`)},
			want:      map[string]string{"given": "yes", "of": "a"},
		},
		"one after the other": {
			mutations: []admissionregistrationv1.Mutation{
				apply(`Object{metadata: Object.metadata{labels: {"one": "1"}}}`),
				jsonPatch(`[JSONPatch{op: "test", path: "/metadata/labels/one", value: "1"}, JSONPatch{op: "remove", path: "/metadata/labels/given"}]`),
			},
			want: map[string]string{"one": "1"},
		},
		"that fails": {
			mutations: []admissionregistrationv1.Mutation{apply(`Object{metadata: Object.metadata{labels: {"of": object.data.absent}}}`)},
			wantErr:   `policy 'change' with binding 'bound' denied request: expression 'Object{metadata: Object.metadata{labels: {"of": object.data.absent}}}' resulted in error: no such key: absent`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := kube(t, start(t, emulator.Options{}).Config())
				register(t, client, mutation(tc.mutations...)...)
				stored, err := createConfigMap(t, client, makeLabelled("a"))
				if tc.wantErr != "" {
					require.EqualError(t, err, tc.wantErr)
					return
				}
				require.NoError(t, err)
				assert.Equal(t, tc.want, stored.Labels)
			})
		})
	}
}

// A policy that adds a container to pods keeps those that are there, as an apply would.
func TestMutatingPoliciesMergeLists(t *testing.T) {
	client := kube(t, start(t, emulator.Options{}).Config())
	policy := mutation(apply(`Object{spec: Object.spec{
		containers: [Object.spec.containers{name: "side", image: "side:1"}, Object.spec.containers{name: "c", env: [Object.spec.containers.env{name: "NAME", value: object.metadata.name}]}],
		volumes: [Object.spec.volumes{name: "scratch", emptyDir: Object.spec.volumes.emptyDir{}}]}}`))
	policy[0].(*admissionregistrationv1.MutatingAdmissionPolicy).Spec.MatchConstraints.ResourceRules[0].Resources = []string{"pods"}
	register(t, client, policy...)
	pod, err := client.CoreV1().Pods("default").Create(t.Context(), makePod("p"), metav1.CreateOptions{FieldManager: "creator"})
	require.NoError(t, err)
	require.Len(t, pod.Spec.Containers, 2)
	side, given := pod.Spec.Containers[0], pod.Spec.Containers[1]
	assert.Equal(t, "side:1", side.Image, "what is merged in comes first")
	assert.Equal(t, corev1.PullIfNotPresent, side.ImagePullPolicy, "with the defaults")
	assert.Equal(t, "busybox", given.Image)
	assert.Equal(t, []corev1.EnvVar{{Name: "NAME", Value: "p"}}, given.Env)
	require.Len(t, pod.Spec.Volumes, 1)
	assert.NotNil(t, pod.Spec.Volumes[0].EmptyDir)
	require.Len(t, pod.ManagedFields, 1)
	assert.NotContains(t, pod.ManagedFields[0].FieldsV1.GetRawString(), "side", "what admission adds belongs to nobody")

	atomic := mutation(apply(`Object{spec: Object.spec{nodeSelector: {"a": "b"}}}`))
	atomic[0].(*admissionregistrationv1.MutatingAdmissionPolicy).Name = "atomic"
	atomic[0].(*admissionregistrationv1.MutatingAdmissionPolicy).Spec.MatchConstraints.ResourceRules[0].Resources = []string{"pods"}
	atomic[1].(*admissionregistrationv1.MutatingAdmissionPolicyBinding).Name = "atomic"
	atomic[1].(*admissionregistrationv1.MutatingAdmissionPolicyBinding).Spec.PolicyName = "atomic"
	register(t, client, atomic...)
	_, err = client.CoreV1().Pods("default").Create(t.Context(), makePod("q"), metav1.CreateOptions{})
	require.EqualError(t, err, "policy 'atomic' with binding 'atomic' denied request: error applying patch: "+
		"invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .spec.nodeSelector")
}

// Policies and webhooks come in the order of a kube-apiserver, and the first refusal is the answer.
func TestTheOrderOfHooks(t *testing.T) {
	label, guard := &reviewer{answer: labelling("webhook")}, &reviewer{answer: deny("never")}
	server := start(t, emulator.Options{})
	require.NoError(t, server.HandleService("default/label", label))
	require.NoError(t, server.HandleService("default/guard", guard))
	client := kube(t, server.Config())
	register(t, client, mutation(apply(`Object{metadata: Object.metadata{labels: {"policy": "yes"}}}`))...)
	register(t, client,
		mutatingHook("label.example.com", atService("label", "/")),
		validatingHook("guard.example.com", atService("guard", "/")),
		policyOf([]admissionregistrationv1.Validation{{Expression: "false", MessageExpression: "'with ' + object.metadata.labels.map(key, key).join(',')"}}),
		bind(admissionregistrationv1.Deny))
	_, err := createConfigMap(t, client, makeLabelled("a"))
	require.ErrorContains(t, err, denied+"with ")
	for _, by := range []string{"policy", "webhook"} {
		assert.Contains(t, err.Error(), by)
	}
	assert.Contains(t, string(label.asked[0].Object.Raw), `"policy":"yes"`)
	assert.Zero(t, guard.count())
}

// Whoever may write policies only by leave of others meets the same rules.
func TestPoliciesSeeImpersonatedUsers(t *testing.T) {
	server := start(t, emulator.Options{})
	register(t, kube(t, server.Config()), policyOf(expression("request.userInfo.username != 'jane'")), bind(admissionregistrationv1.Deny))
	config := server.Config()
	config.Impersonate = rest.ImpersonationConfig{UserName: "jane", Groups: []string{"system:masters"}}
	_, err := createConfigMap(t, kube(t, config), makeConfigMap("a"))
	require.ErrorContains(t, err, denied)
}

func TestServersDoNotShareHooks(t *testing.T) {
	var clients []kubernetes.Interface
	for range 2 {
		clients = append(clients, kube(t, start(t, emulator.Options{}).Config()))
	}
	register(t, clients[0], policyOf(expression("false")), bind(admissionregistrationv1.Deny))
	_, err := createConfigMap(t, clients[0], makeConfigMap("a"))
	require.Error(t, err)
	_, err = createConfigMap(t, clients[1], makeConfigMap("a"))
	require.NoError(t, err)
}
