package discovery_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/musterkube/muster/pkg/emulator/internal/discovery"
)

const accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

func ask(t *testing.T, h http.Handler, etag string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/apis", nil)
	r.Header.Set("Accept", accept)
	if etag != "" {
		r.Header.Set("If-None-Match", etag)
	}
	recorder := httptest.NewRecorder()
	h.ServeHTTP(recorder, r)
	return recorder
}

func TestDocumentKeepsTheOrderOfGroups(t *testing.T) {
	h, err := discovery.New([]discovery.Group{
		{Name: "zebra", Versions: []apidiscoveryv2.APIVersionDiscovery{{Version: "v1"}, {Version: "v1beta1"}}},
		{Name: "ant", Versions: []apidiscoveryv2.APIVersionDiscovery{{Version: "v1"}}},
	}, nil)
	require.NoError(t, err)

	answer := ask(t, h, "")

	require.Equal(t, http.StatusOK, answer.Code, answer.Body)
	var list apidiscoveryv2.APIGroupDiscoveryList
	require.NoError(t, json.Unmarshal(answer.Body.Bytes(), &list))
	assert.Equal(t, "APIGroupDiscoveryList", list.Kind)
	assert.Equal(t, "apidiscovery.k8s.io/v2", list.APIVersion)
	require.Len(t, list.Items, 2)
	assert.Equal(t, "zebra", list.Items[0].Name)
	assert.Equal(t, "v1beta1", list.Items[0].Versions[1].Version)
	assert.Equal(t, "ant", list.Items[1].Name)
}

func TestDocumentIsNotSentTwice(t *testing.T) {
	h, err := discovery.New([]discovery.Group{{Name: "a"}}, nil)
	require.NoError(t, err)
	etag := ask(t, h, "").Header().Get("ETag")
	require.NotEmpty(t, etag)
	again := ask(t, h, etag)
	assert.Equal(t, http.StatusNotModified, again.Code)
	assert.Empty(t, again.Body.Bytes())

	other, err := discovery.New([]discovery.Group{{Name: "b"}}, nil)
	require.NoError(t, err)
	assert.Equal(t, http.StatusOK, ask(t, other, etag).Code, "another document has another hash")
}

func TestSort(t *testing.T) {
	versions := []schema.GroupVersion{
		{Group: "coordination.k8s.io", Version: "v1"},
		{Group: "example.com", Version: "v1"},
		{Group: "scheduling.k8s.io", Version: "v1alpha2"},
		{Group: "batch", Version: "v1"},
		{Group: "another.example.com", Version: "v1beta1"},
		{Group: "another.example.com", Version: "v2"},
		{Group: "events.k8s.io", Version: "v1"},
		{Group: "scheduling.k8s.io", Version: "v1"},
		{Group: "", Version: "v1"},
	}
	discovery.Sort(versions)
	assert.Equal(t, []schema.GroupVersion{
		{Group: "", Version: "v1"},
		{Group: "events.k8s.io", Version: "v1"},
		{Group: "batch", Version: "v1"},
		{Group: "scheduling.k8s.io", Version: "v1"},
		{Group: "scheduling.k8s.io", Version: "v1alpha2"},
		{Group: "coordination.k8s.io", Version: "v1"},
		{Group: "another.example.com", Version: "v2"},
		{Group: "another.example.com", Version: "v1beta1"},
		{Group: "example.com", Version: "v1"},
	}, versions)
}

func TestGroupsThatComeAndGo(t *testing.T) {
	versions := []apidiscoveryv2.APIVersionDiscovery{{Version: "v1"}}
	var more []discovery.Group
	h, err := discovery.New([]discovery.Group{{Name: "batch", Versions: versions}, {Name: "coordination.k8s.io", Versions: versions}},
		func(*http.Request) ([]discovery.Group, error) { return more, nil })
	require.NoError(t, err)
	listed := func() (names []string, etag string) {
		answer := ask(t, h, "")
		require.Equal(t, http.StatusOK, answer.Code, answer.Body)
		var list apidiscoveryv2.APIGroupDiscoveryList
		require.NoError(t, json.Unmarshal(answer.Body.Bytes(), &list))
		for _, group := range list.Items {
			names = append(names, group.Name)
		}
		return names, answer.Header().Get("ETag")
	}
	before, etag := listed()
	assert.Equal(t, []string{"batch", "coordination.k8s.io"}, before)

	more = []discovery.Group{{Name: "zebra.io", Versions: versions}, {Name: "ant.io", Versions: versions}, {Name: "batch", Versions: versions}}
	with, other := listed()
	assert.Equal(t, []string{"batch", "coordination.k8s.io", "ant.io", "zebra.io"}, with, "one that is there already is not added")
	assert.NotEqual(t, etag, other)
	_, same := listed()
	assert.Equal(t, other, same)

	more = nil
	after, again := listed()
	assert.Equal(t, before, after)
	assert.Equal(t, etag, again)
}
