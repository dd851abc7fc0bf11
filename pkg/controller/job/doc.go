// Package job is a Job controller that can be imported: it does what the Job controller of kube-controller-manager 1.36
// does, which lives in k8s.io/kubernetes and cannot be.
//
// [New] takes a rest.Config and [Options], [Controller.Run] blocks until its context ends and everything has stopped.
//
//	controller, err := job.New(config, job.Options{})
//	if err != nil {
//		return err
//	}
//	return controller.Run(ctx)
//
// With zero Options it is the standard controller: it runs every Job whose spec.managedBy is not set or names
// kubernetes.io/job-controller. With Options.ManagedBy it is the external controller that spec.managedBy names
// (KEP-4368), and touches no other Job, so that it can run beside the built-in one in a real cluster.
//
// # What it does
//
// NonIndexed, Indexed and work-queue Jobs; back-off and backoffLimit; backoffLimitPerIndex and maxFailedIndexes
// (KEP-3850); pod failure policy (KEP-3329); success policy (KEP-3998); pod replacement policy (KEP-3939); deadlines;
// suspension; elastic Indexed Jobs (KEP-3715). With the gate WorkloadWithJob (KEP-5547), on by default here, an
// eligible Job gets its Workload and its PodGroup before its first pod, and every pod names the group, also those that
// replace failed ones.
//
// Where the built-in controller fails its users this one does otherwise: [Deviations] lists how, and Options.Parity takes
// all of it back. What holds a Job up is told in events: the end of a back-off (WaitingForBackoff), pods that have to end
// first (WaitingForPodsToEnd, OutcomePending), a gang that finds no room (WaitingForGang), pods, Workloads and PodGroups
// that cannot be made (FailedCreate), another controller's Job (ManagedByOther), and objects that stand in the way of a
// gang, which are also in the condition [GangHeld].
//
// Pods carry the finalizer batch.kubernetes.io/job-tracking until the status of their Job accounts for them (KEP-2307).
// Status, finalizers and completed indexes hold all there is to know, so a controller may stop at any point and another
// may go on: no pod is counted twice, and finished work is not run again. What a controller remembers of its own writes
// only keeps it from acting before its caches show them; the back-off is the one thing that starts anew with another
// controller. Against caches that lag for other reasons there is this: a controller does nothing before its caches are
// as new as the API server was when it started, a status is never written over a newer one, and a pod that may have
// been made although the answer was lost is looked for.
//
// # How it is built
//
// A sync fetches, decides and applies. Fetch takes a snapshot of the Job, its pods, the clock and what this process is
// waiting for. Decide is pure: it tells the outcome, the pods to make or delete, and the status. Apply writes: pods,
// then the status with the pods that are about to be counted, then finalizers, then the status with the counts. An
// outcome that stops pods is stored before they are stopped.
//
// # Metrics
//
// With [Options].Metrics, a registry, the controller counts under the names and labels of the built-in one:
//
//	job_controller_job_sync_duration_seconds                     completion_mode, result, action
//	job_controller_job_syncs_total                               completion_mode, result, action
//	job_controller_jobs_finished_total                           completion_mode, result, reason
//	job_controller_job_pods_finished_total                       completion_mode, result
//	job_controller_job_finished_indexes_total                    status, backoffLimit
//	job_controller_job_pods_creation_total                       reason, status
//	job_controller_pod_failures_handled_by_failure_policy_total  action
//	job_controller_terminated_pods_tracking_finalizer_total      event
//	job_controller_jobs_by_external_controller_total             controller_name
//	job_controller_stale_sync_skips_total                        group, resource
//
// The values of labels are those of Kubernetes. Pods and indexes are counted when the status that accounts for them is
// stored, finished Jobs when their final condition is. Finished pods with the tracking finalizer are all there are, also
// those of other controllers' Jobs. To an external controller the built-in one is another, and the Jobs of that count as
// Jobs of an external controller. Nothing is registered with the process: each controller has a registry, or a label in
// a common one (prometheus.WrapRegistererWith). With [Options].QueueMetrics there are those of the work queues too, with
// the name of the queue, job or job_orphan_pod:
//
//	workqueue_adds_total                         name
//	workqueue_depth                              name
//	workqueue_longest_running_processor_seconds  name
//	workqueue_queue_duration_seconds             name
//	workqueue_retries_total                      name
//	workqueue_unfinished_work_seconds            name
//	workqueue_work_duration_seconds              name
//
// # What it does not do
//
// It deletes no Job (the TTL controller does), collects no garbage, elects no leader: of two standard controllers on one
// cluster one must be stopped, or pkg/controller/leader see to it that one works at a time. It does not protect
// PodGroups that are in use. It trusts the API server for defaults and validation: a Job must have gone through one.
//
// The rights that it needs in a cluster with RBAC are in rbac.yaml beside this file, and in [RBAC].
package job
