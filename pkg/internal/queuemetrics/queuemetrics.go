package queuemetrics

import (
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/util/workqueue"
)

// Provider has the metrics workqueue_* of some queues, with the name of the queue as a label. A queue that is made under the
// same name as an earlier one goes on counting.
type Provider struct{ queues map[string]*metrics }

var (
	_ workqueue.MetricsProvider = (*Provider)(nil)
	_ prometheus.Collector      = (*Provider)(nil)
)

// New returns the metrics of the queues of these names. Queues of other names are not counted.
func New(names ...string) *Provider {
	p := &Provider{queues: map[string]*metrics{}}
	for _, name := range names {
		p.queues[name] = newMetrics(name)
	}
	return p
}

// Describe tells a registry what there is.
func (p *Provider) Describe(descriptions chan<- *prometheus.Desc) {
	for _, queue := range p.queues {
		for _, collector := range queue.collectors() {
			collector.Describe(descriptions)
		}
	}
}

// Collect tells a registry the values.
func (p *Provider) Collect(values chan<- prometheus.Metric) {
	for _, queue := range p.queues {
		for _, collector := range queue.collectors() {
			collector.Collect(values)
		}
	}
}

// NewDepthMetric returns how many items wait. A queue is empty when it is made; what an earlier one still had when it was
// shut down is gone.
func (p *Provider) NewDepthMetric(name string) workqueue.GaugeMetric {
	depth := p.of(name).depth
	depth.Set(0)
	return depth
}

// NewAddsMetric returns how many items were added.
func (p *Provider) NewAddsMetric(name string) workqueue.CounterMetric { return p.of(name).adds }

// NewLatencyMetric returns for how long items waited, in seconds.
func (p *Provider) NewLatencyMetric(name string) workqueue.HistogramMetric { return p.of(name).latency }

// NewWorkDurationMetric returns how long the work on items took, in seconds.
func (p *Provider) NewWorkDurationMetric(name string) workqueue.HistogramMetric {
	return p.of(name).workDuration
}

// NewUnfinishedWorkSecondsMetric returns for how long all items that are worked on have been, in seconds.
func (p *Provider) NewUnfinishedWorkSecondsMetric(name string) workqueue.SettableGaugeMetric {
	unfinished := p.of(name).unfinished
	unfinished.Set(0)
	return unfinished
}

// NewLongestRunningProcessorSecondsMetric returns for how long the one that has taken longest of them has been, in seconds.
func (p *Provider) NewLongestRunningProcessorSecondsMetric(name string) workqueue.SettableGaugeMetric {
	longest := p.of(name).longest
	longest.Set(0)
	return longest
}

// NewRetriesMetric returns how often items were added once more after a failure.
func (p *Provider) NewRetriesMetric(name string) workqueue.CounterMetric { return p.of(name).retries }

func (p *Provider) of(name string) *metrics {
	if known, ok := p.queues[name]; ok {
		return known
	}
	return newMetrics(name) // which no registry has
}

// metrics are those of one queue.
type metrics struct {
	depth, unfinished, longest prometheus.Gauge
	adds, retries              prometheus.Counter
	latency, workDuration      prometheus.Histogram
}

// newMetrics returns metrics under the names and with the buckets of Kubernetes, from 10 ns to 10 s. The name of the queue is
// a constant label, so that one registry takes those of several controllers.
func newMetrics(queue string) *metrics {
	labels := prometheus.Labels{"name": queue}
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Subsystem: "workqueue", Name: name, Help: help, ConstLabels: labels})
	}
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Subsystem: "workqueue", Name: name, Help: help, ConstLabels: labels})
	}
	histogram := func(name, help string) prometheus.Histogram {
		return prometheus.NewHistogram(prometheus.HistogramOpts{
			Subsystem: "workqueue", Name: name, Help: help, ConstLabels: labels, Buckets: prometheus.ExponentialBuckets(10e-9, 10, 10),
		})
	}
	return &metrics{
		depth:        gauge("depth", "Items that wait in the work queue."),
		adds:         counter("adds_total", "Items that were added to the work queue."),
		latency:      histogram("queue_duration_seconds", "For how long items waited in the work queue."),
		workDuration: histogram("work_duration_seconds", "How long the work on items of the work queue took."),
		unfinished:   gauge("unfinished_work_seconds", "For how long the items that are worked on have been, taken together."),
		longest:      gauge("longest_running_processor_seconds", "For how long the item has been worked on that takes longest."),
		retries:      counter("retries_total", "Items that were added once more, after a failure or to wait."),
	}
}

func (m *metrics) collectors() []prometheus.Collector {
	return []prometheus.Collector{m.depth, m.adds, m.latency, m.workDuration, m.unfinished, m.longest, m.retries}
}
