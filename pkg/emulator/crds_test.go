package emulator_test

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
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

const (
	eventually = time.Minute
	tick       = time.Millisecond
)

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
	assert.Eventually(t, func() bool { return !slices.Contains(servedResources(t, config), "widgets.example.com/v1") }, eventually, tick,
		"discovery follows when the server's informer has seen it")
}

func TestSchemaOfADefinition(t *testing.T) {
	server := start(t, emulator.Options{CRDs: []*apiextensionsv1.CustomResourceDefinition{makeCRD()}})
	client := custom(t, server.Config())
	cases := map[string]struct {
		spec    map[string]any
		wantErr string
	}{
		"what fits is let in":               {spec: map[string]any{"size": int64(2), "color": "red"}},
		"a required field must be there":    {spec: map[string]any{}, wantErr: "spec.size: Required value"},
		"a number has its bounds":           {spec: map[string]any{"size": int64(0)}, wantErr: "spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1"},
		"a value has to be of those listed": {spec: map[string]any{"size": int64(1), "color": "blue"}, wantErr: `spec.color: Unsupported value: "blue": supported values: "red", "green"`},
		"a rule holds":                      {spec: map[string]any{"size": int64(1), "replicas": int64(2)}, wantErr: "size must not be less than replicas"},
		"a type is a type":                  {spec: map[string]any{"size": "big"}, wantErr: "spec.size: Invalid value: \"string\": spec.size in body must be of type integer"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := client.Resource(widgets).Namespace("default").Create(t.Context(), makeWidget("w", tc.spec), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			if tc.wantErr == "" {
				require.NoError(t, err)
				return
			}
			require.True(t, apierrors.IsInvalid(err), "%v", err)
			assert.ErrorContains(t, err, tc.wantErr)
		})
	}
	unknown := map[string]any{"size": int64(1), "zz": true}
	created, err := createWidget(t.Context(), client, "w", unknown)
	require.NoError(t, err)
	assert.NotContains(t, created.Object["spec"], "zz", "unknown fields are pruned")
	_, err = client.Resource(widgets).Namespace("default").Create(t.Context(), makeWidget("v", unknown), metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
	assert.ErrorContains(t, err, `unknown field "spec.zz"`)
}

func TestStatusOfACustomResource(t *testing.T) {
	server := start(t, emulator.Options{CRDs: []*apiextensionsv1.CustomResourceDefinition{makeCRD()}})
	client := custom(t, server.Config()).Resource(widgets).Namespace("default")
	made := makeWidget("w", map[string]any{"size": int64(3)})
	made.Object["status"] = map[string]any{"phase": "Ready"}
	created, err := client.Create(t.Context(), made, metav1.CreateOptions{})
	require.NoError(t, err)
	assert.NotContains(t, created.Object, "status", "a status is written by itself")

	created.Object["status"] = map[string]any{"phase": "Ready", "replicas": int64(2)}
	created.Object["spec"] = map[string]any{"size": int64(9)}
	updated, err := client.UpdateStatus(t.Context(), created, metav1.UpdateOptions{})
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"phase": "Ready", "replicas": int64(2)}, updated.Object["status"])
	assert.Equal(t, map[string]any{"size": int64(3), "replicas": int64(1)}, updated.Object["spec"])
	assert.EqualValues(t, 1, updated.GetGeneration())

	updated.Object["spec"] = map[string]any{"size": int64(9), "replicas": int64(1)}
	updated.Object["status"] = map[string]any{"phase": "Gone"}
	updated, err = client.Update(t.Context(), updated, metav1.UpdateOptions{})
	require.NoError(t, err)
	assert.Equal(t, "Ready", updated.Object["status"].(map[string]any)["phase"])
	assert.EqualValues(t, 2, updated.GetGeneration())
}

func TestScaleOfACustomResource(t *testing.T) {
	server := start(t, emulator.Options{CRDs: []*apiextensionsv1.CustomResourceDefinition{makeCRD()}})
	client := custom(t, server.Config()).Resource(widgets).Namespace("default")
	_, err := client.Create(t.Context(), makeWidget("w", map[string]any{"size": int64(7)}), metav1.CreateOptions{})
	require.NoError(t, err)
	read, err := client.Get(t.Context(), "w", metav1.GetOptions{}, "scale")
	require.NoError(t, err)
	assert.Equal(t, "Scale", read.GetKind())
	assert.Equal(t, "autoscaling/v1", read.GetAPIVersion())
	assert.Equal(t, map[string]any{"replicas": int64(1)}, read.Object["spec"])

	read.Object["spec"] = map[string]any{"replicas": int64(5)}
	_, err = client.Update(t.Context(), read, metav1.UpdateOptions{}, "scale")
	require.NoError(t, err)
	widget, err := client.Get(t.Context(), "w", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"size": int64(7), "replicas": int64(5)}, widget.Object["spec"])
}

func TestVersionsOfACustomResource(t *testing.T) {
	server := start(t, emulator.Options{CRDs: []*apiextensionsv1.CustomResourceDefinition{makeCRD()}})
	client := custom(t, server.Config())
	_, err := createWidget(t.Context(), client, "w", map[string]any{"size": int64(7)})
	require.NoError(t, err)
	older := schema.GroupVersionResource{Group: widgets.Group, Version: "v1beta1", Resource: widgets.Resource}
	read, err := client.Resource(older).Namespace("default").Get(t.Context(), "w", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, "example.com/v1beta1", read.GetAPIVersion())
	unserved := schema.GroupVersionResource{Group: widgets.Group, Version: "v2", Resource: widgets.Resource}
	_, err = client.Resource(unserved).Namespace("default").Get(t.Context(), "w", metav1.GetOptions{})
	assert.True(t, apierrors.IsNotFound(err), "%v", err)
}

func TestTableOfACustomResource(t *testing.T) {
	server := start(t, emulator.Options{CRDs: []*apiextensionsv1.CustomResourceDefinition{makeCRD()}})
	_, err := createWidget(t.Context(), custom(t, server.Config()), "w", map[string]any{"size": int64(7)})
	require.NoError(t, err)
	code, _, body := raw(t, server.Config(), http.MethodGet, "/apis/example.com/v1/namespaces/default/widgets", "",
		http.Header{"Accept": {"application/json;as=Table;v=v1;g=meta.k8s.io"}})
	require.Equal(t, http.StatusOK, code, body)
	var table metav1.Table
	require.NoError(t, json.Unmarshal([]byte(body), &table))
	var columns []string
	for _, column := range table.ColumnDefinitions {
		columns = append(columns, column.Name)
	}
	assert.Equal(t, []string{"Name", "Size"}, columns)
	require.Len(t, table.Rows, 1)
	assert.Equal(t, []any{"w", 7.0}, table.Rows[0].Cells)
}

func TestSelectableFieldsOfACustomResource(t *testing.T) {
	server := start(t, emulator.Options{CRDs: []*apiextensionsv1.CustomResourceDefinition{makeCRD()}})
	client := custom(t, server.Config())
	for name, color := range map[string]string{"r": "red", "g": "green"} {
		_, err := createWidget(t.Context(), client, name, map[string]any{"size": int64(7), "color": color})
		require.NoError(t, err)
	}
	list, err := client.Resource(widgets).List(t.Context(), metav1.ListOptions{FieldSelector: "spec.color=red"})
	require.NoError(t, err)
	require.Len(t, list.Items, 1)
	assert.Equal(t, "r", list.Items[0].GetName())
	_, err = client.Resource(widgets).List(t.Context(), metav1.ListOptions{FieldSelector: "spec.size=7"})
	assert.True(t, apierrors.IsBadRequest(err), "%v", err)

	changes, err := client.Resource(widgets).Watch(t.Context(), metav1.ListOptions{FieldSelector: "spec.color=green", ResourceVersion: list.GetResourceVersion()})
	require.NoError(t, err)
	defer changes.Stop()
	_, err = client.Resource(widgets).Namespace("default").Patch(t.Context(), "r", types.MergePatchType, []byte(`{"spec":{"color":"green"}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	event := receive(t, changes.ResultChan())
	assert.Equal(t, watch.Added, event.Type, "what comes to fit is new to the watcher")
}

func TestServerSideApplyOfACustomResource(t *testing.T) {
	server := start(t, emulator.Options{CRDs: []*apiextensionsv1.CustomResourceDefinition{makeCRD()}})
	client := custom(t, server.Config()).Resource(widgets).Namespace("default")
	part := func(name string, weight int64) map[string]any { return map[string]any{"name": name, "weight": weight} }
	_, err := client.Apply(t.Context(), "w", makeWidget("w", map[string]any{"size": int64(3), "parts": []any{part("a", 1)}}), metav1.ApplyOptions{FieldManager: "one"})
	require.NoError(t, err)
	applied, err := client.Apply(t.Context(), "w", makeWidget("w", map[string]any{"parts": []any{part("b", 2)}}), metav1.ApplyOptions{FieldManager: "two"})
	require.NoError(t, err)
	assert.Equal(t, []any{part("a", 1), part("b", 2)}, applied.Object["spec"].(map[string]any)["parts"], "items are merged by their key")
	_, err = client.Apply(t.Context(), "w", makeWidget("w", map[string]any{"size": int64(4)}), metav1.ApplyOptions{FieldManager: "two"})
	require.True(t, apierrors.IsConflict(err), "%v", err)
	assert.ErrorContains(t, err, `conflict with "one": .spec.size`)
}

func TestPatchesOfACustomResource(t *testing.T) {
	server := start(t, emulator.Options{CRDs: []*apiextensionsv1.CustomResourceDefinition{makeCRD()}})
	client := custom(t, server.Config()).Resource(widgets).Namespace("default")
	_, err := client.Create(t.Context(), makeWidget("w", map[string]any{"size": int64(3)}), metav1.CreateOptions{})
	require.NoError(t, err)
	cases := map[string]struct {
		kind types.PatchType
		body string
		name string
		want string
	}{
		"a merge patch":                                      {kind: types.MergePatchType, body: `{"spec":{"size":4}}`},
		"a JSON patch":                                       {kind: types.JSONPatchType, body: `[{"op":"replace","path":"/spec/size","value":4}]`},
		"a merge patch that is no JSON":                      {kind: types.MergePatchType, body: `{"spec":`, want: "error decoding patch: unexpected end of JSON input"},
		"a broken patch of what is not there":                {kind: types.MergePatchType, body: `{"spec":`, name: "v", want: `widgets.example.com "v" not found`},
		"a JSON patch that is no JSON":                       {kind: types.JSONPatchType, body: `[`, want: "error decoding patch: unexpected end of JSON input"},
		"an applied patch that is no YAML":                   {kind: types.ApplyYAMLPatchType, body: "a: b: c", want: "error decoding YAML: error converting YAML to JSON: yaml: mapping values are not allowed in this context"},
		"a strategic merge patch, of which nothing is known": {kind: types.StrategicMergePatchType, body: `{"spec":{"size":4}}`, want: "the body of the request was in an unknown format"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			patched, err := client.Patch(t.Context(), cmp.Or(tc.name, "w"), tc.kind, []byte(tc.body), metav1.PatchOptions{FieldManager: "m", DryRun: []string{metav1.DryRunAll}})
			if tc.want != "" {
				require.ErrorContains(t, err, tc.want)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, int64(4), patched.Object["spec"].(map[string]any)["size"])
		})
	}
}

func TestTableOfDefinitions(t *testing.T) {
	server := start(t, emulator.Options{CRDs: []*apiextensionsv1.CustomResourceDefinition{makeCRD()}})
	_, _, body := raw(t, server.Config(), http.MethodGet, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "",
		http.Header{"Accept": {"application/json;as=Table;v=v1;g=meta.k8s.io"}})
	var table metav1.Table
	require.NoError(t, json.Unmarshal([]byte(body), &table))
	require.Len(t, table.Rows, 1)
	require.Len(t, table.ColumnDefinitions, 2)
	assert.Equal(t, "Created At", table.ColumnDefinitions[1].Name, "Kubernetes 1.36 has no more columns")
}
