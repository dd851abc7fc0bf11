package ttl

import (
	"context"
	"fmt"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	batchinformers "k8s.io/client-go/informers/batch/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
)

// reconciler is one run of a controller: its cache and its queue.
type reconciler struct {
	*Controller
	jobs   cache.SharedIndexInformer
	synced []cache.DoneChecker
	queue  workqueue.TypedRateLimitingInterface[cache.ObjectName]
}

// queueName is the name of the queue in metrics, as in Kubernetes.
const queueName = "ttl_jobs_to_delete"

func newReconciler(c *Controller) *reconciler {
	r := &reconciler{
		Controller: c,
		jobs:       batchinformers.NewJobInformer(c.kube, c.opts.Namespace, 0, nil),
		queue: workqueue.NewTypedRateLimitingQueueWithConfig(
			workqueue.DefaultTypedControllerRateLimiter[cache.ObjectName](),
			workqueue.TypedRateLimitingQueueConfig[cache.ObjectName]{Name: queueName, MetricsProvider: c.metrics.provider(), Clock: c.opts.Clock}),
	}
	// Neither can fail on an informer that has not been started.
	_ = r.jobs.SetTransform(trimJob)
	registration, err := r.jobs.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    r.jobSeen,
		UpdateFunc: func(_, after any) { r.jobSeen(after) },
	})
	if err == nil {
		r.synced = append(r.synced, registration.HasSyncedChecker())
	}
	return r
}

// run works until ctx ends and everything has stopped.
func (r *reconciler) run(ctx context.Context) {
	var jobs, workers sync.WaitGroup
	jobs.Go(func() { r.jobs.RunWithContext(ctx) })
	if cache.WaitFor(ctx, "", r.synced...) {
		for range r.opts.Workers {
			workers.Go(func() { r.work(ctx) })
		}
	}
	<-ctx.Done()
	r.queue.ShutDown()
	workers.Wait()
	jobs.Wait()
}

// jobSeen queues a Job that is to be deleted sooner or later. Each update is looked at, since the time to live may have
// become shorter.
func (r *reconciler) jobSeen(object any) {
	if job, ok := object.(*batchv1.Job); ok && awaitsExpiry(job) {
		r.queue.Add(cache.MetaObjectToName(job))
	}
}

// work takes Jobs from the queue until it is shut down.
func (r *reconciler) work(ctx context.Context) {
	for {
		name, shutdown := r.queue.Get()
		if shutdown {
			return
		}
		r.process(ctx, name)
		r.queue.Done(name)
	}
}

// process looks at a Job, and sees to it that one whose time is not over comes again, and one that failed too.
func (r *reconciler) process(ctx context.Context, name cache.ObjectName) {
	left, err := r.reconcile(ctx, name)
	switch {
	case err == nil && left > 0:
		r.queue.Forget(name)
		r.queue.AddAfter(name, left)
	case err == nil:
		r.queue.Forget(name)
	case ctx.Err() != nil:
		// Requests fail because the controller ends.
	case apierrors.IsConflict(err):
		klog.FromContext(ctx).V(4).Info("Job is another by now, looking again", "job", name)
		r.queue.AddRateLimited(name)
	default:
		klog.FromContext(ctx).Error(err, "Deleting Job failed, trying again", "job", name)
		r.queue.AddRateLimited(name)
	}
}

// reconcile deletes the Job of that name if its time is over. If it is not, it returns the time that is left, which is
// zero for a Job that is gone or does not expire.
func (r *reconciler) reconcile(ctx context.Context, name cache.ObjectName) (left time.Duration, err error) {
	object, exists, err := r.jobs.GetIndexer().GetByKey(name.String())
	if err != nil {
		return 0, fmt.Errorf("looking up job %s: %w", name, err)
	}
	cached, ok := object.(*batchv1.Job)
	if !exists || !ok {
		return 0, nil
	}
	if due, left, err := r.isDue(ctx, cached); !due {
		return left, err
	}
	// The cache may be behind: the Job may have got more time, or be another of the same name by now.
	job, err := r.kube.BatchV1().Jobs(name.Namespace).Get(ctx, name.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("reading job %s: %w", name, err)
	}
	if due, left, err := r.isDue(ctx, job); !due {
		return left, err
	}
	return 0, r.delete(ctx, job)
}

// isDue reports whether the time of job is over; if not, left is what is left of it, zero if it never is.
func (r *reconciler) isDue(ctx context.Context, job *batchv1.Job) (due bool, left time.Duration, err error) {
	at, expires, err := ExpireTime(job)
	if err != nil || !expires {
		return false, 0, err
	}
	left = at.Sub(r.opts.Clock.Now())
	klog.FromContext(ctx).V(4).Info("Looking at finished Job", "job", klog.KObj(job), "left", left)
	return left <= 0, max(left, 0), nil
}

// delete deletes job and no other of its name. Its pods go before it does.
func (r *reconciler) delete(ctx context.Context, job *batchv1.Job) error {
	err := r.kube.BatchV1().Jobs(job.Namespace).Delete(ctx, job.Name, metav1.DeleteOptions{
		PropagationPolicy: new(metav1.DeletePropagationForeground),
		Preconditions:     &metav1.Preconditions{UID: &job.UID},
	})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("deleting job %s/%s: %w", job.Namespace, job.Name, err)
	}
	klog.FromContext(ctx).V(2).Info("Deleted Job", "job", klog.KObj(job))
	if at, _, err := ExpireTime(job); err == nil {
		r.metrics.deletionDuration.Observe(r.opts.Clock.Since(at).Seconds())
	}
	return nil
}

// trimJob keeps of a Job in the cache what decisions rest on.
func trimJob(object any) (any, error) {
	job, ok := object.(*batchv1.Job)
	if !ok {
		return object, nil
	}
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Name: job.Name, Namespace: job.Namespace, UID: job.UID, ResourceVersion: job.ResourceVersion,
			DeletionTimestamp: job.DeletionTimestamp,
		},
		Spec:   batchv1.JobSpec{TTLSecondsAfterFinished: job.Spec.TTLSecondsAfterFinished},
		Status: batchv1.JobStatus{Conditions: job.Status.Conditions},
	}, nil
}
