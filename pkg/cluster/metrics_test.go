package cluster_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"github.com/musterkube/muster/pkg/cluster"
)

func TestControllersCountInTheRegistry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		registry := prometheus.NewRegistry()
		c, err := cluster.Start(t.Context(), cluster.Options{Nodes: 1, Metrics: registry})
		require.NoError(t, err)
		defer c.Stop()
		client, err := kubernetes.NewForConfig(c.Config())
		require.NoError(t, err)
		_, err = client.BatchV1().Jobs("default").Create(t.Context(), &batchv1.Job{
			ObjectMeta: metav1.ObjectMeta{Name: "short-lived"},
			Spec: batchv1.JobSpec{
				TTLSecondsAfterFinished: new(int32(10)),
				Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
					RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "c", Image: "i"}},
				}},
			},
		}, metav1.CreateOptions{})
		require.NoError(t, err)
		<-clock.RealClock{}.After(time.Minute) // the bubble's clock
		synctest.Wait()

		for _, name := range []string{"job_controller_jobs_finished_total", "ttl_after_finished_controller_job_deletion_duration_seconds"} {
			n, err := testutil.GatherAndCount(registry, name)
			require.NoError(t, err)
			assert.Equal(t, 1, n, name)
		}
		_, err = cluster.Start(t.Context(), cluster.Options{Metrics: registry})
		require.ErrorContains(t, err, "making job: ")
	})
}
