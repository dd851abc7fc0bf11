package podgc_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/musterkube/muster/pkg/controller/podgc"
	"github.com/musterkube/muster/pkg/core"
	"github.com/musterkube/muster/pkg/emulator"
)

// world is an API server with a collector.
type world struct {
	t    *testing.T
	kube kubernetes.Interface
}

func inWorld(t *testing.T, options podgc.Options, test func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		server, err := emulator.Start(t.Context(), emulator.Options{})
		require.NoError(t, err)
		defer server.Stop()
		runBeside(t, server, server.Config(), options, test)
	})
}

// runBeside runs a collector with its own configuration beside a test that has an administrator's.
func runBeside(t *testing.T, server *emulator.Server, config *rest.Config, options podgc.Options, test func(w *world)) {
	t.Helper()
	kube, err := kubernetes.NewForConfig(server.Config())
	require.NoError(t, err)
	controller, err := podgc.New(config, options)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- controller.Run(ctx) }()
	test(&world{t, kube})
	cancel()
	require.NoError(t, <-ended)
}

func (w *world) pod(name, node string) {
	w.t.Helper()
	_, err := w.kube.CoreV1().Pods("default").Create(w.t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Finalizers: []string{"example.com/look"}},
		Spec:       corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "main", Image: "i"}}},
	}, metav1.CreateOptions{})
	require.NoError(w.t, err)
}

func (w *world) get(name string) *corev1.Pod {
	w.t.Helper()
	pod, err := w.kube.CoreV1().Pods("default").Get(w.t.Context(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	require.NoError(w.t, err)
	return pod
}

func (w *world) node(name string, taints ...corev1.Taint) {
	w.t.Helper()
	_, err := w.kube.CoreV1().Nodes().Create(w.t.Context(), &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.NodeSpec{Taints: taints},
	}, metav1.CreateOptions{})
	require.NoError(w.t, err)
}

func (w *world) remove(name string) {
	w.t.Helper()
	require.NoError(w.t, w.kube.CoreV1().Pods("default").Delete(w.t.Context(), name, metav1.DeleteOptions{}))
}

func pass(d time.Duration) {
	clock.RealClock{}.Sleep(d)
	synctest.Wait()
}

func TestPodsOfNodesThatDoNotExist(t *testing.T) {
	inWorld(t, podgc.Options{}, func(w *world) {
		w.node("there")
		w.pod("orphan", "gone")
		w.pod("late", "comes")
		w.pod("well", "there")
		w.pod("waiting", "")
		pass(35 * time.Second)
		assert.Nil(w.t, w.get("orphan").DeletionTimestamp)
		w.node("comes")
		pass(time.Minute)
		orphan := w.get("orphan")
		assert.Equal(w.t, corev1.PodFailed, orphan.Status.Phase)
		assert.NotNil(w.t, orphan.DeletionTimestamp)
		condition := core.PodCondition(orphan, corev1.DisruptionTarget)
		require.NotNil(w.t, condition)
		assert.Equal(w.t, "DeletionByPodGC", condition.Reason)
		assert.Equal(w.t, "PodGC: node no longer exists", condition.Message)
		for _, name := range []string{"late", "well", "waiting"} {
			assert.Equal(w.t, corev1.PodPending, w.get(name).Status.Phase, name)
			assert.Nil(w.t, w.get(name).DeletionTimestamp, name)
		}
	})
}

func TestPodsThatAreBeingDeleted(t *testing.T) {
	inWorld(t, podgc.Options{}, func(w *world) {
		w.node("n1")
		w.node("n2", corev1.Taint{Key: corev1.TaintNodeOutOfService, Effect: corev1.TaintEffectNoExecute})
		for name, node := range map[string]string{"unbound": "", "bound": "n1", "out": "n2"} {
			w.pod(name, node)
			w.remove(name)
		}
		w.pod("stays", "n2")
		pass(time.Minute)
		assert.Equal(w.t, corev1.PodPending, w.get("bound").Status.Phase, "its kubelet will see to it")
		assert.Equal(w.t, corev1.PodPending, w.get("stays").Status.Phase, "it is not to go")
		for _, name := range []string{"unbound", "out"} {
			assert.Equal(w.t, corev1.PodFailed, w.get(name).Status.Phase, name)
			assert.Zero(w.t, *w.get(name).DeletionGracePeriodSeconds, name)
			assert.Nil(w.t, core.PodCondition(w.get(name), corev1.DisruptionTarget), name)
		}
	})
}

func TestPodsThatHaveEndedBeyondABound(t *testing.T) {
	inWorld(t, podgc.Options{TerminatedThreshold: 1}, func(w *world) {
		w.node("n1")
		for _, name := range []string{"old", "new", "evicted", "runs"} {
			w.pod(name, "n1")
			if name != "runs" {
				pod := w.get(name)
				pod.Status.Phase = corev1.PodSucceeded
				if name == "evicted" {
					pod.Status.Phase, pod.Status.Reason = corev1.PodFailed, "Evicted"
				}
				_, err := w.kube.CoreV1().Pods("default").UpdateStatus(w.t.Context(), pod, metav1.UpdateOptions{})
				require.NoError(w.t, err)
			}
			pass(time.Second)
		}
		pass(time.Minute)
		assert.NotNil(w.t, w.get("old").DeletionTimestamp)
		assert.NotNil(w.t, w.get("evicted").DeletionTimestamp)
		assert.Nil(w.t, w.get("new").DeletionTimestamp)
		assert.Nil(w.t, w.get("runs").DeletionTimestamp)
	})
}
