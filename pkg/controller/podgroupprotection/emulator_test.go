package podgroupprotection_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/generated/clientset/versioned"
	"github.com/musterkube/muster/pkg/builder"
	"github.com/musterkube/muster/pkg/controller/podgroupprotection"
	"github.com/musterkube/muster/pkg/emulator"
	"github.com/musterkube/muster/pkg/features"
)

// startServer returns the way to an API server that stops with the test.
func startServer(t *testing.T, gates features.Gates) *rest.Config {
	t.Helper()
	server, err := emulator.Start(t.Context(), emulator.Options{Gates: gates})
	require.NoError(t, err)
	t.Cleanup(server.Stop)
	return server.Config()
}

// TestOnAnAPIServer plays the life of a PodGroup whose pods outlive its deletion.
func TestOnAnAPIServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := startServer(t, features.Gates{})
		kube, err := kubernetes.NewForConfig(config)
		require.NoError(t, err)
		scheduling, err := versioned.NewForConfig(config)
		require.NoError(t, err)
		groups, pods := scheduling.SchedulingV1alpha2().PodGroups("default"), kube.CoreV1().Pods("default")

		controller, err := podgroupprotection.New(config, podgroupprotection.Options{})
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- controller.Run(ctx) }()

		template := builder.Gang("workers", 2)
		group, err := groups.Create(t.Context(), &schedulingv1alpha2.PodGroup{
			ObjectMeta: metav1.ObjectMeta{Name: "g"},
			Spec:       schedulingv1alpha2.PodGroupSpec{SchedulingPolicy: template.SchedulingPolicy},
		}, metav1.CreateOptions{})
		require.NoError(t, err)
		assert.Equal(t, []string{podgroupprotection.Finalizer}, group.Finalizers)
		for _, name := range []string{"a", "b"} {
			_, err := pods.Create(t.Context(), &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Name: name},
				Spec: corev1.PodSpec{
					SchedulingGroup: builder.SchedulingGroup(group),
					NodeName:        "node",
					Containers:      []corev1.Container{{Name: "c", Image: "busybox"}},
				},
			}, metav1.CreateOptions{})
			require.NoError(t, err)
		}

		require.NoError(t, groups.Delete(t.Context(), "g", metav1.DeleteOptions{}))
		synctest.Wait()
		group, err = groups.Get(t.Context(), "g", metav1.GetOptions{})
		require.NoError(t, err)
		assert.NotNil(t, group.DeletionTimestamp)

		// One pod ends, the other is deleted: first in grace, then for good.
		ended1, err := pods.Get(t.Context(), "a", metav1.GetOptions{})
		require.NoError(t, err)
		ended1.Status.Phase = corev1.PodSucceeded
		_, err = pods.UpdateStatus(t.Context(), ended1, metav1.UpdateOptions{})
		require.NoError(t, err)
		require.NoError(t, pods.Delete(t.Context(), "b", metav1.DeleteOptions{}))
		synctest.Wait()
		_, err = pods.Get(t.Context(), "b", metav1.GetOptions{})
		require.NoError(t, err, "a pod on a node has a grace period")
		_, err = groups.Get(t.Context(), "g", metav1.GetOptions{})
		require.NoError(t, err, "a pod in its grace period still runs")

		require.NoError(t, pods.Delete(t.Context(), "b", metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}))
		synctest.Wait()
		_, err = groups.Get(t.Context(), "g", metav1.GetOptions{})
		assert.True(t, apierrors.IsNotFound(err), "got %v", err)

		cancel()
		require.NoError(t, <-ended)
	})
}

func TestOnAnAPIServerWithoutPodGroups(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		controller, err := podgroupprotection.New(startServer(t, features.KubernetesDefaults()), podgroupprotection.Options{})
		require.NoError(t, err)
		require.ErrorIs(t, controller.Run(t.Context()), podgroupprotection.ErrNotServed)
	})
}

func TestRunWaitsForItsLastRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := startServer(t, features.Gates{})
		scheduling, err := versioned.NewForConfig(config)
		require.NoError(t, err)
		groups := scheduling.SchedulingV1alpha2().PodGroups("default")
		_, err = groups.Create(t.Context(), &schedulingv1alpha2.PodGroup{
			ObjectMeta: metav1.ObjectMeta{Name: "g"},
			Spec:       schedulingv1alpha2.PodGroupSpec{SchedulingPolicy: builder.Basic("workers").SchedulingPolicy},
		}, metav1.CreateOptions{})
		require.NoError(t, err)
		require.NoError(t, groups.Delete(t.Context(), "g", metav1.DeleteOptions{}))

		release := make(chan struct{})
		config.Wrap(func(next http.RoundTripper) http.RoundTripper { return holding{next, http.MethodPut, release} })
		controller, err := podgroupprotection.New(config, podgroupprotection.Options{})
		require.NoError(t, err)
		runHolding(t, release, controller.Run)
	})
}

// holding passes requests on, but keeps those of one method until it is told to let go.
type holding struct {
	http.RoundTripper
	method  string
	release chan struct{}
}

func (h holding) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method == h.method {
		<-h.release
	}
	return h.RoundTripper.RoundTrip(request)
}

// runHolding runs a controller whose writes get no answer, ends it, and wants it to go on until the answer is there.
func runHolding(t *testing.T, release chan struct{}, run func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx) }()
	synctest.Wait()
	cancel()
	synctest.Wait()
	select {
	case err := <-ended:
		assert.Fail(t, "a worker outlives Run", err)
	default:
	}
	close(release)
	require.NoError(t, <-ended)
}
