package core_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/musterkube/muster/pkg/core"
	"github.com/musterkube/muster/pkg/features"
)

func TestPreparePodForCreate(t *testing.T) {
	t.Parallel()
	pod := makePod(gated, func(pod *corev1.Pod) {
		pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, Message: "sent by a client"}
		pod.Labels = map[string]string{"app": "x"}
		pod.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
			LabelSelector: &metav1.LabelSelector{}, MatchLabelKeys: []string{"app", "absent"},
		}}
		pod.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
				{LabelSelector: &metav1.LabelSelector{}, MismatchLabelKeys: []string{"app"}}, {MatchLabelKeys: []string{"app"}},
			},
		}}
	})
	assert.Equal(t, int64(1), pod.Generation)
	assert.Equal(t, corev1.PodStatus{
		Phase: corev1.PodPending, QOSClass: corev1.PodQOSBestEffort,
		Conditions: []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, LastTransitionTime: metav1.NewTime(noon),
			Reason: "SchedulingGated", Message: "Scheduling is blocked due to non-empty scheduling gates",
		}},
	}, pod.Status)
	assert.Equal(t, []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpIn, Values: []string{"x"}}},
		pod.Spec.TopologySpreadConstraints[0].LabelSelector.MatchExpressions)
	terms := pod.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	assert.Equal(t, []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"x"}}},
		terms[0].LabelSelector.MatchExpressions)
	assert.Nil(t, terms[1].LabelSelector, "a selector that is not there matches nothing, and stays so")
}

func TestPreparePodForStatusUpdate(t *testing.T) {
	t.Parallel()
	old := makePod()
	old.OwnerReferences = []metav1.OwnerReference{{Name: "owner"}}
	old.Status.ObservedGeneration = 3
	old.Status.Conditions = []corev1.PodCondition{{Type: "A", ObservedGeneration: 2}, {Type: "A", ObservedGeneration: 3}}
	pod := old.DeepCopy()
	pod.OwnerReferences, pod.Spec.NodeName, pod.DeletionTimestamp = nil, "n", new(at(9))
	pod.Status = corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: "A"}, {Type: "A", ObservedGeneration: 9}, {Type: "B"}}}
	core.PreparePodForStatusUpdate(pod, old, features.Gates{})
	assert.Equal(t, old.Spec, pod.Spec)
	assert.Equal(t, old.OwnerReferences, pod.OwnerReferences)
	assert.Nil(t, pod.DeletionTimestamp)
	assert.Equal(t, old.Status.QOSClass, pod.Status.QOSClass)
	assert.Equal(t, int64(3), pod.Status.ObservedGeneration)
	generations := make([]int64, 0, 3)
	for _, c := range pod.Status.Conditions {
		generations = append(generations, c.ObservedGeneration)
	}
	assert.Equal(t, []int64{2, 9, 0}, generations)
}

func TestDropDisabledPodFields(t *testing.T) {
	t.Parallel()
	full := func() *corev1.Pod {
		return &corev1.Pod{
			Spec: corev1.PodSpec{
				SchedulingGroup: &corev1.PodSchedulingGroup{PodGroupName: new("g")},
				Containers:      []corev1.Container{{Lifecycle: &corev1.Lifecycle{StopSignal: new(corev1.Signal("SIGUSR1"))}}},
				Volumes: []corev1.Volume{{VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
					Sources: []corev1.VolumeProjection{{ClusterTrustBundle: &corev1.ClusterTrustBundleProjection{}, PodCertificate: &corev1.PodCertificateProjection{}}},
				}}}},
			},
			Status: corev1.PodStatus{
				NodeAllocatableResourceClaimStatuses: []corev1.NodeAllocatableResourceClaimStatus{{}},
				ContainerStatuses:                    []corev1.ContainerStatus{{VolumeMounts: []corev1.VolumeMountStatus{{VolumeStatus: &corev1.VolumeStatus{}}}}},
			},
		}
	}
	off := features.Gates{}.With(features.GenericWorkload, false)

	pod := full()
	core.DropDisabledPodFields(pod, nil, off)
	assert.Nil(t, pod.Spec.SchedulingGroup)
	assert.Nil(t, pod.Spec.Containers[0].Lifecycle, "nothing is left of it")
	assert.Equal(t, corev1.VolumeProjection{}, pod.Spec.Volumes[0].Projected.Sources[0])
	assert.Empty(t, pod.Status.NodeAllocatableResourceClaimStatuses)
	assert.Nil(t, pod.Status.ContainerStatuses[0].VolumeMounts[0].VolumeStatus)

	pod = full()
	core.DropDisabledPodFields(pod, full(), off)
	assert.Equal(t, full(), pod, "what the stored pod has stays")

	pod = full()
	core.DropDisabledPodFields(pod, nil, features.Gates{})
	assert.NotNil(t, pod.Spec.SchedulingGroup)
}

func TestAppArmorAnnotationsBecomeFields(t *testing.T) {
	t.Parallel()
	const key = "container.apparmor.security.beta.kubernetes.io/c"
	annotated := func(value string) func(*corev1.Pod) {
		return func(pod *corev1.Pod) { pod.Annotations = map[string]string{key: value} }
	}
	pod := makePod(annotated("localhost/mine"))
	require.NotNil(t, pod.Spec.Containers[0].SecurityContext)
	assert.Equal(t, &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeLocalhost, LocalhostProfile: new("mine")},
		pod.Spec.Containers[0].SecurityContext.AppArmorProfile)
	assert.Nil(t, makePod(annotated("nonsense")).Spec.Containers[0].SecurityContext)
	assert.Nil(t, makePod(annotated("unconfined"), func(pod *corev1.Pod) {
		pod.Spec.SecurityContext = &corev1.PodSecurityContext{AppArmorProfile: &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeUnconfined}}
	}).Spec.Containers[0].SecurityContext, "the pod says so for all")
}

func TestAppArmorAnnotationsAreWarnedOf(t *testing.T) {
	t.Parallel()
	const key = "container.apparmor.security.beta.kubernetes.io/c"
	warning := []string{"metadata.annotations[" + key + `]: deprecated since v1.30; use the "appArmorProfile" field instead`}
	unconfined := &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeUnconfined}
	for name, tc := range map[string]struct {
		annotation string
		edit       func(*corev1.PodSpec)
		want       []string
	}{
		"one that becomes a field":   {annotation: "unconfined", want: warning},
		"one that is not understood": {annotation: "nonsense", want: warning},
		"one that the container's own says": {annotation: "unconfined", edit: func(spec *corev1.PodSpec) {
			spec.Containers[0].SecurityContext = &corev1.SecurityContext{AppArmorProfile: unconfined}
		}},
		"one that the pod's own says": {annotation: "unconfined", edit: func(spec *corev1.PodSpec) {
			spec.SecurityContext = &corev1.PodSecurityContext{AppArmorProfile: unconfined}
		}},
		"one on Windows, which has no AppArmor": {annotation: "unconfined", edit: func(spec *corev1.PodSpec) {
			spec.OS = &corev1.PodOS{Name: corev1.Windows}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "busybox"}}}}
			pod.Annotations = map[string]string{key: tc.annotation}
			if tc.edit != nil {
				tc.edit(&pod.Spec)
			}
			core.SetPodDefaults(pod)
			assert.Equal(t, tc.want, core.PreparePodForCreate(pod, features.Gates{}, noon))
		})
	}
}

func TestBind(t *testing.T) {
	t.Parallel()
	binding := &corev1.Binding{Target: corev1.ObjectReference{Kind: "Node", Name: "n"}}
	binding.Annotations, binding.Labels = map[string]string{"a": "1"}, map[string]string{"zone": "z"}
	pod := makePod(func(pod *corev1.Pod) { pod.Labels = map[string]string{"zone": "old"} })
	pod.Status.NominatedNodeName = "other"
	require.Empty(t, core.ValidateBinding(binding))
	require.NoError(t, core.Bind(pod, binding, noon))
	assert.Equal(t, "n", pod.Spec.NodeName)
	assert.Equal(t, map[string]string{"a": "1"}, pod.Annotations)
	assert.Equal(t, map[string]string{"zone": "z"}, pod.Labels)
	assert.Empty(t, pod.Status.NominatedNodeName)
	assert.Equal(t, corev1.ConditionTrue, core.PodCondition(pod, corev1.PodScheduled).Status)

	err := core.Bind(pod, binding, noon)
	require.ErrorIs(t, err, core.ErrNotBindable)
	require.EqualError(t, err, `pod p is already assigned to node "n"`)
	deleted := makePod()
	deleted.DeletionTimestamp = new(at(9))
	require.EqualError(t, core.Bind(deleted, binding, noon), "pod p is being deleted, cannot be assigned to a host")
	held := makePod(gated)
	require.EqualError(t, core.Bind(held, binding, noon), "pod p has non-empty .spec.schedulingGates")
	assert.Empty(t, held.Spec.NodeName)

	require.Equal(t, `target.kind: Unsupported value: "Pod": supported values: "Node", "<empty>"`+"\ntarget.name: Required value",
		lines(core.ValidateBinding(&corev1.Binding{Target: corev1.ObjectReference{Kind: "Pod"}})))
}

func TestSetPodCondition(t *testing.T) {
	t.Parallel()
	pod := &corev1.Pod{}
	ready := corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue}
	assert.True(t, core.SetPodCondition(pod, ready, noon))
	assert.False(t, core.SetPodCondition(pod, ready, noon.Add(time.Hour)), "the same again, later")
	ready.Reason = "r"
	assert.True(t, core.SetPodCondition(pod, ready, noon.Add(time.Hour)))
	assert.Equal(t, noon, core.PodCondition(pod, corev1.PodReady).LastTransitionTime.Time, "the status has not changed")
	ready.Status = corev1.ConditionFalse
	assert.True(t, core.SetPodCondition(pod, ready, noon.Add(time.Hour)))
	assert.Equal(t, noon.Add(time.Hour), core.PodCondition(pod, corev1.PodReady).LastTransitionTime.Time)
}
