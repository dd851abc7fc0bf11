package emulator_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/musterkube/muster/pkg/emulator"
)

// BenchmarkHooks creates ConfigMaps while the server has webhooks and policies for them, or for others.
func BenchmarkHooks(b *testing.B) {
	others := func(hook *admissionregistrationv1.ValidatingWebhook) {
		hook.ObjectSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"never": "set"}}
	}
	for name, configurations := range map[string][]any{
		"none":                 nil,
		"a webhook for others": {validatingHook("guard.example.com", atService("guard", "/"), others)},
		"a validating webhook": {validatingHook("guard.example.com", atService("guard", "/"))},
		"two webhooks":         {validatingHook("guard.example.com", atService("guard", "/")), mutatingHook("label.example.com", atService("label", "/"))},
		"a validating policy":  {policyOf(expression("object.data.key == 'value' && request.operation == 'CREATE'")), bind(admissionregistrationv1.Deny)},
		"a mutating policy":    mutation(apply(`Object{metadata: Object.metadata{labels: {"of": "a"}}}`)),
	} {
		b.Run(name, func(b *testing.B) {
			server := start(b, emulator.Options{Services: map[string]http.Handler{
				"default/guard": &reviewer{answer: allow, forget: true}, "default/label": &reviewer{answer: labelling("mutated"), forget: true},
			}})
			client := kube(b, protobuf(server.Config()))
			register(b, client, configurations...)
			createGenerated(b, client)
			for b.Loop() {
				createGenerated(b, client)
			}
		})
	}
}

func createGenerated(b *testing.B, client kubernetes.Interface) {
	b.Helper()
	configMap := makeLabelled("")
	configMap.GenerateName = "c"
	_, err := client.CoreV1().ConfigMaps("default").Create(b.Context(), configMap, metav1.CreateOptions{})
	require.NoError(b, err)
}
