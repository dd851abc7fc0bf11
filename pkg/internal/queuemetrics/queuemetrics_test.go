package queuemetrics

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
)

func newQueue(p *Provider, name string) workqueue.TypedRateLimitingInterface[string] {
	return workqueue.NewTypedRateLimitingQueueWithConfig(
		workqueue.NewTypedItemExponentialFailureRateLimiter[string](time.Second, time.Minute),
		workqueue.TypedRateLimitingQueueConfig[string]{Name: name, MetricsProvider: p})
}

func TestQueuesAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New("one", "two")
		registry := prometheus.NewRegistry()
		require.NoError(t, registry.Register(p))
		queue := newQueue(p, "one")
		defer queue.ShutDown()
		other := newQueue(p, "three")
		defer other.ShutDown()
		other.Add("x") // is not counted
		queue.Add("a")
		queue.Add("b")
		pass(time.Second)
		item, _ := queue.Get()
		pass(2 * time.Second)
		assertMetrics(t, registry, "during the work", `
# HELP workqueue_adds_total Items that were added to the work queue.
# TYPE workqueue_adds_total counter
workqueue_adds_total{name="one"} 2
workqueue_adds_total{name="two"} 0
# HELP workqueue_depth Items that wait in the work queue.
# TYPE workqueue_depth gauge
workqueue_depth{name="one"} 1
workqueue_depth{name="two"} 0
# HELP workqueue_longest_running_processor_seconds For how long the item has been worked on that takes longest.
# TYPE workqueue_longest_running_processor_seconds gauge
workqueue_longest_running_processor_seconds{name="one"} 2
workqueue_longest_running_processor_seconds{name="two"} 0
# HELP workqueue_unfinished_work_seconds For how long the items that are worked on have been, taken together.
# TYPE workqueue_unfinished_work_seconds gauge
workqueue_unfinished_work_seconds{name="one"} 2
workqueue_unfinished_work_seconds{name="two"} 0
`)
		queue.AddRateLimited(item)
		queue.Done(item)
		pass(time.Second)
		assert.InDelta(t, 1, testutil.ToFloat64(p.queues["one"].retries), 0)
		waited, worked := sum(t, p.queues["one"].latency), sum(t, p.queues["one"].workDuration)
		assert.InDelta(t, 1.0, waited, 1e-9)
		assert.InDelta(t, 2.0, worked, 1e-9)
	})
}

// A controller that is run again makes its queues again.
func TestAQueueThatIsMadeAgainGoesOnCounting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New("one")
		first := newQueue(p, "one")
		first.Add("a")
		first.ShutDown()
		second := newQueue(p, "one")
		defer second.ShutDown()
		assert.Zero(t, testutil.ToFloat64(p.queues["one"].depth))
		second.Add("b")
		assert.InDelta(t, 1, testutil.ToFloat64(p.queues["one"].depth), 0)
		assert.InDelta(t, 2, testutil.ToFloat64(p.queues["one"].adds), 0)
	})
}

func TestARegistryTakesTheQueuesOfSeveralControllers(t *testing.T) {
	registry := prometheus.NewRegistry()
	require.NoError(t, registry.Register(New("one", "two")))
	require.NoError(t, registry.Register(New("three")))
	require.Error(t, registry.Register(New("two")))
}

func assertMetrics(t *testing.T, registry prometheus.Gatherer, when, want string) {
	t.Helper()
	var names []string
	for line := range strings.Lines(want) {
		if name, found := strings.CutPrefix(line, "# TYPE "); found {
			names = append(names, strings.Fields(name)[0])
		}
	}
	require.NoError(t, testutil.GatherAndCompare(registry, strings.NewReader(want), names...), when)
}

func sum(t *testing.T, histogram prometheus.Histogram) float64 {
	t.Helper()
	registry := prometheus.NewRegistry()
	require.NoError(t, registry.Register(histogram))
	families, err := registry.Gather()
	require.NoError(t, err)
	return families[0].GetMetric()[0].GetHistogram().GetSampleSum()
}

func pass(d time.Duration) {
	clock.RealClock{}.Sleep(d)
	synctest.Wait()
}
