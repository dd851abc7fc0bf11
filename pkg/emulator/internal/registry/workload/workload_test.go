package workload_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/pkg/emulator/internal/registry/registrytest"
	"github.com/musterkube/muster/pkg/features"
)

func makeWorkload() *schedulingv1alpha2.Workload {
	return &schedulingv1alpha2.Workload{
		ObjectMeta: metav1.ObjectMeta{Name: "w", Namespace: "default"},
		Spec: schedulingv1alpha2.WorkloadSpec{PodGroupTemplates: []schedulingv1alpha2.PodGroupTemplate{{
			Name:              "workers",
			SchedulingPolicy:  schedulingv1alpha2.PodGroupSchedulingPolicy{Gang: &schedulingv1alpha2.GangSchedulingPolicy{MinCount: 2}},
			PriorityClassName: "high",
		}}},
	}
}

func TestGatesDecideWhatIsKept(t *testing.T) {
	for name, tc := range map[string]struct {
		gates features.Gates
		want  string
	}{
		"with preemption, the priority class": {want: "high"},
		"without it, none":                    {gates: features.Gates{}.With(features.WorkloadAwarePreemption, false)},
	} {
		t.Run(name, func(t *testing.T) {
			client := registrytest.New(t, tc.gates).Client(t, schedulingv1alpha2.SchemeGroupVersion.WithResource("workloads"), "default")
			obj, err := client.Create(makeWorkload())
			require.NoError(t, err)
			assert.Equal(t, tc.want, obj.(*schedulingv1alpha2.Workload).Spec.PodGroupTemplates[0].PriorityClassName)
			assert.Zero(t, obj.(*schedulingv1alpha2.Workload).Generation)
		})
	}
}

func TestTheSpecIsFixed(t *testing.T) {
	client := registrytest.New(t, features.Gates{}).Client(t, schedulingv1alpha2.SchemeGroupVersion.WithResource("workloads"), "default")
	_, err := client.Create(makeWorkload())
	require.NoError(t, err)
	_, err = client.Update("w", "", func(obj runtime.Object) {
		obj.(*schedulingv1alpha2.Workload).Spec.PodGroupTemplates[0].SchedulingPolicy.Gang.MinCount = 3
	})
	assert.ErrorContains(t, err, "field is immutable")

	table := client.Table(makeWorkload())
	assert.Equal(t, "w", table.Rows[0].Cells[0])
	assert.Len(t, table.ColumnDefinitions, 2)
}
