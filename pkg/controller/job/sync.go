package job

import (
	"context"
	"errors"
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/musterkube/muster/pkg/batch"
)

// sync brings one Job a step further. It is never run twice at a time for one key.
func (r *reconciler) sync(ctx context.Context, queued jobKey) error {
	job, err := r.jobs.Jobs(queued.Namespace).Get(queued.Name)
	switch {
	case apierrors.IsNotFound(err), err == nil && queued.uid != "" && job.UID != queued.uid:
		r.memory.forget(queued)
		return nil
	case err != nil:
		return fmt.Errorf("reading job %s from the cache: %w", queued, err)
	case !r.manages(job):
		r.tellManagedByOther(ctx, job)
		return nil
	}
	key := keyOf(job)
	if err := r.upToDate(key); err != nil {
		return err
	}
	// The caches may have moved on since.
	if job, err = r.jobs.Jobs(key.Namespace).Get(key.Name); err != nil || job.UID != key.uid {
		return ignoreNotFound(err) // an event will tell
	}
	if _, finished := batch.Finished(job); finished {
		r.memory.forget(key)
		return nil
	}
	if r.memory.hasFinished(key) {
		// The cache is behind: acting on it would run finished work again.
		return nil
	}
	if !isKnownMode(job) {
		r.events.tell(ctx, job, unknownMode)
		return nil
	}
	return r.syncUnfinished(ctx, key, job)
}

// syncUnfinished fetches, decides and applies.
func (r *reconciler) syncUnfinished(ctx context.Context, key jobKey, job *batchv1.Job) (err error) {
	began, action := r.opts.Clock.Now(), actionReconciling
	defer func() {
		if !errors.Is(err, errStale) { // nothing failed, the sync comes again
			r.metrics.synced(job, action, r.opts.Clock.Since(began), err)
		}
	}()

	s, err := r.fetch(ctx, key, job)
	if err != nil {
		return err
	}
	d := decide(s)
	action = d.pods.action
	if d.requeue > 0 {
		r.queue.AddAfter(r.queueKey(job), d.requeue)
	}
	if err := r.announceFirst(ctx, key, s, d); err != nil {
		return fmt.Errorf("announcing the outcome of job %s: %w", key, err)
	}
	if err := r.tellFinishedMembers(ctx, s, d); err != nil {
		return err
	}
	result := r.applyPods(ctx, key, s, d)
	r.tellWhy(ctx, key, s, d)
	if err := r.applyStatus(ctx, key, s, d, conclude(s, d, result)); err != nil {
		return fmt.Errorf("tracking status of job %s: %w", key, err)
	}
	if result.err != nil {
		return fmt.Errorf("managing pods of job %s: %w", key, result.err)
	}
	return nil
}

// fetch takes a snapshot. On the way it adopts and releases pods, and makes the group that new pods are to join.
func (r *reconciler) fetch(ctx context.Context, key jobKey, job *batchv1.Job) (*snapshot, error) {
	if r.opts.AtMostOnce {
		job = replacedWhenEnded(job)
	}
	if err := r.checkUncertain(ctx, key, job); err != nil {
		return nil, fmt.Errorf("listing pods of job %s: %w", key, err)
	}
	settled := r.memory.settled(key)
	pods, err := r.claimPods(ctx, key, job)
	if err != nil {
		return nil, fmt.Errorf("claiming pods of job %s: %w", key, err)
	}
	gang, err := r.ensureGang(ctx, key, job, pods)
	if err != nil {
		return nil, fmt.Errorf("ensuring Workload and PodGroup for Job %s: %w", key, err)
	}
	if isIndexed(job) {
		sortByIndex(pods)
	}
	return &snapshot{
		job:     job,
		pods:    pods,
		gang:    gang,
		now:     r.opts.Clock.Now(),
		settled: settled,
		awaited: r.memory.awaited(key),
		backoff: r.memory.backoff(key),
		limits:  r.limits,
		better:  r.better,
		lost:    r.memory.lost(key),
	}, nil
}

// announceFirst stores the outcome of a Job before the pods that are left are deleted because of it. A sync that stops
// between the two would otherwise leave pods that look as if they had failed, and the next one, which knows no better,
// would fail a Job that has succeeded, or for another reason. The built-in controller takes that risk.
func (r *reconciler) announceFirst(ctx context.Context, key jobKey, s *snapshot, d *decision) error {
	if !s.better.outcomeFirst || d.outcome == nil || len(d.pods.delete) == 0 || announcedOutcome(s.job) != nil {
		return nil
	}
	p := &statusPlan{job: withStatusCopy(s.job), outcome: d.outcome}
	p.setStart(d.started)
	p.announce(s)
	stored, err := r.writeStatus(ctx, key, p.job, &s.job.Status)
	if err != nil {
		return err
	}
	s.job = stored
	return nil
}

// applyStatus writes what a sync has concluded: the status, the finalizers of the pods that it accounts for, and the
// status again if that changed the counts or ended the Job.
func (r *reconciler) applyStatus(ctx context.Context, key jobKey, s *snapshot, d *decision, p *statusPlan) error {
	before := &s.job.Status
	if p.write {
		stored, err := r.writeStatus(ctx, key, p.job, before)
		if err != nil {
			return fmt.Errorf("adding uncounted pods to status: %w", err)
		}
		p.job, before = stored, stored.Status.DeepCopy()
		r.memory.setBackoff(key, d.backoff)
		for _, e := range p.events {
			r.events.tell(ctx, stored, e)
		}
	}
	for action, n := range p.policyActions {
		r.metrics.failureHandled(action, n)
	}
	released, releaseErr := r.releasePods(ctx, key, p.release)
	p.held.Delete(released...)
	write := settleCounts(&p.job.Status, p.held)
	ended := releaseErr == nil && p.finish(r.opts.Clock.Now())
	if write || ended {
		stored, err := r.writeStatus(ctx, key, p.job, before)
		if err != nil {
			return fmt.Errorf("removing uncounted pods from status: %w", err)
		}
		if ended {
			r.jobFinished(ctx, key, stored, p.outcome)
		}
	}
	return releaseErr
}

// writeStatus stores the status of job and returns the Job as stored. A Job that has changed since it was read is a
// conflict, which is how a status that rests on an old one is kept out.
func (r *reconciler) writeStatus(ctx context.Context, key jobKey, job *batchv1.Job, before *batchv1.JobStatus) (*batchv1.Job, error) {
	stored, err := r.kube.BatchV1().Jobs(job.Namespace).UpdateStatus(ctx, job, metav1.UpdateOptions{})
	if err != nil {
		return nil, err
	}
	r.memory.wroteJob(key, stored.ResourceVersion)
	r.metrics.statusWritten(stored, before)
	return stored, nil
}

// jobFinished remembers and tells that a Job has ended.
func (r *reconciler) jobFinished(ctx context.Context, key jobKey, job *batchv1.Job, o *outcome) {
	r.memory.setFinished(key)
	if cached, err := r.jobs.Jobs(key.Namespace).Get(key.Name); err == nil {
		if _, finished := batch.Finished(cached); finished {
			// The news came first, and nothing else will drop the record.
			r.memory.forget(key)
		}
	}
	r.metrics.finished(job, o)
	for _, e := range finishEvents(job, o) {
		r.events.tell(ctx, job, e)
	}
}

// releasePods removes the tracking finalizer from pods, all at a time, and returns the UIDs of those that are without
// it now, with the first error.
func (r *reconciler) releasePods(ctx context.Context, key jobKey, pods []*corev1.Pod) ([]types.UID, error) {
	if len(pods) == 0 {
		return nil, nil
	}
	uids := make([]types.UID, len(pods))
	for i, pod := range pods {
		uids[i] = pod.UID
	}
	r.memory.expectRemovals(key, uids)
	errs := r.inParallel(len(pods), func(i int) error {
		err := r.removeFinalizer(ctx, key, pods[i])
		if err != nil {
			r.memory.removalObserved(key, uids[i])
		}
		return ignoreNotFound(err)
	})
	released := make([]types.UID, 0, len(pods))
	for i, err := range errs {
		if err == nil {
			released = append(released, uids[i])
		}
	}
	return released, firstError(errs)
}

// firstError returns the first error that is one.
func firstError(errs []error) error {
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		return errs[i]
	}
	return nil
}

func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
