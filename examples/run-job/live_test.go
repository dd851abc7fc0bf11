package main

import (
	"bytes"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/musterkube/muster/examples/run-job/internal/life"
	"github.com/musterkube/muster/examples/run-job/internal/progress"
)

func TestProgressIsShownWhereItIsAskedFor(t *testing.T) {
	t.Parallel()
	plain := runProgram(t, "", "--pod-duration", "20ms")
	assert.NotContains(t, plain.stdout, "\x1b", "a pipe gets lines")

	res := runProgram(t, "", "--pod-duration", "600ms", "--progress", "always")
	require.Equal(t, exitDone, res.code, res.stderr)
	assert.Regexp(t, `job default/training [^\n]* 0/4 [^\n]*4 running`, regexp.MustCompile("\x1b\\[[0-9]*m").ReplaceAllString(res.stdout, ""))
	report := res.stdout[strings.LastIndex(res.stdout, "\x1b"):]
	assert.Contains(t, report, "\nJOB ", "below the report there is nothing to be drawn over")
	assert.NotContains(t, report, " 4/4  4 succeeded")
	assert.Empty(t, res.stderr)

	res = runProgram(t, "", "--pod-duration", "600ms", "--progress", "always", "-o", "json")
	assert.True(t, strings.HasPrefix(res.stdout, "{"), "the report alone is on standard output")
	assert.Contains(t, res.stderr, "\x1b[")
}

func TestAnInterruptTakesProgressAway(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	shown := &syncWriter{out: &out}
	f := newFollower(time.Now(), io.Discard)
	hide, err := f.showLive(options{progress: progressAlways}, shown)
	require.NoError(t, err)
	hide()
	hide()
	assert.Same(t, &out, bare(shown))
}

func TestHowFarEverythingHasCome(t *testing.T) {
	t.Parallel()
	f := newFollower(time.Now(), io.Discard)
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "j", UID: "j"}, Spec: batchv1.JobSpec{Completions: new(int32(4)), CompletionMode: new(batchv1.IndexedCompletion)}}
	job.Status.Succeeded = 1
	see := func(object metav1.Object, deleted bool) {
		f.tellOne(observation{object: object, deleted: deleted})
	}
	member := func(name, index string, phase corev1.PodPhase, node string) *corev1.Pod {
		pod := aPod(name, nil)
		pod.UID = types.UID(name)
		pod.Annotations = map[string]string{batchv1.JobCompletionIndexAnnotation: index}
		pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))}
		pod.Status.Phase, pod.Spec.NodeName = phase, node
		return pod
	}
	see(job, false)
	see(node1(corev1.ConditionFalse), false)
	see(member("a", "0", corev1.PodSucceeded, "node-2"), false)
	see(member("b", "1", corev1.PodFailed, "node-2"), false)
	see(member("c", "1", corev1.PodRunning, "node-1"), false)
	see(member("d", "2", corev1.PodPending, ""), false)
	see(member("d", "2", corev1.PodPending, ""), true)
	see(aPod("alone", func(pod *corev1.Pod) { pod.UID, pod.Status.Phase = "alone", corev1.PodSucceeded }), false)
	state := f.progress()
	assert.Equal(t, []string{"node-1"}, state.NotReady)
	assert.Equal(t, []progress.Job{
		{Name: "job ns/j", Done: 1, Total: 4, Cells: []life.State{life.Succeeded, life.Lost, life.Gone, life.Gone}},
		{Name: "pods", Done: 1, Total: 1, Cells: []life.State{life.Succeeded}},
	}, state.Jobs)

	job = job.DeepCopy()
	job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobFailed, Status: corev1.ConditionTrue}}
	job.Spec.CompletionMode = nil
	see(job, false)
	state = f.progress()
	assert.Equal(t, progress.Job{
		Name: "job ns/j", Done: 1, Total: 4, Ended: "Failed", Failed: true,
		Cells: []life.State{life.Succeeded, life.Failed, life.Lost},
	}, state.Jobs[0], "where pods have no indexes that count, each that is there has a cell")
}
