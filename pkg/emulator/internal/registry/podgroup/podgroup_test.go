package podgroup_test

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

func podGroups(t *testing.T, gates features.Gates) registrytest.Client {
	t.Helper()
	return registrytest.New(t, gates).Client(t, schedulingv1alpha2.SchemeGroupVersion.WithResource("podgroups"), "default")
}

func makeGroup() *schedulingv1alpha2.PodGroup {
	group := &schedulingv1alpha2.PodGroup{
		ObjectMeta: metav1.ObjectMeta{Name: "g", Namespace: "default"},
		Spec: schedulingv1alpha2.PodGroupSpec{
			SchedulingPolicy: schedulingv1alpha2.PodGroupSchedulingPolicy{Gang: &schedulingv1alpha2.GangSchedulingPolicy{MinCount: 2}},
		},
	}
	schedulingv1alpha2.SetObjectDefaults_PodGroup(group)
	return group
}

func get(t *testing.T, client registrytest.Client) *schedulingv1alpha2.PodGroup {
	t.Helper()
	obj, err := client.Get("g")
	require.NoError(t, err)
	return obj.(*schedulingv1alpha2.PodGroup)
}

func condition(conditionType string, status metav1.ConditionStatus, reason string) metav1.Condition {
	return metav1.Condition{Type: conditionType, Status: status, Reason: reason, LastTransitionTime: metav1.Now()}
}

func TestStatusIsWrittenThroughItsSubresourceAlone(t *testing.T) {
	client := podGroups(t, features.Gates{})
	group := makeGroup()
	scheduled := condition(schedulingv1alpha2.PodGroupScheduled, metav1.ConditionTrue, "Fits")
	group.Status.Conditions = []metav1.Condition{scheduled}
	_, err := client.Create(group)
	require.NoError(t, err)
	assert.Empty(t, get(t, client).Status.Conditions)
	assert.Zero(t, get(t, client).Generation)

	_, err = client.Update("g", "status", func(obj runtime.Object) {
		group := obj.(*schedulingv1alpha2.PodGroup)
		group.Labels = map[string]string{"a": "b"}
		group.Finalizers = []string{"example.com/mine"}
		group.Spec.SchedulingPolicy.Gang.MinCount = 9
		group.Status.Conditions = []metav1.Condition{scheduled}
	})
	require.NoError(t, err)
	stored := get(t, client)
	assert.Empty(t, stored.Labels)
	assert.Empty(t, stored.Finalizers)
	assert.Equal(t, int32(2), stored.Spec.SchedulingPolicy.Gang.MinCount)
	assert.Len(t, stored.Status.Conditions, 1)

	_, err = client.Update("g", "", func(obj runtime.Object) {
		group := obj.(*schedulingv1alpha2.PodGroup)
		group.Labels = map[string]string{"a": "b"}
		group.Status = schedulingv1alpha2.PodGroupStatus{}
	})
	require.NoError(t, err)
	assert.Len(t, get(t, client).Status.Conditions, 1)
	assert.Equal(t, "b", get(t, client).Labels["a"])
}

func TestGatedFieldsAreDropped(t *testing.T) {
	client := podGroups(t, features.Gates{}.With(features.WorkloadAwarePreemption, false))
	group := makeGroup()
	group.Spec.PriorityClassName = "high"
	_, err := client.Create(group)
	require.NoError(t, err)
	assert.Empty(t, get(t, client).Spec.PriorityClassName)
	assert.NotNil(t, get(t, client).Spec.DisruptionMode, "the default shows whatever is stored")
}

func TestTable(t *testing.T) {
	client := podGroups(t, features.Gates{})
	for name, tc := range map[string]struct {
		change func(group *schedulingv1alpha2.PodGroup)
		want   []any
	}{
		"a gang of its own": {func(*schedulingv1alpha2.PodGroup) {}, []any{"g", "Gang", "<none>", "Pending"}},
		"a basic group of a workload that is placed": {func(group *schedulingv1alpha2.PodGroup) {
			group.Spec.SchedulingPolicy = schedulingv1alpha2.PodGroupSchedulingPolicy{Basic: &schedulingv1alpha2.BasicSchedulingPolicy{}}
			group.Spec.PodGroupTemplateRef = &schedulingv1alpha2.PodGroupTemplateReference{Workload: &schedulingv1alpha2.WorkloadPodGroupTemplateReference{WorkloadName: "w"}}
			group.Status.Conditions = []metav1.Condition{condition(schedulingv1alpha2.PodGroupScheduled, metav1.ConditionTrue, "Fits")}
		}, []any{"g", "Basic", "w", "Scheduled"}},
		"a gang that does not fit": {func(group *schedulingv1alpha2.PodGroup) {
			group.Status.Conditions = []metav1.Condition{condition(schedulingv1alpha2.PodGroupScheduled, metav1.ConditionFalse, "Full")}
		}, []any{"g", "Gang", "<none>", "Unschedulable"}},
		"a gang that was disrupted": {func(group *schedulingv1alpha2.PodGroup) {
			group.Status.Conditions = []metav1.Condition{
				condition(schedulingv1alpha2.PodGroupScheduled, metav1.ConditionTrue, "Fits"),
				condition(schedulingv1alpha2.DisruptionTarget, metav1.ConditionFalse, "Preempted"),
			}
		}, []any{"g", "Gang", "<none>", "Preempted"}},
	} {
		t.Run(name, func(t *testing.T) {
			group := makeGroup()
			tc.change(group)
			assert.Equal(t, tc.want, client.Table(group).Rows[0].Cells[:4])
		})
	}
}
