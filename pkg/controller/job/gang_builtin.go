package job

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/pkg/batch"
	"github.com/musterkube/muster/pkg/builder"
)

// This file is what the Job controller of Kubernetes 1.36 does about groups (KEP-5547), for those who ask for parity.

// ensureBuiltIn returns the PodGroup that new pods of an eligible Job are to join, nil for none. It makes the Workload of
// a Job that has not started, and the PodGroup of a Workload that has none, before the first pod is made. What is found
// must be the Job's own, and unambiguous. Otherwise the pods are made without a group, as those of a Job that was started
// before there were Workloads, or whose Workload the user has deleted.
func (r *reconciler) ensureBuiltIn(ctx context.Context, key jobKey, job *batchv1.Job, pods []*corev1.Pod) (*schedulingv1alpha2.PodGroup, error) {
	workload, err := r.ensureWorkload(ctx, key, job, pods)
	if err != nil || workload == nil {
		return nil, err
	}
	return r.ensurePodGroup(ctx, key, job, workload)
}

// ensureWorkload returns the Workload of the Job, nil for none.
func (r *reconciler) ensureWorkload(ctx context.Context, key jobKey, job *batchv1.Job, pods []*corev1.Pod) (*schedulingv1alpha2.Workload, error) {
	found, err := byIndex[*schedulingv1alpha2.Workload](r.workloads, workloadsByJob, indexKey(job.Namespace, job.Name))
	if err != nil {
		return nil, err
	}
	if made := r.memory.gang(key).workload; made != nil && len(found) == 0 && isBehind(r.workloads, "workloads", made.ResourceVersion) != nil {
		found = append(found, made)
	}
	var workload *schedulingv1alpha2.Workload
	switch {
	case len(found) > 0:
		workload = onlyOwned(ctx, job, found)
	case isNew(job, pods):
		workload, err = r.createWorkload(ctx, key, job)
	}
	if err != nil || workload == nil {
		return nil, err
	}
	if len(workload.Spec.PodGroupTemplates) != 1 {
		klog.FromContext(ctx).V(2).Info("Making pods without a group: the workload has not exactly one template",
			"job", klog.KObj(job), "workload", klog.KObj(workload), "templates", len(workload.Spec.PodGroupTemplates))
		return nil, nil
	}
	return workload, nil
}

// isNew reports whether the Job has never done anything, so that a group can still hold all its pods. A suspended Job
// loses its start time; its condition then tells.
func isNew(job *batchv1.Job, pods []*corev1.Pod) bool {
	status := &job.Status
	return len(pods) == 0 && status.StartTime == nil && status.Succeeded == 0 && status.Failed == 0 &&
		batch.Condition(job, batchv1.JobSuspended) == nil
}

// onlyOwned returns the one object that was found, nil if there are several or if it is not the Job's own.
func onlyOwned[T metav1.Object](ctx context.Context, job *batchv1.Job, found []T) T {
	var none T
	logger := klog.FromContext(ctx).V(2)
	switch {
	case len(found) > 1:
		logger.Info("Making pods without a group: several objects refer to the job", "job", klog.KObj(job), "found", len(found))
		return none
	case !metav1.IsControlledBy(found[0], job):
		logger.Info("Making pods without a group: the object is not the job's own", "job", klog.KObj(job), "name", found[0].GetName())
		return none
	default:
		return found[0]
	}
}

func (r *reconciler) createWorkload(ctx context.Context, key jobKey, job *batchv1.Job) (*schedulingv1alpha2.Workload, error) {
	wanted, err := builder.FromJob(job, r.builderOptions())
	if err != nil || wanted == nil {
		return nil, err
	}
	client := r.scheduling.SchedulingV1alpha2().Workloads(job.Namespace)
	made, err := client.Create(ctx, wanted, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		// The cache does not show it yet: another process made it just before this one started, or the answer was lost.
		if existing, getErr := client.Get(ctx, wanted.Name, metav1.GetOptions{}); getErr == nil && metav1.IsControlledBy(existing, job) {
			return existing, nil
		}
	}
	if err != nil {
		return nil, err
	}
	r.events.tell(ctx, job, workloadCreated(made.Name, job.Name))
	r.memory.change(key, func(record *jobRecord) { record.gang.workload = made })
	return made, nil
}

// ensurePodGroup returns the PodGroup of the Job, nil for none. One that the user has deleted is made again.
func (r *reconciler) ensurePodGroup(ctx context.Context, key jobKey, job *batchv1.Job, workload *schedulingv1alpha2.Workload) (*schedulingv1alpha2.PodGroup, error) {
	found, err := byIndex[*schedulingv1alpha2.PodGroup](r.podGroups, podGroupsByWorkload, indexKey(workload.Namespace, workload.Name))
	if err != nil {
		return nil, err
	}
	if made := r.memory.gang(key).group; made != nil && len(found) == 0 && isBehind(r.podGroups, "podgroups", made.ResourceVersion) != nil {
		found = append(found, made)
	}
	if len(found) == 0 {
		return r.createPodGroup(ctx, key, job, workload)
	}
	return onlyOwned(ctx, job, found), nil
}

func (r *reconciler) createPodGroup(ctx context.Context, key jobKey, job *batchv1.Job, workload *schedulingv1alpha2.Workload) (*schedulingv1alpha2.PodGroup, error) {
	wanted, err := builder.PodGroups(workload, r.builderOptions())
	if err != nil {
		return nil, err
	}
	client := r.scheduling.SchedulingV1alpha2().PodGroups(job.Namespace)
	made, err := client.Create(ctx, wanted[0], metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		if existing, getErr := client.Get(ctx, wanted[0].Name, metav1.GetOptions{}); getErr == nil && metav1.IsControlledBy(existing, job) {
			return existing, nil
		}
	}
	if err != nil {
		return nil, err
	}
	r.memory.change(key, func(record *jobRecord) { record.gang.group = made })
	return made, nil
}
