package job_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/musterkube/muster/pkg/core"
)

func conditionTypes(j *batchv1.Job) []batchv1.JobConditionType {
	var types []batchv1.JobConditionType
	for _, c := range j.Status.Conditions {
		if c.Status == corev1.ConditionTrue {
			types = append(types, c.Type)
		}
	}
	return types
}

func TestJobOfOnePodCompletes(t *testing.T) {
	w := newWorld(t)
	stop := w.run(quick())
	w.create(newJob("j", nil))
	pod := w.awaitActive(1)[0]
	assert.Equal(t, []string{batchv1.JobTrackingFinalizer}, pod.Finalizers)
	w.start(pod)
	w.awaitJob("j", "with a ready pod", func(j *batchv1.Job) bool { return j.Status.Ready != nil && *j.Status.Ready == 1 })
	w.succeed(pod)

	j := w.awaitCondition("j", batchv1.JobComplete)
	w.awaitReleased()
	assert.Equal(t, int32(1), j.Status.Succeeded)
	assert.Equal(t, int32(0), j.Status.Active)
	assert.Equal(t, []batchv1.JobConditionType{batchv1.JobSuccessCriteriaMet, batchv1.JobComplete}, conditionTypes(j))
	assert.Equal(t, j.Status.CompletionTime, &j.Status.Conditions[1].LastTransitionTime)
	stop()
	assert.Equal(t, []string{"Normal Completed Job completed", "Normal SuccessfulCreate Created pod: " + pod.Name}, w.events("j"))
}

func TestIndexedJobCompletes(t *testing.T) {
	w := newWorld(t)
	w.run(quick())
	w.create(newJob("j", indexed(3, 4)))
	pods := w.awaitActive(3)
	w.fail(pods[1])
	w.awaitCounts("j", 3, 0, 1)
	w.succeed(w.awaitActive(3)...)
	w.awaitCounts("j", 1, 3, 1)
	last := w.awaitActive(1)
	require.Equal(t, "3", last[0].Annotations[batchv1.JobCompletionIndexAnnotation])
	w.succeed(last...)
	j := w.awaitCondition("j", batchv1.JobComplete)
	w.awaitReleased()
	assert.Equal(t, "0-3", j.Status.CompletedIndexes)
	assert.Equal(t, int32(1), j.Status.Failed)
}

func TestWorkQueueReplacesFailuresUntilTheFirstSuccess(t *testing.T) {
	w := newWorld(t)
	w.run(quick())
	w.create(newJob("j", func(spec *batchv1.JobSpec) { spec.Parallelism = new(int32(3)) }))
	w.fail(w.awaitActive(3)[0])
	w.awaitCounts("j", 3, 0, 1)
	pods := w.awaitActive(3)
	w.succeed(pods[0])
	w.awaitCounts("j", 2, 1, 1)
	w.fail(pods[1])
	w.awaitCounts("j", 1, 1, 2)
	w.succeed(pods[2])
	j := w.awaitCondition("j", batchv1.JobComplete)
	w.awaitReleased()
	assert.Equal(t, int32(2), j.Status.Succeeded)
	assert.Len(t, w.allPods(), 4, "no failure is replaced after a success")
}

func TestTooManyFailuresFailTheJob(t *testing.T) {
	w := newWorld(t)
	stop := w.run(quick())
	w.create(newJob("j", both(size(2, 4), func(spec *batchv1.JobSpec) { spec.BackoffLimit = new(int32(0)) })))
	pods := w.bind(w.awaitActive(2)...)
	w.start(pods...)
	w.fail(pods[0])
	j := w.awaitJob("j", "with a terminating pod", func(j *batchv1.Job) bool {
		return j.Status.Terminating != nil && *j.Status.Terminating == 1 && j.Status.Failed == 2
	})
	assert.Equal(t, []batchv1.JobConditionType{batchv1.JobFailureTarget}, conditionTypes(j), "the Job does not end before its pods")
	w.remove(metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}, pods[1])
	j = w.awaitCondition("j", batchv1.JobFailed)
	w.awaitReleased()
	assert.Equal(t, int32(2), j.Status.Failed, "the pod that was stopped counts as failed")
	assert.Nil(t, j.Status.CompletionTime)
	assert.Equal(t, "BackoffLimitExceeded", j.Status.Conditions[1].Reason)
	stop()
	assert.Contains(t, w.events("j"), "Warning BackoffLimitExceeded Job has reached the specified backoff limit")
}

func TestParallelismGoesDownAndUpWithoutFailures(t *testing.T) {
	w := newWorld(t)
	w.run(quick())
	w.create(newJob("j", both(size(5, 5), func(spec *batchv1.JobSpec) { spec.BackoffLimit = new(int32(2)) })))
	w.awaitActive(5)
	w.patch("j", `{"spec":{"parallelism":1}}`)
	w.awaitCounts("j", 1, 0, 0)
	w.patch("j", `{"spec":{"parallelism":4}}`)
	w.awaitCounts("j", 4, 0, 0)
	w.patch("j", `{"spec":{"parallelism":0}}`)
	w.awaitCounts("j", 0, 0, 0)
	w.awaitActive(0)
}

func TestSmallLimitsOnlyTakeMoreSyncs(t *testing.T) {
	w := newWorld(t)
	options := quick()
	options.MaxUncounted, options.MaxPodsPerSync = 3, 4
	w.run(options)
	w.create(newJob("j", both(size(11, 13), func(spec *batchv1.JobSpec) { spec.BackoffLimit = new(int32(20)) })))
	pods := w.awaitActive(11)
	w.fail(pods[:5]...)
	w.succeed(pods[5:]...)
	w.awaitCounts("j", 7, 6, 5)
	w.succeed(w.awaitActive(7)...)
	j := w.awaitCondition("j", batchv1.JobComplete)
	w.awaitReleased()
	assert.Equal(t, int32(13), j.Status.Succeeded)
	assert.Equal(t, int32(5), j.Status.Failed)
}

func TestSuspensionStopsPodsAndCountsNone(t *testing.T) {
	w := newWorld(t)
	stop := w.run(quick())
	w.create(newJob("j", both(size(2, 3), func(spec *batchv1.JobSpec) { spec.Suspend = new(true) })))
	j := w.awaitCondition("j", batchv1.JobSuspended)
	assert.Nil(t, j.Status.StartTime)
	w.patch("j", `{"spec":{"suspend":false}}`)
	w.awaitCounts("j", 2, 0, 0)
	w.start(w.awaitActive(2)...)
	w.patch("j", `{"spec":{"suspend":true}}`)
	j = w.awaitCondition("j", batchv1.JobSuspended)
	assert.Nil(t, j.Status.StartTime)
	assert.Equal(t, int32(0), j.Status.Active)
	assert.Equal(t, int32(0), j.Status.Failed)
	w.awaitActive(0)
	w.patch("j", `{"spec":{"suspend":false}}`)
	w.awaitCounts("j", 2, 0, 0)
	stop()
	events := w.events("j")
	assert.Contains(t, events, "Normal Suspended Job suspended")
	assert.Contains(t, events, "Normal Resumed Job resumed")
}

func TestSuspendedJobWithoutWorkCompletes(t *testing.T) {
	w := newWorld(t)
	w.run(quick())
	w.create(newJob("j", both(size(1, 0), func(spec *batchv1.JobSpec) { spec.Suspend = new(true) })))
	j := w.awaitCondition("j", batchv1.JobComplete)
	assert.Empty(t, w.allPods())
	assert.Nil(t, j.Status.StartTime)
}

func TestElasticIndexedJobGrowsAndShrinks(t *testing.T) {
	w := newWorld(t)
	w.run(quick())
	w.create(newJob("j", both(indexed(2, 2), func(spec *batchv1.JobSpec) {
		// A group of its own: the Job controller's would hold parallelism as it is.
		spec.Template.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: new("other")}
	})))
	w.succeed(w.awaitActive(2)[1])
	w.awaitCounts("j", 1, 1, 0)
	w.patch("j", `{"spec":{"parallelism":4,"completions":4}}`)
	w.awaitCounts("j", 3, 1, 0)
	w.fail(w.awaitActive(3)[2])
	w.awaitCounts("j", 3, 1, 1)
	w.patch("j", `{"spec":{"parallelism":1,"completions":1}}`)
	j := w.awaitCounts("j", 1, 0, 1)
	assert.Empty(t, j.Status.CompletedIndexes, "an index beyond completions does not count")
	w.patch("j", `{"spec":{"parallelism":0,"completions":0}}`)
	w.awaitCondition("j", batchv1.JobComplete)
	w.awaitReleased()
}

func TestPodFailurePolicyDecidesWhatAFailureMeans(t *testing.T) {
	rules := func(spec *batchv1.JobSpec) {
		onExit := func(code int32) *batchv1.PodFailurePolicyOnExitCodesRequirement {
			return &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{code}}
		}
		spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{
			{Action: batchv1.PodFailurePolicyActionFailJob, OnExitCodes: onExit(42)},
			{Action: batchv1.PodFailurePolicyActionCount, OnExitCodes: onExit(43)},
			{Action: batchv1.PodFailurePolicyActionIgnore, OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{
				Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue,
			}}},
		}}
	}
	w := newWorld(t)
	w.run(quick())
	w.create(newJob("j", rules))
	w.set(w.awaitActive(1)[0], corev1.PodFailed, 137, corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue})
	w.await("an ignored failure to be replaced", func() bool { return len(w.active()) == 1 && len(w.allPods()) == 2 })
	w.set(w.awaitActive(1)[0], corev1.PodFailed, 43)
	w.awaitCounts("j", 1, 0, 1)
	last := w.awaitActive(1)[0]
	w.set(last, corev1.PodFailed, 42)
	j := w.awaitCondition("j", batchv1.JobFailed)
	w.awaitReleased()
	assert.Equal(t, int32(2), j.Status.Failed)
	assert.Equal(t, "PodFailurePolicy", j.Status.Conditions[1].Reason)
	assert.Equal(t, fmt.Sprintf("Container c for pod default/%s failed with exit code 42 matching FailJob rule at index 0", last.Name), j.Status.Conditions[1].Message)
}

func TestSuccessPolicyEndsTheJobEarly(t *testing.T) {
	w := newWorld(t)
	w.run(quick())
	w.create(newJob("j", both(indexed(3, 3), func(spec *batchv1.JobSpec) {
		spec.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededIndexes: new("1")}}}
	})))
	w.succeed(w.awaitActive(3)[1])
	j := w.awaitCondition("j", batchv1.JobComplete)
	w.awaitReleased()
	assert.Equal(t, "1", j.Status.CompletedIndexes)
	assert.Equal(t, int32(0), j.Status.Failed, "pods that were not needed have not failed")
	assert.Equal(t, "SuccessPolicy", j.Status.Conditions[0].Reason)
	assert.Equal(t, "Matched rules at index 0", j.Status.Conditions[0].Message)
}

func TestIndexesFailEachOnTheirOwn(t *testing.T) {
	w := newWorld(t)
	w.run(quick())
	w.create(newJob("j", both(indexed(2, 2), func(spec *batchv1.JobSpec) { spec.BackoffLimitPerIndex = new(int32(1)) })))
	w.fail(w.awaitActive(2)[0])
	w.awaitCounts("j", 2, 0, 1)
	again := w.awaitActive(2)[0]
	assert.Equal(t, "1", again.Annotations[batchv1.JobIndexFailureCountAnnotation])
	w.fail(again)
	j := w.awaitJob("j", "with a failed index", func(j *batchv1.Job) bool { return j.Status.FailedIndexes != nil && *j.Status.FailedIndexes == "0" })
	assert.Empty(t, conditionTypes(j), "the other index goes on")
	w.succeed(w.awaitActive(1)...)
	j = w.awaitCondition("j", batchv1.JobFailed)
	w.awaitReleased()
	assert.Equal(t, "FailedIndexes", j.Status.Conditions[1].Reason)
	assert.Equal(t, "1", j.Status.CompletedIndexes)
	assert.Equal(t, int32(2), j.Status.Failed)
}

func TestReplacementWaitsForTheEndWhereThePolicySaysSo(t *testing.T) {
	for policy, counts := range map[batchv1.PodReplacementPolicy]struct{ active, failed int32 }{
		batchv1.TerminatingOrFailed: {active: 2, failed: 2},
		batchv1.Failed:              {active: 0, failed: 0},
	} {
		t.Run(string(policy), func(t *testing.T) {
			w := newWorld(t)
			w.run(quick())
			w.create(newJob("j", both(size(2, 2), func(spec *batchv1.JobSpec) { spec.PodReplacementPolicy = &policy })))
			pods := w.bind(w.awaitActive(2)...)
			w.remove(metav1.DeleteOptions{}, pods...)
			w.awaitCounts("j", counts.active, 0, counts.failed)
			w.awaitJob("j", "with two terminating pods", func(j *batchv1.Job) bool { return *j.Status.Terminating == 2 })
			w.fail(pods...)
			w.awaitCounts("j", 2, 0, 2)
			w.succeed(w.awaitActive(2)...)
			w.awaitCondition("j", batchv1.JobComplete)
			w.awaitReleased()
		})
	}
}

func TestPodsAreAdoptedAndReleased(t *testing.T) {
	w := newWorld(t)
	w.run(quick())
	j := w.create(newJob("j", nil))
	pod := w.awaitActive(1)[0]
	patchPod := func(patch string) {
		_, err := w.client.CoreV1().Pods(namespace).Patch(t.Context(), pod.Name, mergePatch, []byte(patch), metav1.PatchOptions{})
		require.NoError(t, err)
	}
	patchPod(`{"metadata":{"ownerReferences":null}}`)
	w.await("the pod to be adopted", func() bool {
		return metav1.IsControlledBy(w.pod(pod.Name), j) && len(w.pod(pod.Name).Finalizers) == 1
	})
	w.awaitCounts("j", 1, 0, 0)

	patchPod(fmt.Sprintf(`{"metadata":{"labels":{%q:"another"}}}`, batchv1.ControllerUidLabel))
	w.await("the pod to be released", func() bool {
		return metav1.GetControllerOf(w.pod(pod.Name)) == nil && len(w.pod(pod.Name).Finalizers) == 0
	})
	w.await("another pod in its place", func() bool { return len(w.allPods()) == 2 })
	w.awaitCounts("j", 1, 0, 0)
}

func TestJobThatIsMadeAgainStartsAtOnce(t *testing.T) {
	w := newWorld(t)
	options := quick()
	options.PodBackoff, options.MaxPodBackoff = patience*10, patience*10
	w.run(options)
	for range 2 {
		first := w.create(newJob("j", nil))
		w.await("a pod of it", func() bool {
			pods := w.active()
			return len(pods) == 1 && metav1.IsControlledBy(pods[0], first)
		})
		w.fail(w.active()...)
		w.awaitJob("j", "with a failure", func(j *batchv1.Job) bool { return j.UID == first.UID && j.Status.Failed == 1 })
		require.NoError(t, w.client.BatchV1().Jobs(namespace).Delete(t.Context(), "j", metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)}))
		w.awaitJob("j", "gone", func(j *batchv1.Job) bool { return j.Name == "" })
	}
}

func TestDeletionLeavesNoFinalizer(t *testing.T) {
	for _, policy := range []metav1.DeletionPropagation{
		metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan,
	} {
		for _, when := range []string{"while the controller runs", "while it does not"} {
			t.Run(string(policy)+" "+when, func(t *testing.T) {
				w := newWorld(t)
				stop := w.run(quick())
				w.create(newJob("j", size(3, 3)))
				w.fail(w.awaitActive(3)[0])
				w.awaitCounts("j", 3, 0, 1)
				if when == "while it does not" {
					stop()
				}
				require.NoError(t, w.client.BatchV1().Jobs(namespace).Delete(t.Context(), "j", metav1.DeleteOptions{PropagationPolicy: &policy}))
				w.collectGarbage(policy)
				if when == "while it does not" {
					w.run(quick())
				}
				w.awaitReleased()
				if policy != metav1.DeletePropagationOrphan {
					return
				}
				for _, pod := range w.allPods() {
					assert.Equal(t, core.PodFinished(pod), pod.Status.Phase == corev1.PodFailed)
					assert.Nil(t, pod.DeletionTimestamp, "orphans live on")
				}
			})
		}
	}
}

func TestManagedByKeepsControllersApart(t *testing.T) {
	w := newWorld(t)
	other := quick()
	other.ManagedBy = "example.com/queue"
	stopOther := w.run(other)
	stop := w.run(quick())
	w.create(newJob("ours", nil))
	w.create(newJob("theirs", func(spec *batchv1.JobSpec) { spec.ManagedBy = new("example.com/queue") }))
	w.create(newJob("reserved", func(spec *batchv1.JobSpec) { spec.ManagedBy = new(batchv1.JobControllerName) }))
	w.create(newJob("nobodys", func(spec *batchv1.JobSpec) { spec.ManagedBy = new("example.com/nobody") }))
	for _, name := range []string{"ours", "theirs", "reserved"} {
		w.awaitCounts(name, 1, 0, 0)
	}
	stopOther()
	for _, pod := range w.awaitActive(3) {
		w.succeed(pod)
	}
	for _, name := range []string{"ours", "reserved"} {
		w.awaitCondition(name, batchv1.JobComplete)
	}
	assert.Empty(t, conditionTypes(w.job("theirs")), "nobody runs it")
	stop()
	w.run(other)
	w.awaitCondition("theirs", batchv1.JobComplete)
	w.awaitReleased()
	assert.Equal(t, batchv1.JobStatus{}, w.job("nobodys").Status)
}
