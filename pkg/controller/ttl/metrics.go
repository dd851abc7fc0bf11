package ttl

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/util/workqueue"

	"github.com/musterkube/muster/pkg/internal/queuemetrics"
)

// metrics are those of one controller. They are one collector, so that a registry takes all of them or none.
type metrics struct {
	// deletionDuration is observed when a Job was deleted.
	deletionDuration prometheus.Histogram
	queue            *queuemetrics.Provider // nil if it is not asked for
}

var _ prometheus.Collector = (*metrics)(nil)

// newMetrics returns metrics under the names and with the buckets of the built-in controller, from 100 ms to 14 minutes. They
// are in the registry if there is one. A registry that has such metrics is an error.
func newMetrics(opts Options) (*metrics, error) {
	m := &metrics{deletionDuration: prometheus.NewHistogram(prometheus.HistogramOpts{
		Subsystem: "ttl_after_finished_controller", Name: "job_deletion_duration_seconds",
		Help:    "How long after the end of their time to live Jobs were deleted.",
		Buckets: prometheus.ExponentialBuckets(0.1, 2, 14),
	})}
	if opts.QueueMetrics {
		m.queue = queuemetrics.New(queueName)
	}
	if opts.Metrics == nil {
		return m, nil
	}
	if err := opts.Metrics.Register(m); err != nil {
		return nil, fmt.Errorf("registering metrics: a registry holds those of one ttl controller: %w", err)
	}
	return m, nil
}

// Describe tells a registry what there is.
func (m *metrics) Describe(descriptions chan<- *prometheus.Desc) {
	m.deletionDuration.Describe(descriptions)
	if m.queue != nil {
		m.queue.Describe(descriptions)
	}
}

// Collect tells a registry the values.
func (m *metrics) Collect(values chan<- prometheus.Metric) {
	m.deletionDuration.Collect(values)
	if m.queue != nil {
		m.queue.Collect(values)
	}
}

// provider is told of the work queue. If it is nil, the provider of the process is.
func (m *metrics) provider() workqueue.MetricsProvider {
	if m.queue == nil {
		return nil
	}
	return m.queue
}
