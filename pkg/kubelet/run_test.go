package kubelet

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/musterkube/muster/pkg/core"
)

// byContainer is a script that knows containers by name and has the others end well at once.
type byContainer map[string]Outcome

func (s byContainer) Run(a Attempt) Outcome { return s[a.Container] }

func TestRun(t *testing.T) {
	for name, tc := range map[string]struct {
		pod    *podWrapper
		delay  time.Duration
		script Script
		until  time.Duration
		want   []string
	}{
		"a pod whose container ends well succeeds": {
			pod: makePod("p"), script: Fixed{Duration: 5 * time.Second}, until: time.Hour,
			want: []string{"0s Running main:running!", "5s Succeeded main:Completed/0"},
		},
		"a pod is seen running even if that takes no time": {
			pod: makePod("p"), script: Fixed{}, until: time.Hour,
			want: []string{"0s Running main:running!", "0s Succeeded main:Completed/0"},
		},
		"a pod fails with its container": {
			pod: makePod("p"), script: Fixed{Duration: time.Second, ExitCode: 3}, until: time.Hour,
			want: []string{"0s Running main:running!", "1s Failed main:Error/3"},
		},
		"a reason of its own": {
			pod: makePod("p"), script: byContainer{"main": {ExitCode: 137, Reason: "OOMKilled"}}, until: time.Hour,
			want: []string{"0s Running main:running!", "0s Failed main:OOMKilled/137"},
		},
		"a pod is pending until it may start": {
			pod: makePod("p"), delay: 3 * time.Second, script: Fixed{Duration: time.Second}, until: time.Hour,
			want: []string{"0s Pending main:ContainerCreating", "3s Running main:running!", "4s Succeeded main:Completed/0"},
		},
		"a pod runs on while one of two containers does": {
			pod:    makePod("p").Container("other"),
			script: byContainer{"main": {Duration: time.Second, ExitCode: 1}, "other": {Duration: 2 * time.Second}}, until: time.Hour,
			want: []string{
				"0s Running main:running! other:running!", "1s Running main:Error/1 other:running!", "2s Failed main:Error/1 other:Completed/0",
			},
		},
		"init containers run one after another": {
			pod: makePod("p").Init("i1").Init("i2"),
			script: byContainer{
				"i1": {Duration: time.Second}, "i2": {Duration: time.Second}, "main": {Duration: time.Second},
			}, until: time.Hour,
			want: []string{
				"0s Pending i1:running i2:PodInitializing main:PodInitializing",
				"1s Pending i1:Completed/0! i2:running main:PodInitializing",
				"2s Running i1:Completed/0! i2:Completed/0! main:running!",
				"3s Succeeded i1:Completed/0! i2:Completed/0! main:Completed/0",
			},
		},
		"a pod fails with an init container": {
			pod: makePod("p").Init("i1").Init("i2"), script: byContainer{"i1": {ExitCode: 2}}, until: time.Hour,
			want: []string{
				"0s Pending i1:running i2:PodInitializing main:PodInitializing",
				"0s Failed i1:Error/2 i2:PodInitializing main:PodInitializing",
			},
		},
		"a sidecar starts before the others and ends after them": {
			pod: makePod("p").Sidecar("s").Init("i"), script: byContainer{"i": {Duration: time.Second}, "main": {Duration: time.Second}}, until: time.Hour,
			want: []string{
				"0s Pending s:running! i:running main:PodInitializing",
				"1s Running s:running! i:Completed/0! main:running!",
				"2s Succeeded s:Error/143 i:Completed/0! main:Completed/0",
			},
		},
		"a sidecar that ends is started again whatever the pod's policy": {
			pod: makePod("p").Sidecar("s"), script: byContainer{"s": {Duration: 3 * time.Second}, "main": {Duration: 10 * time.Second}}, until: time.Hour,
			want: []string{
				"0s Running s:running! main:running!",
				"3s Running s:running+1! main:running!",
				"6s Running s:CrashLoopBackOff+1 main:running!",
				"10s Succeeded s:Completed/0+1 main:Completed/0",
			},
		},
		"OnFailure restarts in place, at once and then ever later": {
			pod: makePod("p").Restart(corev1.RestartPolicyOnFailure),
			script: ScriptFunc(func(a Attempt) Outcome {
				if a.Number < 5 {
					return Outcome{Duration: time.Second, ExitCode: 1}
				}
				return Outcome{Duration: time.Second}
			}), until: time.Hour,
			want: []string{
				"0s Running main:running!",
				"1s Running main:running+1!",
				"2s Running main:CrashLoopBackOff+1", "12s Running main:running+2!",
				"13s Running main:CrashLoopBackOff+2", "33s Running main:running+3!",
				"34s Running main:CrashLoopBackOff+3", "1m14s Running main:running+4!",
				"1m15s Succeeded main:Completed/0+4",
			},
		},
		"Always restarts what ended well": {
			pod: makePod("p").Restart(corev1.RestartPolicyAlways), script: Fixed{Duration: time.Second}, until: 5 * time.Second,
			want: []string{"0s Running main:running!", "1s Running main:running+1!", "2s Running main:CrashLoopBackOff+1"},
		},
		"a container that ran for long starts over with its waits": {
			pod: makePod("p").Restart(corev1.RestartPolicyAlways), script: Fixed{Duration: 10 * time.Minute}, until: 21 * time.Minute,
			want: []string{"0s Running main:running!", "10m0s Running main:running+1!", "20m0s Running main:running+2!"},
		},
		"a pod that is evicted": {
			pod:    makePod("p").Container("other").Restart(corev1.RestartPolicyOnFailure),
			script: byContainer{"main": {Duration: 5 * time.Second, Evict: true}, "other": {Forever: true, Shutdown: time.Minute}}, until: time.Hour,
			want: []string{
				"0s Running main:running! other:running!", "5s Running main:Error/143 other:running!",
				"7s Failed(Evicted) main:Error/143 other:Error/137",
			},
		},
		"the active deadline of the pod": {
			pod: makePod("p").Deadline(10), script: Fixed{Duration: time.Hour}, until: time.Hour,
			want: []string{"0s Running main:running!", "10s Failed(DeadlineExceeded) main:Error/143"},
		},
		"a container that takes long to end is killed after the grace period": {
			pod: makePod("p").Deadline(10), script: byContainer{"main": {Forever: true, Shutdown: time.Hour}}, until: time.Hour,
			want: []string{"0s Running main:running!", "10s Running main:running!", "40s Failed(DeadlineExceeded) main:Error/137"},
		},
		"a deadline that is over before the pod starts": {
			pod: makePod("p").Deadline(1), delay: 5 * time.Second, script: Fixed{}, until: time.Hour,
			want: []string{"0s Pending main:ContainerCreating", "1s Failed(DeadlineExceeded) main:ContainerStatusUnknown/137"},
		},
		"a container that runs for ever": {
			pod: makePod("p"), script: byContainer{"main": {Forever: true}}, until: time.Hour,
			want: []string{"0s Running main:running!"},
		},
		"an annotation that cannot be read keeps the container from starting": {
			pod: makePod("p").Annotate(AnnotationRunDuration, "soon"), script: Fixed{}, until: time.Hour,
			want: []string{"0s Pending main:CreateContainerConfigError"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := play(tc.pod.Obj(), tc.delay, tc.script).until(tc.until)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("what was seen differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRunOfADeletedPod(t *testing.T) {
	for name, tc := range map[string]struct {
		pod    *podWrapper
		delay  time.Duration
		script Script
		before time.Duration
		grace  time.Duration
		want   []string
	}{
		"is told to end, and has failed": {
			pod: makePod("p"), script: Fixed{Duration: time.Hour}, before: time.Minute, grace: 30 * time.Second,
			want: []string{"1m0s Failed main:Error/143"},
		},
		"is not started again under OnFailure": {
			pod: makePod("p").Restart(corev1.RestartPolicyOnFailure), script: Fixed{Duration: time.Hour}, before: time.Minute, grace: 30 * time.Second,
			want: []string{"1m0s Failed main:Error/143"},
		},
		"ends in its own time within the grace period": {
			pod: makePod("p"), script: byContainer{"main": {Forever: true, Shutdown: 10 * time.Second}}, before: time.Minute, grace: 30 * time.Second,
			want: []string{"1m0s Running main:running!", "1m10s Failed main:Error/143"},
		},
		"may finish its work meanwhile": {
			pod: makePod("p"), script: byContainer{"main": {Duration: 65 * time.Second, Shutdown: time.Hour}}, before: time.Minute, grace: 30 * time.Second,
			want: []string{"1m0s Running main:running!", "1m5s Succeeded main:Completed/0"},
		},
		"is killed when the grace period is over": {
			pod: makePod("p"), script: byContainer{"main": {Forever: true, Shutdown: time.Hour}}, before: time.Minute, grace: 30 * time.Second,
			want: []string{"1m0s Running main:running!", "1m30s Failed main:Error/137"},
		},
		"is killed at once when a kubelet comes too late": {
			pod: makePod("p"), script: Fixed{Duration: time.Hour}, before: time.Minute, grace: -time.Second,
			want: []string{"1m0s Failed main:Error/137"},
		},
		"is killed at once without one": {
			pod: makePod("p"), script: byContainer{"main": {Forever: true, Shutdown: time.Hour}}, before: time.Minute,
			want: []string{"1m0s Failed main:Error/137"},
		},
		"has failed if it never started": {
			pod: makePod("p"), delay: time.Hour, script: Fixed{}, before: time.Minute, grace: 30 * time.Second,
			want: []string{"1m0s Failed main:ContainerStatusUnknown/137"},
		},
		"keeps the last exit of a container that waited for a restart": {
			pod: makePod("p").Restart(corev1.RestartPolicyOnFailure), script: Fixed{Duration: time.Second, ExitCode: 7}, before: 5 * time.Second, grace: 30 * time.Second,
			want: []string{"5s Failed main:Error/7+1"},
		},
		"ends its sidecars too": {
			pod: makePod("p").Sidecar("s"), script: byContainer{"main": {Forever: true}}, before: time.Minute, grace: 30 * time.Second,
			want: []string{"1m0s Failed s:Error/143 main:Error/143"},
		},
		"has no main containers to lose while it is initialised": {
			pod: makePod("p").Init("i"), script: byContainer{"i": {Forever: true}}, before: time.Minute, grace: 30 * time.Second,
			want: []string{"1m0s Failed i:Error/143 main:PodInitializing"},
		},
		"stays as it ended if it was over": {
			pod: makePod("p"), script: Fixed{}, before: time.Minute, grace: 30 * time.Second,
			want: []string{"1m0s Succeeded main:Completed/0"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := play(tc.pod.Obj(), tc.delay, tc.script)
			p.until(tc.before)
			p.remove(tc.grace)
			if diff := cmp.Diff(tc.want, p.until(tc.before+time.Hour)); diff != "" {
				t.Errorf("what was seen differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRunGoesOnWhereAnotherStopped(t *testing.T) {
	for name, tc := range map[string]struct {
		pod    *podWrapper
		script Script
		at     time.Duration
		until  time.Duration
		want   []string
	}{
		"a container that runs keeps its time": {
			pod: makePod("p"), script: Fixed{Duration: time.Minute}, at: 40 * time.Second, until: time.Hour,
			want: []string{"40s Running main:running!", "1m0s Succeeded main:Completed/0"},
		},
		"one that waits to be started again too": {
			pod: makePod("p").Restart(corev1.RestartPolicyOnFailure), script: Fixed{Duration: time.Second, ExitCode: 1}, at: 5 * time.Second, until: 20 * time.Second,
			want: []string{"5s Running main:CrashLoopBackOff+1", "12s Running main:running+2!", "13s Running main:CrashLoopBackOff+2"},
		},
		"init containers that are done are not run again": {
			pod: makePod("p").Init("i").Container("other"), script: byContainer{"main": {Duration: time.Minute}}, at: 30 * time.Second, until: time.Hour,
			want: []string{
				"30s Running i:Completed/0! main:running! other:Completed/0", "1m0s Succeeded i:Completed/0! main:Completed/0 other:Completed/0",
			},
		},
		"a pod that is over stays so": {
			pod: makePod("p"), script: Fixed{ExitCode: 1}, at: 30 * time.Second, until: time.Hour, want: []string{"30s Failed main:Error/1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			first := play(tc.pod.Obj(), 0, tc.script)
			first.until(tc.at)
			second := play(first.run.pod, 0, tc.script)
			second.now = epoch().Add(tc.at)
			if diff := cmp.Diff(tc.want, second.until(tc.until)); diff != "" {
				t.Errorf("what was seen differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStatusOfARunningPod(t *testing.T) {
	pod := makePod("p").Obj()
	pod.Status.Conditions = []corev1.PodCondition{
		{Type: "example.com/theirs", Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(epoch())},
		{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(epoch().Add(-time.Minute))},
	}
	p := play(pod, 0, Fixed{Duration: time.Minute})
	p.step()
	now := metav1.NewTime(epoch())
	condition := func(conditionType corev1.PodConditionType, is corev1.ConditionStatus) corev1.PodCondition {
		return corev1.PodCondition{Type: conditionType, Status: is, ObservedGeneration: 1, LastTransitionTime: now}
	}
	scheduled := condition(corev1.PodScheduled, corev1.ConditionTrue)
	scheduled.LastTransitionTime = metav1.NewTime(epoch().Add(-time.Minute))
	want := corev1.PodStatus{
		ObservedGeneration: 1,
		Phase:              corev1.PodRunning,
		Conditions: []corev1.PodCondition{
			pod.Status.Conditions[0], scheduled,
			condition(corev1.PodReadyToStartContainers, corev1.ConditionTrue),
			condition(corev1.PodInitialized, corev1.ConditionTrue),
			condition(corev1.PodReady, corev1.ConditionTrue),
			condition(corev1.ContainersReady, corev1.ConditionTrue),
		},
		HostIP: "10.128.0.1", HostIPs: []corev1.HostIP{{IP: "10.128.0.1"}},
		PodIP: "10.0.0.1", PodIPs: []corev1.PodIP{{IP: "10.0.0.1"}},
		StartTime: &now,
		ContainerStatuses: []corev1.ContainerStatus{{
			Name: "main", Image: "busybox", Ready: true, Started: new(true), ContainerID: "muster://uid-p/main/0",
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}},
		}},
	}
	if diff := cmp.Diff(want, p.run.pod.Status); diff != "" {
		t.Errorf("status differs (-want +got):\n%s", diff)
	}
}

func TestAnEvictedPodIsATargetOfDisruption(t *testing.T) {
	for name, tc := range map[string]struct{ message, want string }{
		"for the usual reason": {"", "The node was low on resource: memory. "},
		"for a reason told":    {"The node was low on resource: ephemeral-storage. ", "The node was low on resource: ephemeral-storage. "},
	} {
		t.Run(name, func(t *testing.T) {
			p := play(makePod("p").Obj(), 0, byContainer{"main": {Duration: time.Second, Evict: true, Message: tc.message}})
			p.until(time.Hour)
			assert.Equal(t, tc.want, p.run.pod.Status.Message)
			condition := core.PodCondition(p.run.pod, corev1.DisruptionTarget)
			require.NotNil(t, condition)
			assert.Equal(t, corev1.ConditionTrue, condition.Status)
			assert.Equal(t, "TerminationByKubelet", condition.Reason)
			assert.Equal(t, tc.want, condition.Message)
			assert.Empty(t, p.run.pod.Status.ContainerStatuses[0].State.Terminated.Message)
		})
	}
}

func TestConditionsOfAnEndedPod(t *testing.T) {
	for name, tc := range map[string]struct {
		exitCode    int32
		wantReason  string
		wantInitial string
	}{
		"succeeded": {wantReason: "PodCompleted", wantInitial: "PodCompleted"},
		"failed":    {exitCode: 1, wantReason: "PodFailed"},
	} {
		t.Run(name, func(t *testing.T) {
			p := play(makePod("p").Obj(), 0, Fixed{Duration: time.Minute, ExitCode: tc.exitCode})
			p.until(time.Hour)
			got := map[corev1.PodConditionType]corev1.PodCondition{}
			for _, condition := range p.run.pod.Status.Conditions {
				got[condition.Type] = condition
			}
			for _, conditionType := range []corev1.PodConditionType{corev1.PodReady, corev1.ContainersReady} {
				assert.Equal(t, corev1.ConditionFalse, got[conditionType].Status)
				assert.Equal(t, tc.wantReason, got[conditionType].Reason)
				assert.Equal(t, epoch().Add(time.Minute), got[conditionType].LastTransitionTime.Time)
			}
			assert.Equal(t, corev1.ConditionFalse, got[corev1.PodReadyToStartContainers].Status)
			assert.Equal(t, corev1.ConditionTrue, got[corev1.PodInitialized].Status)
			assert.Equal(t, tc.wantInitial, got[corev1.PodInitialized].Reason)
			require.NotNil(t, p.run.pod.Status.ContainerStatuses[0].State.Terminated)
			assert.Equal(t, epoch().Add(time.Minute), p.run.pod.Status.ContainerStatuses[0].State.Terminated.FinishedAt.Time)
		})
	}
}
