package play_test

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// kubectlVersion is that of the module k8s.io/kubectl in go.mod; kubectl refuses to compare itself without one.
const kubectlVersion = "v1.36.6"

// tools are the programs under test, built once.
type tools struct{ kubectl, serve string }

func build(t *testing.T) tools {
	t.Helper()
	folder := t.TempDir()
	built := tools{kubectl: filepath.Join(folder, "kubectl"), serve: filepath.Join(folder, "serve")}
	for _, args := range [][]string{
		{"build", "-ldflags", "-X k8s.io/component-base/version.gitVersion=" + kubectlVersion, "-o", built.kubectl, ".."},
		{"build", "-C", filepath.Join("..", "..", ".."), "-o", built.serve, "./examples/serve"},
	} {
		out, err := exec.CommandContext(t.Context(), "go", args...).CombinedOutput()
		require.NoError(t, err, string(out))
	}
	return built
}

// start runs the server until the test ends, and returns its kubeconfig.
func (b tools) start(t *testing.T, args ...string) string {
	t.Helper()
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	server := exec.Command(b.serve, append([]string{"--kubeconfig", kubeconfig}, args...)...)
	server.Stderr = os.Stderr
	stdout, err := server.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, server.Start())
	t.Cleanup(func() {
		assert.NoError(t, server.Process.Signal(os.Interrupt))
		assert.NoError(t, server.Wait())
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, line, "serving https://127.0.0.1:")
	return kubeconfig
}

// client is kubectl with a kubeconfig and a home of its own.
type client struct {
	t          *testing.T
	program    string
	kubeconfig string
	home       string
}

func (c client) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, c.program, args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+c.kubeconfig, "HOME="+c.home)
	return cmd
}

// run returns what kubectl prints, and fails the test when it fails.
func (c client) run(stdin string, args ...string) string {
	c.t.Helper()
	cmd := c.command(c.t.Context(), args...)
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	require.NoError(c.t, err, "kubectl %s: %s", strings.Join(args, " "), out)
	return string(out)
}

// refused returns what kubectl prints when it fails, which it has to.
func (c client) refused(stdin string, args ...string) string {
	c.t.Helper()
	cmd := c.command(c.t.Context(), args...)
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	require.Error(c.t, err, "kubectl %s: %s", strings.Join(args, " "), out)
	return string(out)
}

const workload = `
apiVersion: scheduling.k8s.io/v1alpha2
kind: Workload
metadata: {name: training}
spec:
  podGroupTemplates:
  - name: workers
    schedulingPolicy: {gang: {minCount: 4}}
`

const gangJob = `
apiVersion: batch/v1
kind: Job
metadata: {name: gang}
spec:
  completionMode: Indexed
  completions: 2
  parallelism: 2
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, image: "main:v1"}]
`

func TestKubectl(t *testing.T) {
	built := build(t)
	c := client{t, built.kubectl, built.start(t, "--pod-duration", "100ms"), t.TempDir()}

	t.Run("knows the server", func(t *testing.T) {
		c.t = t
		assert.Contains(t, c.run("", "version"), "Server Version: v1.36.3")
		resources := c.run("", "api-resources", "--api-group", "scheduling.k8s.io")
		assert.Regexp(t, `workloads +scheduling.k8s.io/v1alpha2 +true +Workload`, resources)
		assert.Regexp(t, `podgroups +scheduling.k8s.io/v1alpha2 +true +PodGroup`, resources)
		assert.Contains(t, c.run("", "explain", "workload.spec.podGroupTemplates"), "name\t<string> -required-")
	})

	t.Run("applies, gets and watches Workloads", func(t *testing.T) {
		c.t = t
		assert.Equal(t, "workload.scheduling.k8s.io/training created\n", c.run(workload, "apply", "-f", "-"))
		// The server shows an unset field as null, which kubectl takes for a difference; the server finds none.
		version := c.run("", "get", "workload", "training", "-o", "jsonpath={.metadata.resourceVersion}")
		c.run(workload, "apply", "-f", "-")
		assert.Equal(t, version, c.run("", "get", "workload", "training", "-o", "jsonpath={.metadata.resourceVersion}"))
		assert.Equal(t, "workload.scheduling.k8s.io/training serverside-applied\n",
			c.run(strings.Replace(workload, "name: training", "name: training, labels: {a: b}", 1), "apply", "--server-side", "--force-conflicts", "-f", "-"))
		assert.Regexp(t, `^NAME +AGE\ntraining +\d+s\n$`, c.run("", "get", "workloads"))
		assert.Equal(t, "4", c.run("", "get", "workload", "training", "-o", "jsonpath={.spec.podGroupTemplates[0].schedulingPolicy.gang.minCount}"))
		assert.Contains(t, c.run("", "describe", "workload", "training"), "Min Count:")

		watching := c.command(t.Context(), "get", "workloads", "-w", "--output-watch-events", "-o", "name")
		stdout, err := watching.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, watching.Start())
		lines := bufio.NewScanner(stdout)
		require.True(t, lines.Scan())
		assert.Contains(t, lines.Text(), "workload.scheduling.k8s.io/training")
		c.run("", "label", "workload", "training", "c=d")
		require.True(t, lines.Scan())
		assert.Contains(t, lines.Text(), "workload.scheduling.k8s.io/training")
		require.NoError(t, watching.Process.Kill())
		_ = watching.Wait()
	})

	t.Run("is told what is wrong", func(t *testing.T) {
		c.t = t
		assert.Contains(t, c.refused(strings.Replace(workload, "minCount: 4", "minCount: 5", 1), "apply", "-f", "-"),
			"spec.podGroupTemplates: Invalid value: null: field is immutable")
		assert.Contains(t, c.refused(strings.Replace(workload, "minCount", "minCnt", 1), "apply", "-f", "-"), `unknown field "spec.podGroupTemplates[0].schedulingPolicy.gang.minCnt"`)
	})

	t.Run("sees a gang Job through", func(t *testing.T) {
		c.t = t
		c.run(gangJob, "apply", "-f", "-")
		assert.Equal(t, "job.batch/gang condition met\n", c.run("", "wait", "job/gang", "--for=condition=Complete", "--timeout=60s"))
		assert.Regexp(t, `(?m)^gang +Complete +2/2 `, c.run("", "get", "jobs"))
		assert.Regexp(t, `(?m)^gang-\S+ +Gang +gang-\S+ +Scheduled `, c.run("", "get", "podgroups"))
		assert.Regexp(t, `(?m)^gang-0-\S+ +0/1 +Completed +0 `, c.run("", "get", "pods"))
		assert.Contains(t, c.run("", "describe", "job", "gang"), "WorkloadCreated")
		c.run("", "delete", "job", "gang", "--cascade=foreground", "--timeout=60s")
		assert.Contains(t, c.run("", "get", "pods"), "No resources found")
	})

	t.Run("has the logs of what is played", func(t *testing.T) {
		c.t = t
		c.run(strings.Replace(gangJob, "template:\n", "template:\n    metadata: {annotations: {kubelet.muster.dev/output: \"played\\n\"}}\n", 1), "apply", "-f", "-")
		c.run("", "wait", "job/gang", "--for=condition=Complete", "--timeout=60s")
		assert.Equal(t, "played\n", c.run("", "logs", "-l", "batch.kubernetes.io/job-completion-index=0,job-name=gang"))
		c.run("", "delete", "job", "gang", "--cascade=foreground", "--timeout=60s")
	})

	t.Run("makes and deletes a namespace", func(t *testing.T) {
		c.t = t
		c.run("", "create", "namespace", "scratch")
		c.run(workload, "apply", "-n", "scratch", "-f", "-")
		c.run("", "delete", "namespace", "scratch", "--timeout=60s")
		assert.Contains(t, c.refused("", "get", "workloads", "-n", "scratch", "training"), "not found")
	})

	t.Run("has the logs of processes", func(t *testing.T) { logsOfProcesses(t, built) })
}

// piJob is the example of Kubernetes' own pages, with fewer digits: some releases of perl cannot do 2000.
const piJob = `
apiVersion: batch/v1
kind: Job
metadata: {name: pi}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: pi, image: perl, command: [perl, "-Mbignum=bpi", -wle, "print bpi(100)"]}]
`

// twoTries fails the first time. Its containers talk on until their pod is deleted.
const twoTries = `
apiVersion: v1
kind: Pod
metadata: {name: tries}
spec:
  restartPolicy: OnFailure
  terminationGracePeriodSeconds: 5
  initContainers:
  - {name: setup, image: none, command: [sh, -c, "echo set up in $(WHERE)"], env: [{name: WHERE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}]}
  containers:
  - {name: main, image: none, command: [sh, -c, 'echo try; [ -e FLAG ] || { touch FLAG; exit 3; }; echo again; exec sleep 1000']}
  - {name: other, image: none, command: [sh, -c, 'exec sleep 1000']}
`

// logsOfProcesses drives kubectl against a server that runs commands.
func logsOfProcesses(t *testing.T, built tools) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("there are no signals")
	}
	c := client{t, built.kubectl, built.start(t, "--runtime", "process"), t.TempDir()}

	t.Run("a Job that computes", func(t *testing.T) {
		if _, err := exec.LookPath("perl"); err != nil {
			t.Skip("there is no perl")
		}
		c.t = t
		c.run(piJob, "apply", "-f", "-")
		c.run("", "wait", "job/pi", "--for=condition=Complete", "--timeout=120s")
		digits := c.run("", "logs", "job/pi")
		assert.Regexp(t, `^3\.14159265358979\d+\n$`, digits)
		assert.Len(t, digits, len("3.\n")+99)
	})

	t.Run("a pod of several containers and tries", func(t *testing.T) {
		c.t = t
		c.run(strings.ReplaceAll(twoTries, "FLAG", filepath.Join(t.TempDir(), "flag")), "apply", "-f", "-")
		c.run("", "wait", "pod/tries", "--for=jsonpath={.status.containerStatuses[0].restartCount}=1", "--timeout=60s")
		c.run("", "wait", "pod/tries", "--for=condition=Ready", "--timeout=60s")
		assert.Regexp(t, `^set up in node-\d\n$`, c.run("", "logs", "tries", "-c", "setup"))
		assert.Equal(t, "try\n", c.run("", "logs", "tries", "-c", "main", "--previous"))
		assert.Contains(t, c.refused("", "logs", "tries", "-c", "other", "--previous"),
			`previous terminated container "other" in pod "tries" not found`)
		assert.Contains(t, c.refused("", "logs", "tries", "-c", "none"), "container none is not valid for pod tries")

		following := c.command(t.Context(), "logs", "-f", "tries", "-c", "main")
		stdout, err := following.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, following.Start())
		lines := bufio.NewReader(stdout)
		for _, want := range []string{"try\n", "again\n"} {
			line, err := lines.ReadString('\n')
			require.NoError(t, err)
			assert.Equal(t, want, line)
		}
		assert.Equal(t, "again\n", c.run("", "logs", "tries", "-c", "main", "--tail=1"))
		assert.Regexp(t, `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z again\n$`, c.run("", "logs", "tries", "-c", "main", "--tail=1", "--timestamps"))
		c.run("", "delete", "pod", "tries", "--timeout=60s")
		require.NoError(t, following.Wait(), "the log ends with its container")
	})
}
