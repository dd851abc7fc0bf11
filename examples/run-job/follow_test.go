package main

import (
	"bytes"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/examples/run-job/internal/life"
)

// What was done first was done by the time that the next was seen, and nothing comes before what was told already.
func TestTimesNeverGoBack(t *testing.T) {
	t.Parallel()
	seen := func(version uint64, at offset) observation { return observation{version: version, at: at} }
	cases := map[string]struct {
		seen     []observation
		earliest offset
		want     []observation
	}{
		"in order":                      {[]observation{seen(1, 10), seen(2, 20)}, 0, []observation{seen(1, 10), seen(2, 20)}},
		"the first was seen last":       {[]observation{seen(2, 10), seen(3, 15), seen(1, 20)}, 0, []observation{seen(1, 10), seen(2, 10), seen(3, 15)}},
		"seen before what is told":      {[]observation{seen(4, 10), seen(5, 30)}, 20, []observation{seen(4, 20), seen(5, 30)}},
		"one version, as they were put": {[]observation{{version: 1, at: 5}, {version: 1, at: 4, deleted: true}}, 0, []observation{{version: 1, at: 4}, {version: 1, at: 4, deleted: true}}},
		"nothing":                       {nil, 7, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, inOrder(tc.seen, tc.earliest))
		})
	}
}

func TestTheTimelineIsAListEvenWhenNothingHappened(t *testing.T) {
	t.Parallel()
	r := newFollower(time.Now(), io.Discard).report(nil)
	require.NotNil(t, r.Timeline)
	var text bytes.Buffer
	require.NoError(t, r.print(&text, outputJSON))
	assert.Contains(t, text.String(), `"timeline": []`)
}

func TestWhatWasThereBeforeHasNotHappened(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	f := newFollower(time.Now(), &out)
	f.push(observation{object: node1(corev1.ConditionTrue), version: 1, initial: true})
	f.push(observation{object: node1(corev1.ConditionUnknown), version: 2})
	f.tellInOrder()
	assert.Regexp(t, `^ +0\.000s +node node-1: not Ready \(NodeStatusUnknown: .*\)\n$`, out.String())
}

// A world that lags behind a list is told apart from one that has come as far, or further.
func TestAWorldShowsAList(t *testing.T) {
	t.Parallel()
	list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "10"}, Items: []corev1.Pod{
		{ObjectMeta: metav1.ObjectMeta{UID: "a", ResourceVersion: "5"}},
	}}
	s, err := stands(list, nil)
	require.NoError(t, err)
	seen := func(uid types.UID, version uint64) observation {
		return observation{version: version, object: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: uid}}}
	}
	gone := func(o observation) observation { o.deleted = true; return o }
	cases := map[string]struct {
		seen []observation
		want bool
	}{
		"nothing seen":                        {nil, false},
		"an older version":                    {[]observation{seen("a", 4)}, false},
		"the same version":                    {[]observation{seen("a", 5)}, true},
		"a later version":                     {[]observation{seen("a", 12)}, true},
		"what was deleted after the list":     {[]observation{seen("a", 4), gone(seen("a", 4))}, true},
		"a deletion that is not yet seen":     {[]observation{seen("a", 5), seen("b", 3)}, false},
		"a deletion that is seen":             {[]observation{seen("a", 5), seen("b", 3), gone(seen("b", 8))}, true},
		"what was made after the list":        {[]observation{seen("a", 5), seen("b", 11)}, true},
		"objects of other kinds do not count": {[]observation{seen("a", 5), {version: 3, object: &batchv1.Job{ObjectMeta: metav1.ObjectMeta{UID: "j"}}}}, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			for _, o := range tc.seen {
				w.apply(o)
			}
			assert.Equal(t, tc.want, w.shows(s))
		})
	}
}

func TestAPreemptionIsToldByName(t *testing.T) {
	t.Parallel()
	group := &schedulingv1alpha2.PodGroup{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "urgent", UID: "3f0c"}}
	w := worldOf(group)
	event := &corev1.Event{Reason: "Preempted", Message: "Preempted by podgroup 3f0c on node cluster"}
	assert.Equal(t, []change{{what: "Preempted: Preempted by podgroup ns/urgent on node cluster", kind: life.Note, label: "Preempted"}}, eventChanges(nil, event, w.nameOf))
	assert.Empty(t, eventChanges(event, event.DeepCopy(), w.nameOf), "a higher count is nothing new")
	assert.Empty(t, eventChanges(nil, &corev1.Event{Reason: "SuccessfulCreate"}, w.nameOf), "the pod itself tells that")
}

func TestExitCodeOfAPod(t *testing.T) {
	t.Parallel()
	ended := func(name string, code int32) corev1.ContainerStatus {
		return corev1.ContainerStatus{Name: name, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code}}}
	}
	waiting := corev1.ContainerStatus{Name: "main", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{}}}
	sidecar := corev1.Container{Name: "proxy", RestartPolicy: new(corev1.ContainerRestartPolicyAlways)}
	cases := map[string]struct {
		init, main []corev1.ContainerStatus
		want       *int32
	}{
		"all went well":                 {main: []corev1.ContainerStatus{ended("main", 0)}, want: new(int32(0))},
		"the second container failed":   {main: []corev1.ContainerStatus{ended("main", 0), ended("other", 3)}, want: new(int32(3))},
		"a sidecar was stopped":         {init: []corev1.ContainerStatus{ended("proxy", 143)}, main: []corev1.ContainerStatus{ended("main", 0)}, want: new(int32(0))},
		"a sidecar ended as main did":   {init: []corev1.ContainerStatus{ended("proxy", 143)}, main: []corev1.ContainerStatus{ended("main", 7)}, want: new(int32(7))},
		"an init container failed":      {init: []corev1.ContainerStatus{ended("fetch", 9)}, main: []corev1.ContainerStatus{waiting}, want: new(int32(9))},
		"nothing ended on a lost node":  {main: []corev1.ContainerStatus{waiting}},
		"the sidecar alone has an exit": {init: []corev1.ContainerStatus{ended("proxy", 143)}, main: []corev1.ContainerStatus{waiting}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod := &corev1.Pod{Spec: corev1.PodSpec{InitContainers: []corev1.Container{{Name: "fetch"}, sidecar}}}
			pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses = tc.init, tc.main
			assert.Equal(t, tc.want, exitCode(pod))
		})
	}
}
