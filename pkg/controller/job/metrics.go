package job

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/client-go/util/workqueue"
)

// syncAction names what a sync did, as the label of the same name does in the metrics of Kubernetes.
type syncAction string

const (
	actionReconciling syncAction = "reconciling"
	actionTracking    syncAction = "tracking"
	actionPodsCreated syncAction = "pods_created"
	actionPodsDeleted syncAction = "pods_deleted"
)

// metrics is told of what the metrics of the built-in controller, job_controller_*, count.
type metrics interface {
	// synced is called at the end of each sync of an unfinished Job.
	synced(job *batchv1.Job, action syncAction, took time.Duration, err error)
	// staleSync is called when a sync is put off because a cache is behind.
	staleSync(group, resource string)
	// statusWritten is called when a status was stored, with the one before it.
	statusWritten(job *batchv1.Job, before *batchv1.JobStatus)
	// finished is called when the final condition of a Job was stored.
	finished(job *batchv1.Job, o *outcome)
	// podsCreated is called after pods were made; reason is new, recreate_terminating_or_failed or recreate_failed.
	podsCreated(reason string, succeeded, failed int)
	// failureHandled is called when the status with failures that a rule of the pod failure policy matched was stored.
	failureHandled(action batchv1.PodFailurePolicyAction, n int)
	// finishedPodTracked is called when a finished pod is first seen with the tracking finalizer, and when it is last.
	finishedPodTracked(appeared bool)
	// managedByOther is called for each Job that comes up and belongs to a controller of that name.
	managedByOther(controller string)
	// queues is told of the work queues. If it is nil, the provider of the process is.
	queues() workqueue.MetricsProvider
}

// noMetrics counts nothing.
type noMetrics struct{}

var _ metrics = noMetrics{}

func (noMetrics) synced(*batchv1.Job, syncAction, time.Duration, error) {}
func (noMetrics) staleSync(string, string)                              {}
func (noMetrics) statusWritten(*batchv1.Job, *batchv1.JobStatus)        {}
func (noMetrics) finished(*batchv1.Job, *outcome)                       {}
func (noMetrics) podsCreated(string, int, int)                          {}
func (noMetrics) failureHandled(batchv1.PodFailurePolicyAction, int)    {}
func (noMetrics) finishedPodTracked(bool)                               {}
func (noMetrics) managedByOther(string)                                 {}
func (noMetrics) queues() workqueue.MetricsProvider                     { return nil }
