package emulator_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"

	"github.com/musterkube/muster/pkg/emulator"
)

func TestDiscoveryOfCustomResources(t *testing.T) {
	server := start(t, emulator.Options{})
	for form, legacy := range map[string]bool{"one document": false, "a document a group": true} {
		t.Run(form, func(t *testing.T) {
			client, err := discovery.NewDiscoveryClientForConfig(server.Config())
			require.NoError(t, err)
			client.UseLegacyDiscovery = legacy
			before, err := client.ServerGroups()
			require.NoError(t, err)

			// No waiting: once a client knows that a definition is established, discovery has it.
			createCRD(t, server.Config(), makeCRD())
			groups, lists, err := client.ServerGroupsAndResources()
			require.NoError(t, err)
			require.Len(t, groups, len(before.Groups)+1)
			last := groups[len(groups)-1]
			assert.Equal(t, "example.com", last.Name, "custom groups come after those of Kubernetes")
			assert.Equal(t, "example.com/v1", last.PreferredVersion.GroupVersion)
			assert.Len(t, last.Versions, 2)
			got := map[string]described{}
			for _, list := range lists {
				for _, r := range list.APIResources {
					if strings.HasPrefix(list.GroupVersion, "example.com/") {
						if strings.Contains(r.Name, "/") {
							r.SingularName = ""
						}
						got[list.GroupVersion+" "+r.Name] = described{Singular: r.SingularName, Namespaced: r.Namespaced, Kind: r.Kind,
							Short: r.ShortNames, Categories: r.Categories, Verbs: strings.Join(r.Verbs, " ")}
					}
				}
			}
			const verbs = "delete deletecollection get list patch create update watch"
			want := map[string]described{}
			for _, version := range []string{"example.com/v1", "example.com/v1beta1"} {
				want[version+" widgets"] = described{Singular: "widget", Namespaced: true, Kind: "Widget", Short: []string{"wd"}, Categories: []string{"all"}, Verbs: verbs}
				want[version+" widgets/status"] = described{Namespaced: true, Kind: "Widget", Verbs: statusVerbs}
				want[version+" widgets/scale"] = described{Namespaced: true, Kind: "Scale", Verbs: statusVerbs}
			}
			assert.Equal(t, want, got)

			require.NoError(t, definitions(t, server.Config()).ApiextensionsV1().CustomResourceDefinitions().
				Delete(t.Context(), "widgets.example.com", metav1.DeleteOptions{}))
			await(t, server.Config(), crds, "", "widgets.example.com", isGone)
			assert.Eventually(t, func() bool {
				after, err := client.ServerGroups()
				return err == nil && assert.ObjectsAreEqual(before, after)
			}, eventually, tick)
		})
	}
}

func TestDocumentOfACustomGroup(t *testing.T) {
	server := start(t, emulator.Options{CRDs: []*apiextensionsv1.CustomResourceDefinition{makeCRD()}})
	code, _, body := raw(t, server.Config(), http.MethodGet, "/apis/example.com", "", nil)
	require.Equal(t, http.StatusOK, code, body)
	var group metav1.APIGroup
	require.NoError(t, json.Unmarshal([]byte(body), &group))
	assert.Equal(t, "APIGroup", group.Kind)
	assert.Equal(t, "example.com/v1", group.PreferredVersion.GroupVersion)
	_, _, index := raw(t, server.Config(), http.MethodGet, "/", "", nil)
	assert.Contains(t, index, `"/apis/example.com/v1beta1"`)
	for _, path := range []string{"/apis/example.org", "/apis/example.com/v2", "/apis/example.com/v1/gadgets", "/apis/example.com/v1/widgets/a/b/c"} {
		code, _, body = raw(t, server.Config(), http.MethodGet, path, "", nil)
		assert.Equal(t, http.StatusNotFound, code, path)
		assert.Contains(t, body, "404 page not found", path)
	}
}

// openAPIV3 is what a test looks at of a document, or of the index of documents.
type openAPIV3 struct {
	Paths      map[string]struct{ ServerRelativeURL string }
	Components struct {
		Schemas map[string]struct {
			Description string
			Properties  map[string]struct {
				Description string
				Properties  map[string]struct{ Description string }
			}
			Kinds []metav1.GroupVersionKind `json:"x-kubernetes-group-version-kind"`
		}
	}
}

func getOpenAPI[T any](t *testing.T, server *emulator.Server, path string) T {
	t.Helper()
	code, _, body := raw(t, server.Config(), http.MethodGet, path, "", nil)
	require.Equal(t, http.StatusOK, code, body)
	var document T
	require.NoError(t, json.Unmarshal([]byte(body), &document))
	return document
}

func TestOpenAPI3OfCustomResources(t *testing.T) {
	server := start(t, emulator.Options{})
	before := getOpenAPI[openAPIV3](t, server, "/openapi/v3")
	require.NotContains(t, before.Paths, "apis/example.com/v1")
	createCRD(t, server.Config(), makeCRD())

	index := getOpenAPI[openAPIV3](t, server, "/openapi/v3")
	require.Len(t, index.Paths, len(before.Paths)+2)
	for name, document := range before.Paths {
		assert.Equal(t, document, index.Paths[name])
	}
	document := getOpenAPI[openAPIV3](t, server, index.Paths["apis/example.com/v1"].ServerRelativeURL)
	model := document.Components.Schemas["com.example.v1.Widget"]
	assert.Equal(t, "Widget is a thing of many parts.", model.Description)
	assert.Equal(t, "How big it is.", model.Properties["spec"].Properties["size"].Description)
	assert.Equal(t, []metav1.GroupVersionKind{{Group: "example.com", Version: "v1", Kind: "Widget"}}, model.Kinds)
	assert.Contains(t, document.Paths, "/apis/example.com/v1/namespaces/{namespace}/widgets/{name}/scale")
	assert.NotEmpty(t, getOpenAPI[openAPIV3](t, server, index.Paths["api/v1"].ServerRelativeURL).Components.Schemas)

	code, _, _ := raw(t, server.Config(), http.MethodGet, "/openapi/v3/apis/example.org/v1", "", nil)
	assert.Equal(t, http.StatusNotFound, code)

	definition := getOpenAPI[openAPIV3](t, server, index.Paths["apis/apiextensions.k8s.io/v1"].ServerRelativeURL)
	model = definition.Components.Schemas["io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition"]
	assert.Equal(t, []metav1.GroupVersionKind{{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}}, model.Kinds)
}

func TestOpenAPI2OfCustomResources(t *testing.T) {
	server := start(t, emulator.Options{})
	type swagger struct {
		Definitions map[string]struct{ Description string }
	}
	before := getOpenAPI[swagger](t, server, "/openapi/v2")
	createCRD(t, server.Config(), makeCRD())
	after := getOpenAPI[swagger](t, server, "/openapi/v2")
	assert.Equal(t, "Widget is a thing of many parts.", after.Definitions["com.example.v1.Widget"].Description)
	assert.Contains(t, after.Definitions, "com.example.v1beta1.WidgetList")
	for name := range before.Definitions {
		assert.Contains(t, after.Definitions, name)
	}
	other := getOpenAPI[swagger](t, start(t, emulator.Options{}), "/openapi/v2")
	assert.NotContains(t, other.Definitions, "com.example.v1.Widget", "other servers of the process know nothing of it")
}
