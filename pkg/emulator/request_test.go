package emulator_test

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/pkg/emulator"
)

const workloadsPath = "/apis/scheduling.k8s.io/v1alpha2/namespaces/default/workloads"

// raw sends a request without a client library and returns the answer's code, header and body.
func raw(t *testing.T, config *rest.Config, method, path, body string, header http.Header) (int, http.Header, string) {
	t.Helper()
	client, err := rest.HTTPClientFor(config)
	require.NoError(t, err)
	request, err := http.NewRequestWithContext(t.Context(), method, config.Host+path, strings.NewReader(body))
	require.NoError(t, err)
	maps.Copy(request.Header, header)
	response, err := client.Do(request)
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, response.Header, string(content)
}

func TestDryRunChangesNothing(t *testing.T) {
	server := start(t, emulator.Options{})
	workloads := muster(t, server.Config()).SchedulingV1alpha2().Workloads("default")
	dryRun := []string{metav1.DryRunAll}

	created, err := workloads.Create(t.Context(), makeWorkload("w"), metav1.CreateOptions{DryRun: dryRun})
	require.NoError(t, err)
	assert.NotEmpty(t, created.UID)
	_, err = workloads.Get(t.Context(), "w", metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err), "%v", err)

	stored, err := workloads.Create(t.Context(), makeWorkload("w"), metav1.CreateOptions{})
	require.NoError(t, err)
	patched, err := workloads.Patch(t.Context(), "w", types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`), metav1.PatchOptions{DryRun: dryRun})
	require.NoError(t, err)
	assert.Equal(t, "b", patched.Labels["a"])
	require.NoError(t, workloads.Delete(t.Context(), "w", metav1.DeleteOptions{DryRun: dryRun}))
	read, err := workloads.Get(t.Context(), "w", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, stored, read)
}

func TestFieldValidation(t *testing.T) {
	const body = `{"apiVersion":"scheduling.k8s.io/v1alpha2","kind":"Workload","metadata":{"generateName":"w"},` +
		`"spec":{"podGroupTemplates":[{"name":"a","name":"workers","size":3,"schedulingPolicy":{"gang":{"minCount":4}}}]}}`
	const newer = `{"apiVersion":"batch/v1","kind":"Job","metadata":{"generateName":"j"},"spec":{"scheduling":{},"template":{"spec":` +
		`{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}`
	cases := map[string]struct {
		path, body, mode string
		wantCode         int
		wantWarnings     []string
		wantMessage      string
	}{
		"strict refuses unknown and repeated fields": {
			path: workloadsPath, body: body, mode: "Strict", wantCode: http.StatusBadRequest,
			wantMessage: `strict decoding error: duplicate field "spec.podGroupTemplates[0].name", unknown field "spec.podGroupTemplates[0].size"`,
		},
		"warn names them": {
			path: workloadsPath, body: body, mode: "Warn", wantCode: http.StatusCreated,
			wantWarnings: []string{`299 - "duplicate field \"spec.podGroupTemplates[0].name\""`, `299 - "unknown field \"spec.podGroupTemplates[0].size\""`},
		},
		"ignore drops them": {path: workloadsPath, body: body, mode: "Ignore", wantCode: http.StatusCreated},
		"strict refuses fields that are newer than 1.36": {
			path: "/apis/batch/v1/namespaces/default/jobs", body: newer, mode: "Strict", wantCode: http.StatusBadRequest,
			wantMessage: `unknown field "spec.scheduling"`,
		},
	}
	server := start(t, emulator.Options{})
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			code, header, answer := raw(t, server.Config(), http.MethodPost, tc.path+"?fieldValidation="+tc.mode, tc.body,
				http.Header{"Content-Type": {"application/json"}})
			assert.Equal(t, tc.wantCode, code, answer)
			assert.Equal(t, tc.wantWarnings, header["Warning"])
			if tc.wantMessage != "" {
				var status metav1.Status
				require.NoError(t, json.Unmarshal([]byte(answer), &status))
				assert.Contains(t, status.Message, tc.wantMessage)
			}
		})
	}
}

func TestYAMLIsReadAndWritten(t *testing.T) {
	const body = `
apiVersion: scheduling.k8s.io/v1alpha2
kind: Workload
metadata: {name: w}
spec:
  podGroupTemplates:
  - name: workers
    schedulingPolicy: {gang: {minCount: 4}}
`
	server := start(t, emulator.Options{})
	code, header, answer := raw(t, server.Config(), http.MethodPost, workloadsPath, body,
		http.Header{"Content-Type": {"application/yaml"}, "Accept": {"application/yaml"}})
	require.Equal(t, http.StatusCreated, code, answer)
	assert.Equal(t, "application/yaml", header.Get("Content-Type"))
	assert.Contains(t, answer, "\nkind: Workload\n")
}

func TestTables(t *testing.T) {
	server := start(t, emulator.Options{})
	_, err := muster(t, server.Config()).SchedulingV1alpha2().PodGroups("default").Create(t.Context(), makePodGroup("g"), metav1.CreateOptions{})
	require.NoError(t, err)
	code, _, answer := raw(t, server.Config(), http.MethodGet, "/apis/scheduling.k8s.io/v1alpha2/namespaces/default/podgroups", "",
		http.Header{"Accept": {"application/json;as=Table;v=v1;g=meta.k8s.io"}})
	require.Equal(t, http.StatusOK, code, answer)
	var table metav1.Table
	require.NoError(t, json.Unmarshal([]byte(answer), &table))
	require.NotEmpty(t, table.ColumnDefinitions)
	assert.Equal(t, "Name", table.ColumnDefinitions[0].Name)
	require.Len(t, table.Rows, 1)
	assert.Equal(t, "g", table.Rows[0].Cells[0])
	assert.Len(t, table.Rows[0].Cells, len(table.ColumnDefinitions))
	assert.Contains(t, string(table.Rows[0].Object.Raw), `"kind":"PartialObjectMetadata"`)
}

func TestPartialMetadata(t *testing.T) {
	server := start(t, emulator.Options{})
	workload := makeWorkload("w")
	workload.Labels = map[string]string{"a": "b"}
	_, err := muster(t, server.Config()).SchedulingV1alpha2().Workloads("default").Create(t.Context(), workload, metav1.CreateOptions{})
	require.NoError(t, err)
	client, err := metadata.NewForConfig(server.Config())
	require.NoError(t, err)
	resource := client.Resource(schedulingv1alpha2.SchemeGroupVersion.WithResource("workloads")).Namespace("default")

	list, err := resource.List(t.Context(), metav1.ListOptions{LabelSelector: "a=b"})
	require.NoError(t, err)
	require.Len(t, list.Items, 1)
	assert.Equal(t, "w", list.Items[0].Name)
	one, err := resource.Get(t.Context(), "w", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"a": "b"}, one.Labels)
}

func TestListsComeInPages(t *testing.T) {
	server := start(t, emulator.Options{})
	configMaps := kube(t, server.Config()).CoreV1().ConfigMaps("default")
	for _, name := range []string{"a", "b", "c"} {
		_, err := configMaps.Create(t.Context(), makeConfigMap(name), metav1.CreateOptions{})
		require.NoError(t, err)
	}
	first, err := configMaps.List(t.Context(), metav1.ListOptions{Limit: 2})
	require.NoError(t, err)
	require.Len(t, first.Items, 2)
	assert.Equal(t, int64(1), *first.RemainingItemCount)
	require.NoError(t, configMaps.Delete(t.Context(), "c", metav1.DeleteOptions{}))
	rest, err := configMaps.List(t.Context(), metav1.ListOptions{Limit: 2, Continue: first.Continue})
	require.NoError(t, err)
	require.Len(t, rest.Items, 1, "a continued list shows what was there when it began")
	assert.Equal(t, "c", rest.Items[0].Name)
	assert.Equal(t, first.ResourceVersion, rest.ResourceVersion)

	require.NoError(t, server.Compact(t.Context()))
	_, err = configMaps.List(t.Context(), metav1.ListOptions{Limit: 2, Continue: first.Continue})
	assert.True(t, apierrors.IsResourceExpired(err), "%v", err)
}

func TestImpersonation(t *testing.T) {
	config := start(t, emulator.Options{}).Config()
	config.Impersonate = rest.ImpersonationConfig{UserName: "bob"}
	client := kube(t, config)

	_, err := client.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
	require.True(t, apierrors.IsForbidden(err), "%v", err)
	assert.EqualError(t, err, `pods is forbidden: User "bob" cannot list resource "pods" in API group "" in the namespace "default"`)
	_, err = client.Discovery().ServerGroups()
	require.NoError(t, err, "everybody who is authenticated may see what there is")
	_, err = client.Discovery().ServerVersion()
	require.NoError(t, err)
	code, _, answer := raw(t, config, http.MethodGet, "/metrics", "", nil)
	assert.Equal(t, http.StatusForbidden, code)
	assert.Contains(t, answer, `forbidden: User \"bob\" cannot get path \"/metrics\"`)

	config.Impersonate.Groups = []string{"system:masters"}
	_, err = kube(t, config).CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
}

func TestImpersonationNeedsAUser(t *testing.T) {
	config := start(t, emulator.Options{}).Config()
	code, _, body := raw(t, config, http.MethodGet, "/api/v1/pods", "", http.Header{"Impersonate-Group": {"system:masters"}})
	assert.Equal(t, http.StatusBadRequest, code)
	var status metav1.Status
	require.NoError(t, json.Unmarshal([]byte(body), &status))
	assert.Equal(t, `requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"system:masters"}, Extra:map[string][]string(nil)} `+
		"without impersonating a user name", status.Message)
}
