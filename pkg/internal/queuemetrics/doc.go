// Package queuemetrics counts what happens in the work queues of one controller, as Kubernetes does, without anything of
// the process: [New] makes what is both the workqueue.MetricsProvider of the queues and a collector for a registry.
package queuemetrics
