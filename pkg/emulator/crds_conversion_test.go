package emulator_test

import (
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/musterkube/muster/pkg/emulator"
)

// converter is a conversion webhook that writes into each object which version it came from.
func converter(t *testing.T) http.Handler {
	t.Helper()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review apiextensionsv1.ConversionReview
		if !assert.NoError(t, json.NewDecoder(r.Body).Decode(&review)) {
			return
		}
		review.Response = &apiextensionsv1.ConversionResponse{UID: review.Request.UID, Result: metav1.Status{Status: metav1.StatusSuccess}}
		for _, raw := range review.Request.Objects {
			object := &unstructured.Unstructured{}
			if !assert.NoError(t, object.UnmarshalJSON(raw.Raw)) {
				return
			}
			spec, _ := object.Object["spec"].(map[string]any)
			spec["parts"] = []any{map[string]any{"name": "was " + object.GetAPIVersion()}}
			object.SetAPIVersion(review.Request.DesiredAPIVersion)
			review.Response.ConvertedObjects = append(review.Response.ConvertedObjects, runtime.RawExtension{Object: object})
		}
		review.Request = nil
		w.Header().Set("Content-Type", "application/json")
		assert.NoError(t, json.NewEncoder(w).Encode(review))
	})
}

// withWebhook returns a definition that is converted by a webhook.
func withWebhook(client apiextensionsv1.WebhookClientConfig) *apiextensionsv1.CustomResourceDefinition {
	crd := makeCRD()
	crd.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{
		Strategy: apiextensionsv1.WebhookConverter,
		Webhook:  &apiextensionsv1.WebhookConversion{ConversionReviewVersions: []string{"v1"}, ClientConfig: &client},
	}
	return crd
}

func TestConversionByAWebhook(t *testing.T) {
	hook := httptest.NewTLSServer(converter(t))
	t.Cleanup(hook.Close)
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: hook.Certificate().Raw})
	server := start(t, emulator.Options{})
	createCRD(t, server.Config(), withWebhook(apiextensionsv1.WebhookClientConfig{URL: new(hook.URL + "/convert"), CABundle: authority}))
	client := custom(t, server.Config())
	_, err := createWidget(t.Context(), client, "w", map[string]any{"size": int64(1)})
	require.NoError(t, err)
	older := schema.GroupVersionResource{Group: widgets.Group, Version: "v1beta1", Resource: widgets.Resource}
	read, err := client.Resource(older).Namespace("default").Get(t.Context(), "w", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, []any{map[string]any{"name": "was example.com/v1"}}, read.Object["spec"].(map[string]any)["parts"])
}

func TestConversionByAServiceThatThereIsNot(t *testing.T) {
	server := start(t, emulator.Options{})
	createCRD(t, server.Config(), withWebhook(apiextensionsv1.WebhookClientConfig{
		Service: &apiextensionsv1.ServiceReference{Namespace: "default", Name: "converter"},
	}))
	client := custom(t, server.Config())
	_, err := createWidget(t.Context(), client, "w", map[string]any{"size": int64(1)})
	require.NoError(t, err, "what is stored in the version of the request needs no conversion")
	older := schema.GroupVersionResource{Group: widgets.Group, Version: "v1beta1", Resource: widgets.Resource}
	_, err = client.Resource(older).Namespace("default").Get(t.Context(), "w", metav1.GetOptions{})
	assert.ErrorContains(t, err, `no handler for port 443 of service "default/converter"`)
}

func TestConversionByAService(t *testing.T) {
	server := start(t, emulator.Options{Services: map[string]http.Handler{"default/converter": converter(t)}})
	createCRD(t, server.Config(), withWebhook(apiextensionsv1.WebhookClientConfig{
		Service: &apiextensionsv1.ServiceReference{Namespace: "default", Name: "converter"},
	}))
	client := custom(t, server.Config())
	_, err := createWidget(t.Context(), client, "w", map[string]any{"size": int64(1)})
	require.NoError(t, err)
	older := schema.GroupVersionResource{Group: widgets.Group, Version: "v1beta1", Resource: widgets.Resource}
	read, err := client.Resource(older).Namespace("default").Get(t.Context(), "w", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, []any{map[string]any{"name": "was example.com/v1"}}, read.Object["spec"].(map[string]any)["parts"])
}
