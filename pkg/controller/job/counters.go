package job

import (
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/client-go/util/workqueue"

	"github.com/musterkube/muster/pkg/batch"
	"github.com/musterkube/muster/pkg/internal/queuemetrics"
)

// Values of labels, as in Kubernetes.
const (
	labelSuccess   = "success"
	labelError     = "error"
	labelSucceeded = "succeeded"
	labelFailed    = "failed"
	labelAdd       = "add"
	labelDelete    = "delete"
	labelPerIndex  = "perIndex"
	labelGlobal    = "global"
)

// counters are the metrics of one controller under the names and labels of the built-in one. They are one collector, so
// that a registry takes all of them or none.
type counters struct {
	syncDuration    *prometheus.HistogramVec
	syncs           *prometheus.CounterVec
	jobsFinished    *prometheus.CounterVec
	byExternal      *prometheus.CounterVec
	podsFinished    *prometheus.CounterVec
	failuresHandled *prometheus.CounterVec
	podsTracked     *prometheus.CounterVec
	indexesFinished *prometheus.CounterVec
	podsCreation    *prometheus.CounterVec
	staleSkips      *prometheus.CounterVec
	workQueues      *queuemetrics.Provider // nil if they are not asked for
}

var (
	_ metrics              = (*counters)(nil)
	_ prometheus.Collector = (*counters)(nil)
)

// newMetrics returns metrics that are in the registry, or none without one. A registry that has such metrics is an error.
func newMetrics(opts Options) (metrics, error) {
	if opts.Metrics == nil {
		return noMetrics{}, nil
	}
	c := newCounters()
	if opts.QueueMetrics {
		c.workQueues = queuemetrics.New(queueJobs, queueOrphans)
	}
	if err := opts.Metrics.Register(c); err != nil {
		return nil, fmt.Errorf("registering metrics: a registry holds those of one job controller: %w", err)
	}
	return c, nil
}

func newCounters() *counters {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Subsystem: "job_controller", Name: name, Help: help}, labels)
	}
	return &counters{
		syncDuration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Subsystem: "job_controller", Name: "job_sync_duration_seconds",
			Help:    "How long syncs of unfinished Jobs took.",
			Buckets: prometheus.ExponentialBuckets(0.004, 2, 15),
		}, []string{"completion_mode", "result", "action"}),
		syncs:           counter("job_syncs_total", "Syncs of unfinished Jobs.", "completion_mode", "result", "action"),
		jobsFinished:    counter("jobs_finished_total", "Jobs that got their final condition.", "completion_mode", "result", "reason"),
		byExternal:      counter("jobs_by_external_controller_total", "Jobs that came up and belong to another controller.", "controller_name"),
		podsFinished:    counter("job_pods_finished_total", "Finished pods that the status of their Job accounts for.", "completion_mode", "result"),
		failuresHandled: counter("pod_failures_handled_by_failure_policy_total", "Failed pods that a rule of the pod failure policy matched.", "action"),
		podsTracked:     counter("terminated_pods_tracking_finalizer_total", "Finished pods that came to have the finalizer batch.kubernetes.io/job-tracking (add) or lost it (delete).", "event"),
		indexesFinished: counter("job_finished_indexes_total", "Indexes that have succeeded or failed.", "status", "backoffLimit"),
		podsCreation:    counter("job_pods_creation_total", "Attempts to create a pod.", "reason", "status"),
		staleSkips:      counter("stale_sync_skips_total", "Syncs put off because a cache was behind the controller's own writes.", "group", "resource"),
	}
}

func (c *counters) collectors() []prometheus.Collector {
	all := []prometheus.Collector{
		c.syncDuration, c.syncs, c.jobsFinished, c.byExternal, c.podsFinished,
		c.failuresHandled, c.podsTracked, c.indexesFinished, c.podsCreation, c.staleSkips,
	}
	if c.workQueues != nil {
		all = append(all, c.workQueues)
	}
	return all
}

// Describe tells a registry what there is.
func (c *counters) Describe(descriptions chan<- *prometheus.Desc) {
	for _, collector := range c.collectors() {
		collector.Describe(descriptions)
	}
}

// Collect tells a registry the values.
func (c *counters) Collect(values chan<- prometheus.Metric) {
	for _, collector := range c.collectors() {
		collector.Collect(values)
	}
}

func (c *counters) synced(job *batchv1.Job, action syncAction, took time.Duration, err error) {
	result := labelSuccess
	if err != nil {
		result = labelError
	}
	mode := modeLabel(job)
	c.syncDuration.WithLabelValues(mode, result, string(action)).Observe(took.Seconds())
	c.syncs.WithLabelValues(mode, result, string(action)).Inc()
}

func (c *counters) staleSync(group, resource string) {
	c.staleSkips.WithLabelValues(group, resource).Inc()
}

func (c *counters) statusWritten(job *batchv1.Job, before *batchv1.JobStatus) {
	mode := modeLabel(job)
	succeeded := int(job.Status.Succeeded - before.Succeeded)
	if isIndexed(job) {
		succeeded = c.countIndexes(job, before)
	}
	add(c.podsFinished.WithLabelValues(mode, labelSucceeded), succeeded)
	add(c.podsFinished.WithLabelValues(mode, labelFailed), int(job.Status.Failed-before.Failed))
}

// countIndexes counts the indexes that have ended since the status before and returns how many have succeeded. An index
// that the Job has no more, since it was made smaller, counts in neither status.
func (c *counters) countIndexes(job *batchv1.Job, before *batchv1.JobStatus) int {
	completions := int(valueOf(job.Spec.Completions))
	grown := func(now, before string) int {
		if now == before {
			return 0
		}
		return batch.ReadIndexSet(now, completions).Len() - batch.ReadIndexSet(before, completions).Len()
	}
	limit := labelGlobal
	if job.Spec.BackoffLimitPerIndex != nil {
		limit = labelPerIndex
		if failed := grown(valueOf(job.Status.FailedIndexes), valueOf(before.FailedIndexes)); failed > 0 {
			add(c.indexesFinished.WithLabelValues(labelFailed, limit), failed)
		}
	}
	succeeded := grown(job.Status.CompletedIndexes, before.CompletedIndexes)
	add(c.indexesFinished.WithLabelValues(labelSucceeded, limit), succeeded)
	return succeeded
}

func (c *counters) finished(job *batchv1.Job, o *outcome) {
	result := labelFailed
	if o.success {
		result = labelSucceeded
	}
	c.jobsFinished.WithLabelValues(modeLabel(job), result, o.reason).Inc()
}

func (c *counters) podsCreated(reason string, succeeded, failed int) {
	for status, n := range map[string]int{labelSucceeded: succeeded, labelFailed: failed} {
		if n > 0 {
			add(c.podsCreation.WithLabelValues(reason, status), n)
		}
	}
}

func (c *counters) failureHandled(action batchv1.PodFailurePolicyAction, n int) {
	add(c.failuresHandled.WithLabelValues(string(action)), n)
}

func (c *counters) finishedPodTracked(appeared bool) {
	event := labelDelete
	if appeared {
		event = labelAdd
	}
	c.podsTracked.WithLabelValues(event).Inc()
}

func (c *counters) managedByOther(controller string) {
	c.byExternal.WithLabelValues(controller).Inc()
}

func (c *counters) queues() workqueue.MetricsProvider {
	if c.workQueues == nil {
		return nil
	}
	return c.workQueues
}

// add adds n, which is negative if somebody else has taken from a status what was counted: a counter cannot go back.
func add(counter prometheus.Counter, n int) {
	counter.Add(float64(max(n, 0)))
}

func modeLabel(job *batchv1.Job) string {
	if isIndexed(job) {
		return string(batchv1.IndexedCompletion)
	}
	return string(batchv1.NonIndexedCompletion)
}
