package emulator

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.etcd.io/etcd/client/v3/kubernetes"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

const (
	definitionKey = "/registry/apiextensions.k8s.io/customresourcedefinitions/dogs.example.com"
	dogKey        = "/registry/example.com/dogs/default/rex"
)

var dogs = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "dogs"}

func startForStore(t *testing.T, options Options) *Server {
	t.Helper()
	server, err := Start(t.Context(), options)
	require.NoError(t, err)
	t.Cleanup(server.Stop)
	return server
}

// stored returns what is stored under a key.
func stored(t *testing.T, server *Server, key string) []byte {
	t.Helper()
	response, err := server.store.Kubernetes.Get(t.Context(), key, kubernetes.GetOptions{})
	require.NoError(t, err)
	require.NotNil(t, response.KV, "nothing is stored under %s", key)
	return response.KV.Value
}

func TestCustomResourcesAreStoredAsInAKubeAPIServer(t *testing.T) {
	crd := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "dogs.example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "example.com", Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "dogs", Kind: "Dog"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object"}}}},
		},
	}
	first := startForStore(t, Options{CRDs: []*apiextensionsv1.CustomResourceDefinition{crd}})
	client, err := dynamic.NewForConfig(first.Config())
	require.NoError(t, err)
	_, err = client.Resource(dogs).Namespace("default").Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Dog", "metadata": map[string]any{"name": "rex"},
	}}, metav1.CreateOptions{})
	require.NoError(t, err)

	for key, want := range map[string]metav1.TypeMeta{
		definitionKey: {APIVersion: "apiextensions.k8s.io/v1beta1", Kind: "CustomResourceDefinition"},
		dogKey:        {APIVersion: "example.com/v1", Kind: "Dog"},
	} {
		var got metav1.TypeMeta
		require.NoError(t, json.Unmarshal(stored(t, first, key), &got))
		assert.Equal(t, want, got, key)
	}

	// Another server comes upon what the first has stored.
	second := startForStore(t, Options{})
	for _, key := range []string{dogKey, definitionKey} {
		_, err := second.store.Kubernetes.OptimisticPut(t.Context(), key, stored(t, first, key), 0, kubernetes.PutOptions{})
		require.NoError(t, err)
	}
	client, err = dynamic.NewForConfig(second.Config())
	require.NoError(t, err)
	rex, err := client.Resource(dogs).Namespace("default").Get(t.Context(), "rex", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, "Dog", rex.GetKind())

	// The times that are stored are true, whatever the handler is shown.
	definitions, err := clientset.NewForConfig(second.Config())
	require.NoError(t, err)
	read, err := definitions.ApiextensionsV1().CustomResourceDefinitions().Get(t.Context(), "dogs.example.com", metav1.GetOptions{})
	require.NoError(t, err)
	for _, condition := range read.Status.Conditions {
		assert.False(t, condition.LastTransitionTime.Before(&read.CreationTimestamp), condition.Type)
	}
}
