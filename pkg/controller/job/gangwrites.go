package job

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/pkg/builder"
)

// makeWorkload makes the Workload of a Job.
func (r *reconciler) makeWorkload(ctx context.Context, key jobKey, v *gangView) (*hold, error) {
	wanted, err := builder.FromJob(v.job, r.builderOptions())
	if err != nil || wanted == nil {
		return nil, err
	}
	client := r.scheduling.SchedulingV1alpha2().Workloads(v.job.Namespace)
	made, err := client.Create(ctx, wanted, metav1.CreateOptions{})
	created := err == nil
	if apierrors.IsAlreadyExists(err) {
		// The cache does not show it yet: another process made it just before this one started, or the answer was lost.
		if made, err = client.Get(ctx, wanted.Name, metav1.GetOptions{}); err == nil && !metav1.IsControlledBy(made, v.job) {
			return taken("Workload", made), nil
		}
	}
	if err != nil {
		r.tellNotMade(ctx, v.job, "Workload", err)
		return nil, err
	}
	if created {
		r.events.tell(ctx, v.job, workloadCreated(made.Name, v.job.Name))
	}
	r.memory.change(key, func(record *jobRecord) { record.gang.workload, record.gang.at = made, r.opts.Clock.Now() })
	return nil, nil
}

// makeGroup makes the PodGroup of a Job from its Workload. The Job controls it, whoever made the Workload.
func (r *reconciler) makeGroup(ctx context.Context, key jobKey, v *gangView, workload *schedulingv1alpha2.Workload) (*hold, error) {
	groups, err := builder.PodGroups(workload, r.builderOptions())
	if err != nil {
		return nil, err
	}
	wanted := groups[0]
	if name := v.groupOfPods(); name != "" {
		wanted.Name = name // which the user may have chosen
	}
	if !metav1.IsControlledBy(wanted, v.job) {
		wanted.OwnerReferences = append([]metav1.OwnerReference{*metav1.NewControllerRef(v.job, jobKind)}, wanted.OwnerReferences...)
	}
	client := r.scheduling.SchedulingV1alpha2().PodGroups(v.job.Namespace)
	made, err := client.Create(ctx, wanted, metav1.CreateOptions{})
	created := err == nil
	if apierrors.IsAlreadyExists(err) {
		if made, err = client.Get(ctx, wanted.Name, metav1.GetOptions{}); err == nil && !metav1.IsControlledBy(made, v.job) {
			return taken("PodGroup", made), nil
		}
	}
	if err != nil {
		r.tellNotMade(ctx, v.job, "PodGroup", err)
		return nil, err
	}
	if created && !v.unstarted() {
		r.events.tell(ctx, v.job, event{corev1.EventTypeNormal, "PodGroupCreated", fmt.Sprintf("Created PodGroup %s for a Job that has started", made.Name)})
	}
	r.memory.change(key, func(record *jobRecord) { record.gang.group = made })
	return nil, nil
}

// taken says that an object of something else has the name that the Job's would have.
func taken(kind string, object metav1.Object) *hold {
	owner := "nothing controls it"
	if controller := metav1.GetControllerOfNoCopy(object); controller != nil {
		owner = fmt.Sprintf("%s %s with UID %s controls it", controller.Kind, controller.Name, controller.UID)
	}
	return &hold{reasonNameTaken, fmt.Sprintf("%s %s is in the way of the Job's own: %s. The Job goes on when it is gone", kind, object.GetName(), owner)}
}

// removeGang deletes objects of the Job's own that do not serve it, so that others can be made in their place.
func (r *reconciler) removeGang(ctx context.Context, job *batchv1.Job, objects []metav1.Object) (*hold, error) {
	for _, object := range objects {
		options := metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(object.GetUID()))}
		var err error
		switch object.(type) {
		case *schedulingv1alpha2.Workload:
			err = r.scheduling.SchedulingV1alpha2().Workloads(job.Namespace).Delete(ctx, object.GetName(), options)
		case *schedulingv1alpha2.PodGroup:
			err = r.scheduling.SchedulingV1alpha2().PodGroups(job.Namespace).Delete(ctx, object.GetName(), options)
		}
		if err = ignoreNotFound(err); err != nil && !apierrors.IsConflict(err) {
			return nil, fmt.Errorf("deleting %s of job %s/%s: %w", object.GetName(), job.Namespace, job.Name, err)
		}
	}
	return &hold{reasonGangReplaced, fmt.Sprintf("%s does not fit the Job as it is now: another is made when it is gone", objects[len(objects)-1].GetName())}, nil
}
