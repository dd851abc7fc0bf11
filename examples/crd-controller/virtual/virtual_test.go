package virtual_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/musterkube/muster/pkg/cluster"
	"github.com/musterkube/muster/pkg/cluster/clustertest"
	"github.com/musterkube/muster/pkg/emulator/emulatortest"
)

// lifetime is how long the controller lets a ConfigMap be.
const lifetime = time.Hour

// expire deletes ConfigMaps with the label example.com/expires an hour after they were made. It stands for your Reconcile.
func expire(c client.Client) reconcile.Func {
	return func(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
		settings := &corev1.ConfigMap{}
		if err := c.Get(ctx, request.NamespacedName, settings); err != nil {
			return ctrl.Result{}, client.IgnoreNotFound(err)
		}
		if _, expires := settings.Labels["example.com/expires"]; !expires {
			return ctrl.Result{}, nil
		}
		if left := time.Until(settings.CreationTimestamp.Add(lifetime)); left > 0 {
			return ctrl.Result{RequeueAfter: left}, nil
		}
		return ctrl.Result{}, client.IgnoreNotFound(c.Delete(ctx, settings))
	}
}

// startManager runs a manager with the controller until the test ends.
func startManager(t *testing.T, c *clustertest.Cluster) {
	t.Helper()
	manager, err := ctrl.NewManager(c.Config(), ctrl.Options{
		Logger:     emulatortest.Logger(t),                           // to the test's log
		Metrics:    metricsserver.Options{BindAddress: "0"},          // no socket
		Controller: config.Controller{SkipNameValidation: new(true)}, // the next test has one of the same name
	})
	require.NoError(t, err)
	require.NoError(t, ctrl.NewControllerManagedBy(manager).For(&corev1.ConfigMap{}).Complete(expire(manager.GetClient())))
	c.Go(manager.Start)
	c.Advance(time.Second) // its caches are full, and it has seen what there was
}

func TestAnHourTakesNoTime(t *testing.T) {
	clustertest.Run(t, cluster.Options{}, func(t *testing.T, c *clustertest.Cluster) {
		startManager(t, c)
		maps := c.Kube.CoreV1().ConfigMaps("default")
		for name, labels := range map[string]map[string]string{"short-lived": {"example.com/expires": ""}, "stays": nil} {
			_, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}, metav1.CreateOptions{})
			require.NoError(t, err)
		}

		c.Advance(lifetime - time.Second)
		_, err := maps.Get(t.Context(), "short-lived", metav1.GetOptions{})
		require.NoError(t, err, "a second before its time")

		c.Advance(time.Second)
		left, err := maps.List(t.Context(), metav1.ListOptions{LabelSelector: "example.com/expires"})
		require.NoError(t, err)
		assert.Empty(t, left.Items, "at its time")
		_, err = maps.Get(t.Context(), "stays", metav1.GetOptions{})
		assert.NoError(t, err)
	})
}

// A manager that starts late finds what there is, and what is overdue.
func TestAManagerThatStartsLate(t *testing.T) {
	clustertest.Run(t, cluster.Options{}, func(t *testing.T, c *clustertest.Cluster) {
		maps := c.Kube.CoreV1().ConfigMaps("default")
		_, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
			Name: "overdue", Labels: map[string]string{"example.com/expires": ""},
		}}, metav1.CreateOptions{})
		require.NoError(t, err)
		c.Advance(24 * time.Hour)
		startManager(t, c)
		left, err := maps.List(t.Context(), metav1.ListOptions{LabelSelector: "example.com/expires"})
		require.NoError(t, err)
		assert.Empty(t, left.Items)
	})
}
