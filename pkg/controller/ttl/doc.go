// Package ttl deletes Jobs that have ended and whose time to live is over (spec.ttlSecondsAfterFinished, KEP-592), as
// the ttl-after-finished controller of kube-controller-manager 1.36 does, which cannot be imported.
//
// The time counts from the transition of the condition Complete or Failed. When it is over, the Job is read from the API
// server once more, and if it still is due, deleted in the foreground: its pods go first. The deletion names the Job's
// UID, so that another Job of the same name is safe. A change of spec.ttlSecondsAfterFinished counts at once. Jobs that
// another controller runs (spec.managedBy) are deleted like all others.
//
//	controller, err := ttl.New(config, ttl.Options{})
//	if err != nil {
//		return err
//	}
//	return controller.Run(ctx)
//
// [ExpireTime] is the rule as a pure function.
//
// It ends no Job, and deletes none that has not ended. Foreground deletion is the work of a garbage collector: without
// one a Job stays in the state of being deleted. It writes no events. It elects no leader: two of them do no harm.
//
// Its metric, in the registry of [Options].Metrics, is ttl_after_finished_controller_job_deletion_duration_seconds: how
// long after the end of their time to live Jobs were deleted.
//
// The rights that it needs in a cluster with RBAC are in rbac.yaml beside this file, and in [RBAC]: get, list, watch and
// delete Jobs.
package ttl
