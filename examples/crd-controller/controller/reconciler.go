package controller

import (
	"context"
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	trainingv1 "github.com/musterkube/muster/examples/crd-controller/api/v1"
	"github.com/musterkube/muster/pkg/builder"
)

type reconciler struct {
	client.Client
	// live reads from the server and not from the cache.
	live  client.Reader
	clock clock.PassiveClock
}

// Reconcile brings one run a step further: it reads, decides, writes the status, and only then acts on it.
func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	run := &trainingv1.TrainingRun{}
	err := r.Get(ctx, request.NamespacedName, run)
	if err != nil && !apierrors.IsNotFound(err) {
		return ctrl.Result{}, fmt.Errorf("getting TrainingRun %s: %w", request, err)
	}
	pods := &corev1.PodList{}
	if err := r.List(ctx, pods, client.InNamespace(request.Namespace), client.MatchingLabels{labelRun: request.Name}); err != nil {
		return ctrl.Result{}, fmt.Errorf("listing pods of TrainingRun %s: %w", request, err)
	}
	owned, strays := split(pods.Items, run)
	if err := r.release(ctx, strays); err != nil { // of a run that is gone: nobody will ever ask
		return ctrl.Result{}, err
	}
	if err != nil || run.DeletionTimestamp != nil {
		return ctrl.Result{}, r.release(ctx, owned)
	}
	groups := &schedulingv1alpha2.PodGroupList{}
	if err := r.List(ctx, groups, client.InNamespace(request.Namespace)); err != nil {
		return ctrl.Result{}, fmt.Errorf("listing groups of TrainingRun %s: %w", request, err)
	}
	ours := groups.Items[:0]
	for _, group := range groups.Items {
		if metav1.IsControlledBy(&group, run) {
			ours = append(ours, group)
		}
	}

	next := nextStatus(run, owned, ours, r.clock.Now())
	if !equality.Semantic.DeepEqual(next, run.Status) {
		run = run.DeepCopy()
		run.Status = next
		if err := r.Status().Update(ctx, run); err != nil {
			return ctrl.Result{}, client.IgnoreNotFound(fmt.Errorf("updating the status of TrainingRun %s: %w", request, err))
		}
	}
	// From here on what the pods have told is written down.
	if err := r.release(ctx, onlyEnded(owned)); err != nil {
		return ctrl.Result{}, err
	}
	if finished(&run.Status) {
		return ctrl.Result{}, r.cleanUp(ctx, run, owned, ours)
	}
	return ctrl.Result{}, r.start(ctx, run, owned)
}

// split parts the pods of a run from those of another of its name.
func split(pods []corev1.Pod, run *trainingv1.TrainingRun) (owned, strays []corev1.Pod) {
	for _, pod := range pods {
		if metav1.IsControlledBy(&pod, run) {
			owned = append(owned, pod)
		} else {
			strays = append(strays, pod)
		}
	}
	return owned, strays
}

func onlyEnded(pods []corev1.Pod) []corev1.Pod {
	var all []corev1.Pod
	for i := range pods {
		if ended(&pods[i]) {
			all = append(all, pods[i])
		}
	}
	return all
}

// release takes the finalizer from pods.
func (r *reconciler) release(ctx context.Context, pods []corev1.Pod) error {
	for i := range pods {
		if !controllerutil.ContainsFinalizer(&pods[i], finalizer) {
			continue
		}
		pod := pods[i].DeepCopy()
		controllerutil.RemoveFinalizer(pod, finalizer)
		// A strategic patch takes this one finalizer away, whatever the others are by now.
		if err := r.Patch(ctx, pod, client.StrategicMergeFrom(&pods[i])); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("releasing pod %s/%s: %w", pod.Namespace, pod.Name, err)
		}
	}
	return nil
}

// start makes what a run needs and does not have.
func (r *reconciler) start(ctx context.Context, run *trainingv1.TrainingRun, pods []corev1.Pod) error {
	there := map[string]bool{}
	for i := range pods {
		there[pods[i].Name] = true
	}
	var missing []member
	for _, m := range membersOf(run) {
		if attempt, more := attemptOf(&run.Status, m.name); more && !there[podName(run, m, attempt)] {
			missing = append(missing, m)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	// The cache may be of before a success that is written already, the pod of which is gone. What has succeeded is not run
	// again, so this is the time to ask the server.
	key := client.ObjectKeyFromObject(run)
	run = &trainingv1.TrainingRun{}
	if err := r.live.Get(ctx, key, run); err != nil {
		return client.IgnoreNotFound(err)
	}
	if finished(&run.Status) || run.DeletionTimestamp != nil {
		return nil
	}
	groups, err := r.gangs(ctx, run)
	if err != nil {
		return fmt.Errorf("making the gangs of TrainingRun %s: %w", key, err)
	}
	for _, m := range missing {
		attempt, more := attemptOf(&run.Status, m.name)
		if !more {
			continue
		}
		if err := r.Create(ctx, newPod(run, m, attempt, groups[m.group])); err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("creating a pod of TrainingRun %s: %w", key, err)
		}
	}
	return nil
}

// gangs returns the groups of a run by template, and makes the Workload and those that are not there.
func (r *reconciler) gangs(ctx context.Context, run *trainingv1.TrainingRun) (map[string]*schedulingv1alpha2.PodGroup, error) {
	workload, err := newWorkload(run)
	if err != nil {
		return nil, err
	}
	if err := r.ensure(ctx, run, workload); err != nil {
		return nil, err
	}
	made, err := builder.PodGroups(workload, builder.Options{})
	if err != nil {
		return nil, err
	}
	groups := map[string]*schedulingv1alpha2.PodGroup{}
	for i, group := range made {
		if err := r.ensure(ctx, run, group); err != nil {
			return nil, err
		}
		groups[workload.Spec.PodGroupTemplates[i].Name] = group
	}
	return groups, r.tellFinished(ctx, groups[workersTemplate], succeededWorkers(&run.Status))
}

// ensure creates an object, or reads the one that is there, which has to be the run's.
func (r *reconciler) ensure(ctx context.Context, run *trainingv1.TrainingRun, object client.Object) error {
	err := r.Create(ctx, object)
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	if err := r.live.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
		return err
	}
	if !metav1.IsControlledBy(object, run) {
		return fmt.Errorf("there is a %T %s of somebody else's", object, object.GetName())
	}
	return nil
}

// tellFinished notes on the group of the workers how many are done, since a worker that is tried again is no quorum by
// itself; see builder.FinishedMembersAnnotation.
func (r *reconciler) tellFinished(ctx context.Context, group *schedulingv1alpha2.PodGroup, count int) error {
	if builder.FinishedMembers(group) == count {
		return nil
	}
	before := group.DeepCopy()
	metav1.SetMetaDataAnnotation(&group.ObjectMeta, builder.FinishedMembersAnnotation, strconv.Itoa(count))
	return r.Patch(ctx, group, client.MergeFrom(before))
}

// cleanUp ends what still runs of a run that is finished, and then takes its gangs away. The pods stay for their logs, until
// the run is deleted.
func (r *reconciler) cleanUp(ctx context.Context, run *trainingv1.TrainingRun, pods []corev1.Pod, groups []schedulingv1alpha2.PodGroup) error {
	running := false
	for i := range pods {
		if ended(&pods[i]) {
			continue
		}
		running = true
		if pods[i].DeletionTimestamp == nil {
			if err := r.Delete(ctx, &pods[i]); client.IgnoreNotFound(err) != nil {
				return fmt.Errorf("deleting pod %s/%s: %w", pods[i].Namespace, pods[i].Name, err)
			}
		}
	}
	if running {
		return nil // the end of each pod is another reason to look
	}
	// The groups belong to the run as well as to the Workload, so that the one does not go with the other.
	for i := range groups {
		if groups[i].DeletionTimestamp == nil {
			if err := r.Delete(ctx, &groups[i]); client.IgnoreNotFound(err) != nil {
				return fmt.Errorf("deleting PodGroup %s/%s: %w", groups[i].Namespace, groups[i].Name, err)
			}
		}
	}
	workload := &schedulingv1alpha2.Workload{}
	workload.Namespace, workload.Name = run.Namespace, builder.WorkloadName(run.Name, run.UID, builder.Options{})
	if err := r.Delete(ctx, workload); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("deleting Workload %s/%s: %w", workload.Namespace, workload.Name, err)
	}
	return nil
}
