package emulator_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	schedulingv1alpha2ac "github.com/musterkube/muster/generated/applyconfiguration/scheduling/v1alpha2"
	"github.com/musterkube/muster/pkg/emulator"
)

func TestPatchesOfEveryType(t *testing.T) {
	cases := map[string]struct {
		kind  types.PatchType
		patch string
		want  []string
	}{
		"a JSON patch": {
			kind:  types.JSONPatchType,
			patch: `[{"op":"test","path":"/spec/containers/0/name","value":"c"},{"op":"replace","path":"/spec/containers/0/image","value":"new"}]`,
			want:  []string{"c=new", "d=busybox"},
		},
		"a merge patch takes lists whole": {
			kind:  types.MergePatchType,
			patch: `{"spec":{"containers":[{"name":"c","image":"new"},{"name":"d","image":"newer"}]}}`,
			want:  []string{"c=new", "d=newer"},
		},
		"a strategic merge patch finds list elements by name": {
			kind:  types.StrategicMergePatchType,
			patch: `{"spec":{"containers":[{"name":"d","image":"new"}]}}`,
			want:  []string{"c=busybox", "d=new"},
		},
		"an apply patch does, too": {
			kind:  types.ApplyPatchType,
			patch: `{"apiVersion":"v1","kind":"Pod","spec":{"containers":[{"name":"d","image":"new"}]}}`,
			want:  []string{"c=busybox", "d=new"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			pods := kube(t, start(t, emulator.Options{}).Config()).CoreV1().Pods("default")
			pod := makePod("p")
			pod.Spec.Containers = append(pod.Spec.Containers, pod.Spec.Containers[0])
			pod.Spec.Containers[1].Name = "d"
			_, err := pods.Create(t.Context(), pod, metav1.CreateOptions{})
			require.NoError(t, err)
			options := metav1.PatchOptions{FieldManager: "patcher"}
			if tc.kind == types.ApplyPatchType {
				options.Force = new(true)
			}
			patched, err := pods.Patch(t.Context(), "p", tc.kind, []byte(tc.patch), options)
			require.NoError(t, err)
			var got []string
			for _, container := range patched.Spec.Containers {
				got = append(got, container.Name+"="+container.Image)
			}
			assert.Equal(t, tc.want, got)
		})
	}
}

func TestPatchThatDoesNotFit(t *testing.T) {
	workloads := muster(t, start(t, emulator.Options{}).Config()).SchedulingV1alpha2().Workloads("default")
	_, err := workloads.Create(t.Context(), makeWorkload("w"), metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = workloads.Patch(t.Context(), "w", types.JSONPatchType, []byte(`[{"op":"test","path":"/spec/podGroupTemplates/0/name","value":"x"}]`), metav1.PatchOptions{})
	assert.True(t, apierrors.IsInvalid(err), "%v", err)
	_, err = workloads.Patch(t.Context(), "w", types.MergePatchType, []byte(`{"metadata":{"resourceVersion":"1"}}`), metav1.PatchOptions{})
	assert.True(t, apierrors.IsConflict(err), "%v", err)
}

func TestServerSideApplyOfAPodGroup(t *testing.T) {
	groups := muster(t, start(t, emulator.Options{}).Config()).SchedulingV1alpha2().PodGroups("default")
	gang := func(count int32) *schedulingv1alpha2ac.PodGroupApplyConfiguration {
		return schedulingv1alpha2ac.PodGroup("g", "default").WithLabels(map[string]string{"app": "a"}).
			WithSpec(schedulingv1alpha2ac.PodGroupSpec().WithSchedulingPolicy(schedulingv1alpha2ac.PodGroupSchedulingPolicy().
				WithGang(schedulingv1alpha2ac.GangSchedulingPolicy().WithMinCount(count))))
	}

	created, err := groups.Apply(t.Context(), gang(4), metav1.ApplyOptions{FieldManager: "one"})
	require.NoError(t, err)
	assert.Equal(t, int32(4), created.Spec.SchedulingPolicy.Gang.MinCount)
	_, err = groups.Apply(t.Context(), gang(5), metav1.ApplyOptions{FieldManager: "two"})
	require.True(t, apierrors.IsConflict(err), "%v", err)
	assert.ErrorContains(t, err, `conflict with "one": .spec.schedulingPolicy.gang.minCount`)

	unlabelled := gang(4)
	unlabelled.Labels = nil
	again, err := groups.Apply(t.Context(), unlabelled, metav1.ApplyOptions{FieldManager: "one"})
	require.NoError(t, err)
	assert.Empty(t, again.Labels, "what a manager applies no more is taken away")
	same, err := groups.Apply(t.Context(), unlabelled, metav1.ApplyOptions{FieldManager: "one"})
	require.NoError(t, err)
	assert.Equal(t, again.ResourceVersion, same.ResourceVersion, "applying the same again writes nothing")
}

func TestServerSideApplyOfAStatus(t *testing.T) {
	groups := muster(t, start(t, emulator.Options{}).Config()).SchedulingV1alpha2().PodGroups("default")
	_, err := groups.Create(t.Context(), makePodGroup("g"), metav1.CreateOptions{})
	require.NoError(t, err)
	condition := metav1ac.Condition().WithType(schedulingv1alpha2.PodGroupScheduled).WithStatus(metav1.ConditionTrue).
		WithReason("Scheduled").WithMessage("").WithLastTransitionTime(metav1.Now())
	status := schedulingv1alpha2ac.PodGroup("g", "default").
		WithLabels(map[string]string{"app": "a"}).
		WithStatus(schedulingv1alpha2ac.PodGroupStatus().WithConditions(condition))

	applied, err := groups.ApplyStatus(t.Context(), status, metav1.ApplyOptions{FieldManager: "scheduler"})
	require.NoError(t, err)
	require.Len(t, applied.Status.Conditions, 1)
	assert.Equal(t, metav1.ConditionTrue, applied.Status.Conditions[0].Status)

	var managers []string
	for _, entry := range applied.ManagedFields {
		managers = append(managers, entry.Manager+" "+string(entry.Operation)+" "+entry.Subresource)
	}
	assert.Contains(t, managers, "scheduler Apply status")
	owned, err := schedulingv1alpha2ac.ExtractPodGroupStatus(applied, "scheduler")
	require.NoError(t, err)
	require.NotNil(t, owned.Status)
	assert.Len(t, owned.Status.Conditions, 1)
}

func TestApplyOfAnUnknownField(t *testing.T) {
	workloads := muster(t, start(t, emulator.Options{}).Config()).SchedulingV1alpha2().Workloads("default")
	body, err := json.Marshal(map[string]any{"apiVersion": "scheduling.k8s.io/v1alpha2", "kind": "Workload", "spec": map[string]any{"nope": 1}})
	require.NoError(t, err)
	_, err = workloads.Patch(t.Context(), "w", types.ApplyPatchType, body, metav1.PatchOptions{FieldManager: "m"})
	assert.ErrorContains(t, err, ".spec.nope: field not declared in schema")
}
