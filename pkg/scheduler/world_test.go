package scheduler_test

import (
	"context"
	"maps"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/generated/clientset/versioned"
	"github.com/musterkube/muster/pkg/emulator"
	"github.com/musterkube/muster/pkg/features"
	"github.com/musterkube/muster/pkg/scheduler"
)

// namespace is where the tests' objects are.
const namespace = "default"

// world is an API server with or without a scheduler, in which a test is the user, the kubelet and the Job controller.
type world struct {
	t      *testing.T
	cfg    *rest.Config
	kube   kubernetes.Interface
	muster versioned.Interface
}

// newWorld starts an API server. It ends with the test, which is best run in a bubble of synctest: all waiting is by the
// clock.
func newWorld(t *testing.T, gates features.Gates) *world {
	t.Helper()
	server, err := emulator.Start(t.Context(), emulator.Options{Gates: gates})
	require.NoError(t, err)
	t.Cleanup(server.Stop)
	kube, err := kubernetes.NewForConfig(server.Config())
	require.NoError(t, err)
	muster, err := versioned.NewForConfig(server.Config())
	require.NoError(t, err)
	return &world{t: t, cfg: server.Config(), kube: kube, muster: muster}
}

// start runs a scheduler until the function that it returns is called, at the latest at the end of the test.
func (w *world) start(options scheduler.Options) (stop func()) {
	w.t.Helper()
	s, err := scheduler.New(w.cfg, options)
	require.NoError(w.t, err)
	ctx, cancel := context.WithCancel(klog.NewContext(w.t.Context(), logr.Discard()))
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		require.NoError(w.t, <-ended)
	})
	w.t.Cleanup(stop)
	return stop
}

// pass lets that much time pass.
func (w *world) pass(d time.Duration) { clock.RealClock{}.Sleep(d) }

func (w *world) node(name, cpu string, labels map[string]string, taints ...corev1.Taint) {
	w.t.Helper()
	meta := metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name}}
	maps.Copy(meta.Labels, labels)
	node, err := w.kube.CoreV1().Nodes().Create(w.t.Context(), &corev1.Node{ObjectMeta: meta}, metav1.CreateOptions{})
	require.NoError(w.t, err)
	node.Status.Allocatable = corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse(cpu),
		corev1.ResourceMemory: resource.MustParse("64Gi"),
		corev1.ResourcePods:   resource.MustParse("110"),
	}
	node.Status.Capacity = node.Status.Allocatable
	node, err = w.kube.CoreV1().Nodes().UpdateStatus(w.t.Context(), node, metav1.UpdateOptions{})
	require.NoError(w.t, err)
	// The server tainted the node as not ready; its kubelet would have that taken off.
	node.Spec.Taints = taints
	_, err = w.kube.CoreV1().Nodes().Update(w.t.Context(), node, metav1.UpdateOptions{})
	require.NoError(w.t, err)
	// Let the scheduler see the node as it is now before anything else happens.
	synctest.Wait()
}

func (w *world) gang(name string, minCount int32) {
	w.t.Helper()
	w.group(name, schedulingv1alpha2.PodGroupSpec{SchedulingPolicy: schedulingv1alpha2.PodGroupSchedulingPolicy{
		Gang: &schedulingv1alpha2.GangSchedulingPolicy{MinCount: minCount},
	}})
}

func (w *world) group(name string, spec schedulingv1alpha2.PodGroupSpec) {
	w.t.Helper()
	_, err := w.muster.SchedulingV1alpha2().PodGroups(namespace).Create(w.t.Context(), &schedulingv1alpha2.PodGroup{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec,
	}, metav1.CreateOptions{})
	require.NoError(w.t, err)
}

// podSpec returns the spec of a pod with one container that asks for that much CPU, in a group unless that is empty.
func podSpec(cpu, group string) corev1.PodSpec {
	spec := corev1.PodSpec{
		RestartPolicy:                 corev1.RestartPolicyNever,
		TerminationGracePeriodSeconds: new(int64(0)),
		Containers: []corev1.Container{{
			Name: "c", Image: "busybox",
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}},
		}},
	}
	if group != "" {
		spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: &group}
	}
	return spec
}

func (w *world) pod(name string, spec corev1.PodSpec) {
	w.t.Helper()
	_, err := w.kube.CoreV1().Pods(namespace).Create(w.t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec,
	}, metav1.CreateOptions{})
	require.NoError(w.t, err)
}

func (w *world) pods(cpu, group string, names ...string) {
	w.t.Helper()
	for _, name := range names {
		w.pod(name, podSpec(cpu, group))
	}
}

// finish reports of a pod what a kubelet does when it ends.
func (w *world) finish(name string, phase corev1.PodPhase) {
	w.t.Helper()
	pod := w.getPod(name)
	pod.Status.Phase = phase
	_, err := w.kube.CoreV1().Pods(namespace).UpdateStatus(w.t.Context(), pod, metav1.UpdateOptions{})
	require.NoError(w.t, err)
}

func (w *world) deletePod(name string) {
	w.t.Helper()
	err := w.kube.CoreV1().Pods(namespace).Delete(w.t.Context(), name, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))})
	require.NoError(w.t, err)
}

func (w *world) getPod(name string) *corev1.Pod {
	w.t.Helper()
	pod, err := w.kube.CoreV1().Pods(namespace).Get(w.t.Context(), name, metav1.GetOptions{})
	require.NoError(w.t, err)
	return pod
}

// bound returns the names of the pods that are bound, sorted.
func (w *world) bound() []string {
	w.t.Helper()
	list, err := w.kube.CoreV1().Pods(namespace).List(w.t.Context(), metav1.ListOptions{})
	require.NoError(w.t, err)
	var names []string
	for _, pod := range list.Items {
		if pod.Spec.NodeName != "" {
			names = append(names, pod.Name)
		}
	}
	return names
}

// scheduled returns the status and message of the PodGroupScheduled condition, empty if there is none.
func (w *world) scheduled(group string) (metav1.ConditionStatus, string) {
	w.t.Helper()
	g, err := w.muster.SchedulingV1alpha2().PodGroups(namespace).Get(w.t.Context(), group, metav1.GetOptions{})
	require.NoError(w.t, err)
	for _, condition := range g.Status.Conditions {
		if condition.Type == schedulingv1alpha2.PodGroupScheduled {
			return condition.Status, condition.Message
		}
	}
	return "", ""
}
