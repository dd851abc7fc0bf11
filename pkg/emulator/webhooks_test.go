package emulator_test

import (
	"encoding/json"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/musterkube/muster/pkg/emulator"
)

// reviewer answers AdmissionReviews, and remembers what it was asked.
type reviewer struct {
	answer func(request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse

	mu    sync.Mutex
	asked []*admissionv1.AdmissionRequest
	// forget is true if it need not remember.
	forget bool
}

// ServeHTTP implements http.Handler.
func (r *reviewer) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	var review admissionv1.AdmissionReview
	if err := json.NewDecoder(request.Body).Decode(&review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	if !r.forget {
		r.asked = append(r.asked, review.Request)
	}
	r.mu.Unlock()
	review.Response = r.answer(review.Request)
	review.Response.UID = review.Request.UID
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(review); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

func (r *reviewer) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.asked)
}

func allow(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	return &admissionv1.AdmissionResponse{Allowed: true}
}

// deny refuses with a message.
func deny(message string) func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	return func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		return &admissionv1.AdmissionResponse{Result: &metav1.Status{Message: message}}
	}
}

// patchWith changes the object by a JSON patch.
func patchWith(patch string) func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	return func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		return &admissionv1.AdmissionResponse{Allowed: true, Patch: []byte(patch), PatchType: new(admissionv1.PatchTypeJSONPatch)}
	}
}

// labelling adds a label to objects that have some.
func labelling(key string) func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	return patchWith(`[{"op":"add","path":"/metadata/labels/` + key + `","value":"yes"}]`)
}

// atService is the way to a webhook in the process, atURL to one behind a socket.
func atService(name, path string) admissionregistrationv1.WebhookClientConfig {
	return admissionregistrationv1.WebhookClientConfig{Service: &admissionregistrationv1.ServiceReference{Namespace: "default", Name: name, Path: &path}}
}

func atURL(server *httptest.Server) admissionregistrationv1.WebhookClientConfig {
	bundle := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	return admissionregistrationv1.WebhookClientConfig{URL: new(server.URL + "/review"), CABundle: bundle}
}

func onConfigMaps(operations ...admissionregistrationv1.OperationType) []admissionregistrationv1.RuleWithOperations {
	return []admissionregistrationv1.RuleWithOperations{{Operations: operations, Rule: admissionregistrationv1.Rule{
		APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"},
	}}}
}

// validatingHook refuses or lets pass ConfigMaps, mutatingHook changes them.
func validatingHook(name string, client admissionregistrationv1.WebhookClientConfig, changes ...func(*admissionregistrationv1.ValidatingWebhook)) *admissionregistrationv1.ValidatingWebhookConfiguration {
	hook := admissionregistrationv1.ValidatingWebhook{
		Name: name, ClientConfig: client, Rules: onConfigMaps(admissionregistrationv1.OperationAll),
		SideEffects: new(admissionregistrationv1.SideEffectClassNone), AdmissionReviewVersions: []string{"v1"},
	}
	for _, change := range changes {
		change(&hook)
	}
	return &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: objectMeta(name), Webhooks: []admissionregistrationv1.ValidatingWebhook{hook}}
}

func mutatingHook(name string, client admissionregistrationv1.WebhookClientConfig, changes ...func(*admissionregistrationv1.MutatingWebhook)) *admissionregistrationv1.MutatingWebhookConfiguration {
	hook := admissionregistrationv1.MutatingWebhook{
		Name: name, ClientConfig: client, Rules: onConfigMaps(admissionregistrationv1.Create, admissionregistrationv1.Update),
		SideEffects: new(admissionregistrationv1.SideEffectClassNone), AdmissionReviewVersions: []string{"v1"},
	}
	for _, change := range changes {
		change(&hook)
	}
	return &admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: objectMeta(name), Webhooks: []admissionregistrationv1.MutatingWebhook{hook}}
}

func register(tb testing.TB, client kubernetes.Interface, configurations ...any) {
	tb.Helper()
	api := client.AdmissionregistrationV1()
	for _, configuration := range configurations {
		var err error
		switch configuration := configuration.(type) {
		case *admissionregistrationv1.MutatingWebhookConfiguration:
			_, err = api.MutatingWebhookConfigurations().Create(tb.Context(), configuration, metav1.CreateOptions{})
		case *admissionregistrationv1.ValidatingWebhookConfiguration:
			_, err = api.ValidatingWebhookConfigurations().Create(tb.Context(), configuration, metav1.CreateOptions{})
		case *admissionregistrationv1.MutatingAdmissionPolicy:
			_, err = api.MutatingAdmissionPolicies().Create(tb.Context(), configuration, metav1.CreateOptions{})
		case *admissionregistrationv1.MutatingAdmissionPolicyBinding:
			_, err = api.MutatingAdmissionPolicyBindings().Create(tb.Context(), configuration, metav1.CreateOptions{})
		case *admissionregistrationv1.ValidatingAdmissionPolicy:
			_, err = api.ValidatingAdmissionPolicies().Create(tb.Context(), configuration, metav1.CreateOptions{})
		case *admissionregistrationv1.ValidatingAdmissionPolicyBinding:
			_, err = api.ValidatingAdmissionPolicyBindings().Create(tb.Context(), configuration, metav1.CreateOptions{})
		default:
			require.Failf(tb, "not a configuration", "%T", configuration)
		}
		require.NoError(tb, err)
	}
}

// makeLabelled is a ConfigMap with a label, for patches to add to.
func makeLabelled(name string) *corev1.ConfigMap {
	configMap := makeConfigMap(name)
	configMap.Labels = map[string]string{"given": "yes"}
	return configMap
}

func tryConfigMap(t *testing.T, client kubernetes.Interface, configMap *corev1.ConfigMap) (*corev1.ConfigMap, error) {
	t.Helper()
	return client.CoreV1().ConfigMaps("default").Create(t.Context(), configMap, metav1.CreateOptions{})
}

func TestWebhooksByURL(t *testing.T) {
	requireNoGoroutines(t)
	hook := httptest.NewTLSServer(&reviewer{answer: labelling("mutated")})
	t.Cleanup(hook.Close)
	guard := httptest.NewTLSServer(&reviewer{answer: func(request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		var configMap corev1.ConfigMap
		if err := json.Unmarshal(request.Object.Raw, &configMap); err != nil || configMap.Labels["mutated"] == "" {
			return deny("it has to be mutated first")(request)
		}
		if configMap.Data["key"] == "bad" {
			return deny("no bad keys")(request)
		}
		return allow(request)
	}})
	t.Cleanup(guard.Close)
	server, err := emulator.Start(t.Context(), emulator.Options{})
	require.NoError(t, err)
	defer server.Stop()
	client := kube(t, server.Config())
	register(t, client, validatingHook("guard.example.com", atURL(guard)))
	_, err = tryConfigMap(t, client, makeLabelled("a"))
	require.EqualError(t, err, `admission webhook "guard.example.com" denied the request: it has to be mutated first`,
		"a webhook is there for the very next request")
	status := apierrors.APIStatus(nil)
	require.ErrorAs(t, err, &status)
	assert.Equal(t, int32(http.StatusBadRequest), status.Status().Code, "a webhook that gives no code refuses with 400")

	register(t, client, mutatingHook("label.example.com", atURL(hook)))
	stored, err := tryConfigMap(t, client, makeLabelled("a"))
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"given": "yes", "mutated": "yes"}, stored.Labels)
	stored.Data["key"] = "bad"
	_, err = client.CoreV1().ConfigMaps("default").Update(t.Context(), stored, metav1.UpdateOptions{})
	require.EqualError(t, err, `admission webhook "guard.example.com" denied the request: no bad keys`)

	api := client.AdmissionregistrationV1()
	require.NoError(t, api.ValidatingWebhookConfigurations().Delete(t.Context(), "guard.example.com", metav1.DeleteOptions{}))
	_, err = client.CoreV1().ConfigMaps("default").Update(t.Context(), stored, metav1.UpdateOptions{})
	require.NoError(t, err, "a webhook is gone for the very next request")
	server.Stop()
	requireNoGoroutines(t)
}

func TestWebhooksInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hooks := http.NewServeMux()
		label, guard := &reviewer{answer: labelling("mutated")}, &reviewer{answer: deny("never")}
		hooks.Handle("/label", label)
		server := start(t, emulator.Options{Services: map[string]http.Handler{"default/hooks": hooks}})
		require.NoError(t, server.HandleService("default/guard:8443", guard))
		client := kube(t, server.Config())
		register(t, client, mutatingHook("label.example.com", atService("hooks", "/label")))
		stored, err := tryConfigMap(t, client, makeLabelled("a"))
		require.NoError(t, err)
		assert.Equal(t, "yes", stored.Labels["mutated"])

		elsewhere := atService("guard", "/")
		elsewhere.Service.Port = new(int32(8443))
		register(t, client, validatingHook("guard.example.com", elsewhere))
		_, err = tryConfigMap(t, client, makeLabelled("b"))
		require.EqualError(t, err, `admission webhook "guard.example.com" denied the request: never`)
		err = client.CoreV1().ConfigMaps("default").Delete(t.Context(), "a", metav1.DeleteOptions{})
		require.EqualError(t, err, `admission webhook "guard.example.com" denied the request: never`)

		require.Len(t, label.asked, 2)
		asked := label.asked[0]
		assert.Equal(t, metav1.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, asked.Kind)
		assert.Equal(t, metav1.GroupVersionResource{Version: "v1", Resource: "configmaps"}, asked.Resource)
		assert.Equal(t, "kubernetes-admin", asked.UserInfo.Username)
		assert.Contains(t, string(asked.Object.Raw), `"kind":"ConfigMap","apiVersion":"v1"`)
		assert.Equal(t, admissionv1.Delete, guard.asked[1].Operation)
		assert.Contains(t, string(guard.asked[1].OldObject.Raw), `"mutated":"yes"`)
	})
}

func TestWebhooksThatFail(t *testing.T) {
	ignore := func(hook *admissionregistrationv1.ValidatingWebhook) {
		hook.FailurePolicy = new(admissionregistrationv1.Ignore)
	}
	slow := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	for name, tc := range map[string]struct {
		handler   http.Handler
		change    func(*admissionregistrationv1.ValidatingWebhook)
		wantErr   string
		wantAfter time.Duration
	}{
		"nobody at the service": {
			wantErr: `Internal error occurred: failed calling webhook "guard.example.com": failed to call webhook: ` +
				`Post "https://guard.default.svc:443/?timeout=10s": no handler for port 443 of service "default/guard": ` +
				`set emulator.Options.Services["default/guard"], or call Server.HandleService, for the server to call`,
		},
		"nobody at the service, which does not matter": {change: ignore},
		"no answer in time": {
			handler: slow,
			change:  func(hook *admissionregistrationv1.ValidatingWebhook) { hook.TimeoutSeconds = new(int32(7)) },
			wantErr: `Internal error occurred: failed calling webhook "guard.example.com": failed to call webhook: ` +
				`Post "https://guard.default.svc:443/?timeout=7s": context deadline exceeded`,
			wantAfter: 7 * time.Second,
		},
		"no answer in time, which does not matter": {handler: slow, change: ignore, wantAfter: 10 * time.Second},
		"an answer that is an error": {
			handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no way", http.StatusTeapot) }),
			wantErr: `Internal error occurred: failed calling webhook "guard.example.com": failed to call webhook: the server responded with the status code 418 but did not return more information`,
		},
		"an answer that is none": {
			handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") }),
			wantErr: `Internal error occurred: failed calling webhook "guard.example.com": received invalid webhook response: webhook response was absent`,
		},
		"a refusal with nothing to say": {
			handler: &reviewer{answer: func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
				return &admissionv1.AdmissionResponse{}
			}},
			wantErr: `admission webhook "guard.example.com" denied the request without explanation`,
		},
		"a refusal for a reason": {
			handler: &reviewer{answer: func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
				return &admissionv1.AdmissionResponse{Result: &metav1.Status{Reason: "TooBad"}}
			}},
			wantErr: `admission webhook "guard.example.com" denied the request: TooBad`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				options := emulator.Options{Services: map[string]http.Handler{}}
				if tc.handler != nil {
					options.Services["default/guard"] = tc.handler
				}
				client := kube(t, start(t, options).Config())
				var changes []func(*admissionregistrationv1.ValidatingWebhook)
				if tc.change != nil {
					changes = append(changes, tc.change)
				}
				register(t, client, validatingHook("guard.example.com", atService("guard", "/"), changes...))
				begin := time.Now() //nolint:forbidigo // the bubble's clock is the one to ask
				_, err := tryConfigMap(t, client, makeConfigMap("a"))
				if tc.wantErr == "" {
					require.NoError(t, err)
				} else {
					require.EqualError(t, err, tc.wantErr)
				}
				assert.Equal(t, tc.wantAfter, time.Since(begin)) //nolint:forbidigo // as above
			})
		})
	}
}

func TestWhatWebhooksAreCalledFor(t *testing.T) {
	selected := &metav1.LabelSelector{MatchLabels: map[string]string{"checked": "yes"}}
	for name, tc := range map[string]struct {
		change     func(*admissionregistrationv1.ValidatingWebhook)
		want, none func(t *testing.T, client kubernetes.Interface) error
	}{
		"objects that a selector selects": {
			change: func(hook *admissionregistrationv1.ValidatingWebhook) { hook.ObjectSelector = selected },
			want: func(t *testing.T, client kubernetes.Interface) error {
				configMap := makeConfigMap("a")
				configMap.Labels = selected.MatchLabels
				_, err := tryConfigMap(t, client, configMap)
				return err
			},
			none: func(t *testing.T, client kubernetes.Interface) error {
				_, err := tryConfigMap(t, client, makeLabelled("b"))
				return err
			},
		},
		"namespaces that a selector selects": {
			change: func(hook *admissionregistrationv1.ValidatingWebhook) { hook.NamespaceSelector = selected },
			want: func(t *testing.T, client kubernetes.Interface) error {
				namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "checked", Labels: selected.MatchLabels}}
				_, err := client.CoreV1().Namespaces().Create(t.Context(), namespace, metav1.CreateOptions{})
				require.NoError(t, err)
				_, err = client.CoreV1().ConfigMaps("checked").Create(t.Context(), makeConfigMap("a"), metav1.CreateOptions{})
				return err
			},
			none: func(t *testing.T, client kubernetes.Interface) error {
				_, err := tryConfigMap(t, client, makeConfigMap("b"))
				return err
			},
		},
		"requests that conditions hold for": {
			change: func(hook *admissionregistrationv1.ValidatingWebhook) {
				hook.MatchConditions = []admissionregistrationv1.MatchCondition{{Name: "strict", Expression: "object.data.key == 'strict' && request.userInfo.username == 'kubernetes-admin'"}}
			},
			want: func(t *testing.T, client kubernetes.Interface) error {
				configMap := makeConfigMap("a")
				configMap.Data["key"] = "strict"
				_, err := tryConfigMap(t, client, configMap)
				return err
			},
			none: func(t *testing.T, client kubernetes.Interface) error {
				_, err := tryConfigMap(t, client, makeConfigMap("b"))
				return err
			},
		},
		"operations of the rules": {
			change: func(hook *admissionregistrationv1.ValidatingWebhook) {
				hook.Rules = onConfigMaps(admissionregistrationv1.Update)
			},
			none: func(t *testing.T, client kubernetes.Interface) error {
				_, err := tryConfigMap(t, client, makeConfigMap("a"))
				return err
			},
			want: func(t *testing.T, client kubernetes.Interface) error {
				configMap := makeConfigMap("a")
				configMap.Data["key"] = "other"
				_, err := client.CoreV1().ConfigMaps("default").Update(t.Context(), configMap, metav1.UpdateOptions{})
				return err
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			guard := &reviewer{answer: deny("no")}
			client := kube(t, start(t, emulator.Options{Services: map[string]http.Handler{"default/guard": guard}}).Config())
			register(t, client, validatingHook("guard.example.com", atService("guard", "/"), tc.change))
			require.NoError(t, tc.none(t, client))
			assert.Zero(t, guard.count())
			require.EqualError(t, tc.want(t, client), `admission webhook "guard.example.com" denied the request: no`)
			assert.Equal(t, 1, guard.count())
		})
	}
}

// An Event has two APIs. A webhook on the one hears of requests by the other, in its own terms.
func TestWebhooksOfEquivalentResources(t *testing.T) {
	for policy, want := range map[admissionregistrationv1.MatchPolicyType]int{admissionregistrationv1.Equivalent: 1, admissionregistrationv1.Exact: 0} {
		t.Run(string(policy), func(t *testing.T) {
			guard := &reviewer{answer: allow}
			client := kube(t, start(t, emulator.Options{Services: map[string]http.Handler{"default/guard": guard}}).Config())
			register(t, client, validatingHook("guard.example.com", atService("guard", "/"), func(hook *admissionregistrationv1.ValidatingWebhook) {
				hook.MatchPolicy = &policy
				hook.Rules[0].Rule = admissionregistrationv1.Rule{APIGroups: []string{"events.k8s.io"}, APIVersions: []string{"v1"}, Resources: []string{"events"}}
			}))
			_, err := client.CoreV1().Events("default").Create(t.Context(), &corev1.Event{
				ObjectMeta:     objectMeta("e"),
				InvolvedObject: corev1.ObjectReference{Namespace: "default", Name: "p", Kind: "Pod"},
				Reason:         "Because", Message: "so", Type: corev1.EventTypeNormal,
			}, metav1.CreateOptions{})
			require.NoError(t, err)
			require.Len(t, guard.asked, want)
			if want > 0 {
				assert.Equal(t, metav1.GroupVersionKind{Group: "events.k8s.io", Version: "v1", Kind: "Event"}, guard.asked[0].Kind)
				assert.Equal(t, &metav1.GroupVersionKind{Version: "v1", Kind: "Event"}, guard.asked[0].RequestKind)
				assert.Contains(t, string(guard.asked[0].Object.Raw), `"regarding":{`)
			}
		})
	}
}

func TestDryRunAndSideEffects(t *testing.T) {
	for name, tc := range map[string]struct {
		class   admissionregistrationv1.SideEffectClass
		wantErr string
		want    int
	}{
		"a webhook without side effects is called": {class: admissionregistrationv1.SideEffectClassNone, want: 1},
		"so is one without any on dry run":         {class: admissionregistrationv1.SideEffectClassNoneOnDryRun, want: 1},
	} {
		t.Run(name, func(t *testing.T) {
			guard := &reviewer{answer: allow}
			client := kube(t, start(t, emulator.Options{Services: map[string]http.Handler{"default/guard": guard}}).Config())
			register(t, client, validatingHook("guard.example.com", atService("guard", "/"), func(hook *admissionregistrationv1.ValidatingWebhook) { hook.SideEffects = &tc.class }))
			_, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), makeConfigMap("a"), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			require.NoError(t, err)
			require.Len(t, guard.asked, tc.want)
			assert.True(t, *guard.asked[0].DryRun)
		})
	}
}

// warnings collects those of a client.
type warnings struct {
	mu   sync.Mutex
	text []string
}

// HandleWarningHeader implements rest.WarningHandler.
func (w *warnings) HandleWarningHeader(_ int, _, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = append(w.text, text)
}

func withWarnings(config *rest.Config) (*rest.Config, *warnings) {
	heard := &warnings{}
	config.WarningHandler = heard
	return config, heard
}

func TestWebhooksWarn(t *testing.T) {
	guard := &reviewer{answer: func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		return &admissionv1.AdmissionResponse{Allowed: true, Warnings: []string{"mind the gap"}, AuditAnnotations: map[string]string{"a": "b"}}
	}}
	config, heard := withWarnings(start(t, emulator.Options{Services: map[string]http.Handler{"default/guard": guard}}).Config())
	client := kube(t, config)
	register(t, client, validatingHook("guard.example.com", atService("guard", "/")))
	_, err := tryConfigMap(t, client, makeConfigMap("a"))
	require.NoError(t, err)
	assert.Equal(t, []string{"mind the gap"}, heard.text)
}

func TestReinvocation(t *testing.T) {
	for policy, want := range map[admissionregistrationv1.ReinvocationPolicyType]int{
		admissionregistrationv1.NeverReinvocationPolicy: 1, admissionregistrationv1.IfNeededReinvocationPolicy: 2,
	} {
		t.Run(string(policy), func(t *testing.T) {
			first, second := &reviewer{answer: labelling("first")}, &reviewer{answer: labelling("second")}
			client := kube(t, start(t, emulator.Options{Services: map[string]http.Handler{"default/first": first, "default/second": second}}).Config())
			register(t, client,
				mutatingHook("a.example.com", atService("first", "/"), func(hook *admissionregistrationv1.MutatingWebhook) { hook.ReinvocationPolicy = &policy }),
				mutatingHook("b.example.com", atService("second", "/")))
			stored, err := tryConfigMap(t, client, makeLabelled("a"))
			require.NoError(t, err)
			assert.Len(t, stored.Labels, 3)
			assert.Equal(t, want, first.count(), "the second changed what the first has seen")
			assert.Equal(t, 1, second.count())
		})
	}
}

func TestWebhooksAndPatches(t *testing.T) {
	label := &reviewer{answer: labelling("mutated")}
	client := kube(t, start(t, emulator.Options{Services: map[string]http.Handler{"default/label": label}}).Config())
	_, err := tryConfigMap(t, client, makeLabelled("a"))
	require.NoError(t, err)
	register(t, client, mutatingHook("label.example.com", atService("label", "/")))
	for _, patchType := range []types.PatchType{types.StrategicMergePatchType, types.MergePatchType} {
		patched, err := client.CoreV1().ConfigMaps("default").Patch(t.Context(), "a", patchType,
			[]byte(`{"metadata":{"labels":{"mutated":null}},"data":{"by":"`+string(patchType)+`"}}`), metav1.PatchOptions{FieldManager: "patcher"})
		require.NoError(t, err)
		assert.Equal(t, "yes", patched.Labels["mutated"])
		assert.Equal(t, string(patchType), patched.Data["by"])
	}
	applied, err := client.CoreV1().ConfigMaps("default").Apply(t.Context(), applycorev1.ConfigMap("b", "default").WithLabels(map[string]string{"given": "yes"}),
		metav1.ApplyOptions{FieldManager: "applier"})
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"given": "yes", "mutated": "yes"}, applied.Labels)
	assert.Len(t, applied.ManagedFields, 1, "what a webhook adds belongs to nobody who applies: %v", applied.ManagedFields)
}

func TestWebhooksSeeSubresourcesAndOtherKinds(t *testing.T) {
	guard := &reviewer{answer: allow}
	client := kube(t, start(t, emulator.Options{Services: map[string]http.Handler{"default/guard": guard}}).Config())
	register(t, client, validatingHook("guard.example.com", atService("guard", "/"), func(hook *admissionregistrationv1.ValidatingWebhook) {
		hook.Rules[0].Rule = admissionregistrationv1.Rule{APIGroups: []string{"*"}, APIVersions: []string{"*"}, Resources: []string{"*/*"}}
	}))
	_, err := client.CoreV1().Pods("default").Create(t.Context(), makePod("p"), metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = client.BatchV1().Jobs("default").Create(t.Context(), makeJob("j"), metav1.CreateOptions{})
	require.NoError(t, err)
	require.NoError(t, client.CoreV1().Pods("default").Bind(t.Context(), &corev1.Binding{ObjectMeta: objectMeta("p"), Target: corev1.ObjectReference{Kind: "Node", Name: "n"}}, metav1.CreateOptions{}))
	pod, err := client.CoreV1().Pods("default").Get(t.Context(), "p", metav1.GetOptions{})
	require.NoError(t, err)
	pod.Status.Phase = corev1.PodRunning
	_, err = client.CoreV1().Pods("default").UpdateStatus(t.Context(), pod, metav1.UpdateOptions{})
	require.NoError(t, err)
	register(t, client, mutatingHook("label.example.com", atService("guard", "/")))
	var seen []string
	for _, request := range guard.asked {
		resource := schema.GroupResource{Group: request.Resource.Group, Resource: request.Resource.Resource}.String()
		seen = append(seen, string(request.Operation)+" "+resource+" "+request.SubResource)
	}
	assert.Equal(t, []string{"CREATE pods ", "CREATE jobs.batch ", "CREATE pods binding", "UPDATE pods status"}, seen,
		"but configurations of admission are exempt")
}

func TestStopEndsCallsOfWebhooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		called := make(chan struct{})
		slow := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			close(called)
			<-r.Context().Done()
		})
		server := start(t, emulator.Options{Services: map[string]http.Handler{"default/guard": slow}})
		client := kube(t, server.Config())
		register(t, client, validatingHook("guard.example.com", atService("guard", "/")))
		result := make(chan error, 1)
		go func() {
			_, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), makeConfigMap("a"), metav1.CreateOptions{})
			result <- err
		}()
		<-called
		begin := time.Now() //nolint:forbidigo // the bubble's clock is the one to ask
		server.Stop()
		assert.LessOrEqual(t, time.Since(begin), 2*time.Second, "the request has its grace, and no more") //nolint:forbidigo // as above
		require.Error(t, <-result)
	})
}

func TestServicesMustBeNamed(t *testing.T) {
	for _, name := range []string{"", "hooks", "a/b/c", "default/Hooks", "default/hooks:", "default/hooks:0", "default/hooks:http", "/hooks"} {
		_, err := emulator.Start(t.Context(), emulator.Options{Services: map[string]http.Handler{name: http.NotFoundHandler()}})
		require.ErrorContains(t, err, "Options.Services["+name+"]: Invalid value: ")
	}
	server := start(t, emulator.Options{})
	require.ErrorContains(t, server.HandleService("default/hooks", nil), "the handler of default/hooks is nil")
	server.Stop()
	require.ErrorIs(t, server.HandleService("default/hooks", http.NotFoundHandler()), emulator.ErrStopped)
}

func TestWebhooksCanBeDisabled(t *testing.T) {
	client := kube(t, start(t, emulator.Options{DisabledAdmission: []string{"ValidatingAdmissionWebhook"}}).Config())
	register(t, client, validatingHook("guard.example.com", atService("guard", "/")))
	_, err := tryConfigMap(t, client, makeConfigMap("a"))
	require.NoError(t, err)
}
