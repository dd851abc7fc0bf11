package pod

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testingclock "k8s.io/utils/clock/testing"
)

func ended(code int32, reason string) corev1.ContainerState {
	return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason}}
}

func running() corev1.ContainerState {
	return corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
}

func waiting(reason string) corev1.ContainerState {
	return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}
}

func TestTable(t *testing.T) {
	now := testingclock.NewFakePassiveClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	sidecar := corev1.Container{Name: "s", RestartPolicy: new(corev1.ContainerRestartPolicyAlways)}
	for name, tc := range map[string]struct {
		spec                   corev1.PodSpec
		status                 corev1.PodStatus
		deleted                bool
		ready, reason, restart string
	}{
		"a pod that waits for a node": {
			spec:   corev1.PodSpec{Containers: make([]corev1.Container, 2)},
			status: corev1.PodStatus{Phase: corev1.PodPending},
			ready:  "0/2", reason: "Pending", restart: "0",
		},
		"a gated pod": {
			status: corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Reason: corev1.PodReasonSchedulingGated}}},
			ready:  "0/0", reason: "SchedulingGated", restart: "0",
		},
		"a pod that was evicted": {
			status: corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted"},
			ready:  "0/0", reason: "Evicted", restart: "0",
		},
		"a running pod that was restarted": {
			spec: corev1.PodSpec{Containers: make([]corev1.Container, 1)},
			status: corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{
				Ready: true, State: running(), RestartCount: 3,
				LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{FinishedAt: metav1.NewTime(now.Now().Add(-time.Hour))}},
			}}},
			ready: "1/1", reason: "Running", restart: "3 (60m ago)",
		},
		"a container that cannot start": {
			spec:   corev1.PodSpec{Containers: make([]corev1.Container, 1)},
			status: corev1.PodStatus{Phase: corev1.PodPending, ContainerStatuses: []corev1.ContainerStatus{{State: waiting("ImagePullBackOff")}}},
			ready:  "0/1", reason: "ImagePullBackOff", restart: "0",
		},
		"a pod that has completed": {
			spec:   corev1.PodSpec{Containers: make([]corev1.Container, 1)},
			status: corev1.PodStatus{Phase: corev1.PodSucceeded, ContainerStatuses: []corev1.ContainerStatus{{State: ended(0, "Completed")}}},
			ready:  "0/1", reason: "Completed", restart: "0",
		},
		"a failure that gives no reason": {
			spec:   corev1.PodSpec{Containers: make([]corev1.Container, 1)},
			status: corev1.PodStatus{Phase: corev1.PodFailed, ContainerStatuses: []corev1.ContainerStatus{{State: ended(3, "")}}},
			ready:  "0/1", reason: "ExitCode:3", restart: "0",
		},
		"one container done, another running, and the pod not ready": {
			spec: corev1.PodSpec{Containers: make([]corev1.Container, 2)},
			status: corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{
				{State: ended(0, "Completed")}, {Ready: true, State: running()},
			}},
			ready: "1/2", reason: "NotReady", restart: "0",
		},
		"one container done, another failed": {
			spec: corev1.PodSpec{Containers: make([]corev1.Container, 2)},
			status: corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{
				{State: ended(0, "Completed")}, {State: ended(1, "Error")},
			}},
			ready: "0/2", reason: "Error", restart: "0",
		},
		"init containers under way": {
			spec: corev1.PodSpec{InitContainers: make([]corev1.Container, 2), Containers: make([]corev1.Container, 1)},
			status: corev1.PodStatus{Phase: corev1.PodPending, InitContainerStatuses: []corev1.ContainerStatus{
				{State: ended(0, "Completed")}, {State: waiting("PodInitializing")},
			}},
			ready: "0/1", reason: "Init:1/2", restart: "0",
		},
		"an init container that fails": {
			spec: corev1.PodSpec{InitContainers: make([]corev1.Container, 1), Containers: make([]corev1.Container, 1)},
			status: corev1.PodStatus{Phase: corev1.PodPending, InitContainerStatuses: []corev1.ContainerStatus{
				{State: ended(2, ""), RestartCount: 4},
			}},
			ready: "0/1", reason: "Init:ExitCode:2", restart: "4",
		},
		"a sidecar counts as a container": {
			spec: corev1.PodSpec{InitContainers: []corev1.Container{sidecar}, Containers: make([]corev1.Container, 1)},
			status: corev1.PodStatus{
				Phase:                 corev1.PodRunning,
				InitContainerStatuses: []corev1.ContainerStatus{{Name: "s", Started: new(true), Ready: true, State: running(), RestartCount: 2}},
				ContainerStatuses:     []corev1.ContainerStatus{{Ready: true, State: running(), RestartCount: 1}},
			},
			ready: "2/2", reason: "Running", restart: "3",
		},
		"a pod that is being deleted": {
			status: corev1.PodStatus{Phase: corev1.PodRunning}, deleted: true,
			ready: "0/0", reason: "Terminating", restart: "0",
		},
		"a deleted pod that has finished": {
			status: corev1.PodStatus{Phase: corev1.PodFailed}, deleted: true,
			ready: "0/0", reason: "Failed", restart: "0",
		},
		"a deleted pod of a lost node": {
			status: corev1.PodStatus{Phase: corev1.PodRunning, Reason: "NodeLost"}, deleted: true,
			ready: "0/0", reason: "Unknown", restart: "0",
		},
	} {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: tc.spec, Status: tc.status}
			if tc.deleted {
				pod.DeletionTimestamp = &metav1.Time{Time: now.Now()}
			}
			table, err := newTable(now).ConvertToTable(t.Context(), pod, nil)
			assert.NoError(t, err)
			assert.Equal(t, []any{"p", tc.ready, tc.reason, tc.restart, "<unknown>", "<none>", "<none>", "<none>", "<none>"}, table.Rows[0].Cells)
		})
	}
}

func TestTableMarksPodsThatAreOver(t *testing.T) {
	for phase, want := range map[corev1.PodPhase]string{
		corev1.PodSucceeded: "The pod has completed successfully.",
		corev1.PodFailed:    "The pod failed.",
		corev1.PodRunning:   "",
	} {
		conditions := rowConditions(&corev1.Pod{Status: corev1.PodStatus{Phase: phase}})
		if want == "" {
			assert.Empty(t, conditions)
			continue
		}
		assert.Equal(t, metav1.RowCompleted, conditions[0].Type)
		assert.Equal(t, want, conditions[0].Message)
	}
}

func TestReadinessGates(t *testing.T) {
	pod := &corev1.Pod{Spec: corev1.PodSpec{ReadinessGates: []corev1.PodReadinessGate{{ConditionType: "a"}, {ConditionType: "b"}}}}
	pod.Status.Conditions = []corev1.PodCondition{{Type: "b", Status: corev1.ConditionTrue}}
	assert.Equal(t, "1/2", readinessGates(pod))
}
