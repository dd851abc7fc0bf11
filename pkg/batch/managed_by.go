package batch

import batchv1 "k8s.io/api/batch/v1"

// ManagedBy returns who looks after job: spec.managedBy (KEP-4368), or the built-in controller when it is not set.
func ManagedBy(job *batchv1.Job) string {
	if job.Spec.ManagedBy == nil {
		return batchv1.JobControllerName
	}
	return *job.Spec.ManagedBy
}

// ManagedByBuiltIn reports whether the built-in Job controller looks after job: spec.managedBy is not set or names it.
func ManagedByBuiltIn(job *batchv1.Job) bool { return ManagedBy(job) == batchv1.JobControllerName }

// ManagedByOther reports whether a controller other than the one named looks after job, so that the one named must
// leave the Job and its pods alone. A Job without spec.managedBy belongs to the built-in controller
// ([batchv1.JobControllerName]).
func ManagedByOther(job *batchv1.Job, name string) bool { return ManagedBy(job) != name }
