package job

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/pkg/batch"
	"github.com/musterkube/muster/pkg/builder"
	"github.com/musterkube/muster/pkg/core"
)

// gangView is what the choice of a Job's Workload and PodGroup rests on.
type gangView struct {
	job *batchv1.Job
	// pods are the pods that the Job has claimed.
	pods []*corev1.Pod
	// workloads name the Job in spec.controllerRef; groups are those that the Job controls, and those that are made from
	// one of the workloads.
	workloads []*schedulingv1alpha2.Workload
	groups    []*schedulingv1alpha2.PodGroup
	// made is the UID of a Workload that this controller made for the Job a moment ago, before its cache could show one
	// that the user had made first.
	made  types.UID
	names builder.Options
}

// gangPlan is what to do next about the group of a Job. At most one of its fields is set; none says that the pods have
// no group, or that there are none to make.
type gangPlan struct {
	// use is the group that new pods join.
	use *schedulingv1alpha2.PodGroup
	// makeWorkload says that the Job's Workload is to be made, makeGroup for which Workload a PodGroup is.
	makeWorkload bool
	makeGroup    *schedulingv1alpha2.Workload
	// remove holds objects of the Job's own that serve it no longer, or not yet.
	remove []metav1.Object
	// held says why no pod may be made now.
	held *hold
}

// hold is a reason why no pod of a Job may be made.
type hold struct{ reason, message string }

func held(reason, format string, args ...any) gangPlan {
	return gangPlan{held: &hold{reason, fmt.Sprintf(format, args...)}}
}

// planGang chooses the PodGroup of a Job, or what is to be done before there is one. It is pure.
//
// The Job's own objects come first: those that it controls, by UID. Objects that something else controls never count,
// such as those of a Job of the same name that has been deleted. Then comes what a user made for the Job: a Workload
// that names it and that nothing controls, a PodGroup made from that Workload. With neither they are made.
func planGang(v *gangView) gangPlan {
	if eligible, _ := builder.Eligible(v.job); !eligible || isSuspended(v.job) || v.startedPlain() {
		return gangPlan{}
	}
	own := controlledBy(v.groups, v.job.UID)
	switch {
	case len(own) > 1:
		return held(reasonAmbiguousGroup, "%s are all controlled by the Job: all but one must go", list("PodGroups", own))
	case len(own) == 1:
		return v.planOwn(own[0])
	case !v.wantsPods():
		return gangPlan{}
	}
	workload, plan := v.chooseWorkload()
	if workload == nil {
		return plan
	}
	return v.chooseGroup(workload)
}

// startedPlain reports whether the Job has pods without a group. A group that some pods of a Job are not in would not
// hold them together.
func (v *gangView) startedPlain() bool {
	return slices.ContainsFunc(v.pods, func(pod *corev1.Pod) bool { return pod.Spec.SchedulingGroup == nil })
}

// groupOfPods returns the name of the group that the active pods of the Job are in, "" if there are none.
func (v *gangView) groupOfPods() string {
	for _, pod := range v.pods {
		if group := pod.Spec.SchedulingGroup; core.PodActive(pod) && group != nil && group.PodGroupName != nil {
			return *group.PodGroupName
		}
	}
	return ""
}

// wantsPods reports whether the Job may still make pods.
func (v *gangView) wantsPods() bool {
	return v.job.DeletionTimestamp == nil && announcedOutcome(v.job) == nil
}

// planOwn goes on with the PodGroup that the Job has. If it is being deleted pods keep joining it: they are in the group
// by its name, and it is made again under that name when it is gone. So is its Workload.
func (v *gangView) planOwn(group *schedulingv1alpha2.PodGroup) gangPlan {
	if !v.wantsPods() {
		return gangPlan{use: group}
	}
	workload := v.workloadOf(group)
	if needed := minCount(group.Spec.SchedulingPolicy); needed > v.parallelism() {
		if len(v.pods) > 0 || workload != nil && !metav1.IsControlledBy(workload, v.job) {
			return v.tooMany("PodGroup "+group.Name, needed)
		}
		stale := []metav1.Object{group}
		if workload != nil {
			stale = append(stale, workload)
		}
		return gangPlan{remove: stale}
	}
	if workload == nil && workloadOf(group) == builder.WorkloadName(v.job.Name, v.job.UID, v.names) {
		return gangPlan{makeWorkload: true}
	}
	return gangPlan{use: group}
}

// workloadOf returns the Workload that a group was made from, nil if there is none any more.
func (v *gangView) workloadOf(group *schedulingv1alpha2.PodGroup) *schedulingv1alpha2.Workload {
	i := slices.IndexFunc(v.workloads, func(w *schedulingv1alpha2.Workload) bool { return w.Name == workloadOf(group) })
	if i < 0 {
		return nil
	}
	return v.workloads[i]
}

// chooseWorkload returns the Workload that the PodGroup is to be made from, or what to do instead.
func (v *gangView) chooseWorkload() (*schedulingv1alpha2.Workload, gangPlan) {
	own, users := controlledBy(v.workloads, v.job.UID), controlledBy(v.workloads, "")
	switch {
	case len(own) > 1:
		return nil, held(reasonAmbiguousWorkload, "%s are all controlled by the Job: all but one must go", list("Workloads", own))
	case len(own) == 1 && own[0].UID == v.made && len(users) > 0 && len(v.pods) == 0:
		return nil, gangPlan{remove: []metav1.Object{own[0]}}
	case len(own) == 1:
		return v.checkWorkload(own[0])
	case len(users) > 1:
		return nil, held(reasonAmbiguousWorkload, "%s all name the Job in spec.controllerRef: all but one must go", list("Workloads", users))
	case len(users) == 1:
		return v.checkWorkload(users[0])
	default:
		return nil, gangPlan{makeWorkload: true}
	}
}

// checkWorkload says whether a Workload can serve the Job.
func (v *gangView) checkWorkload(workload *schedulingv1alpha2.Workload) (*schedulingv1alpha2.Workload, gangPlan) {
	if n := len(workload.Spec.PodGroupTemplates); n != 1 {
		return nil, held(reasonUnfitWorkload, "Workload %s has %d podGroupTemplates: that of a Job has one", workload.Name, n)
	}
	needed := minCount(workload.Spec.PodGroupTemplates[0].SchedulingPolicy)
	stale := metav1.IsControlledBy(workload, v.job) && len(v.pods) == 0 && needed > 0 && needed != v.parallelism()
	switch {
	case workload.DeletionTimestamp != nil:
		return nil, held(reasonWorkloadGoing, "Workload %s is being deleted: the Job goes on when it is gone", workload.Name)
	case stale:
		return nil, gangPlan{remove: []metav1.Object{workload}}
	case needed > v.parallelism():
		return nil, v.tooMany("Workload "+workload.Name, needed)
	}
	return workload, gangPlan{}
}

func (v *gangView) tooMany(object string, needed int32) gangPlan {
	return held(reasonUnfitWorkload, "%s wants %d pods at once (minCount), and the Job runs no more than %d (parallelism)", object, needed, v.parallelism())
}

// chooseGroup returns the PodGroup that a user made from a Workload, or has one made.
func (v *gangView) chooseGroup(workload *schedulingv1alpha2.Workload) gangPlan {
	users := controlledBy(v.groups, "")
	users = slices.DeleteFunc(users, func(g *schedulingv1alpha2.PodGroup) bool { return workloadOf(g) != workload.Name })
	switch len(users) {
	case 0:
		return gangPlan{makeGroup: workload}
	case 1:
	default:
		return held(reasonAmbiguousGroup, "%s are all made from Workload %s: all but one must go", list("PodGroups", users), workload.Name)
	}
	group, template := users[0], workload.Spec.PodGroupTemplates[0].Name
	needed := minCount(group.Spec.SchedulingPolicy)
	switch {
	case group.Spec.PodGroupTemplateRef.Workload.PodGroupTemplateName != template:
		return held(reasonUnfitGroup, "PodGroup %s is not made from the template %s of Workload %s", group.Name, template, workload.Name)
	case needed > v.parallelism():
		return v.tooMany("PodGroup "+group.Name, needed)
	case group.DeletionTimestamp != nil && len(v.pods) == 0:
		return held(reasonGroupGoing, "PodGroup %s is being deleted: the Job goes on when it is gone", group.Name)
	}
	return gangPlan{use: group}
}

func (v *gangView) parallelism() int32 { return valueOf(v.job.Spec.Parallelism) }

// unstarted reports whether the Job has done nothing yet.
func (v *gangView) unstarted() bool {
	status := &v.job.Status
	return len(v.pods) == 0 && status.Succeeded+status.Failed == 0 && batch.Condition(v.job, batchv1.JobSuspended) == nil
}

// workloadOf returns the name of the Workload that a group was made from.
func workloadOf(group *schedulingv1alpha2.PodGroup) string {
	if ref := group.Spec.PodGroupTemplateRef; ref != nil && ref.Workload != nil {
		return ref.Workload.WorkloadName
	}
	return ""
}

// minCount returns how many pods a policy wants at once, zero for a policy that is no gang's.
func minCount(policy schedulingv1alpha2.PodGroupSchedulingPolicy) int32 {
	if policy.Gang == nil {
		return 0
	}
	return policy.Gang.MinCount
}

// controlledBy returns the objects that the owner of that UID controls, those that nothing controls for an empty UID, in
// the order of their names.
func controlledBy[T metav1.Object](objects []T, uid types.UID) []T {
	var found []T
	for _, object := range objects {
		controller := metav1.GetControllerOfNoCopy(object)
		if controller == nil && uid == "" || controller != nil && controller.UID == uid {
			found = append(found, object)
		}
	}
	slices.SortFunc(found, func(a, b T) int { return cmp.Compare(a.GetName(), b.GetName()) })
	return found
}

// list names objects.
func list[T metav1.Object](kinds string, objects []T) string {
	names := make([]string, len(objects))
	for i, object := range objects {
		names[i] = object.GetName()
	}
	return kinds + " " + strings.Join(names, ", ")
}
