package v1alpha2_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
)

func TestAddToScheme(t *testing.T) {
	scheme := newScheme(t)
	require.NoError(t, schedulingv1alpha2.AddToScheme(scheme), "a second time")

	for _, kind := range []string{"Workload", "WorkloadList", "PodGroup", "PodGroupList"} {
		assert.True(t, scheme.Recognizes(schedulingv1alpha2.SchemeGroupVersion.WithKind(kind)), kind)
	}
	// What clients send with a request is decoded by the same scheme.
	assert.True(t, scheme.Recognizes(schedulingv1alpha2.SchemeGroupVersion.WithKind("ListOptions")))
	assert.Equal(t, []schema.GroupVersion{{Group: "scheduling.k8s.io", Version: "v1alpha2"}},
		scheme.PrioritizedVersionsForGroup(schedulingv1alpha2.GroupName))
}

func TestDefaults(t *testing.T) {
	podGroup := schedulingv1alpha2.DisruptionModePodGroup
	cases := map[string]struct {
		set  *schedulingv1alpha2.DisruptionMode
		want schedulingv1alpha2.DisruptionMode
	}{
		"a PodGroup without disruption mode gets Pod": {want: schedulingv1alpha2.DisruptionModePod},
		"a PodGroup with a disruption mode keeps it":  {set: &podGroup, want: podGroup},
		"an empty disruption mode counts as one":      {set: new(schedulingv1alpha2.DisruptionMode("")), want: ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			group := &schedulingv1alpha2.PodGroup{Spec: schedulingv1alpha2.PodGroupSpec{DisruptionMode: tc.set}}
			newScheme(t).Default(group)
			require.NotNil(t, group.Spec.DisruptionMode)
			assert.Equal(t, tc.want, *group.Spec.DisruptionMode)

			list := &schedulingv1alpha2.PodGroupList{Items: []schedulingv1alpha2.PodGroup{
				{Spec: schedulingv1alpha2.PodGroupSpec{DisruptionMode: tc.set}},
			}}
			newScheme(t).Default(list)
			require.NotNil(t, list.Items[0].Spec.DisruptionMode)
			assert.Equal(t, tc.want, *list.Items[0].Spec.DisruptionMode)
		})
	}

	t.Run("the template of a Workload gets none", func(t *testing.T) {
		workload := &schedulingv1alpha2.Workload{Spec: schedulingv1alpha2.WorkloadSpec{
			PodGroupTemplates: []schedulingv1alpha2.PodGroupTemplate{{Name: "workers"}},
		}}
		newScheme(t).Default(workload)
		assert.Nil(t, workload.Spec.PodGroupTemplates[0].DisruptionMode)
	})
}

func TestKindAndResource(t *testing.T) {
	assert.Equal(t, schema.GroupKind{Group: "scheduling.k8s.io", Kind: "PodGroup"}, schedulingv1alpha2.Kind("PodGroup"))
	assert.Equal(t, schema.GroupResource{Group: "scheduling.k8s.io", Resource: "podgroups"},
		schedulingv1alpha2.Resource("podgroups"))
}

func TestLimits(t *testing.T) {
	assert.Equal(t, 8, schedulingv1alpha2.WorkloadMaxPodGroupTemplates)
	assert.Equal(t, 4, schedulingv1alpha2.MaxPodGroupResourceClaims)
}
