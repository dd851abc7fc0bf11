//go:build unix

package kubelet_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"

	"github.com/musterkube/muster/pkg/kubelet"
)

// asProgram is the variable that makes the test's binary one of the programs that containers run.
const asProgram = "MUSTER_TEST_PROGRAM"

// patience bounds each wait for a process. No test comes near it unless it fails.
const patience = time.Minute

func TestMain(m *testing.M) {
	if name := os.Getenv(asProgram); name != "" {
		os.Exit(program(name, os.Args[1:]))
	}
	// The second of the default handlers sleeps until a moment of the process's own clock, which to a bubble is decades
	// away. Servers that are stopped under their clients have much to say.
	utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1]
	klog.SetLogger(logr.Discard())
	os.Exit(m.Run())
}

// program is what a container runs in these tests.
func program(name string, args []string) int {
	switch name {
	case "tell": // prints its arguments, directory and environment
		dir, _ := os.Getwd()
		environment := os.Environ()
		slices.Sort(environment)
		fmt.Printf("args=%q\ndir=%s\n%s\n", args, dir, strings.Join(environment, "\n"))
	case "exit":
		code, _ := strconv.Atoi(args[0])
		fmt.Println("to standard output")
		fmt.Fprintln(os.Stderr, "to standard error")
		return code
	case "once": // fails unless the file is there, which it makes
		if _, err := os.Stat(args[0]); err != nil {
			fmt.Println("first")
			_ = os.WriteFile(args[0], nil, 0o600)
			return 1
		}
		fmt.Println("second")
	case "append": // adds a line to a file
		file, err := os.OpenFile(args[0], os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err == nil {
			_, errWrite := fmt.Fprintln(file, args[1])
			err = errors.Join(errWrite, file.Close())
		}
		if err != nil {
			return 1
		}
	case "wait": // until a signal ends it
		fmt.Println("waiting")
		select {}
	case "heed": // ends well when told to, and makes a file when it can be
		signals := make(chan os.Signal, 1)
		signal.Notify(signals, syscall.SIGTERM)
		fmt.Println("waiting")
		for _, name := range args {
			_ = os.WriteFile(name, nil, 0o600)
		}
		<-signals
		fmt.Println("told to end")
	case "ignore": // has to be killed
		signal.Ignore(syscall.SIGTERM)
		fmt.Println("waiting")
		select {}
	case "spawn": // leaves a process behind, whose number it prints
		child := exec.Command(os.Args[0])
		child.Env = []string{asProgram + "=ignore"}
		out, _ := child.StdoutPipe()
		_ = child.Start()
		_, _ = bufio.NewReader(out).ReadString('\n')
		fmt.Println(child.Process.Pid)
	}
	return 0
}

// processWorld is a world whose node n1 runs processes.
func processWorld(t *testing.T) (w *world, k *kubelet.Kubelet, stop func()) {
	t.Helper()
	w = newWorld(t)
	k, err := kubelet.New(w.cfg, kubelet.Options{
		Nodes:   []kubelet.Node{{Name: "n1"}},
		Runtime: kubelet.Processes(kubelet.ProcessOptions{Dir: t.TempDir()}),
	})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- k.Run(ctx) }()
	stopped := false
	stop = func() {
		if !stopped {
			stopped = true
			cancel()
			require.NoError(t, <-ended)
		}
	}
	t.Cleanup(stop)
	return w, k, stop
}

// runs makes a container run a program of this file.
func runs(c *corev1.Container, name string, args ...string) {
	c.Command, c.Args = []string{os.Args[0]}, args
	c.Env = append(c.Env, corev1.EnvVar{Name: asProgram, Value: name})
}

// main makes the only container of a pod run a program.
func main(name string, args ...string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { runs(&pod.Spec.Containers[0], name, args...) }
}

// await watches a pod until it is so.
func (w *world) await(name, what string, is func(*corev1.Pod) bool) *corev1.Pod {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	watcher, err := w.kube.CoreV1().Pods(namespace).Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + name})
	require.NoError(w.t, err)
	defer watcher.Stop()
	var last *corev1.Pod
	for event := range watcher.ResultChan() {
		pod, ok := event.Object.(*corev1.Pod)
		require.True(w.t, ok, "%v", event.Object)
		if last = pod; is(pod) {
			return pod
		}
	}
	require.Fail(w.t, "pod never was "+what, "%+v", last)
	return nil
}

func over(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// terminated returns how the first container ended.
func terminated(t *testing.T, pod *corev1.Pod) *corev1.ContainerStateTerminated {
	t.Helper()
	require.NotEmpty(t, pod.Status.ContainerStatuses)
	state := pod.Status.ContainerStatuses[0].State.Terminated
	require.NotNil(t, state, "%+v", pod.Status)
	return state
}

func logOf(t *testing.T, k *kubelet.Kubelet, pod *corev1.Pod, options corev1.PodLogOptions) string {
	t.Helper()
	if options.Container == "" {
		options.Container = "main"
	}
	reader, err := k.ContainerLogs(t.Context(), pod, &options)
	require.NoError(t, err)
	defer func() { require.NoError(t, reader.Close()) }()
	text, err := io.ReadAll(reader)
	require.NoError(t, err)
	return string(text)
}

// follow returns the lines of a container's log as they come.
func follow(t *testing.T, k *kubelet.Kubelet, pod *corev1.Pod) *bufio.Reader {
	t.Helper()
	reader, err := k.ContainerLogs(t.Context(), pod, &corev1.PodLogOptions{Container: "main", Follow: true})
	require.NoError(t, err)
	t.Cleanup(func() { _ = reader.Close() })
	return bufio.NewReader(reader)
}

func running(pod *corev1.Pod) bool {
	return len(pod.Status.ContainerStatuses) > 0 && pod.Status.ContainerStatuses[0].State.Running != nil
}

func TestProcessEnvironmentAndArguments(t *testing.T) {
	w, k, _ := processWorld(t)
	_, err := w.kube.CoreV1().ConfigMaps(namespace).Create(t.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "settings"}, Data: map[string]string{"MODE": "fast"},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	dir := t.TempDir()
	w.pod("p", "n1", func(pod *corev1.Pod) {
		pod.Annotations = map[string]string{batchv1.JobCompletionIndexAnnotation: "7"}
		c := &pod.Spec.Containers[0]
		c.WorkingDir = dir
		c.EnvFrom = []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: "settings"},
		}}}
		c.Env = []corev1.EnvVar{
			{Name: "JOB_COMPLETION_INDEX", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{
				FieldPath: "metadata.annotations['" + batchv1.JobCompletionIndexAnnotation + "']",
			}}},
			{Name: "HOME", Value: "/nowhere"},
		}
		runs(c, "tell", "--index=$(JOB_COMPLETION_INDEX)", "$$(MODE)", "$(MODE)", "$(NONE)")
	})
	pod := w.await("p", "over", over)
	assert.Equal(t, corev1.PodSucceeded, pod.Status.Phase)
	assert.Equal(t, "Completed", terminated(t, pod).Reason)
	assert.Equal(t, fmt.Sprintf(`args=["--index=7" "$(MODE)" "fast" "$(NONE)"]
dir=%s
HOME=/nowhere
JOB_COMPLETION_INDEX=7
MODE=fast
MUSTER_TEST_PROGRAM=tell
PATH=%s
`, dir, os.Getenv("PATH")), logOf(t, k, pod, corev1.PodLogOptions{}))
}

func TestProcessExits(t *testing.T) {
	for name, tc := range map[string]struct {
		change      func(*corev1.Pod)
		wantPhase   corev1.PodPhase
		wantCode    int32
		wantReason  string
		wantMessage string
	}{
		"well":     {main("exit", "0"), corev1.PodSucceeded, 0, "Completed", ""},
		"with 42":  {main("exit", "42"), corev1.PodFailed, 42, "Error", ""},
		"with 255": {main("exit", "255"), corev1.PodFailed, 255, "Error", ""},
		"with its output as message": {func(pod *corev1.Pod) {
			main("exit", "1")(pod)
			pod.Spec.Containers[0].TerminationMessagePolicy = corev1.TerminationMessageFallbackToLogsOnError
		}, corev1.PodFailed, 1, "Error", "to standard output\nto standard error\n"},
		"well, without a message": {func(pod *corev1.Pod) {
			main("exit", "0")(pod)
			pod.Spec.Containers[0].TerminationMessagePolicy = corev1.TerminationMessageFallbackToLogsOnError
		}, corev1.PodSucceeded, 0, "Completed", ""},
		"by a signal of its own": {func(pod *corev1.Pod) {
			pod.Spec.Containers[0].Command = []string{"/bin/sh", "-c", "kill -SEGV $$$$"}
		}, corev1.PodFailed, 139, "Error", ""},
		"before it starts, there being no such program": {func(pod *corev1.Pod) {
			pod.Spec.Containers[0].Command = []string{"no-such-program"}
		}, corev1.PodFailed, 128, "StartError", `exec: "no-such-program": executable file not found in $PATH`},
		"before it starts, there being no such directory": {func(pod *corev1.Pod) {
			main("exit", "0")(pod)
			pod.Spec.Containers[0].WorkingDir = "/no/such/directory"
		}, corev1.PodFailed, 128, "StartError", "chdir /no/such/directory: no such file or directory"},
		"before it starts, having no command": {func(pod *corev1.Pod) {
			pod.Spec.Containers[0].Args = []string{"serve"}
		}, corev1.PodFailed, 128, "ContainerCannotRun", `container "main" has no command: the entrypoint of its image "busybox" is not known where containers run as local processes; set command`},
	} {
		t.Run(name, func(t *testing.T) {
			w, _, _ := processWorld(t)
			w.pod("p", "n1", tc.change)
			pod := w.await("p", "over", over)
			assert.Equal(t, tc.wantPhase, pod.Status.Phase)
			state := terminated(t, pod)
			assert.Equal(t, tc.wantCode, state.ExitCode)
			assert.Equal(t, tc.wantReason, state.Reason)
			assert.Equal(t, tc.wantMessage, state.Message)
			assert.False(t, state.FinishedAt.IsZero())
		})
	}
}

func TestProcessWaitsForItsConfigMap(t *testing.T) {
	t.Parallel()
	w, _, _ := processWorld(t)
	w.pod("p", "n1", func(pod *corev1.Pod) {
		runs(&pod.Spec.Containers[0], "exit", "0")
		pod.Spec.Containers[0].EnvFrom = []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: "late"},
		}}}
	})
	pod := w.await("p", "waiting", func(pod *corev1.Pod) bool {
		return len(pod.Status.ContainerStatuses) > 0 && pod.Status.ContainerStatuses[0].State.Waiting != nil &&
			pod.Status.ContainerStatuses[0].State.Waiting.Reason == "CreateContainerConfigError"
	})
	assert.Equal(t, `configmap "late" not found`, pod.Status.ContainerStatuses[0].State.Waiting.Message)
	assert.Equal(t, corev1.PodPending, pod.Status.Phase)
	_, err := w.kube.CoreV1().ConfigMaps(namespace).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "late"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	assert.Equal(t, corev1.PodSucceeded, w.await("p", "over", over).Status.Phase)
}

func TestProcessIsRestartedAndItsLogsKept(t *testing.T) {
	w, k, _ := processWorld(t)
	flag := filepath.Join(t.TempDir(), "flag")
	w.pod("p", "n1", main("once", flag), func(pod *corev1.Pod) { pod.Spec.RestartPolicy = corev1.RestartPolicyOnFailure })
	pod := w.await("p", "over", over)
	assert.Equal(t, corev1.PodSucceeded, pod.Status.Phase)
	assert.Equal(t, int32(1), pod.Status.ContainerStatuses[0].RestartCount)
	require.NotNil(t, pod.Status.ContainerStatuses[0].LastTerminationState.Terminated)
	assert.Equal(t, "second\n", logOf(t, k, pod, corev1.PodLogOptions{}))
	assert.Equal(t, "first\n", logOf(t, k, pod, corev1.PodLogOptions{Previous: true}))
}

func TestProcessesOfAPodInOrder(t *testing.T) {
	w, k, _ := processWorld(t)
	file, ready := filepath.Join(t.TempDir(), "order"), filepath.Join(t.TempDir(), "ready")
	w.pod("p", "n1", func(pod *corev1.Pod) {
		pod.Spec.InitContainers = []corev1.Container{
			{Name: "first", Image: "i"}, {Name: "beside", Image: "i", RestartPolicy: new(corev1.ContainerRestartPolicyAlways)}, {Name: "second", Image: "i"},
		}
		runs(&pod.Spec.InitContainers[0], "append", file, "first")
		runs(&pod.Spec.InitContainers[1], "heed", ready)
		pod.Spec.InitContainers[2].Command = []string{"/bin/sh", "-c", "until [ -e " + ready + " ]; do sleep 0.01; done; echo second >> " + file}
		runs(&pod.Spec.Containers[0], "append", file, "main")
	})
	pod := w.await("p", "over", over)
	assert.Equal(t, corev1.PodSucceeded, pod.Status.Phase, "%+v", pod.Status)
	order, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, "first\nsecond\nmain\n", string(order))
	for _, status := range pod.Status.InitContainerStatuses {
		require.NotNil(t, status.State.Terminated, status.Name)
		assert.Zero(t, status.State.Terminated.ExitCode, status.Name)
	}
	assert.Equal(t, "waiting\ntold to end\n", logOf(t, k, pod, corev1.PodLogOptions{Container: "beside"}))
}

func TestProcessIsToldToEnd(t *testing.T) {
	for name, tc := range map[string]struct {
		program  string
		grace    int64
		wantCode int32
		wantLog  string
	}{
		"and does":           {"wait", 30, 143, "waiting\n"},
		"and does so well":   {"heed", 30, 0, "waiting\ntold to end\n"},
		"and has to be made": {"ignore", 1, 137, "waiting\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, k, _ := processWorld(t)
			w.pod("p", "n1", main(tc.program), func(pod *corev1.Pod) {
				pod.Finalizers = []string{"example.com/look"}
				pod.Spec.TerminationGracePeriodSeconds = &tc.grace
			})
			pod := w.await("p", "running", running)
			lines := follow(t, k, pod)
			_, err := lines.ReadString('\n')
			require.NoError(t, err)
			w.remove("p")
			pod = w.await("p", "over", over)
			assert.Equal(t, tc.wantCode, terminated(t, pod).ExitCode)
			rest, err := io.ReadAll(lines)
			require.NoError(t, err)
			assert.Equal(t, tc.wantLog, "waiting\n"+string(rest))
		})
	}
}

// alive says whether there is a process of that number that has not ended.
func alive(pid int) bool { return syscall.Kill(pid, 0) == nil && !zombie(pid) }

// zombie says whether a process has ended and only waits for somebody to ask how; not every machine has somebody.
func zombie(pid int) bool {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, state, found := strings.Cut(string(status), ") ")
	return err == nil && found && strings.HasPrefix(state, "Z")
}

func TestWhatAProcessLeavesBehindIsKilled(t *testing.T) {
	w, k, _ := processWorld(t)
	w.pod("p", "n1", main("spawn"))
	pod := w.await("p", "over", over)
	assert.Equal(t, corev1.PodSucceeded, pod.Status.Phase)
	pid, err := strconv.Atoi(strings.TrimSpace(logOf(t, k, pod, corev1.PodLogOptions{})))
	require.NoError(t, err)
	assert.Eventually(t, func() bool { return !alive(pid) }, patience, 10*time.Millisecond)
}

func TestNoProcessOutlivesTheKubelet(t *testing.T) {
	t.Parallel()
	w, k, stop := processWorld(t)
	script := func(pod *corev1.Pod) {
		pod.Spec.Containers[0].Command = []string{"/bin/sh", "-c", "trap '' TERM; echo $$$$; while :; do sleep 100; done"}
	}
	w.pod("p", "n1", script)
	w.pod("forced", "n1", script)
	var pids []int
	for _, name := range []string{"p", "forced"} {
		text, err := follow(t, k, w.await(name, "running", running)).ReadString('\n')
		require.NoError(t, err)
		pid, err := strconv.Atoi(strings.TrimSpace(text))
		require.NoError(t, err)
		require.True(t, alive(pid))
		pids = append(pids, pid)
	}
	require.NoError(t, w.kube.CoreV1().Pods(namespace).Delete(t.Context(), "forced", metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}))
	stop()
	for _, pid := range pids {
		assert.False(t, alive(pid))
	}
}

func TestAProcessOfAKubeletThatWentIsLost(t *testing.T) {
	w, _, stop := processWorld(t)
	w.pod("p", "n1", main("wait"))
	w.await("p", "running", running)
	stop()
	defer w.start(kubelet.Options{Runtime: kubelet.Processes(kubelet.ProcessOptions{})})()
	state := terminated(t, w.await("p", "over", over))
	assert.Equal(t, int32(137), state.ExitCode)
	assert.Equal(t, "ContainerStatusUnknown", state.Reason)
}

func TestPodDeadlineEndsProcesses(t *testing.T) {
	t.Parallel()
	w, _, _ := processWorld(t)
	w.pod("p", "n1", main("wait"), func(pod *corev1.Pod) { pod.Spec.ActiveDeadlineSeconds = new(int64(1)) })
	pod := w.await("p", "over", over)
	assert.Equal(t, "DeadlineExceeded", pod.Status.Reason)
	assert.Equal(t, int32(143), terminated(t, pod).ExitCode)
}
