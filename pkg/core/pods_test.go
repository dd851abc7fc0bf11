package core_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/musterkube/muster/pkg/core"
)

func TestPhases(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		phase                         corev1.PodPhase
		deleted                       bool
		active, terminating, finished bool
	}{
		"a pending pod is active":               {phase: corev1.PodPending, active: true},
		"a running pod is active":               {phase: corev1.PodRunning, active: true},
		"a running pod that is deleted ends":    {phase: corev1.PodRunning, deleted: true, terminating: true},
		"a pod that has succeeded has finished": {phase: corev1.PodSucceeded, finished: true},
		"a pod that has failed has finished":    {phase: corev1.PodFailed, finished: true},
		"deletion changes nothing about that":   {phase: corev1.PodFailed, deleted: true, finished: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod := &corev1.Pod{Status: corev1.PodStatus{Phase: tc.phase}}
			if tc.deleted {
				pod.DeletionTimestamp = new(at(10))
			}
			assert.Equal(t, tc.active, core.PodActive(pod))
			assert.Equal(t, tc.terminating, core.PodTerminating(pod))
			assert.Equal(t, tc.finished, core.PodFinished(pod))
		})
	}
}

func TestReady(t *testing.T) {
	t.Parallel()
	pod := &corev1.Pod{}
	assert.False(t, core.PodReady(pod))
	assert.Zero(t, core.ReadyTime(pod))
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: at(9)}}
	assert.False(t, core.PodReady(pod))
	assert.Zero(t, core.ReadyTime(pod))
	pod.Status.Conditions[0].Status = corev1.ConditionTrue
	assert.True(t, core.PodReady(pod))
	assert.Equal(t, at(9).Time, core.ReadyTime(pod))
}

func endedAt(name string, hour int) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: name, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{FinishedAt: at(hour)}}}
}

func TestFinishTime(t *testing.T) {
	t.Parallel()
	sidecar := []corev1.Container{{Name: "side", RestartPolicy: new(corev1.ContainerRestartPolicyAlways)}, {Name: "init"}}
	notReady := []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: at(14)}}
	cases := map[string]struct {
		pod  corev1.Pod
		want metav1.Time
	}{
		"the container that ended last": {
			pod:  corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{endedAt("a", 12), endedAt("b", 11)}, Conditions: notReady}},
			want: at(12),
		},
		"a sidecar ends later": {
			pod: corev1.Pod{Spec: corev1.PodSpec{InitContainers: sidecar}, Status: corev1.PodStatus{
				ContainerStatuses:     []corev1.ContainerStatus{endedAt("a", 12)},
				InitContainerStatuses: []corev1.ContainerStatus{endedAt("side", 13), endedAt("init", 16)},
			}},
			want: at(13),
		},
		"a container that runs on leaves the condition Ready": {
			pod:  corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{endedAt("a", 12), {Name: "b"}}, Conditions: notReady}},
			want: at(14),
		},
		"a deleted pod has ended when it was deleted, which is a grace period before the timestamp": {
			pod: corev1.Pod{ObjectMeta: metav1.ObjectMeta{
				DeletionTimestamp: new(metav1.NewTime(at(15).Add(30 * time.Second))), DeletionGracePeriodSeconds: new(int64(30)),
			}},
			want: at(15),
		},
		"the creation is the last resort": {pod: corev1.Pod{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: at(8)}}, want: at(8)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want.Time, core.FinishTime(&tc.pod))
		})
	}
}

func TestRestarts(t *testing.T) {
	t.Parallel()
	pod := &corev1.Pod{
		Spec: corev1.PodSpec{InitContainers: []corev1.Container{{Name: "side", RestartPolicy: new(corev1.ContainerRestartPolicyAlways)}, {Name: "init"}}},
		Status: corev1.PodStatus{
			ContainerStatuses:     []corev1.ContainerStatus{{Name: "a", RestartCount: 2}, {Name: "b", RestartCount: 5}},
			InitContainerStatuses: []corev1.ContainerStatus{{Name: "side", RestartCount: 3}, {Name: "init", RestartCount: 7}},
		},
	}
	assert.Equal(t, int32(17), core.Restarts(pod))
	regular, sidecars := core.MaxRestarts(pod)
	assert.Equal(t, int32(5), regular)
	assert.Equal(t, int32(3), sidecars)
}

func TestQOSClass(t *testing.T) {
	t.Parallel()
	resources := func(requests, limits string) corev1.ResourceRequirements {
		list := func(cpu string) corev1.ResourceList {
			if cpu == "" {
				return nil
			}
			return corev1.ResourceList{"cpu": resource.MustParse(cpu), "memory": resource.MustParse("1Gi")}
		}
		return corev1.ResourceRequirements{Requests: list(requests), Limits: list(limits)}
	}
	whole := resources("1", "1")
	cases := map[string]struct {
		spec corev1.PodSpec
		want corev1.PodQOSClass
	}{
		"nothing asked for":               {spec: corev1.PodSpec{Containers: []corev1.Container{{}}}, want: corev1.PodQOSBestEffort},
		"as much as it is limited to":     {spec: corev1.PodSpec{Containers: []corev1.Container{{Resources: resources("1", "1")}}}, want: corev1.PodQOSGuaranteed},
		"less than it is limited to":      {spec: corev1.PodSpec{Containers: []corev1.Container{{Resources: resources("1", "2")}}}, want: corev1.PodQOSBurstable},
		"one container without limits":    {spec: corev1.PodSpec{Containers: []corev1.Container{{Resources: resources("1", "1")}, {}}}, want: corev1.PodQOSBurstable},
		"an init container without":       {spec: corev1.PodSpec{InitContainers: []corev1.Container{{}}, Containers: []corev1.Container{{Resources: resources("1", "1")}}}, want: corev1.PodQOSBurstable},
		"zero is nothing":                 {spec: corev1.PodSpec{Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("0")}}}}}, want: corev1.PodQOSBestEffort},
		"other resources do not count":    {spec: corev1.PodSpec{Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"example.com/gpu": resource.MustParse("1")}}}}}, want: corev1.PodQOSBestEffort},
		"the whole pod instead of it all": {spec: corev1.PodSpec{Resources: &whole, Containers: []corev1.Container{{}}}, want: corev1.PodQOSGuaranteed},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, core.QOSClass(&corev1.Pod{Spec: tc.spec}))
		})
	}
}

func TestDeletionGracePeriod(t *testing.T) {
	t.Parallel()
	running := makePod(func(pod *corev1.Pod) { pod.Spec.NodeName = "n" })
	assert.Equal(t, int64(30), core.DeletionGracePeriod(running, nil))
	assert.Equal(t, int64(5), core.DeletionGracePeriod(running, new(int64(5))))
	assert.Equal(t, int64(1), core.DeletionGracePeriod(running, new(int64(-5))))
	assert.Equal(t, int64(0), core.DeletionGracePeriod(makePod(), new(int64(5))), "nothing runs on no node")
	running.Status.Phase = corev1.PodFailed
	assert.Equal(t, int64(0), core.DeletionGracePeriod(running, nil), "nothing runs any more")
}
