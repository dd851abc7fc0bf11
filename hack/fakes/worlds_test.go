package fakes

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/kubernetes"
	kubefake "k8s.io/client-go/kubernetes/fake"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlfake "sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/musterkube/muster/pkg/emulator"
)

const namespace = metav1.NamespaceDefault

// world is the pods of a server, or of what stands in for one.
type world interface {
	create(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error)
	get(ctx context.Context, name string) (*corev1.Pod, error)
	list(ctx context.Context, limit int64) (*corev1.PodList, error)
	update(ctx context.Context, pod *corev1.Pod) error
	patch(ctx context.Context, name string, patch []byte) error
	apply(ctx context.Context, pod *applycorev1.PodApplyConfiguration, manager string) error
	delete(ctx context.Context, name string) error
	watch(ctx context.Context, resourceVersion string) (watch.Interface, error)
}

// worlds are the ways to have one, by name.
var worlds = []struct {
	name string
	make func(tb testing.TB) world
}{
	{"emulator", func(tb testing.TB) world {
		tb.Helper()
		server, err := emulator.Start(tb.Context(), emulator.Options{})
		require.NoError(tb, err)
		tb.Cleanup(server.Stop)
		config := server.Config()
		config.ContentType = "application/vnd.kubernetes.protobuf"
		kube, err := kubernetes.NewForConfig(config)
		require.NoError(tb, err)
		return clientset{kube}
	}},
	{"client-go fake", func(testing.TB) world { return clientset{kubefake.NewClientset()} }},
	{"controller-runtime fake", func(testing.TB) world {
		return runtimeClient{ctrlfake.NewClientBuilder().WithReturnManagedFields().Build()}
	}},
}

// each runs a function for every world.
func each(t *testing.T, do func(t *testing.T, name string, w world)) {
	t.Helper()
	for _, of := range worlds {
		t.Run(of.name, func(t *testing.T) { do(t, of.name, of.make(t)) })
	}
}

// clientset is a world by the clients of client-go.
type clientset struct{ kube kubernetes.Interface }

func (c clientset) create(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
	return c.kube.CoreV1().Pods(namespace).Create(ctx, pod, metav1.CreateOptions{})
}

func (c clientset) get(ctx context.Context, name string) (*corev1.Pod, error) {
	return c.kube.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
}

func (c clientset) list(ctx context.Context, limit int64) (*corev1.PodList, error) {
	return c.kube.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{Limit: limit})
}

func (c clientset) update(ctx context.Context, pod *corev1.Pod) error {
	_, err := c.kube.CoreV1().Pods(namespace).Update(ctx, pod, metav1.UpdateOptions{})
	return err
}

func (c clientset) patch(ctx context.Context, name string, patch []byte) error {
	_, err := c.kube.CoreV1().Pods(namespace).Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{})
	return err
}

func (c clientset) apply(ctx context.Context, pod *applycorev1.PodApplyConfiguration, manager string) error {
	_, err := c.kube.CoreV1().Pods(namespace).Apply(ctx, pod, metav1.ApplyOptions{FieldManager: manager})
	return err
}

func (c clientset) delete(ctx context.Context, name string) error {
	return c.kube.CoreV1().Pods(namespace).Delete(ctx, name, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))})
}

func (c clientset) watch(ctx context.Context, resourceVersion string) (watch.Interface, error) {
	return c.kube.CoreV1().Pods(namespace).Watch(ctx, metav1.ListOptions{ResourceVersion: resourceVersion})
}

// runtimeClient is a world by a client of controller-runtime.
type runtimeClient struct{ client.WithWatch }

func (c runtimeClient) create(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
	pod = pod.DeepCopy()
	pod.Namespace = namespace
	return pod, c.Create(ctx, pod)
}

func (c runtimeClient) get(ctx context.Context, name string) (*corev1.Pod, error) {
	pod := &corev1.Pod{}
	return pod, c.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, pod)
}

func (c runtimeClient) list(ctx context.Context, limit int64) (*corev1.PodList, error) {
	pods := &corev1.PodList{}
	return pods, c.List(ctx, pods, client.InNamespace(namespace), client.Limit(limit))
}

func (c runtimeClient) update(ctx context.Context, pod *corev1.Pod) error { return c.Update(ctx, pod) }

func (c runtimeClient) patch(ctx context.Context, name string, patch []byte) error {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	return c.Patch(ctx, pod, client.RawPatch(types.MergePatchType, patch))
}

func (c runtimeClient) apply(ctx context.Context, pod *applycorev1.PodApplyConfiguration, manager string) error {
	return c.Apply(ctx, pod, client.FieldOwner(manager))
}

func (c runtimeClient) delete(ctx context.Context, name string) error {
	return c.Delete(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}, client.GracePeriodSeconds(0))
}

func (c runtimeClient) watch(ctx context.Context, resourceVersion string) (watch.Interface, error) {
	return c.Watch(ctx, &corev1.PodList{}, &client.ListOptions{Namespace: namespace, Raw: &metav1.ListOptions{ResourceVersion: resourceVersion}})
}

func podName(i int) string { return fmt.Sprintf("pod-%06d", i) }

func newPod(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "main:v1"}}},
	}
}

func newApply(name, value string) *applycorev1.PodApplyConfiguration {
	return applycorev1.Pod(name, namespace).WithLabels(map[string]string{"applied": value})
}
