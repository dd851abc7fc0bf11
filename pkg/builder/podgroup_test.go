package builder_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/pkg/builder"
)

// stored returns the Workload of gangJob as the API server gives it back.
func stored() *schedulingv1alpha2.Workload {
	workload := jobWorkload()
	workload.UID = "uid-456"
	return workload
}

// fullTemplate has every field of a template set.
func fullTemplate() schedulingv1alpha2.PodGroupTemplate {
	template := builder.Gang("workers", 3)
	template.SchedulingConstraints = &schedulingv1alpha2.PodGroupSchedulingConstraints{
		Topology: []schedulingv1alpha2.TopologyConstraint{{Key: "topology.kubernetes.io/rack"}},
	}
	template.ResourceClaims = []schedulingv1alpha2.PodGroupResourceClaim{{Name: "gpu", ResourceClaimName: new("claim")}}
	template.DisruptionMode = new(schedulingv1alpha2.DisruptionModePodGroup)
	template.PriorityClassName = "high"
	template.Priority = new(int32(7))
	return template
}

func TestPodGroupsOfAJob(t *testing.T) {
	want := []*schedulingv1alpha2.PodGroup{{
		ObjectMeta: metav1.ObjectMeta{
			Name: "my-job-795ddf89fd-my-job-pgt-0-74cffdfb57", Namespace: "ns",
			OwnerReferences: []metav1.OwnerReference{
				jobReference(),
				{APIVersion: "scheduling.k8s.io/v1alpha2", Kind: "Workload", Name: "my-job-795ddf89fd", UID: "uid-456"},
			},
		},
		Spec: schedulingv1alpha2.PodGroupSpec{
			PodGroupTemplateRef: &schedulingv1alpha2.PodGroupTemplateReference{
				Workload: &schedulingv1alpha2.WorkloadPodGroupTemplateReference{
					WorkloadName: "my-job-795ddf89fd", PodGroupTemplateName: "my-job-pgt-0",
				},
			},
			SchedulingPolicy: schedulingv1alpha2.PodGroupSchedulingPolicy{Gang: &schedulingv1alpha2.GangSchedulingPolicy{MinCount: 4}},
		},
	}}
	for _, opts := range []builder.Options{{}, {BuiltInNames: true, PolicyOnly: true}} {
		got, err := builder.PodGroups(stored(), opts)
		require.NoError(t, err)
		assert.Empty(t, cmp.Diff(want, got), "(-want +got)")
	}
}

func TestPodGroupsTakeOverTheWholeTemplate(t *testing.T) {
	workload := stored()
	workload.Spec.PodGroupTemplates = []schedulingv1alpha2.PodGroupTemplate{builder.Basic("driver"), fullTemplate()}
	before := workload.DeepCopy()

	groups, err := builder.PodGroups(workload, builder.Options{})
	require.NoError(t, err)
	require.Len(t, groups, 2)
	assert.NotNil(t, groups[0].Spec.SchedulingPolicy.Basic)
	assert.Equal(t, "driver", groups[0].Spec.PodGroupTemplateRef.Workload.PodGroupTemplateName)

	template := fullTemplate()
	want := schedulingv1alpha2.PodGroupSpec{
		PodGroupTemplateRef: &schedulingv1alpha2.PodGroupTemplateReference{
			Workload: &schedulingv1alpha2.WorkloadPodGroupTemplateReference{WorkloadName: workload.Name, PodGroupTemplateName: "workers"},
		},
		SchedulingPolicy:      template.SchedulingPolicy,
		SchedulingConstraints: template.SchedulingConstraints,
		ResourceClaims:        template.ResourceClaims,
		DisruptionMode:        template.DisruptionMode,
		PriorityClassName:     template.PriorityClassName,
		Priority:              template.Priority,
	}
	assert.Empty(t, cmp.Diff(want, groups[1].Spec), "(-want +got)")

	policyOnly, err := builder.PodGroup(workload, "workers", builder.Options{PolicyOnly: true})
	require.NoError(t, err)
	want = schedulingv1alpha2.PodGroupSpec{PodGroupTemplateRef: want.PodGroupTemplateRef, SchedulingPolicy: want.SchedulingPolicy}
	assert.Empty(t, cmp.Diff(want, policyOnly.Spec), "(-want +got)")

	// Nothing may be shared: whatever is done to a group leaves the Workload alone.
	spec := &groups[1].Spec
	spec.SchedulingPolicy.Gang.MinCount = 9
	spec.SchedulingConstraints.Topology[0].Key = "other"
	*spec.ResourceClaims[0].ResourceClaimName = "other"
	*spec.DisruptionMode = schedulingv1alpha2.DisruptionModePod
	*spec.Priority = 9
	*groups[1].OwnerReferences[0].Controller = false
	policyOnly.Spec.SchedulingPolicy.Gang.MinCount = 9
	assert.Empty(t, cmp.Diff(before, workload), "(-before +after)")
}

func TestPodGroupsOfAUsersWorkload(t *testing.T) {
	t.Run("without a controller the Workload alone owns them", func(t *testing.T) {
		workload := stored()
		workload.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "c", UID: "u"}}
		groups, err := builder.PodGroups(workload, builder.Options{})
		require.NoError(t, err)
		require.Len(t, groups[0].OwnerReferences, 1)
		assert.Equal(t, "Workload", groups[0].OwnerReferences[0].Kind)
		assert.Nil(t, groups[0].OwnerReferences[0].Controller)
	})
	t.Run("a controller reference is completed", func(t *testing.T) {
		workload := stored()
		workload.OwnerReferences[0].BlockOwnerDeletion = nil
		groups, err := builder.PodGroups(workload, builder.Options{})
		require.NoError(t, err)
		assert.Equal(t, jobReference(), groups[0].OwnerReferences[0])
		assert.Nil(t, workload.OwnerReferences[0].BlockOwnerDeletion)
	})
}

func TestPodGroupOfOneTemplate(t *testing.T) {
	workload := stored()
	workload.Spec.PodGroupTemplates = append(workload.Spec.PodGroupTemplates, builder.Basic("driver"))
	group, err := builder.PodGroup(workload, "driver", builder.Options{})
	require.NoError(t, err)
	assert.Equal(t, builder.PodGroupName(workload.Name, "driver", builder.Options{}), group.Name)

	_, err = builder.PodGroup(workload, "Driver", builder.Options{})
	require.EqualError(t, err, `making a PodGroup of Workload ns/my-job-795ddf89fd: it has no template "Driver"`)
}

func TestPodGroupsNeedAStoredWorkload(t *testing.T) {
	empty, nameless := stored(), stored()
	empty.Spec.PodGroupTemplates, nameless.Name = nil, ""
	cases := map[string]struct {
		workload *schedulingv1alpha2.Workload
		wantErr  string
	}{
		"no Workload":  {nil, "making PodGroups: there is no Workload"},
		"no name":      {nameless, "making PodGroups of Workload ns/: it needs a name and a UID: create it first"},
		"no UID":       {jobWorkload(), "making PodGroups of Workload ns/my-job-795ddf89fd: it needs a name and a UID: create it first"},
		"no templates": {empty, "making PodGroups of Workload ns/my-job-795ddf89fd: it has no templates"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := builder.PodGroups(tc.workload, builder.Options{})
			require.EqualError(t, err, tc.wantErr)
			assert.Equal(t, strings.Contains(tc.wantErr, "create it first"), errors.Is(err, builder.ErrNotStored))
			_, err = builder.PodGroup(tc.workload, "any", builder.Options{})
			require.EqualError(t, err, tc.wantErr)
		})
	}
}

func TestSetSchedulingGroup(t *testing.T) {
	group := &schedulingv1alpha2.PodGroup{ObjectMeta: metav1.ObjectMeta{Name: "g"}}
	var template corev1.PodTemplateSpec
	builder.SetSchedulingGroup(&template, group)
	assert.Equal(t, &corev1.PodSchedulingGroup{PodGroupName: new("g")}, template.Spec.SchedulingGroup)
	group.Name = "other"
	assert.Equal(t, "g", *template.Spec.SchedulingGroup.PodGroupName)
}

func TestSchedulingGroupOfNoPodGroup(t *testing.T) {
	t.Parallel()
	assert.Nil(t, builder.SchedulingGroup(nil))
	template := corev1.PodTemplateSpec{Spec: corev1.PodSpec{SchedulingGroup: &corev1.PodSchedulingGroup{}}}
	builder.SetSchedulingGroup(&template, nil)
	assert.Nil(t, template.Spec.SchedulingGroup)
	builder.SetSchedulingGroup(nil, &schedulingv1alpha2.PodGroup{}) // does nothing
}
