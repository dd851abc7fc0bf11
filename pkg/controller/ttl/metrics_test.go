package ttl

import (
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"
)

func TestDeletionsAreTimedFromTheEndOfTheTimeToLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		registry := prometheus.NewRegistry()
		f := newFixture(t, Options{Metrics: registry}, makeJob("j").ttl(60).finished(), makeJob("gone").ttl(60).finished())
		// The API server has the hiccups when the time is over.
		var mended atomic.Bool
		f.kube.PrependReactor("delete", "jobs", func(action clienttesting.Action) (bool, runtime.Object, error) {
			name := action.(clienttesting.DeleteAction).GetName()
			if name == "gone" {
				return true, nil, apierrors.NewNotFound(jobs.GroupResource(), name)
			}
			return !mended.Load(), nil, apierrors.NewInternalError(assert.AnError)
		})
		f.start(t)
		after(61 * time.Second)
		assert.True(t, f.exists(t, "j"))
		mended.Store(true)
		after(time.Minute)
		require.False(t, f.exists(t, "j"))

		families, err := registry.Gather()
		require.NoError(t, err)
		require.Len(t, families, 1)
		assert.Equal(t, "ttl_after_finished_controller_job_deletion_duration_seconds", families[0].GetName())
		histogram := families[0].GetMetric()[0].GetHistogram()
		assert.Equal(t, uint64(1), histogram.GetSampleCount(), "one Job was deleted, the other was gone before")
		assert.Greater(t, histogram.GetSampleSum(), 1.0)
		assert.Less(t, histogram.GetSampleSum(), 60.0)
		buckets := histogram.GetBucket()
		require.Len(t, buckets, 14)
		assert.InDelta(t, 0.1, buckets[0].GetUpperBound(), 1e-9)
		assert.InDelta(t, 819.2, buckets[13].GetUpperBound(), 1e-9)
		problems, err := testutil.GatherAndLint(registry)
		require.NoError(t, err)
		assert.Empty(t, problems)
	})
}

func TestTheWorkQueueIsCountedIfAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		registry := prometheus.NewRegistry()
		f := newFixture(t, Options{Metrics: registry, QueueMetrics: true}, makeJob("j").ttl(60).finished())
		f.start(t)
		after(2 * time.Minute)
		require.False(t, f.exists(t, "j"))
		require.NoError(t, testutil.GatherAndCompare(registry, strings.NewReader(`
# HELP workqueue_adds_total Items that were added to the work queue.
# TYPE workqueue_adds_total counter
workqueue_adds_total{name="ttl_jobs_to_delete"} 2
`), "workqueue_adds_total"), "once when it is seen, once when its time is over")
	})
	require.ErrorContains(t, Options{QueueMetrics: true}.Validate(), "Options.QueueMetrics: Forbidden: there is no registry for them: set Options.Metrics")
}

func TestARegistryHoldsTheMetricOfOneController(t *testing.T) {
	registry := prometheus.NewRegistry()
	_, err := New(&rest.Config{}, Options{Metrics: registry})
	require.NoError(t, err)
	_, err = New(&rest.Config{}, Options{Metrics: registry})
	require.ErrorContains(t, err, "making a ttl controller: registering metrics: a registry holds those of one ttl controller")
	_, err = New(&rest.Config{}, Options{Metrics: prometheus.NewRegistry()})
	require.NoError(t, err)
}
