package wrappers_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/generated/clientset/versioned"
	"github.com/musterkube/muster/pkg/batch"
	"github.com/musterkube/muster/pkg/builder"
	"github.com/musterkube/muster/pkg/core"
	"github.com/musterkube/muster/pkg/emulator"
	"github.com/musterkube/muster/pkg/emulator/emulatortest"
	"github.com/musterkube/muster/pkg/testing/wrappers"
)

var noon = time.Date(2026, time.May, 1, 12, 0, 0, 0, time.UTC)

// TestServerTakesThemAsTheyAre creates one of each kind, with what the methods can set before there is a server.
func TestServerTakesThemAsTheyAre(t *testing.T) {
	server := emulatortest.Start(t, emulator.Options{})
	kube := kubernetes.NewForConfigOrDie(server.Config())
	muster := versioned.NewForConfigOrDie(server.Config()).SchedulingV1alpha2()
	ctx, options := t.Context(), metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict}

	rule := batchv1.PodFailurePolicyRule{Action: batchv1.PodFailurePolicyActionFailJob, OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
		Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{42},
	}}
	job := wrappers.MakeJob("training", "default").Indexed(4).BackoffLimit(3).BackoffLimitPerIndex(1).Suspend(true).
		ActiveDeadline(time.Hour).TTL(time.Minute).ManagedBy("example.com/queue").FailureRule(rule).Label("a", "b").Annotation("c", "d").
		Finalizer("example.com/keep").PodLabel("app", "training").PodAnnotation("example.com/note", "x").Request("cpu", "500m").
		Command("train", "--fast").Image("train:v2").NodeSelector("disk", "ssd").Toleration("gpu", corev1.TaintEffectNoSchedule)
	stored, err := kube.BatchV1().Jobs("default").Create(ctx, job.Obj(), options)
	require.NoError(t, err)
	ok, reason := builder.Eligible(stored)
	assert.True(t, ok, reason)
	_, err = kube.BatchV1().Jobs("default").Create(ctx, wrappers.MakeJob("plain", "default").Obj(), options)
	require.NoError(t, err)

	workload := wrappers.MakeWorkload("training", "default").ControlledBy(stored, batchv1.SchemeGroupVersion.WithKind("Job")).
		Basic("driver").Gang("workers", 4).Label("a", "b").Finalizer("example.com/keep")
	_, err = muster.Workloads("default").Create(ctx, workload.Obj(), options)
	require.NoError(t, err)
	group := wrappers.MakePodGroup("workers", "default").Of("training", "workers").Gang(4).Topology("rack").
		Disruption(schedulingv1alpha2.DisruptionModePodGroup).FinishedMembers(1).Label("a", "b")
	_, err = muster.PodGroups("default").Create(ctx, group.Obj(), options)
	require.NoError(t, err)
	_, err = muster.PodGroups("default").Create(ctx, wrappers.MakePodGroup("alone", "default").Obj(), options)
	require.NoError(t, err)

	pod := wrappers.MakePod("worker-0", "default").Group("workers").Index(0).Request("memory", "1Gi").RestartPolicy(corev1.RestartPolicyNever).
		SchedulingGate("example.com/wait").NodeSelector("disk", "ssd").Toleration("gpu", "").Command("train").Image("train:v2").
		OwnedBy(wrappers.Owner(stored, batchv1.SchemeGroupVersion.WithKind("Job")))
	_, err = kube.CoreV1().Pods("default").Create(ctx, pod.Obj(), options)
	require.NoError(t, err)
	_, err = kube.CoreV1().Pods("default").Create(ctx, wrappers.MakeJobPod(stored, 1, "x").Obj(), options)
	require.NoError(t, err)

	node := wrappers.MakeNode("node-1").Capacity("cpu", "4", "memory", "8Gi", "pods", "110").Label("disk", "ssd").
		Taint("gpu", "yes", corev1.TaintEffectNoSchedule).Unschedulable()
	_, err = kube.CoreV1().Nodes().Create(ctx, node.Obj(), options)
	require.NoError(t, err)
}

func TestStatus(t *testing.T) {
	job := wrappers.MakeJob("work", "ns").UID("u").Created(noon).Started(noon).Active(1).Succeeded(2).Failed(3).
		Condition(batchv1.JobComplete, "CompletionsReached", noon).Obj()
	kind, finished := batch.Finished(job)
	assert.True(t, finished)
	assert.Equal(t, batchv1.JobComplete, kind)
	assert.Equal(t, []int32{1, 2, 3}, []int32{job.Status.Active, job.Status.Succeeded, job.Status.Failed})

	failed := wrappers.MakePod("p", "ns").Node("node-1").Exited(3, noon).Obj()
	assert.Equal(t, corev1.PodFailed, failed.Status.Phase)
	assert.EqualValues(t, 3, failed.Status.ContainerStatuses[0].State.Terminated.ExitCode)
	assert.True(t, core.PodFinished(wrappers.MakePod("p", "ns").Exited(0, noon).Obj()))
	assert.True(t, core.PodReady(wrappers.MakePod("p", "ns").Phase(corev1.PodRunning).Condition(corev1.PodReady, corev1.ConditionTrue, "").Obj()))
	assert.True(t, core.PodTerminating(wrappers.MakePod("p", "ns").Phase(corev1.PodRunning).Deleted(noon).Obj()))

	group := wrappers.MakePodGroup("g", "ns").FinishedMembers(2).
		Condition(schedulingv1alpha2.PodGroupScheduled, metav1.ConditionTrue, "Scheduled", noon).Obj()
	assert.Equal(t, 2, builder.FinishedMembers(group))
	assert.Len(t, group.Status.Conditions, 1)
}

func TestCloneSharesNothing(t *testing.T) {
	base := wrappers.MakeJob("work", "ns").Label("a", "b")
	base.Clone().Label("a", "other").Request("cpu", "1").Indexed(3).Obj()
	want := wrappers.MakeJob("work", "ns").Label("a", "b").Obj()
	assert.Empty(t, cmp.Diff(want, base.Obj()))

	done := base.Clone().Do(func(job *batchv1.Job) { job.GenerateName = "work-" }).Obj()
	assert.Equal(t, "work-", done.GenerateName)
}

func TestResources(t *testing.T) {
	assert.Equal(t, corev1.ResourceList{"cpu": resource.MustParse("2")}, wrappers.Resources("cpu", "2"))
	odd := []string{"cpu"}
	assert.Panics(t, func() { wrappers.Resources(odd...) })
	assert.Panics(t, func() { wrappers.Resources("cpu", "much") })
}
