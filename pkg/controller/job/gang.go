package job

import (
	"context"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/pkg/builder"
)

// GangHeld is the type of the condition of a Job whose pods are held back because it is not clear, or not possible, which
// PodGroup they are to join (KEP-5547). Its message names the objects. It turns False when the pods are held back no more.
const GangHeld batchv1.JobConditionType = "muster.dev/GangHeld"

// The reasons of the condition [GangHeld] and of the events that tell of it.
const (
	reasonAmbiguousWorkload = "AmbiguousWorkload"
	reasonAmbiguousGroup    = "AmbiguousPodGroup"
	reasonUnfitWorkload     = "UnfitWorkload"
	reasonUnfitGroup        = "UnfitPodGroup"
	reasonWorkloadGoing     = "WorkloadIsDeleted"
	reasonGroupGoing        = "PodGroupIsDeleted"
	reasonNameTaken         = "NameTaken"
	reasonGangReplaced      = "GangReplaced"
	reasonGangFormed        = "GangFormed"
)

// maxGangSteps is how often a sync plans about the group of a Job: one step makes the PodGroup, the next uses it.
const maxGangSteps = 2

// maxBlindWait is how long a Job waits for the cache of Workloads to show whether its user brought one.
const maxBlindWait = 5 * time.Second

// gang is the group that new pods of a Job are to join, nil for none, or why none may be made.
type gang struct {
	group *schedulingv1alpha2.PodGroup
	held  *hold
}

// name returns the name of the group, "" for none.
func (g gang) name() string {
	if g.group == nil {
		return ""
	}
	return g.group.Name
}

// ensureGang sees to it that the Job has its Workload and its PodGroup before the first pod is made.
func (r *reconciler) ensureGang(ctx context.Context, key jobKey, job *batchv1.Job, pods []*corev1.Pod) (gang, error) {
	if r.workloads == nil {
		return gang{}, nil
	}
	if eligible, _ := builder.Eligible(job); !eligible {
		return gang{}, nil
	}
	if !r.better.gangChoice {
		group, err := r.ensureBuiltIn(ctx, key, job, pods)
		return gang{group: group}, err
	}
	if err := r.gangUpToDate(key); err != nil {
		return gang{}, err
	}
	for range maxGangSteps {
		v, err := r.viewGang(key, job, pods)
		if err != nil {
			return gang{}, err
		}
		plan := planGang(v)
		done, err := r.gangStep(ctx, key, v, &plan)
		if err != nil || done {
			return r.asFallbackHasIt(ctx, key, job, plan), err
		}
	}
	return gang{}, fmt.Errorf("forming the gang of job %s: its objects change all the time", key)
}

// asFallbackHasIt makes pods without a group of pods that would be held back, if the options say so.
func (r *reconciler) asFallbackHasIt(ctx context.Context, key jobKey, job *batchv1.Job, plan gangPlan) gang {
	if plan.held == nil {
		return gang{group: plan.use}
	}
	text := plan.held.message
	if r.opts.GangFallback == GangFallbackPlainPods {
		r.tellOnce(ctx, key, job, event{corev1.EventTypeWarning, plan.held.reason, text + ". Pods are made without a group"})
		return gang{}
	}
	r.tellOnce(ctx, key, job, event{corev1.EventTypeWarning, plan.held.reason, text + ". No pods are made until then"})
	return gang{held: plan.held}
}

// viewGang takes what there is from the caches, and what was made a moment ago from memory.
func (r *reconciler) viewGang(key jobKey, job *batchv1.Job, pods []*corev1.Pod) (*gangView, error) {
	v := &gangView{job: job, pods: pods, names: r.builderOptions()}
	var err error
	if v.workloads, err = byIndex[*schedulingv1alpha2.Workload](r.workloads, workloadsByJob, indexKey(job.Namespace, job.Name)); err != nil {
		return nil, err
	}
	made := r.memory.gang(key)
	if made.workload != nil {
		v.made = made.workload.UID
		v.workloads = withMade(v.workloads, made.workload, r.workloads, "workloads")
	}
	if v.groups, err = byIndex[*schedulingv1alpha2.PodGroup](r.podGroups, podGroupsByJob, indexKey(job.Namespace, string(job.UID))); err != nil {
		return nil, err
	}
	for _, workload := range v.workloads {
		groups, err := byIndex[*schedulingv1alpha2.PodGroup](r.podGroups, podGroupsByWorkload, indexKey(workload.Namespace, workload.Name))
		if err != nil {
			return nil, err
		}
		v.groups = append(v.groups, controlledBy(groups, "")...)
	}
	if made.group != nil {
		v.groups = withMade(v.groups, made.group, r.podGroups, "podgroups")
	}
	return v, nil
}

// withMade adds an object that was made to those that a cache shows, if the cache has not come so far.
func withMade[T metav1.Object](found []T, made T, store progress, resource string) []T {
	for _, object := range found {
		if object.GetUID() == made.GetUID() {
			return found
		}
	}
	if isBehind(store, resource, made.GetResourceVersion()) == nil {
		return found // it was there, and is gone
	}
	return append(found, made)
}

// gangUpToDate returns an error that wraps errStale while the cache of Workloads does not show one that was made: it
// then shows those too that were there before.
func (r *reconciler) gangUpToDate(key jobKey) error {
	made := r.memory.gang(key)
	if made.workload == nil || r.opts.Clock.Since(made.at) > maxBlindWait {
		return nil
	}
	return isBehind(r.workloads, "workloads", made.workload.ResourceVersion)
}

// gangStep does what a plan says and reports whether that was the last step of this sync. Why pods are held back may turn
// out only now.
func (r *reconciler) gangStep(ctx context.Context, key jobKey, v *gangView, plan *gangPlan) (done bool, err error) {
	switch {
	case plan.makeWorkload:
		if plan.held, err = r.makeWorkload(ctx, key, v); err == nil && plan.held == nil {
			// What a user made before the Job has to be seen first. That the cache may have it by now does not count, so
			// that Jobs are not started in the order in which caches happen to learn of their Workloads.
			err = fmt.Errorf("looking for other workloads: %w", errStale)
		}
		return true, err
	case plan.makeGroup != nil:
		plan.held, err = r.makeGroup(ctx, key, v, plan.makeGroup)
		return plan.held != nil, err
	case len(plan.remove) > 0:
		plan.held, err = r.removeGang(ctx, v.job, plan.remove)
		return true, err
	case plan.use != nil:
		r.tellOfDeletion(ctx, key, v, plan.use)
	}
	return true, nil
}

// tellOfDeletion tells that the group of a running gang, or its Workload, is being deleted.
func (r *reconciler) tellOfDeletion(ctx context.Context, key jobKey, v *gangView, group *schedulingv1alpha2.PodGroup) {
	if workload := v.workloadOf(group); workload != nil && workload.DeletionTimestamp != nil && v.wantsPods() {
		r.tellOnce(ctx, key, v.job, event{
			corev1.EventTypeWarning, reasonWorkloadGoing,
			fmt.Sprintf("Workload %s is being deleted while the Job runs: it is made again when it is gone", workload.Name),
		})
	}
	if group.DeletionTimestamp != nil && v.wantsPods() {
		r.tellOnce(ctx, key, v.job, event{
			corev1.EventTypeWarning, reasonGroupGoing,
			fmt.Sprintf("PodGroup %s is being deleted while the Job runs: pods keep joining it, and it is made again when it is gone", group.Name),
		})
	}
}

// tellNotMade tells the user why the Job does not start.
func (r *reconciler) tellNotMade(ctx context.Context, job *batchv1.Job, kind string, err error) {
	if apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return
	}
	r.events.tell(ctx, job, event{corev1.EventTypeWarning, "FailedCreate", fmt.Sprintf("Error creating %s: %v", kind, err)})
}

func (r *reconciler) builderOptions() builder.Options {
	return builder.Options{BuiltInNames: !r.better.validNames, PolicyOnly: !r.better.wholeTemplate}
}

// tellFinishedMembers writes on the PodGroup how many indexes are done, where pods of the group still look for a node:
// those that are done count towards the quorum, and their pods may be gone.
func (r *reconciler) tellFinishedMembers(ctx context.Context, s *snapshot, d *decision) error {
	group, finished := s.gang.group, d.tally.finishedIndexes()
	if !r.better.gangRetries || group == nil || finished <= builder.FinishedMembers(group) || minCount(group.Spec.SchedulingPolicy) == 0 {
		return nil
	}
	if len(d.pods.create) == 0 && !anyWithoutNode(d.tally.active) {
		return nil
	}
	patch := fmt.Appendf(nil, `{"metadata":{"uid":%q,"annotations":{%q:"%d"}}}`, group.UID, builder.FinishedMembersAnnotation, finished)
	_, err := r.scheduling.SchedulingV1alpha2().PodGroups(group.Namespace).Patch(ctx, group.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsInvalid(err) { // gone, or another by now
		return fmt.Errorf("writing the finished members of PodGroup %s/%s: %w", group.Namespace, group.Name, err)
	}
	return nil
}

func anyWithoutNode(pods []*corev1.Pod) bool {
	for _, pod := range pods {
		if pod.Spec.NodeName == "" {
			return true
		}
	}
	return false
}
