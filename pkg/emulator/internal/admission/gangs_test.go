package admission_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	k8sadmission "k8s.io/apiserver/pkg/admission"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/pkg/features"
)

func TestPodGroupProtection(t *testing.T) {
	const finalizer = "scheduling.k8s.io/podgroup-protection"
	for name, tc := range map[string]struct {
		gates       features.Gates
		given, want []string
	}{
		"a new group is protected": {given: []string{"example.com/mine"}, want: []string{"example.com/mine", finalizer}},
		"once":                     {given: []string{finalizer}, want: []string{finalizer}},
	} {
		t.Run(name, func(t *testing.T) {
			group := &schedulingv1alpha2.PodGroup{ObjectMeta: metav1.ObjectMeta{Finalizers: tc.given}}
			require.NoError(t, newCluster(t, tc.gates).admit(create(groupsResource, "PodGroup", group)))
			assert.Equal(t, tc.want, group.Finalizers)
		})
	}
}

func TestPodGroupWorkloadExists(t *testing.T) {
	c := newCluster(t, features.Gates{})
	workload := func(name string) *schedulingv1alpha2.Workload {
		return &schedulingv1alpha2.Workload{
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", Finalizers: []string{"example.com/hold"}},
			Spec: schedulingv1alpha2.WorkloadSpec{PodGroupTemplates: []schedulingv1alpha2.PodGroupTemplate{{
				Name:             "workers",
				SchedulingPolicy: schedulingv1alpha2.PodGroupSchedulingPolicy{Basic: &schedulingv1alpha2.BasicSchedulingPolicy{}},
			}}},
		}
	}
	c.has(workloadsResource, "default", workload("w"), workload("going"))
	_, _, err := c.storages.Client(t, workloadsResource, "default").Delete("going", &metav1.DeleteOptions{})
	require.NoError(t, err)

	const prefix = `podgroups.scheduling.k8s.io "x" is forbidden: PodGroup rejected: `
	for name, tc := range map[string]struct {
		workload, template string
		wantErr            string
	}{
		"a group may stand alone":          {},
		"a template that is there":         {workload: "w", template: "workers"},
		"a workload that is not":           {workload: "absent", template: "workers", wantErr: prefix + `Workload "absent" not found`},
		"a template that is not":           {workload: "w", template: "leader", wantErr: prefix + `PodGroupTemplate "leader" not found in Workload "w"`},
		"a workload that is being deleted": {workload: "going", template: "workers", wantErr: prefix + `Workload "going" is being deleted`},
	} {
		t.Run(name, func(t *testing.T) {
			group := &schedulingv1alpha2.PodGroup{}
			if tc.workload != "" {
				group.Spec.PodGroupTemplateRef = &schedulingv1alpha2.PodGroupTemplateReference{
					Workload: &schedulingv1alpha2.WorkloadPodGroupTemplateReference{WorkloadName: tc.workload, PodGroupTemplateName: tc.template},
				}
			}
			err := c.admit(create(groupsResource, "PodGroup", group))
			if tc.wantErr == "" {
				assert.NoError(t, err)
				return
			}
			assert.EqualError(t, err, tc.wantErr)
		})
	}
}

func TestJobValidation(t *testing.T) {
	group := func(name string, gang bool, owner *batchv1.Job) *schedulingv1alpha2.PodGroup {
		g := &schedulingv1alpha2.PodGroup{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}}
		schedulingv1alpha2.SetObjectDefaults_PodGroup(g)
		g.Spec.SchedulingPolicy.Basic = &schedulingv1alpha2.BasicSchedulingPolicy{}
		if gang {
			g.Spec.SchedulingPolicy = schedulingv1alpha2.PodGroupSchedulingPolicy{Gang: &schedulingv1alpha2.GangSchedulingPolicy{MinCount: 1}}
		}
		if owner != nil {
			g.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(owner, batchv1.SchemeGroupVersion.WithKind("Job"))}
		}
		return g
	}
	job := func(parallelism int32, group string) *batchv1.Job {
		j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "x", Namespace: "default", UID: types.UID("1")}, Spec: batchv1.JobSpec{Parallelism: &parallelism}}
		if group != "" {
			j.Spec.Template.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: &group}
		}
		return j
	}
	const prefix = `jobs.batch "x" is forbidden: cannot change parallelism for a Job referencing gang-scheduled PodGroup `
	for name, tc := range map[string]struct {
		gates    features.Gates
		groups   []runtime.Object
		old, new *batchv1.Job
		wantErr  string
	}{
		"a Job without a group may grow":                 {old: job(2, ""), new: job(3, "")},
		"a Job that owns a gang may not":                 {groups: []runtime.Object{group("b", false, job(1, "")), group("g", true, job(1, ""))}, old: job(2, ""), new: job(3, ""), wantErr: prefix + `"g"`},
		"but it may change otherwise":                    {groups: []runtime.Object{group("g", true, job(1, ""))}, old: job(2, ""), new: job(2, "")},
		"a group that is no gang is in nobody's way":     {groups: []runtime.Object{group("b", false, job(1, ""))}, old: job(2, ""), new: job(3, "")},
		"a gang of another Job neither":                  {groups: []runtime.Object{group("g", true, nil)}, old: job(2, ""), new: job(3, "")},
		"a gang that the template names holds":           {groups: []runtime.Object{group("g", true, nil)}, old: job(2, "g"), new: job(3, "g"), wantErr: prefix + `"g"`},
		"a named group goes before owned ones":           {groups: []runtime.Object{group("b", false, nil), group("g", true, job(1, ""))}, old: job(2, "b"), new: job(3, "b")},
		"a named group that is gone holds nothing":       {old: job(2, "g"), new: job(3, "g")},
		"the stored template counts, not the new one":    {groups: []runtime.Object{group("g", true, nil)}, old: job(2, ""), new: job(3, "g")},
		"without groups, there is nothing to look after": {gates: features.KubernetesDefaults(), old: job(2, "g"), new: job(3, "g")},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, tc.gates)
			if len(tc.groups) > 0 {
				c.has(groupsResource, "default", tc.groups...)
			}
			update := create(jobsResource, "Job", tc.new)
			update.operation, update.old = k8sadmission.Update, tc.old
			err := c.admit(update)
			if tc.wantErr == "" {
				assert.NoError(t, err)
				return
			}
			assert.EqualError(t, err, tc.wantErr)
		})
	}
}
