package podgroupprotection

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
)

// podWrapper builds pods.
type podWrapper struct{ *corev1.Pod }

func makePod(name string) podWrapper {
	return podWrapper{&corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(name + "-uid")},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning},
	}}
}

func (w podWrapper) in(group string) podWrapper {
	w.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: &group}
	return w
}

func (w podWrapper) phase(phase corev1.PodPhase) podWrapper {
	w.Status.Phase = phase
	return w
}

// again makes it another pod of the same name.
func (w podWrapper) again() podWrapper {
	w.UID += "-again"
	return w
}

func (w podWrapper) deleting() podWrapper {
	w.DeletionTimestamp = new(metav1.Unix(1, 0))
	return w
}

// makeGroup returns a PodGroup that is being deleted and has finalizers.
func makeGroup(name string, finalizers ...string) *schedulingv1alpha2.PodGroup {
	return &schedulingv1alpha2.PodGroup{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns", Name: name, UID: types.UID(name + "-uid"), ResourceVersion: "1",
		DeletionTimestamp: new(metav1.Unix(1, 0)), Finalizers: finalizers,
	}}
}

func TestIsCandidate(t *testing.T) {
	alive := makeGroup("g", Finalizer)
	alive.DeletionTimestamp = nil
	assert.True(t, isCandidate(makeGroup("g", "a/b", Finalizer)))
	assert.False(t, isCandidate(makeGroup("g", "a/b")), "another finalizer is not ours")
	assert.False(t, isCandidate(alive), "it is not being deleted")
}

func TestReleasedTakesOnlyTheFinalizer(t *testing.T) {
	group := makeGroup("g", "a/b", Finalizer, "c/d")
	got := released(group)
	assert.Equal(t, []string{"a/b", "c/d"}, got.Finalizers)
	assert.Equal(t, []string{"a/b", Finalizer, "c/d"}, group.Finalizers, "the cached object must not change")
	got.Finalizers = group.Finalizers
	assert.Equal(t, group, got)
}

func TestHeldBy(t *testing.T) {
	cases := map[string]struct {
		pod  podWrapper
		want bool
	}{
		"a running pod":                  {makePod("p").in("g"), true},
		"a pending pod":                  {makePod("p").in("g").phase(corev1.PodPending), true},
		"a pod without a phase":          {makePod("p").in("g").phase(""), true},
		"a pod of unknown phase":         {makePod("p").in("g").phase(corev1.PodUnknown), true},
		"a pod that is being deleted":    {makePod("p").in("g").deleting(), true},
		"a pod that has succeeded":       {makePod("p").in("g").phase(corev1.PodSucceeded), false},
		"a pod that has failed":          {makePod("p").in("g").phase(corev1.PodFailed).deleting(), false},
		"a pod without a group":          {makePod("p"), false},
		"a pod whose group has no name":  {podWithoutName(), false},
		"a pod whose group name is void": {makePod("p").in(""), true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			group, holds := heldBy(tc.pod.Pod)
			assert.Equal(t, tc.want, holds)
			if tc.want {
				assert.Equal(t, cache.NewObjectName("ns", *tc.pod.Spec.SchedulingGroup.PodGroupName), group)
			}
		})
	}
}

func podWithoutName() podWrapper {
	pod := makePod("p")
	pod.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{}
	return pod
}

func TestMayBeFree(t *testing.T) {
	running, failed := makePod("p").in("g").Pod, makePod("p").in("g").phase(corev1.PodFailed).Pod
	other := makePod("p").in("h").again().Pod
	cases := map[string]struct {
		before, after *corev1.Pod
		want          []string
	}{
		"a pod comes up":                                 {nil, running, nil},
		"a pod comes up that has ended":                  {nil, failed, []string{"g"}},
		"a pod changes":                                  {running, running, nil},
		"a pod starts being deleted":                     {running, makePod("p").in("g").deleting().Pod, nil},
		"a pod ends":                                     {running, failed, []string{"g"}},
		"a pod that has ended changes":                   {failed, failed, []string{"g"}},
		"a pod goes":                                     {running, nil, []string{"g"}},
		"a pod is replaced by one of another group":      {running, other, []string{"g"}},
		"a pod is replaced by one of the group":          {running, makePod("p").in("g").again().Pod, []string{"g"}},
		"a pod is replaced by one that has ended":        {running, makePod("p").in("h").again().phase(corev1.PodFailed).Pod, []string{"h", "g"}},
		"a pod of the group is replaced by an ended one": {running, makePod("p").in("g").again().phase(corev1.PodFailed).Pod, []string{"g"}},
		"a pod without a group goes":                     {makePod("p").Pod, nil, nil},
		"an event that holds no pod":                     {nil, nil, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, group := range mayBeFree(tc.before, tc.after) {
				assert.Equal(t, "ns", group.Namespace)
				got = append(got, group.Name)
			}
			assert.Equal(t, tc.want, got)
		})
	}
}
