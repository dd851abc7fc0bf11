package ttl

import (
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/musterkube/muster/pkg/batch"
)

// ExpireTime returns when the time to live of job is over: spec.ttlSecondsAfterFinished seconds after it ended. expires
// is false for a Job that has not ended, has no time to live, or is being deleted already. A Job whose final condition
// has no transition time is an error.
func ExpireTime(job *batchv1.Job) (at time.Time, expires bool, err error) {
	if job == nil || !awaitsExpiry(job) {
		return time.Time{}, false, nil
	}
	finished, err := batch.FinishTime(job)
	if err != nil {
		return time.Time{}, false, fmt.Errorf("reading when the time to live of job %s/%s is over: %w", job.Namespace, job.Name, err)
	}
	return finished.Add(time.Duration(*job.Spec.TTLSecondsAfterFinished) * time.Second), true, nil
}

// awaitsExpiry reports whether job is one that this controller deletes sooner or later.
func awaitsExpiry(job *batchv1.Job) bool {
	_, finished := batch.Finished(job)
	return finished && job.Spec.TTLSecondsAfterFinished != nil && job.DeletionTimestamp == nil
}
