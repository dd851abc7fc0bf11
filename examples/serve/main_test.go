package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	watchtools "k8s.io/client-go/tools/watch"

	"github.com/musterkube/muster/generated/clientset/versioned"
	"github.com/musterkube/muster/pkg/batch"
)

// served is a program that runs in the test's process.
type served struct {
	ready string // its one line
	stop  func() (code int, stderr string)
}

// startProgram runs the program until the test stops it, and returns once it says that it is ready.
func startProgram(t *testing.T, args ...string) served {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	stdout, writer := io.Pipe()
	var stderr bytes.Buffer
	done := make(chan int, 1)
	go func() {
		code := run(ctx, args, writer, &stderr)
		_ = writer.Close()
		done <- code
	}()
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		cancel()
		require.NoError(t, err, "exit code %d: %s", <-done, stderr.String())
	}
	stop := func() (int, string) {
		cancel()
		return <-done, stderr.String()
	}
	return served{line, stop}
}

func TestServesClientsWithTheKubeconfig(t *testing.T) {
	t.Parallel()
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	s := startProgram(t, "--kubeconfig", kubeconfig, "--token", "secret", "--pod-duration", "10ms")
	assert.Regexp(t, `^serving https://127\.0\.0\.1:\d+, kubeconfig `+regexp.QuoteMeta(kubeconfig)+`\n$`, s.ready)

	cfg, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	require.NoError(t, err)
	assert.Equal(t, "secret", cfg.BearerToken)
	client := kubernetes.NewForConfigOrDie(cfg)
	job, err := client.BatchV1().Jobs("default").Create(t.Context(), gangJob(), metav1.CreateOptions{})
	require.NoError(t, err)

	jobs := cache.NewListWatchFromClient(client.BatchV1().RESTClient(), "jobs", "default", fields.Everything())
	_, err = watchtools.UntilWithSync(t.Context(), jobs, &batchv1.Job{}, nil, func(e watch.Event) (bool, error) {
		seen, ok := e.Object.(*batchv1.Job)
		return ok && seen.UID == job.UID && batch.HasCondition(seen, batchv1.JobComplete), nil
	})
	require.NoError(t, err)

	groups, err := versioned.NewForConfigOrDie(cfg).SchedulingV1alpha2().PodGroups("default").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	assert.Len(t, groups.Items, 1)

	code, stderr := s.stop()
	assert.Equal(t, exitStopped, code)
	assert.Empty(t, stderr)
	assert.FileExists(t, kubeconfig, "a file that the user named stays")
}

func gangJob() *batchv1.Job {
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: "gang"},
		Spec: batchv1.JobSpec{
			CompletionMode: new(batchv1.IndexedCompletion), Completions: new(int32(2)), Parallelism: new(int32(2)),
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever,
				Containers:    []corev1.Container{{Name: "main", Image: "main:v1"}},
			}},
		},
	}
}

func TestInstallsDefinitions(t *testing.T) {
	t.Parallel()
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	const folder = "../../pkg/emulator/testdata/crds/"
	s := startProgram(t, "--kubeconfig", kubeconfig, "--nodes", "0", "--controllers", "none",
		"--crd", folder+"kueue.x-k8s.io_topologies.yaml", "--crd", folder+"kueue.x-k8s.io_resourceflavors.yaml")
	cfg, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	require.NoError(t, err)
	resources, err := kubernetes.NewForConfigOrDie(cfg).Discovery().ServerResourcesForGroupVersion("kueue.x-k8s.io/v1beta2")
	require.NoError(t, err)
	var names []string
	for _, resource := range resources.APIResources {
		names = append(names, resource.Name)
	}
	assert.Subset(t, names, []string{"topologies", "resourceflavors"})
	code, _ := s.stop()
	assert.Equal(t, exitStopped, code)

}

func TestFilesThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		return path
	}
	const head = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: x.y}\n"
	broken, other, invalid := write("broken.yaml", "a: ["), write("other.yaml", "apiVersion: v1\nkind: Pod\n"), write("invalid.yaml", head)
	foreign := write("foreign", "apiVersion: v1\nkind: Config\nclusters: [{name: mine, cluster: {server: https://mine}}]\n")
	for name, tc := range map[string]struct {
		args []string
		want []string
	}{
		"no definitions":            {[]string{"--crd", "/nope"}, []string{`--crd "/nope": `, "no such file", "want a file or folder of CustomResourceDefinitions"}},
		"definitions that are none": {[]string{"--crd", other}, []string{`--crd "` + other + `": `, "there is none of apiextensions.k8s.io/v1"}},
		"broken definitions":        {[]string{"--crd", broken}, []string{`--crd "` + broken + `": `, "document 1"}},
		"invalid definitions":       {[]string{"--crd", invalid}, []string{"--crd: ", " x.y from " + invalid, "spec.group: Required value"}},
		"definitions given twice":   {[]string{"--crd", invalid, "--crd", folder + "/invalid.yaml"}, []string{"x.y is in " + invalid + " too: want it once"}},
		"no folder":                 {[]string{"--kubeconfig", folder + "/nope/x"}, []string{`--kubeconfig "` + folder + `/nope/x": there is no folder ` + folder + "/nope: make it, or name another file\n"}},
		"a folder that is none":     {[]string{"--kubeconfig", other + "/x"}, []string{`--kubeconfig "` + other + `/x": not a directory: name a file that can be written`}},
		"a folder":                  {[]string{"--kubeconfig", folder}, []string{`--kubeconfig "` + folder + `": `, "no regular file: name another"}},
		"the kubeconfig of others":  {[]string{"--kubeconfig", foreign}, []string{`--kubeconfig "` + foreign + `": `, `has the cluster "mine", which would be lost: name another`}},
	} {
		t.Run(name, func(t *testing.T) {
			var stderr bytes.Buffer
			args := append([]string{"--nodes", "0", "--controllers", "none"}, tc.args...)
			assert.Equal(t, exitUsage, run(t.Context(), args, io.Discard, &stderr))
			for _, want := range tc.want {
				assert.Contains(t, stderr.String(), want)
			}
			assert.NotContains(t, stderr.String(), "options: ")
		})
	}
}

func TestHelpTellsTheExitCodes(t *testing.T) {
	var stdout bytes.Buffer
	assert.Equal(t, exitStopped, run(t.Context(), []string{"--help"}, &stdout, io.Discard))
	for _, want := range []string{"  0  stopped", "  1  could not start", "  2  wrong flags"} {
		assert.Contains(t, stdout.String(), want)
	}
}

func TestWithoutControllersAndNodesNothingMoves(t *testing.T) {
	t.Parallel()
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	s := startProgram(t, "--kubeconfig", kubeconfig, "--controllers", "none", "--nodes", "0", "--feature-gates", "WorkloadAwarePreemption=false")
	cfg, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	require.NoError(t, err)
	client := kubernetes.NewForConfigOrDie(cfg)
	nodes, err := client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	assert.Empty(t, nodes.Items)

	cfg.BearerToken, cfg.BearerTokenFile = "another", ""
	_, err = kubernetes.NewForConfigOrDie(cfg).CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	assert.True(t, apierrors.IsUnauthorized(err), "%v", err)
	code, _ := s.stop()
	assert.Equal(t, exitStopped, code)
}

func TestTemporaryKubeconfigIsRemoved(t *testing.T) {
	t.Parallel()
	s := startProgram(t, "--controllers", "none", "--nodes", "0")
	_, kubeconfig, found := strings.Cut(strings.TrimSpace(s.ready), "kubeconfig ")
	require.True(t, found, s.ready)
	require.FileExists(t, kubeconfig)
	s.stop()
	assert.NoFileExists(t, kubeconfig)
}

func TestUsageErrors(t *testing.T) {
	cases := map[string]struct {
		args []string
		want string
	}{
		"an unknown flag":           {[]string{"--port", "1"}, "unknown flag: --port"},
		"an argument":               {[]string{"now"}, `unexpected argument "now"`},
		"an unknown gate":           {[]string{"--feature-gates", "Gang=true"}, `feature gate "Gang" is not known`},
		"a gate that needs another": {[]string{"--feature-gates", "GenericWorkload=false"}, "GangScheduling needs GenericWorkload"},
		"an unknown controller":     {[]string{"--controllers", "job,deployment"}, `there is no controller "deployment"`},
		"an address of others":      {[]string{"--listen", "0.0.0.0:0"}, `--listen "0.0.0.0:0": want a loopback address`},
		"an address without a host": {[]string{"--listen", ":0"}, "want a loopback address"},
		"an address without a port": {[]string{"--listen", "127.0.0.1"}, "want HOST:PORT"},
		"a port that is none":       {[]string{"--listen", "127.0.0.1:70000"}, "want a port from 0 to 65535"},
		"a token with a space":      {[]string{"--token", "a b"}, "--token: want printable ASCII"},
		"fewer nodes than none":     {[]string{"--nodes", "-1"}, "--nodes -1: want 0 to 100000"},
		"no such runtime":           {[]string{"--runtime", "docker"}, `--runtime "docker": want script or process`},
		"a negative duration":       {[]string{"--pod-duration", "-1s"}, "--pod-duration -1s: want 0 or more"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var stderr bytes.Buffer
			assert.Equal(t, exitUsage, run(t.Context(), tc.args, io.Discard, &stderr))
			assert.Contains(t, stderr.String(), tc.want)
		})
	}
}

func TestAnAddressInUse(t *testing.T) {
	t.Parallel()
	taken, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = taken.Close() }()
	var stderr bytes.Buffer
	address := taken.Addr().String()
	assert.Equal(t, exitUsage, run(t.Context(), []string{"--listen", address, "--nodes", "0"}, io.Discard, &stderr))
	assert.Equal(t, `serve: --listen "`+address+`": address already in use: name another port, or 0 for a free one`+"\nSee serve --help.\n", stderr.String())
}

func TestToldToStopBeforeItIsReady(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout, stderr bytes.Buffer
	assert.Equal(t, exitStopped, run(ctx, nil, &stdout, &stderr))
	assert.Empty(t, stdout.String())
	assert.Empty(t, stderr.String())
}

// A client that stalls in the middle of its request does not hold the program up for longer than others may.
func TestAHalfSentBodyDelaysTheStopNoLongerThanItsBound(t *testing.T) {
	t.Parallel()
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	s := startProgram(t, "--kubeconfig", kubeconfig, "--nodes", "0")
	cfg, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	require.NoError(t, err)
	client, err := rest.HTTPClientFor(cfg)
	require.NoError(t, err)
	body, stall := io.Pipe()
	defer func() { _ = stall.Close() }()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, cfg.Host+"/apis/batch/v1/namespaces/default/jobs", body)
	require.NoError(t, err)
	request.Header.Set("Content-Type", "application/json")
	refused := make(chan bool, 1) // by the end of the connection or, where the server was quicker, in words
	go func() {
		response, err := client.Do(request)
		if err != nil {
			refused <- true
			return
		}
		refused <- response.StatusCode >= http.StatusBadRequest
		_ = response.Body.Close()
	}()
	_, err = stall.Write([]byte(`{"apiVersion":"batch/v1",`)) // returns once the client has taken it
	require.NoError(t, err)
	began := time.Now()
	code, _ := s.stop()
	assert.Equal(t, exitStopped, code)
	assert.Less(t, time.Since(began), 10*time.Second)
	require.NoError(t, stall.Close())
	require.True(t, <-refused)
}

// The other tests call run; this one makes sure of the process: its one line, and its end on a signal.
func TestProgramStopsOnInterrupt(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot be interrupted there")
	}
	t.Parallel()
	program := filepath.Join(t.TempDir(), "serve")
	out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput()
	require.NoError(t, err, string(out))
	cmd := exec.Command(program)
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	reader := bufio.NewReader(stdout)
	line, err := reader.ReadString('\n')
	require.NoError(t, err)
	assert.Contains(t, line, "serving https://127.0.0.1:")
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	rest, err := io.ReadAll(reader)
	require.NoError(t, err)
	assert.Empty(t, string(rest))
	require.NoError(t, cmd.Wait())
}
