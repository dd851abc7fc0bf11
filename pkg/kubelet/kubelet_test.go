package kubelet_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/musterkube/muster/pkg/emulator"
	"github.com/musterkube/muster/pkg/kubelet"
)

const namespace = "default"

// world is an API server in which a test is the user and the scheduler.
type world struct {
	t    *testing.T
	cfg  *rest.Config
	kube kubernetes.Interface
}

func newWorld(t *testing.T) *world {
	t.Helper()
	server, err := emulator.Start(t.Context(), emulator.Options{})
	require.NoError(t, err)
	t.Cleanup(server.Stop)
	kube, err := kubernetes.NewForConfig(server.Config())
	require.NoError(t, err)
	return &world{t: t, cfg: server.Config(), kube: kube}
}

// start runs a kubelet until the function that it returns is called.
func (w *world) start(options kubelet.Options) (stop func()) {
	w.t.Helper()
	k, err := kubelet.New(w.cfg, options)
	require.NoError(w.t, err)
	ctx, cancel := context.WithCancel(w.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- k.Run(ctx) }()
	return func() {
		cancel()
		require.NoError(w.t, <-ended)
	}
}

// pass lets that much time pass.
func (w *world) pass(d time.Duration) { clock.RealClock{}.Sleep(d) }

// pod makes a pod on a node.
func (w *world) pod(name, node string, change ...func(*corev1.Pod)) {
	w.t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PodSpec{
			NodeName: node, RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "busybox"}},
		},
	}
	for _, f := range change {
		f(pod)
	}
	_, err := w.kube.CoreV1().Pods(namespace).Create(w.t.Context(), pod, metav1.CreateOptions{})
	require.NoError(w.t, err)
}

func (w *world) get(name string) *corev1.Pod {
	w.t.Helper()
	pod, err := w.kube.CoreV1().Pods(namespace).Get(w.t.Context(), name, metav1.GetOptions{})
	require.NoError(w.t, err)
	return pod
}

func (w *world) gone(name string) bool {
	w.t.Helper()
	_, err := w.kube.CoreV1().Pods(namespace).Get(w.t.Context(), name, metav1.GetOptions{})
	return apierrors.IsNotFound(err)
}

func (w *world) remove(name string) {
	w.t.Helper()
	require.NoError(w.t, w.kube.CoreV1().Pods(namespace).Delete(w.t.Context(), name, metav1.DeleteOptions{}))
}

func bubble(t *testing.T, test func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(newWorld(t)) })
}

func TestNodesAreRegisteredAndReady(t *testing.T) {
	bubble(t, func(w *world) {
		defer w.start(kubelet.Options{Nodes: []kubelet.Node{
			{Name: "n1"},
			{
				Name: "n2", Labels: map[string]string{"rack": "r1"},
				Capacity: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("64"), "example.com/gpu": resource.MustParse("8")},
				Taints:   []corev1.Taint{{Key: "gpu", Effect: corev1.TaintEffectNoSchedule}},
			},
		}})()
		w.pass(time.Second)
		n1, err := w.kube.CoreV1().Nodes().Get(w.t.Context(), "n1", metav1.GetOptions{})
		require.NoError(w.t, err)
		assert.Empty(w.t, n1.Spec.Taints, "a node that is ready takes pods")
		assert.Equal(w.t, "n1", n1.Labels[corev1.LabelHostname])
		assert.Equal(w.t, "4", n1.Status.Allocatable.Cpu().String())
		assert.Equal(w.t, "16Gi", n1.Status.Allocatable.Memory().String())
		assert.Equal(w.t, "110", n1.Status.Allocatable.Pods().String())
		ready := map[corev1.NodeConditionType]corev1.ConditionStatus{}
		for _, condition := range n1.Status.Conditions {
			ready[condition.Type] = condition.Status
		}
		assert.Equal(w.t, map[corev1.NodeConditionType]corev1.ConditionStatus{
			corev1.NodeReady: corev1.ConditionTrue, corev1.NodeMemoryPressure: corev1.ConditionFalse,
			corev1.NodeDiskPressure: corev1.ConditionFalse, corev1.NodePIDPressure: corev1.ConditionFalse,
		}, ready)

		n2, err := w.kube.CoreV1().Nodes().Get(w.t.Context(), "n2", metav1.GetOptions{})
		require.NoError(w.t, err)
		assert.Equal(w.t, "r1", n2.Labels["rack"])
		assert.Equal(w.t, "64", n2.Status.Allocatable.Cpu().String())
		assert.Equal(w.t, int64(8), n2.Status.Allocatable.Name("example.com/gpu", resource.DecimalSI).Value())
		require.Len(w.t, n2.Spec.Taints, 1)
		assert.Equal(w.t, "gpu", n2.Spec.Taints[0].Key)
	})
}

func TestANodeOfSomebodyElseIsServed(t *testing.T) {
	bubble(t, func(w *world) {
		defer w.start(kubelet.Options{Script: kubelet.Fixed{Duration: time.Minute}})()
		w.pod("early", "n1")
		w.pass(time.Second)
		assert.Equal(w.t, corev1.PodPending, w.get("early").Status.Phase, "there is no such node yet")
		_, err := w.kube.CoreV1().Nodes().Create(w.t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}, metav1.CreateOptions{})
		require.NoError(w.t, err)
		w.pass(time.Second)
		assert.Equal(w.t, corev1.PodRunning, w.get("early").Status.Phase)
		node, err := w.kube.CoreV1().Nodes().Get(w.t.Context(), "n1", metav1.GetOptions{})
		require.NoError(w.t, err)
		assert.Empty(w.t, node.Spec.Taints)
		assert.Equal(w.t, w.get("early").Status.HostIP, node.Status.Addresses[0].Address)
		w.pass(time.Minute)
		assert.Equal(w.t, corev1.PodSucceeded, w.get("early").Status.Phase)
	})
}

func TestOtherKubeletsNodesAreLeftAlone(t *testing.T) {
	bubble(t, func(w *world) {
		defer w.start(kubelet.Options{Nodes: []kubelet.Node{{Name: "n1"}}})()
		_, err := w.kube.CoreV1().Nodes().Create(w.t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n2"}}, metav1.CreateOptions{})
		require.NoError(w.t, err)
		w.pod("a", "n2")
		w.pass(time.Minute)
		assert.Equal(w.t, corev1.PodPending, w.get("a").Status.Phase)
		node, err := w.kube.CoreV1().Nodes().Get(w.t.Context(), "n2", metav1.GetOptions{})
		require.NoError(w.t, err)
		assert.Empty(w.t, node.Status.Conditions)
	})
}

func TestAPodRunsToItsEnd(t *testing.T) {
	bubble(t, func(w *world) {
		defer w.start(kubelet.Options{
			Nodes: []kubelet.Node{{Name: "n1"}}, StartDelay: 2 * time.Second, Script: kubelet.Fixed{Duration: time.Hour, ExitCode: 3},
		})()
		w.pass(time.Second)
		w.pod("a", "n1")
		w.pass(time.Second)
		assert.Equal(w.t, corev1.PodPending, w.get("a").Status.Phase)
		w.pass(2 * time.Second)
		assert.Equal(w.t, corev1.PodRunning, w.get("a").Status.Phase)
		w.pass(time.Hour)
		pod := w.get("a")
		assert.Equal(w.t, corev1.PodFailed, pod.Status.Phase)
		terminated := pod.Status.ContainerStatuses[0].State.Terminated
		require.NotNil(w.t, terminated)
		assert.Equal(w.t, int32(3), terminated.ExitCode)
		assert.Equal(w.t, time.Hour, terminated.FinishedAt.Sub(terminated.StartedAt.Time))
		assert.Equal(w.t, 2*time.Second, terminated.StartedAt.Sub(pod.Status.StartTime.Time))
	})
}

func TestADeletedPodIsRemovedOnceItHasEnded(t *testing.T) {
	slow := kubelet.ScriptFunc(func(kubelet.Attempt) kubelet.Outcome {
		return kubelet.Outcome{Forever: true, Shutdown: 10 * time.Second}
	})
	for name, tc := range map[string]struct {
		grace    int64
		wantGone time.Duration
	}{
		"when it has ended by itself": {grace: 30, wantGone: 10 * time.Second},
		"when it has been killed":     {grace: 5, wantGone: 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				defer w.start(kubelet.Options{Nodes: []kubelet.Node{{Name: "n1"}}, Script: slow})()
				w.pod("a", "n1", func(pod *corev1.Pod) { pod.Spec.TerminationGracePeriodSeconds = &tc.grace })
				w.pass(time.Minute)
				w.remove("a")
				w.pass(tc.wantGone - time.Second)
				assert.Equal(w.t, corev1.PodRunning, w.get("a").Status.Phase)
				w.pass(2 * time.Second)
				assert.True(w.t, w.gone("a"))
			})
		})
	}
}

func TestADeletedPodWithAFinalizerKeepsItsLastStatus(t *testing.T) {
	bubble(t, func(w *world) {
		defer w.start(kubelet.Options{Nodes: []kubelet.Node{{Name: "n1"}}, Script: kubelet.Fixed{Duration: time.Hour}})()
		w.pod("a", "n1", func(pod *corev1.Pod) { pod.Finalizers = []string{"example.com/hold"} })
		w.pass(time.Minute)
		w.remove("a")
		w.pass(time.Minute)
		pod := w.get("a")
		assert.Equal(w.t, corev1.PodFailed, pod.Status.Phase)
		assert.Equal(w.t, int32(143), pod.Status.ContainerStatuses[0].State.Terminated.ExitCode)
		pod.Finalizers = nil
		_, err := w.kube.CoreV1().Pods(namespace).Update(w.t.Context(), pod, metav1.UpdateOptions{})
		require.NoError(w.t, err)
		w.pass(time.Second)
		assert.True(w.t, w.gone("a"))
	})
}

func TestAPodOfTheSameNameIsAnother(t *testing.T) {
	bubble(t, func(w *world) {
		defer w.start(kubelet.Options{Nodes: []kubelet.Node{{Name: "n1"}}, Script: kubelet.Fixed{Duration: time.Minute}})()
		w.pod("a", "n1")
		w.pass(50 * time.Second)
		require.NoError(w.t, w.kube.CoreV1().Pods(namespace).Delete(w.t.Context(), "a", metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}))
		w.pod("a", "n1")
		w.pass(50 * time.Second)
		assert.Equal(w.t, corev1.PodRunning, w.get("a").Status.Phase)
		w.pass(11 * time.Second)
		assert.Equal(w.t, corev1.PodSucceeded, w.get("a").Status.Phase)
	})
}

func TestAnotherKubeletGoesOn(t *testing.T) {
	bubble(t, func(w *world) {
		options := kubelet.Options{Nodes: []kubelet.Node{{Name: "n1"}}, Script: kubelet.Fixed{Duration: time.Minute}}
		stop := w.start(options)
		w.pod("a", "n1")
		w.pass(50 * time.Second)
		stop()
		w.pass(5 * time.Second)
		defer w.start(options)()
		w.pass(time.Second)
		assert.Equal(w.t, corev1.PodRunning, w.get("a").Status.Phase)
		w.pass(5 * time.Second)
		assert.Equal(w.t, corev1.PodSucceeded, w.get("a").Status.Phase)
	})
}

func TestFailingIndexes(t *testing.T) {
	bubble(t, func(w *world) {
		var attempts []int
		script := kubelet.FailIndex(1, 42, 2, kubelet.Fixed{Duration: time.Second})
		defer w.start(kubelet.Options{Nodes: []kubelet.Node{{Name: "n1"}}, Script: kubelet.ScriptFunc(func(a kubelet.Attempt) kubelet.Outcome {
			attempts = append(attempts, a.Number)
			assert.Equal(w.t, "j", a.Job)
			return script.Run(a)
		})})()
		job, err := w.kube.BatchV1().Jobs(namespace).Create(w.t.Context(), &batchv1.Job{
			ObjectMeta: metav1.ObjectMeta{Name: "j"},
			Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "busybox"}},
			}}},
		}, metav1.CreateOptions{})
		require.NoError(w.t, err)
		ofJob := func(pod *corev1.Pod) {
			pod.Annotations = map[string]string{"batch.kubernetes.io/job-completion-index": "1"}
			pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))}
		}
		var codes []int32
		for _, name := range []string{"a", "b", "c"} {
			w.pod(name, "n1", ofJob)
			w.pass(10 * time.Second)
			codes = append(codes, w.get(name).Status.ContainerStatuses[0].State.Terminated.ExitCode)
			w.remove(name)
		}
		assert.Equal(w.t, []int32{42, 42, 0}, codes)
		assert.Equal(w.t, []int{1, 2, 3}, attempts, "the script is asked once for each start")
	})
}

func TestAPodThatSomebodyElseHasFinishedIsLeftAsItIs(t *testing.T) {
	bubble(t, func(w *world) {
		defer w.start(kubelet.Options{Nodes: []kubelet.Node{{Name: "n1"}}, Script: kubelet.Fixed{Duration: time.Minute}})()
		w.pod("a", "n1")
		w.pass(time.Second)
		pod := w.get("a")
		pod.Status.Phase, pod.Status.Reason = corev1.PodFailed, "Evicted"
		pod, err := w.kube.CoreV1().Pods(namespace).UpdateStatus(w.t.Context(), pod, metav1.UpdateOptions{})
		require.NoError(w.t, err)
		w.pass(time.Hour)
		assert.Equal(w.t, pod.Status, w.get("a").Status)
	})
}

func TestTheScriptIsNotAskedAboutAPodThatIsOver(t *testing.T) {
	bubble(t, func(w *world) {
		w.pod("a", "n1")
		pod := w.get("a")
		pod.Status.Phase = corev1.PodSucceeded
		_, err := w.kube.CoreV1().Pods(namespace).UpdateStatus(w.t.Context(), pod, metav1.UpdateOptions{})
		require.NoError(w.t, err)
		asked := false
		defer w.start(kubelet.Options{Nodes: []kubelet.Node{{Name: "n1"}}, Script: kubelet.ScriptFunc(func(kubelet.Attempt) kubelet.Outcome {
			asked = true
			return kubelet.Outcome{}
		})})()
		w.pass(time.Minute)
		assert.False(w.t, asked)
	})
}

func TestAPodIsPlayedToItsEndWithoutItsNode(t *testing.T) {
	bubble(t, func(w *world) {
		defer w.start(kubelet.Options{Nodes: []kubelet.Node{{Name: "n1"}}, Script: kubelet.Fixed{Duration: time.Minute}})()
		w.pod("a", "n1")
		w.pass(time.Second)
		require.NoError(w.t, w.kube.CoreV1().Nodes().Delete(w.t.Context(), "n1", metav1.DeleteOptions{}))
		w.pass(time.Minute)
		assert.Equal(w.t, corev1.PodSucceeded, w.get("a").Status.Phase)
	})
}
