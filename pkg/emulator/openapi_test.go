package emulator_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/discovery"

	"github.com/musterkube/muster/pkg/emulator"
)

// document is the part of an OpenAPI document of either version that the tests look at.
type document struct {
	Info        struct{ Title, Version string }
	Definitions map[string]model
	Components  struct{ Schemas map[string]model }
	Paths       map[string]any
}

type model struct {
	Properties map[string]any
	Kinds      []struct{ Group, Version, Kind string } `json:"x-kubernetes-group-version-kind"`
}

func fetch(t *testing.T, server *emulator.Server, path string) document {
	t.Helper()
	code, _, body := raw(t, server.Config(), http.MethodGet, path, "", http.Header{"Accept": {"application/json"}})
	require.Equal(t, http.StatusOK, code, path)
	var d document
	require.NoError(t, json.Unmarshal([]byte(body), &d), path)
	return d
}

// kindsOf returns the kinds that models stand for.
func kindsOf(t *testing.T, models map[string]model) map[string]bool {
	t.Helper()
	kinds := map[string]bool{}
	for name, m := range models {
		for _, k := range m.Kinds {
			assert.NotEqual(t, "__internal", k.Version, name)
			kinds[strings.TrimPrefix(k.Group+"/"+k.Version, "/")+" "+k.Kind] = true
		}
	}
	return kinds
}

func TestOpenAPIHoldsEveryServedKind(t *testing.T) {
	server := start(t, emulator.Options{})
	client, err := discovery.NewDiscoveryClientForConfig(server.Config())
	require.NoError(t, err)
	_, lists, err := client.ServerGroupsAndResources()
	require.NoError(t, err)
	v2 := fetch(t, server, "/openapi/v2")
	assert.Equal(t, "Kubernetes", v2.Info.Title)
	inV2 := kindsOf(t, v2.Definitions)
	for _, list := range lists {
		root := "/apis/"
		if !strings.Contains(list.GroupVersion, "/") {
			root = "/api/"
		}
		v3 := fetch(t, server, "/openapi/v3"+root+list.GroupVersion)
		inV3 := kindsOf(t, v3.Components.Schemas)
		for _, r := range list.APIResources {
			version := list.GroupVersion
			if r.Version != "" {
				version = strings.TrimPrefix(r.Group+"/"+r.Version, "/")
			}
			assert.True(t, inV2[version+" "+r.Kind], "OpenAPI 2 lacks %s %s", version, r.Kind)
			assert.True(t, inV3[version+" "+r.Kind], "OpenAPI 3 lacks %s %s", version, r.Kind)
			path := root + list.GroupVersion + "/"
			if r.Namespaced {
				path += "namespaces/{namespace}/"
			}
			path += strings.Replace(r.Name, "/", "/{name}/", 1)
			assert.Contains(t, v2.Paths, path)
			assert.Contains(t, v3.Paths, path)
		}
	}
}

func TestOpenAPIIsThatOfKubernetes136(t *testing.T) {
	server := start(t, emulator.Options{})
	ours := fetch(t, server, "/openapi/v3/apis/scheduling.k8s.io/v1alpha2").Components.Schemas
	assert.Contains(t, ours, "io.k8s.api.scheduling.v1alpha2.Workload")
	assert.Contains(t, ours["io.k8s.api.scheduling.v1alpha2.PodGroupSpec"].Properties, "schedulingPolicy")
	jobs := fetch(t, server, "/openapi/v3/apis/batch/v1").Components.Schemas
	assert.NotContains(t, jobs["io.k8s.api.batch.v1.JobSpec"].Properties, "scheduling", "came with 1.37")
	assert.Contains(t, jobs["io.k8s.api.batch.v1.JobSpec"].Properties, "managedBy")
	for name := range jobs {
		assert.NotContains(t, name, "v1alpha3", "is used by nothing that is left")
		assert.NotContains(t, name, "musterkube")
	}
}

func TestOpenAPIIndexLeadsToEachDocument(t *testing.T) {
	server := start(t, emulator.Options{})
	_, _, body := raw(t, server.Config(), http.MethodGet, "/openapi/v3", "", nil)
	var index struct {
		Paths map[string]struct{ ServerRelativeURL string }
	}
	require.NoError(t, json.Unmarshal([]byte(body), &index))
	require.Contains(t, index.Paths, "apis/scheduling.k8s.io/v1alpha2")
	require.Contains(t, index.Paths, "api/v1")
	for name, path := range index.Paths {
		code, header, _ := raw(t, server.Config(), http.MethodGet, path.ServerRelativeURL, "", nil)
		assert.Equal(t, http.StatusOK, code, name)
		assert.Contains(t, header.Get("Cache-Control"), "immutable", name)
	}
	paths, err := kube(t, server.Config()).Discovery().OpenAPIV3().Paths()
	require.NoError(t, err)
	assert.Len(t, paths, len(index.Paths))
}

func TestOpenAPIAsProtobuf(t *testing.T) {
	server := start(t, emulator.Options{})
	schema, err := kube(t, server.Config()).Discovery().OpenAPISchema()
	require.NoError(t, err)
	var fromJSON document
	code, _, body := raw(t, server.Config(), http.MethodGet, "/openapi/v2", "", nil)
	require.Equal(t, http.StatusOK, code)
	require.NoError(t, json.Unmarshal([]byte(body), &fromJSON))
	assert.Len(t, schema.GetDefinitions().GetAdditionalProperties(), len(fromJSON.Definitions))
}

// Documents are shared by the servers of a process, and built when the first of them is asked.
func TestOpenAPIOfManyServersAtOnce(t *testing.T) {
	done := make(chan int)
	const count = 8
	for range count {
		go func() {
			server := start(t, emulator.Options{})
			code, _, _ := raw(t, server.Config(), http.MethodGet, "/openapi/v3", "", nil)
			_, _, document := raw(t, server.Config(), http.MethodGet, "/openapi/v2", "", nil)
			assert.NotEmpty(t, document)
			done <- code
		}()
	}
	for range count {
		assert.Equal(t, http.StatusOK, <-done)
	}
}
