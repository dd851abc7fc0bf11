package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/musterkube/muster/pkg/cluster"
	"github.com/musterkube/muster/pkg/cluster/clustertest"
	"github.com/musterkube/muster/pkg/features"
)

func TestTour(t *testing.T) {
	c := clustertest.Start(t, cluster.Options{}) // with controllers, which take finalizers away
	var stdout, stderr bytes.Buffer
	require.Equal(t, exitDone, run(t.Context(), []string{"--kubeconfig", c.Kubeconfig(), "--context", "muster"}, &stdout, &stderr), stderr.String())
	assert.Regexp(t, `^there are 0 PodGroups in default
applied default/typed-client-tour, resource version (\d+)
the informer has seen: added default/typed-client-tour labels="<none>"
applied default/typed-client-tour, resource version (\d+)
applied default/typed-client-tour, resource version (\d+)
the informer has seen: updated default/typed-client-tour labels="team=research"
the lister has typed-client-tour, a gang of 4
`, stdout.String())
	groups, err := c.Muster.SchedulingV1alpha2().Workloads("default").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	assert.Empty(t, groups.Items)
}

func TestClusterWithoutTheAPI(t *testing.T) {
	c := clustertest.Start(t, cluster.Options{Gates: features.KubernetesDefaults(), Controllers: []string{}})
	var stdout, stderr bytes.Buffer
	assert.Equal(t, exitNotServed, run(t.Context(), []string{"--kubeconfig", c.Kubeconfig()}, &stdout, &stderr))
	assert.Regexp(t, `^typed-client: https://127.0.0.1:\d+ \(Kubernetes v1.36.3.*\) does not serve scheduling.k8s.io/v1alpha2; of scheduling.k8s.io it serves v1\n`, stderr.String())
	assert.Contains(t, stderr.String(), "--feature-gates=GenericWorkload=true --runtime-config=scheduling.k8s.io/v1alpha2=true")
	assert.Empty(t, stdout.String())
}

func TestAdviceKnowsOtherReleases(t *testing.T) {
	assert.Contains(t, (&notServedError{served: []string{"v1", "v1alpha1"}}).advice(), "Kubernetes 1.35")
	assert.Contains(t, (&notServedError{served: []string{"v1", "v1alpha3"}}).advice(), "Kubernetes 1.37")
	assert.ErrorContains(t, &notServedError{host: "h", release: "v1.30.0"}, "of scheduling.k8s.io it serves nothing")
}

func TestWrongCalls(t *testing.T) {
	broken, empty := write(t, "a: ["), write(t, "")
	whole := write(t, "current-context: c\ncontexts: [{name: c, context: {cluster: c}}]\n"+
		"clusters: [{name: c, cluster: {server: https://127.0.0.1:1, certificate-authority-data: eA==}}]\n")
	for name, tc := range map[string]struct {
		args []string
		want int
		text string
	}{
		"help":                {[]string{"--help"}, exitDone, "--context"},
		"an argument":         {[]string{"list"}, exitUsage, "typed-client: unexpected argument \"list\"\nSee typed-client --help.\n"},
		"an unknown flag":     {[]string{"--what"}, exitUsage, "typed-client: unknown flag: --what\nSee typed-client --help.\n"},
		"help tells codes":    {[]string{"--help"}, exitDone, "  3  the cluster does not serve"},
		"a file that is none": {[]string{"--kubeconfig", "/none"}, exitUsage, "typed-client: --kubeconfig \"/none\": no such file or directory: want the kubeconfig of a cluster\nSee typed-client --help.\n"},
		"a folder":            {[]string{"--kubeconfig", filepath.Dir(whole)}, exitUsage, "is a directory: want the kubeconfig of a cluster"},
		"a broken file":       {[]string{"--kubeconfig", broken}, exitUsage, `--kubeconfig "` + broken + `": error loading config file`},
		"an empty file":       {[]string{"--kubeconfig", empty}, exitUsage, `--kubeconfig "` + empty + `": there is no cluster in it`},
		"no such context":     {[]string{"--kubeconfig", whole, "--context", "d"}, exitUsage, `--context "d": there is no such context: kubectl config get-contexts lists those that there are`},
		"a torn certificate":  {[]string{"--kubeconfig", whole}, exitUsage, `--kubeconfig "` + whole + `": unable to load root certificates: `},
	} {
		t.Run(name, func(t *testing.T) {
			var output bytes.Buffer
			assert.Equal(t, tc.want, run(t.Context(), tc.args, &output, &output))
			assert.Contains(t, output.String(), tc.text)
		})
	}
}

// write makes a kubeconfig.
func write(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

func TestBrokenKubeconfigOfTheEnvironment(t *testing.T) {
	broken := write(t, "a: [")
	t.Setenv("KUBECONFIG", broken)
	var stdout, stderr bytes.Buffer
	assert.Equal(t, exitUsage, run(t.Context(), nil, &stdout, &stderr))
	assert.Regexp(t, `^typed-client: reading the kubeconfig: error loading config file "`+broken+`": .*: name another one with --kubeconfig\n`, stderr.String())
}

func TestMachineWithoutACluster(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	var stdout, stderr bytes.Buffer
	assert.Equal(t, exitFailed, run(t.Context(), nil, &stdout, &stderr))
	assert.Contains(t, stderr.String(), "\n  go run ./examples/serve --kubeconfig FILE\n")
	assert.Contains(t, stderr.String(), "\n  go run ./examples/typed-client --kubeconfig FILE\n")
	assert.NotContains(t, stderr.String(), "KUBERNETES_MASTER")
	assert.Empty(t, stdout.String())
}
