package job

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/pkg/builder"
)

// workloadFor is a Workload for the Job; controller is the UID of what controls it, "" for
// nothing.
func workloadFor(name string, controller types.UID, minCount int32) *schedulingv1alpha2.Workload {
	w := &schedulingv1alpha2.Workload{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "ns", UID: types.UID(name)}}
	w.OwnerReferences = controllerRef(controller)
	w.Spec.ControllerRef = &schedulingv1alpha2.TypedLocalObjectReference{APIGroup: "batch", Kind: "Job", Name: "j"}
	w.Spec.PodGroupTemplates = []schedulingv1alpha2.PodGroupTemplate{builder.Gang("t", minCount)}
	return w
}

func groupFor(name, workload string, controller types.UID, minCount int32) *schedulingv1alpha2.PodGroup {
	g := &schedulingv1alpha2.PodGroup{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "ns", UID: types.UID(name)}}
	g.OwnerReferences = controllerRef(controller)
	g.Spec.PodGroupTemplateRef = &schedulingv1alpha2.PodGroupTemplateReference{
		Workload: &schedulingv1alpha2.WorkloadPodGroupTemplateReference{WorkloadName: workload, PodGroupTemplateName: "t"},
	}
	g.Spec.SchedulingPolicy.Gang = &schedulingv1alpha2.GangSchedulingPolicy{MinCount: minCount}
	return g
}

func controllerRef(uid types.UID) []metav1.OwnerReference {
	if uid == "" {
		return nil
	}
	return []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: "j", UID: uid, Controller: new(true)}}
}

func going[T metav1.Object](object T) T {
	object.SetDeletionTimestamp(&metav1.Time{Time: epoch})
	return object
}

func member() podWrapper {
	pod := makePod("a").running()
	pod.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: new("g")}
	return pod
}

// said puts a plan into words.
func said(p gangPlan) string {
	switch {
	case p.use != nil:
		return "use " + p.use.Name
	case p.makeWorkload:
		return "make workload"
	case p.makeGroup != nil:
		return "make group of " + p.makeGroup.Name
	case len(p.remove) > 0:
		text := "remove"
		for _, object := range p.remove {
			text += " " + object.GetName()
		}
		return text
	case p.held != nil:
		return fmt.Sprintf("hold %s: %s", p.held.reason, p.held.message)
	default:
		return "none"
	}
}

func TestPlanGang(t *testing.T) {
	type (
		workload = schedulingv1alpha2.Workload
		group    = schedulingv1alpha2.PodGroup
	)
	job := makeJob().size(3, 3).indexed()
	own := builder.WorkloadName("j", job.UID, builder.Options{})
	twoTemplates := workloadFor("mine", "", 3)
	twoTemplates.Spec.PodGroupTemplates = append(twoTemplates.Spec.PodGroupTemplates, builder.Basic("driver"))
	otherTemplate := groupFor("g", "mine", "", 3)
	otherTemplate.Spec.PodGroupTemplateRef.Workload.PodGroupTemplateName = "driver"
	made := workloadFor(own, job.UID, 3)

	tests := map[string]struct {
		job       jobWrapper
		pods      []podWrapper
		workloads []*workload
		groups    []*group
		made      types.UID
		want      string
	}{
		"nothing there":                        {job: job, want: "make workload"},
		"no gang":                              {job: makeJob().size(2, 3).indexed(), want: "none"},
		"suspended":                            {job: jobWrapper{job.DeepCopy()}.suspend(), want: "none"},
		"being deleted, nothing there":         {job: jobWrapper{job.DeepCopy()}.deleting(), want: "none"},
		"about to end, nothing there":          {job: jobWrapper{job.DeepCopy()}.condition(batchv1.JobFailureTarget, corev1.ConditionTrue, "R", "m"), want: "none"},
		"started without a group":              {job: job, pods: []podWrapper{makePod("a").running()}, workloads: []*workload{made}, want: "none"},
		"its own workload":                     {job: job, workloads: []*workload{made}, want: "make group of " + own},
		"its own workload and group":           {job: job, workloads: []*workload{made}, groups: []*group{groupFor("g", own, job.UID, 3)}, want: "use g"},
		"of a deleted job of that name":        {job: job, workloads: []*workload{workloadFor("old", "old", 3)}, groups: []*group{groupFor("g", "old", "old", 3)}, want: "make workload"},
		"the user's, once":                     {job: job, workloads: []*workload{workloadFor("mine", "", 2)}, want: "make group of mine"},
		"the user's workload and group":        {job: job, workloads: []*workload{workloadFor("mine", "", 2)}, groups: []*group{groupFor("g", "mine", "", 2)}, want: "use g"},
		"its own before the user's":            {job: job, workloads: []*workload{workloadFor("mine", "", 3), made}, want: "make group of " + own},
		"the user's came first, seen too late": {job: job, workloads: []*workload{workloadFor("mine", "", 3), made}, made: made.UID, want: "remove " + own},
		"but not once there are pods":          {job: job, pods: []podWrapper{member()}, workloads: []*workload{workloadFor("mine", "", 3), made}, made: made.UID, want: "make group of " + own},
		"the user's, twice": {
			job: job, workloads: []*workload{workloadFor("b", "", 3), workloadFor("a", "", 3)},
			want: "hold AmbiguousWorkload: Workloads a, b all name the Job in spec.controllerRef: all but one must go",
		},
		"its own, twice": {
			job: job, workloads: []*workload{workloadFor("b", job.UID, 3), workloadFor("a", job.UID, 3)},
			want: "hold AmbiguousWorkload: Workloads a, b are all controlled by the Job: all but one must go",
		},
		"two groups of its own": {
			job: job, workloads: []*workload{made}, groups: []*group{groupFor("b", own, job.UID, 3), groupFor("a", own, job.UID, 3)},
			want: "hold AmbiguousPodGroup: PodGroups a, b are all controlled by the Job: all but one must go",
		},
		"two groups of the user's": {
			job: job, workloads: []*workload{workloadFor("mine", "", 3)}, groups: []*group{groupFor("b", "mine", "", 3), groupFor("a", "mine", "", 3)},
			want: "hold AmbiguousPodGroup: PodGroups a, b are all made from Workload mine: all but one must go",
		},
		"a group of another template": {
			job: job, workloads: []*workload{workloadFor("mine", "", 3)}, groups: []*group{otherTemplate},
			want: "hold UnfitPodGroup: PodGroup g is not made from the template t of Workload mine",
		},
		"the user's with two templates": {job: job, workloads: []*workload{twoTemplates}, want: "hold UnfitWorkload: Workload mine has 2 podGroupTemplates: that of a Job has one"},
		"the user's wants too many": {
			job: job, workloads: []*workload{workloadFor("mine", "", 4)},
			want: "hold UnfitWorkload: Workload mine wants 4 pods at once (minCount), and the Job runs no more than 3 (parallelism)",
		},
		"the user's is going":                    {job: job, workloads: []*workload{going(workloadFor("mine", "", 3))}, want: "hold WorkloadIsDeleted: Workload mine is being deleted: the Job goes on when it is gone"},
		"its own of another size, no group yet":  {job: job, workloads: []*workload{workloadFor(own, job.UID, 2)}, want: "remove " + own},
		"its own for more pods":                  {job: job, workloads: []*workload{workloadFor(own, job.UID, 4)}, groups: []*group{groupFor("g", own, job.UID, 4)}, want: "remove g " + own},
		"its workload has gone":                  {job: job, pods: []podWrapper{member()}, groups: []*group{groupFor("g", own, job.UID, 3)}, want: "make workload"},
		"its workload is going":                  {job: job, pods: []podWrapper{member()}, workloads: []*workload{going(workloadFor(own, job.UID, 3))}, groups: []*group{groupFor("g", own, job.UID, 3)}, want: "use g"},
		"its group is going":                     {job: job, pods: []podWrapper{member()}, workloads: []*workload{made}, groups: []*group{going(groupFor("g", own, job.UID, 3))}, want: "use g"},
		"its group has gone":                     {job: job, pods: []podWrapper{member()}, workloads: []*workload{made}, want: "make group of " + own},
		"both have gone":                         {job: job, pods: []podWrapper{member()}, want: "make workload"},
		"the user's workload has gone":           {job: job, pods: []podWrapper{member()}, groups: []*group{groupFor("g", "mine", job.UID, 3)}, want: "use g"},
		"both have gone, and so has all it made": {job: job.started(0), want: "make workload"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			v := &gangView{job: tc.job.Job, workloads: tc.workloads, groups: tc.groups, made: tc.made}
			for _, pod := range tc.pods {
				v.pods = append(v.pods, pod.Pod)
			}
			assert.Equal(t, tc.want, said(planGang(v)))
		})
	}
}
