package ttl

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// newDeletionDuration returns the one metric, under the name and with the buckets of the built-in controller, from
// 100 ms to 14 minutes. It is in registry if there is one. A registry that has such a metric is an error.
func newDeletionDuration(registry prometheus.Registerer) (prometheus.Histogram, error) {
	duration := prometheus.NewHistogram(prometheus.HistogramOpts{
		Subsystem: "ttl_after_finished_controller", Name: "job_deletion_duration_seconds",
		Help:    "How long after the end of their time to live Jobs were deleted.",
		Buckets: prometheus.ExponentialBuckets(0.1, 2, 14),
	})
	if registry == nil {
		return duration, nil
	}
	if err := registry.Register(duration); err != nil {
		return nil, fmt.Errorf("registering metrics: a registry holds those of one ttl controller: %w", err)
	}
	return duration, nil
}
