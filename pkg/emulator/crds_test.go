package emulator_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/musterkube/muster/pkg/emulator"
)

var (
	widgets = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}
	crds    = apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions")
)

// makeCRD returns a definition that has something of everything: two versions, a rule, a default, both subresources,
// columns, a short name, a category, and a field for selectors.
func makeCRD() *apiextensionsv1.CustomResourceDefinition {
	version := func(name string, storage bool) apiextensionsv1.CustomResourceDefinitionVersion {
		return apiextensionsv1.CustomResourceDefinitionVersion{
			Name: name, Served: true, Storage: storage,
			Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
				Type: "object", Description: "Widget is a thing of many parts.",
				Properties: map[string]apiextensionsv1.JSONSchemaProps{
					"spec": {
						Type: "object", Required: []string{"size"}, Description: "What the widget is to be.",
						XValidations: apiextensionsv1.ValidationRules{{Rule: "self.size >= self.replicas", Message: "size must not be less than replicas"}},
						Properties: map[string]apiextensionsv1.JSONSchemaProps{
							"size":     {Type: "integer", Minimum: new(1.0), Description: "How big it is."},
							"replicas": {Type: "integer", Default: &apiextensionsv1.JSON{Raw: []byte("1")}},
							"color":    {Type: "string", Enum: []apiextensionsv1.JSON{{Raw: []byte(`"red"`)}, {Raw: []byte(`"green"`)}}},
							"parts": {
								Type: "array", XListType: new("map"), XListMapKeys: []string{"name"},
								Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &apiextensionsv1.JSONSchemaProps{
									Type: "object", Required: []string{"name"}, Properties: map[string]apiextensionsv1.JSONSchemaProps{
										"name": {Type: "string"}, "weight": {Type: "integer"},
									},
								}},
							},
						},
					},
					"status": {Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{
						"replicas": {Type: "integer"}, "phase": {Type: "string"},
					}},
				},
			}},
			Subresources: &apiextensionsv1.CustomResourceSubresources{
				Status: &apiextensionsv1.CustomResourceSubresourceStatus{},
				Scale:  &apiextensionsv1.CustomResourceSubresourceScale{SpecReplicasPath: ".spec.replicas", StatusReplicasPath: ".status.replicas"},
			},
			AdditionalPrinterColumns: []apiextensionsv1.CustomResourceColumnDefinition{{Name: "Size", Type: "integer", JSONPath: ".spec.size"}},
			SelectableFields:         []apiextensionsv1.SelectableField{{JSONPath: ".spec.color"}},
		}
	}
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: objectMeta("widgets.example.com"),
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "example.com", Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{
				Plural: "widgets", Singular: "widget", Kind: "Widget", ListKind: "WidgetList", ShortNames: []string{"wd"}, Categories: []string{"all"},
			},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{version("v1", true), version("v1beta1", false)},
		},
	}
}

func makeWidget(name string, spec map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": name}, "spec": spec,
	}}
}

// definitions returns a client of definitions.
func definitions(tb testing.TB, config *rest.Config) clientset.Interface {
	tb.Helper()
	client, err := clientset.NewForConfig(config)
	require.NoError(tb, err)
	return client
}

// custom returns a client of custom resources.
func custom(tb testing.TB, config *rest.Config) dynamic.Interface {
	tb.Helper()
	client, err := dynamic.NewForConfig(config)
	require.NoError(tb, err)
	return client
}

// createCRD creates a definition and waits until it is established.
func createCRD(tb testing.TB, config *rest.Config, crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
	tb.Helper()
	client := definitions(tb, config).ApiextensionsV1().CustomResourceDefinitions()
	created, err := client.Create(tb.Context(), crd, metav1.CreateOptions{})
	require.NoError(tb, err)
	changes, err := client.Watch(tb.Context(), metav1.ListOptions{FieldSelector: "metadata.name=" + crd.Name, ResourceVersion: created.ResourceVersion})
	require.NoError(tb, err)
	defer changes.Stop()
	for change := range changes.ResultChan() {
		seen, ok := change.Object.(*apiextensionsv1.CustomResourceDefinition)
		require.True(tb, ok, "%v", change)
		if isEstablished(seen) {
			return seen
		}
	}
	require.FailNow(tb, "the watch ended")
	return nil
}

func isEstablished(crd *apiextensionsv1.CustomResourceDefinition) bool {
	for _, condition := range crd.Status.Conditions {
		if condition.Type == apiextensionsv1.Established {
			return condition.Status == apiextensionsv1.ConditionTrue
		}
	}
	return false
}

func createWidget(ctx context.Context, client dynamic.Interface, name string, spec map[string]any) (*unstructured.Unstructured, error) {
	return client.Resource(widgets).Namespace("default").Create(ctx, makeWidget(name, spec), metav1.CreateOptions{})
}

func TestObjectsOfANewDefinitionAreServedAtOnce(t *testing.T) {
	server := start(t, emulator.Options{})
	client := custom(t, server.Config())
	createCRD(t, server.Config(), makeCRD())
	created, err := createWidget(t.Context(), client, "w", map[string]any{"size": int64(3)})
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"size": int64(3), "replicas": int64(1)}, created.Object["spec"], "defaults are filled in")
}

// lifeOfADefinition is what crud is for other kinds: controllers write to a definition while it is new.
func lifeOfADefinition(t *testing.T, config *rest.Config) {
	t.Helper()
	client := definitions(t, config).ApiextensionsV1().CustomResourceDefinitions()
	created := createCRD(t, config, makeCRD())
	assert.NotEmpty(t, created.ManagedFields)
	_, err := client.Create(t.Context(), makeCRD(), metav1.CreateOptions{})
	require.True(t, apierrors.IsAlreadyExists(err), "%v", err)

	created.Labels = map[string]string{"step": "update"}
	updated, err := client.Update(t.Context(), created, metav1.UpdateOptions{})
	require.NoError(t, err)
	assert.Equal(t, "update", updated.Labels["step"])
	_, err = client.Update(t.Context(), created, metav1.UpdateOptions{})
	require.True(t, apierrors.IsConflict(err), "an old resource version must conflict, got %v", err)
	patched, err := client.Patch(t.Context(), created.Name, types.MergePatchType, []byte(`{"metadata":{"labels":{"step":"patch"}}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	assert.Equal(t, "patch", patched.Labels["step"])
	applied, err := client.Patch(t.Context(), created.Name, types.ApplyYAMLPatchType,
		[]byte(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"labels":{"by":"apply"}}}`),
		metav1.PatchOptions{FieldManager: "m"})
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"step": "patch", "by": "apply"}, applied.Labels)

	require.NoError(t, client.Delete(t.Context(), created.Name, metav1.DeleteOptions{}))
	await(t, config, crds, "", created.Name, isGone)
}
