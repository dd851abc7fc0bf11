package emulator_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/musterkube/muster/pkg/emulator"
)

// kueue has definitions of Kueue 0.17, as its repository has them (Apache License 2.0).
const kueue = "testdata/crds"

func TestDefinitionsOfTheFieldAreServed(t *testing.T) {
	server := start(t, emulator.Options{CRDPaths: []string{kueue}, CRDs: []*apiextensionsv1.CustomResourceDefinition{makeCRD()}})
	client := custom(t, server.Config())
	list, err := definitions(t, server.Config()).ApiextensionsV1().CustomResourceDefinitions().List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	var names []string
	for _, crd := range list.Items {
		assert.True(t, isEstablished(&crd), crd.Name)
		names = append(names, crd.Name)
	}
	assert.Equal(t, []string{"localqueues.kueue.x-k8s.io", "resourceflavors.kueue.x-k8s.io", "topologies.kueue.x-k8s.io", "widgets.example.com"}, names)

	kueueVersion := schema.GroupVersion{Group: "kueue.x-k8s.io", Version: "v1beta2"}
	object := func(kind, name string, spec map[string]any) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": kueueVersion.String(), "kind": kind, "metadata": map[string]any{"name": name}, "spec": spec,
		}}
	}
	_, err = client.Resource(kueueVersion.WithResource("resourceflavors")).Create(t.Context(), object("ResourceFlavor", "spot", map[string]any{
		"nodeLabels": map[string]any{"spot": "true"}}), metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = client.Resource(kueueVersion.WithResource("topologies")).Create(t.Context(), object("Topology", "flat", map[string]any{
		"levels": []any{map[string]any{"nodeLabel": "kubernetes.io/hostname"}}}), metav1.CreateOptions{})
	require.NoError(t, err)
	queues := client.Resource(kueueVersion.WithResource("localqueues")).Namespace("default")
	queue, err := queues.Create(t.Context(), object("LocalQueue", "q", map[string]any{"clusterQueue": "c"}), metav1.CreateOptions{})
	require.NoError(t, err)
	assert.Equal(t, "None", queue.Object["spec"].(map[string]any)["stopPolicy"], "a default of the definition")
	_, err = queues.Create(t.Context(), object("LocalQueue", "r", map[string]any{"clusterQueue": "Not A Name"}), metav1.CreateOptions{})
	require.True(t, apierrors.IsInvalid(err), "%v", err)
}

func writeFile(t *testing.T, folder, name, content string) string {
	t.Helper()
	path := filepath.Join(folder, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

// asYAML returns a definition as a manifest has it.
func asYAML(t *testing.T, change func(*apiextensionsv1.CustomResourceDefinition)) string {
	t.Helper()
	crd := makeCRD()
	crd.TypeMeta = metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"}
	if change != nil {
		change(crd)
	}
	content, err := yaml.Marshal(crd)
	require.NoError(t, err)
	return string(content)
}

func TestReadCRDs(t *testing.T) {
	folder := t.TempDir()
	const other = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n"
	content, err := yaml.YAMLToJSON([]byte(asYAML(t, nil)))
	require.NoError(t, err)
	inList, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": []json.RawMessage{content}})
	require.NoError(t, err)
	writeFile(t, folder, "many/release.yaml", "---\n"+other+"---\n"+asYAML(t, nil)+"---\n# nothing\n---\n"+other)
	writeFile(t, folder, "many/kustomization.yml", "resources: [release.yaml]\n")
	writeFile(t, folder, "many/deeper/object.json", string(content))
	writeFile(t, folder, "many/README.md", "not: [read")
	list := writeFile(t, folder, "list.json", string(inList))
	unusual := writeFile(t, folder, "unusual.txt", asYAML(t, nil))

	read, err := emulator.ReadCRDs(filepath.Join(folder, "many"), list, unusual)
	require.NoError(t, err)
	require.Len(t, read, 4)
	for _, crd := range read {
		assert.Equal(t, makeCRD().Spec, crd.Spec)
	}
}

func TestBadDefinitionsAreNamed(t *testing.T) {
	folder := t.TempDir()
	cases := map[string]struct {
		content string
		want    []string
	}{
		"what is no YAML":         {content: "a: b: c", want: []string{"document 1", "mapping values are not allowed"}},
		"an older version":        {content: "apiVersion: apiextensions.k8s.io/v1beta1\nkind: CustomResourceDefinition\nmetadata: {name: x.y}\n", want: []string{"CustomResourceDefinition x.y", "apiVersion", "v1beta1"}},
		"a field that is none":    {content: asYAML(t, nil) + "nope: 1\n", want: []string{"document 1", "CustomResourceDefinition widgets.example.com", `unknown field "nope"`}},
		"a field of a wrong type": {content: "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: x.y}\nspec: {group: [1]}\n", want: []string{"CustomResourceDefinition x.y", "spec.group"}},
		"no definition at all":    {content: "apiVersion: v1\nkind: ConfigMap\n", want: []string{"there is none of apiextensions.k8s.io/v1"}},
		"an invalid one": {content: asYAML(t, func(crd *apiextensionsv1.CustomResourceDefinition) { crd.Spec.Names.Plural = "gadgets" }),
			want: []string{"custom resource definition widgets.example.com", `metadata.name: Invalid value: "widgets.example.com": must be spec.names.plural+"."+spec.group`}},
		"one with a rule that does not compile": {
			content: asYAML(t, func(crd *apiextensionsv1.CustomResourceDefinition) {
				crd.Spec.Versions = crd.Spec.Versions[:1]
				spec := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
				spec.XValidations[0].Rule = "self.nope > 1"
			}),
			want: []string{"widgets.example.com", "properties[spec].x-kubernetes-validations[0].rule", "undefined field 'nope'"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			path := writeFile(t, folder, "crd.yaml", tc.content)
			server, err := emulator.Start(t.Context(), emulator.Options{CRDPaths: []string{path}})
			require.Error(t, err)
			assert.Nil(t, server)
			for _, want := range append(tc.want, path) {
				assert.ErrorContains(t, err, want)
			}
		})
	}
	_, err := emulator.Start(t.Context(), emulator.Options{CRDPaths: []string{filepath.Join(folder, "nowhere")}})
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = emulator.Start(t.Context(), emulator.Options{CRDs: []*apiextensionsv1.CustomResourceDefinition{nil}})
	require.ErrorContains(t, err, "Options.CRDs[0]: Required value: the definition is nil")
	_, err = emulator.Start(t.Context(), emulator.Options{CRDs: []*apiextensionsv1.CustomResourceDefinition{makeCRD(), makeCRD()}})
	require.ErrorContains(t, err, `Options.CRDs[1]: Duplicate value: "widgets.example.com": there is another custom resource definition of that name`)
	rival := makeCRD()
	rival.Name, rival.Spec.Names.Plural, rival.Spec.Names.ShortNames = "gadgets.example.com", "gadgets", nil
	_, err = emulator.Start(t.Context(), emulator.Options{CRDs: []*apiextensionsv1.CustomResourceDefinition{makeCRD(), rival}})
	require.ErrorContains(t, err, "its names are not accepted")
	requireNoGoroutines(t)
}
