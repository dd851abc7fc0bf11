package main

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
)

// worldOf returns a world with these objects, each seen after the one before.
func worldOf(objects ...metav1.Object) *world {
	w := newWorld()
	for i, object := range objects {
		object.SetResourceVersion(strconv.Itoa(i + 1))
		if object.GetUID() == "" {
			object.SetUID(types.UID("uid-" + strconv.Itoa(i)))
		}
		w.apply(observation{version: uint64(i + 1), object: object})
	}
	return w
}

func aPod(name string, change func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}, Status: corev1.PodStatus{Phase: corev1.PodPending}}
	if change != nil {
		change(pod)
	}
	return pod
}

func node1(ready corev1.ConditionStatus) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1"}, Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{
		{Type: corev1.NodeReady, Status: ready, Reason: "NodeStatusUnknown", Message: "Kubelet stopped posting node status."},
	}}}
}

func aGang(name string, minCount int32, message string) *schedulingv1alpha2.PodGroup {
	group := &schedulingv1alpha2.PodGroup{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}}
	group.Spec.SchedulingPolicy.Gang = &schedulingv1alpha2.GangSchedulingPolicy{MinCount: minCount}
	if message != "" {
		group.Status.Conditions = []metav1.Condition{{Type: schedulingv1alpha2.PodGroupScheduled, Status: metav1.ConditionFalse, Message: message}}
	}
	return group
}

func inGroup(name string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: &name} }
}

func TestWhatAPodWaitsFor(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		pod    func(*corev1.Pod)
		others []metav1.Object
		want   string
	}{
		"nothing has happened yet": {want: "the scheduler has said nothing of it yet"},
		"no node takes it": {
			pod: func(pod *corev1.Pod) {
				pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "0/3 nodes are available: 3 Insufficient cpu."}}
			},
			want: "0/3 nodes are available: 3 Insufficient cpu.",
		},
		"it is gated": {
			pod: func(pod *corev1.Pod) {
				pod.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/hold"}}
			},
			want: "held back by the scheduling gate example.com/hold",
		},
		"its node is unknown": {
			pod:  func(pod *corev1.Pod) { pod.Spec.NodeName = "mars" },
			want: `node "mars", which the pod is on, does not exist`,
		},
		"its node is lost": {
			pod:    func(pod *corev1.Pod) { pod.Spec.NodeName, pod.Status.Phase = "node-1", corev1.PodRunning },
			others: []metav1.Object{node1(corev1.ConditionUnknown)},
			want:   "node node-1, which the pod is on, is not Ready (NodeStatusUnknown: Kubelet stopped posting node status.)",
		},
		"it is bound and has not started": {
			pod: func(pod *corev1.Pod) {
				pod.Spec.NodeName = "node-1"
				pod.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}}}}
			},
			others: []metav1.Object{node1(corev1.ConditionTrue)},
			want:   "on node node-1, not started yet: ContainerCreating",
		},
		"an init container runs": {
			pod: func(pod *corev1.Pod) {
				pod.Spec.NodeName = "node-1"
				pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "fetch", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}
			},
			others: []metav1.Object{node1(corev1.ConditionTrue)},
			want:   "on node node-1, not started yet: init container fetch is running",
		},
		"it runs": {
			pod:    func(pod *corev1.Pod) { pod.Spec.NodeName, pod.Status.Phase = "node-1", corev1.PodRunning },
			others: []metav1.Object{node1(corev1.ConditionTrue)},
			want:   "",
		},
		"it is for another scheduler": {
			pod:  func(pod *corev1.Pod) { pod.Spec.SchedulerName = "other" },
			want: `spec.schedulerName asks for "other", which does not run here`,
		},
		"its pod group is missing": {pod: inGroup("g"), want: "PodGroup ns/g, which the pod names, does not exist"},
		"its gang is told":         {pod: inGroup("g"), others: []metav1.Object{aGang("g", 4, "no room")}, want: ""},
		"it is being deleted": {
			pod: func(pod *corev1.Pod) {
				pod.DeletionTimestamp, pod.Finalizers = &metav1.Time{}, []string{"example.com/a", "example.com/b"}
			},
			want: "being deleted (held by finalizers example.com/a, example.com/b)",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod := aPod("p", tc.pod)
			assert.Equal(t, tc.want, worldOf(append(tc.others, pod)...).podWaitsFor(pod))
		})
	}
}

func TestWhatAGangWaitsFor(t *testing.T) {
	t.Parallel()
	placed := func(pod *corev1.Pod) { inGroup("g")(pod); pod.Spec.NodeName = "node-1" }
	succeeded := func(pod *corev1.Pod) { placed(pod); pod.Status.Phase = corev1.PodSucceeded }
	failed := func(pod *corev1.Pod) { placed(pod); pod.Status.Phase = corev1.PodFailed }
	held := func(pod *corev1.Pod) { inGroup("rival")(pod); pod.Spec.NodeName = "node-2" }
	cases := map[string]struct {
		pods []*corev1.Pod
		want string
	}{
		"more pods":                    {[]*corev1.Pod{aPod("a", inGroup("g"))}, "gang g waits for more pods: 2 start together, 1 exist"},
		"a pod in place of one failed": {[]*corev1.Pod{aPod("a", inGroup("g")), aPod("b", failed)}, "gang g waits for more pods: 2 start together, 1 exist"},
		"room": {
			[]*corev1.Pod{aPod("a", inGroup("g")), aPod("b", inGroup("g"))},
			"gang g waits until 2 pods fit at once (2 exist, 0 placed) (no room)",
		},
		"room that others hold": {
			[]*corev1.Pod{aPod("a", inGroup("g")), aPod("b", inGroup("g")), aPod("c", held), aPod("d", held), aPod("e", func(pod *corev1.Pod) { pod.Spec.NodeName = "node-3" })},
			"gang g waits until 2 pods fit at once (2 exist, 0 placed) (no room), room is held by pod ns/e (1 pod), podgroup ns/rival (2 pods)",
		},
		"nothing once it is placed":                  {[]*corev1.Pod{aPod("a", placed), aPod("b", placed)}, ""},
		"nothing when the others of it have done it": {[]*corev1.Pod{aPod("a", placed), aPod("b", succeeded)}, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			group := aGang("g", 2, "no room")
			objects := []metav1.Object{group}
			for _, pod := range tc.pods {
				objects = append(objects, pod)
			}
			assert.Equal(t, tc.want, worldOf(objects...).gangText(group))
		})
	}
}

func anEvent(reason, message string) *corev1.Event {
	return &corev1.Event{InvolvedObject: corev1.ObjectReference{Kind: "Job", UID: "job"}, Reason: reason, Message: message}
}

func TestWhatAJobWaitsFor(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, time.March, 1, 8, 0, 0, 0, time.UTC)
	owned := func(name string, change func(*corev1.Pod)) *corev1.Pod {
		pod := aPod(name, change)
		pod.OwnerReferences = []metav1.OwnerReference{{Kind: "Job", UID: "job", Controller: new(true)}}
		return pod
	}
	endedAt := func(phase corev1.PodPhase, at time.Time) func(*corev1.Pod) {
		return func(pod *corev1.Pod) {
			pod.Status.Phase = phase
			pod.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{FinishedAt: metav1.NewTime(at)}}}}
		}
	}
	cases := map[string]struct {
		job    func(*batchv1.Job)
		others []metav1.Object
		want   string
	}{
		"its first pod": {want: "has no pods yet"},
		"another controller": {
			job:  func(job *batchv1.Job) { job.Spec.ManagedBy = new("example.com/mine") },
			want: `waits for the controller that spec.managedBy names, "example.com/mine", which does not run here`,
		},
		"the end of its suspension": {
			job:  func(job *batchv1.Job) { job.Spec.Suspend = new(true) },
			want: "is suspended: spec.suspend is true",
		},
		"parallelism": {
			job:  func(job *batchv1.Job) { job.Spec.Parallelism = new(int32(0)) },
			want: "has no new pods: spec.parallelism is 0",
		},
		"its finalizers": {
			job: func(job *batchv1.Job) {
				job.DeletionTimestamp, job.Finalizers = &metav1.Time{}, []string{"foregroundDeletion"}
			},
			want: "is being deleted (held by finalizers foregroundDeletion)",
		},
		"pods that are refused": {
			others: []metav1.Object{anEvent("SuccessfulCreate", "Created pod: a"), anEvent("FailedCreate", "Error creating: no"), anEvent("FailedCreate", "Error creating: exceeded quota")},
			want:   "lacks 2 pods (FailedCreate: Error creating: exceeded quota)",
		},
		"what its controller says in a word of its own": {
			others: []metav1.Object{anEvent("WaitingForQueue", "held by Queue ns/night until 18:00")},
			want:   "lacks 2 pods (WaitingForQueue: held by Queue ns/night until 18:00)",
		},
		"no more pods, though some were refused once": {
			others: []metav1.Object{anEvent("FailedCreate", "Error creating: no"), anEvent("SuccessfulCreate", "Created pod: a"), owned("a", nil), owned("b", nil)},
			want:   "pending: a, b (the scheduler has said nothing of it yet)",
		},
		"a condition": {
			job: func(job *batchv1.Job) {
				job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobFailureTarget, Status: corev1.ConditionTrue, Reason: "PodFailurePolicy"}}
			},
			others: []metav1.Object{owned("a", func(pod *corev1.Pod) { pod.DeletionTimestamp = &metav1.Time{} })},
			want:   "has the condition FailureTarget: PodFailurePolicy, pending: a (being deleted)",
		},
		"its first back-off": {
			others: []metav1.Object{owned("a", endedAt(corev1.PodFailed, now.Add(-time.Second)))},
			want:   "waits for its back-off after 1 failure in a row: the next pod is due in 9s",
		},
		"its back-off, which doubles": {
			others: []metav1.Object{owned("a", endedAt(corev1.PodFailed, now.Add(-time.Minute))), owned("b", endedAt(corev1.PodFailed, now.Add(-5*time.Second)))},
			want:   "waits for its back-off after 2 failures in a row: the next pod is due in 15s",
		},
		"its back-off, which a success ends": {
			others: []metav1.Object{
				owned("a", endedAt(corev1.PodFailed, now.Add(-time.Minute))), owned("b", endedAt(corev1.PodSucceeded, now.Add(-10*time.Second))),
				owned("c", endedAt(corev1.PodFailed, now.Add(-2*time.Second))),
			},
			want: "waits for its back-off after 1 failure in a row: the next pod is due in 8s",
		},
		"its back-off, in its controller's words": {
			others: []metav1.Object{owned("a", endedAt(corev1.PodFailed, now)), anEvent("BackOff", "the next pod is due at 08:00:10")},
			want:   "lacks 2 pods (BackOff: the next pod is due at 08:00:10)",
		},
		"pods that run": {
			others: []metav1.Object{
				node1(corev1.ConditionTrue),
				owned("a", func(pod *corev1.Pod) { pod.Spec.NodeName, pod.Status.Phase = "node-1", corev1.PodRunning }),
				owned("b", func(pod *corev1.Pod) { pod.Spec.NodeName, pod.Status.Phase = "node-1", corev1.PodRunning }),
			},
			want: "2 pods are running",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "j", UID: "job"}, Spec: batchv1.JobSpec{Parallelism: new(int32(2)), Completions: new(int32(3))}}
			if tc.job != nil {
				tc.job(job)
			}
			w := worldOf(append(tc.others, job)...)
			view := jobView{job: job, pods: w.podsOf("job"), events: w.eventsOf("job"), world: w, now: now, delay: 10 * time.Second}
			assert.Equal(t, tc.want, view.waitsFor())
		})
	}
}

func TestBackoffOfAnIndex(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, time.March, 1, 8, 0, 0, 0, time.UTC)
	failed := func(name, index, failures string, ago time.Duration) *corev1.Pod {
		pod := aPod(name, nil)
		pod.Annotations = map[string]string{batchv1.JobCompletionIndexAnnotation: index, "batch.kubernetes.io/job-index-failure-count": failures}
		pod.Status.Phase = corev1.PodFailed
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{FinishedAt: metav1.NewTime(now.Add(-ago))}}}}
		return pod
	}
	view := jobView{
		job:  &batchv1.Job{Spec: batchv1.JobSpec{Parallelism: new(int32(2)), Completions: new(int32(2)), BackoffLimitPerIndex: new(int32(9))}},
		pods: []*corev1.Pod{failed("a", "0", "0", 30*time.Second), failed("b", "0", "1", 5*time.Second), failed("c", "1", "0", time.Second)},
		now:  now, delay: 10 * time.Second, world: newWorld(),
	}
	assert.Equal(t, []string{"waits for its back-off after 2 failures in a row: the next pod is due in 15s"}, backoff(view))
}

func TestManyNamesAreShortened(t *testing.T) {
	t.Parallel()
	var names []string
	for i := range 500 {
		names = append(names, "p-"+strconv.Itoa(i))
	}
	assert.Equal(t, "p-0, p-1, p-2 and 497 more", few(names))
	assert.Equal(t, "p-0, p-1, p-2, p-3, p-4", few(names[:5]))
	assert.Equal(t, "p-0, p-1, p-2 and 3 more", few(names[:6]))
}

func TestWhatAPodOfItsOwnWaitsFor(t *testing.T) {
	t.Parallel()
	pod := aPod("p", inGroup("g"))
	w := worldOf(aGang("g", 2, ""), pod)
	made := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Pod"}}
	made.SetUID(pod.UID)
	r := &report{}
	r.explain(w, []*unstructured.Unstructured{made}, "time ran out after 1s", time.Now(), time.Second)
	assert.Equal(t, "time ran out after 1s: Pod ns/p is Pending (gang g waits for more pods: 2 start together, 1 exist)", r.Reason)
	assert.True(t, r.unfinished)

	pod.Status.Phase, pod.Status.Reason = corev1.PodFailed, "NodeLost"
	r.explain(w, []*unstructured.Unstructured{made}, "", time.Now(), time.Second)
	assert.Equal(t, "Pod ns/p failed (NodeLost)", r.Reason)
	assert.False(t, r.unfinished)
}
