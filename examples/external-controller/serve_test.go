package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/musterkube/muster/pkg/batch"
	"github.com/musterkube/muster/pkg/cluster"
	"github.com/musterkube/muster/pkg/cluster/clustertest"
)

func TestExternalControllerRunsOnAClusterThatIsThere(t *testing.T) {
	c := clustertest.Start(t, cluster.Options{Nodes: 1})
	kubeconfig := c.Kubeconfig()

	ctx, cancel := context.WithCancel(t.Context())
	stdout, writer := io.Pipe()
	var stderr bytes.Buffer
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, []string{
			"--kubeconfig", kubeconfig, "--managed-by", "example.com/mine", "--metrics", "127.0.0.1:0", "--leader-elect", "--lease-namespace", "default",
		}, writer, &stderr)
		_ = writer.Close()
	}()
	lines := bufio.NewScanner(stdout)
	require.True(t, lines.Scan(), "the first line")
	address := regexp.MustCompile(`^Serving metrics on (http://127\.0\.0\.1:\d+)\.$`).FindStringSubmatch(lines.Text())
	require.NotNil(t, address, lines.Text())
	require.True(t, lines.Scan(), "the second line")
	assert.Equal(t, "Running the Jobs of example.com/mine.", lines.Text())

	client := kubernetes.NewForConfigOrDie(c.Config())
	awaitJob(t, client, "mine", "example.com/mine")
	// It counts when it has the answer, which may come after the news.
	finished := `job_controller_jobs_finished_total{completion_mode="NonIndexed",reason="CompletionsReached",result="succeeded"} 1`
	require.Eventually(t, func() bool {
		metrics, err := get(t.Context(), address[1])
		return err == nil && strings.Contains(metrics, finished)
	}, time.Minute, 10*time.Millisecond, finished)
	metrics, err := get(t.Context(), address[1])
	require.NoError(t, err)
	assert.Contains(t, metrics, "\nworkqueue_depth{name=\"job\"} 0\n")
	_, err = client.CoordinationV1().Leases("default").Get(t.Context(), "external-controller", metav1.GetOptions{})
	require.NoError(t, err)

	cancel()
	assert.Equal(t, exitDone, <-code, stderr.String())
}

func get(ctx context.Context, url string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	return string(body), err
}

// awaitJob creates a Job for a controller and waits until it is complete.
func awaitJob(t *testing.T, client kubernetes.Interface, name, managedBy string) {
	t.Helper()
	jobs := client.BatchV1().Jobs("default")
	changes, err := jobs.Watch(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	defer changes.Stop()
	_, err = jobs.Create(t.Context(), &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: batchv1.JobSpec{ManagedBy: &managedBy, Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "main:v1"}},
		}}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	for change := range changes.ResultChan() {
		if job, ok := change.Object.(*batchv1.Job); ok && batch.HasCondition(job, batchv1.JobComplete) {
			return
		}
	}
	require.FailNow(t, "the watch ended before the Job")
}

func TestWithoutTheNamespaceOfTheLease(t *testing.T) {
	c := clustertest.Start(t, cluster.Options{Controllers: []string{}})
	kubeconfig := c.Kubeconfig()
	var stderr bytes.Buffer
	assert.Equal(t, exitFailed, run(t.Context(), []string{"--kubeconfig", kubeconfig, "--leader-elect"}, io.Discard, &stderr))
	assert.Contains(t, stderr.String(), "the namespace muster-system does not exist; kubectl create namespace muster-system makes it: ")
	assert.Contains(t, stderr.String(), "--lease-namespace names another one")
}

func TestArgumentsThatMakeNoSense(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"an unknown flag":              {[]string{"--pods"}, "unknown flag: --pods"},
		"an argument":                  {[]string{"show"}, `unexpected argument "show"`},
		"two clusters":                 {[]string{"--kubeconfig", "f", "--in-cluster"}, "name two clusters"},
		"a flag for no cluster":        {[]string{"--leader-elect"}, "the show takes no flags"},
		"no namespace":                 {[]string{"--kubeconfig", "f", "--leader-elect", "--lease-namespace", ""}, `--lease-namespace "": want the name of a namespace that exists`},
		"a namespace that is none":     {[]string{"--kubeconfig", "f", "--lease-namespace", "A b"}, `--lease-namespace "A b": `},
		"a manager without a path":     {[]string{"--kubeconfig", "f", "--managed-by", "mine"}, `--managed-by "mine": want a domain and a path, such as example.com/external-controller: `},
		"no manager":                   {[]string{"--kubeconfig", "f", "--managed-by", ""}, `--managed-by "": want a domain and a path`},
		"an address without a port":    {[]string{"--kubeconfig", "f", "--metrics", "localhost"}, `--metrics "localhost": want HOST:PORT, such as 127.0.0.1:8080`},
		"an address with no such port": {[]string{"--kubeconfig", "f", "--metrics", "localhost:99999"}, `--metrics "localhost:99999": want a port from 0 to 65535`},
	} {
		t.Run(name, func(t *testing.T) {
			assertWrongUse(t, tc.args, tc.want)
		})
	}
	var out, complaints bytes.Buffer
	assert.Equal(t, exitDone, run(t.Context(), []string{"--help"}, &out, &complaints))
	assert.Contains(t, out.String(), "--managed-by")
	assert.Contains(t, out.String(), "kubectl create namespace muster-system")
	assert.Contains(t, out.String(), "2 for wrong flags")
}

func assertWrongUse(t *testing.T, args []string, want string) {
	t.Helper()
	var complaints bytes.Buffer
	assert.Equal(t, exitUsage, run(t.Context(), args, io.Discard, &complaints))
	assert.Contains(t, complaints.String(), want)
	assert.Contains(t, complaints.String(), "\nSee external-controller --help.\n")
}

func TestFilesAndAddressesThatCannotBeUsed(t *testing.T) {
	t.Setenv("KUBERNETES_SERVICE_HOST", "") // this process is in no pod
	folder := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		return path
	}
	kubeconfig := func(certificate string) string {
		return "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts: [{name: c, context: {cluster: c}}]\n" +
			"clusters: [{name: c, cluster: {server: https://127.0.0.1:1, " + certificate + "}}]\n"
	}
	whole := write("whole", kubeconfig("insecure-skip-tls-verify: true"))
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = listener.Close() }()
	taken := listener.Addr().String()
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"no file":                      {[]string{"--kubeconfig", "/does/not/exist"}, `--kubeconfig "/does/not/exist": no such file or directory: want the kubeconfig of a cluster`},
		"a folder":                     {[]string{"--kubeconfig", folder}, "is a directory: want the kubeconfig of a cluster"},
		"a file that is no kubeconfig": {[]string{"--kubeconfig", write("broken", "a: [")}, `/broken": error loading config file`},
		"a kubeconfig of nothing":      {[]string{"--kubeconfig", write("empty", "")}, `/empty": there is no cluster in it: want the kubeconfig of a cluster`},
		"a broken certificate":         {[]string{"--kubeconfig", write("torn", kubeconfig("certificate-authority-data: eA=="))}, `/torn": unable to load root certificates: `},
		"an address that is taken":     {[]string{"--kubeconfig", whole, "--metrics", taken}, `--metrics "` + taken + `": address already in use: name another address, such as 127.0.0.1:0`},
		"a process that is in no pod":  {[]string{"--in-cluster"}, "--in-cluster: unable to load in-cluster configuration"},
	} {
		t.Run(name, func(t *testing.T) {
			assertWrongUse(t, tc.args, tc.want)
		})
	}
}
