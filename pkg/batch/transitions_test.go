package batch_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/musterkube/muster/pkg/batch"
)

func TestComplete(t *testing.T) {
	t.Parallel()
	job := makeJob()
	job.Status = batchv1.JobStatus{
		StartTime: at(10), Active: 2, Ready: new(int32(1)), Terminating: new(int32(1)), Succeeded: 1,
		UncountedTerminatedPods: &batchv1.UncountedTerminatedPods{Succeeded: []types.UID{"a"}, Failed: []types.UID{"b", "c"}},
	}
	require.NoError(t, batch.Complete(job, noon))
	assert.Equal(t, int32(0), job.Status.Active)
	assert.Equal(t, int32(0), *job.Status.Ready)
	assert.Equal(t, int32(0), *job.Status.Terminating)
	assert.Equal(t, int32(2), job.Status.Succeeded, "pods that waited are counted")
	assert.Equal(t, int32(2), job.Status.Failed)
	assert.Equal(t, at(12), job.Status.CompletionTime)
	require.Len(t, job.Status.Conditions, 2)
	assert.Equal(t, batchv1.JobSuccessCriteriaMet, job.Status.Conditions[0].Type)
	assert.Equal(t, batchv1.JobComplete, job.Status.Conditions[1].Type)
	assert.Equal(t, batchv1.JobReasonCompletionsReached, job.Status.Conditions[1].Reason)
	assert.Equal(t, noon, job.Status.Conditions[1].LastTransitionTime.Time)

	done := job.DeepCopy()
	require.NoError(t, batch.Complete(job, noon.Add(time.Hour)))
	require.Empty(t, cmp.Diff(done, job), "a second time does nothing (-want +got)")
	require.ErrorIs(t, batch.Fail(job, "r", "m", noon), batch.ErrIllegalTransition)
	require.ErrorIs(t, batch.FailureTarget(job, "r", "m", noon), batch.ErrIllegalTransition)
}

func TestFailKeepsTheReasonThatWasAnnounced(t *testing.T) {
	t.Parallel()
	job := makeJob()
	require.NoError(t, batch.FailureTarget(job, batchv1.JobReasonDeadlineExceeded, "too long", noon))
	require.NoError(t, batch.Fail(job, "Other", "other", noon))
	failed := batch.Condition(job, batchv1.JobFailed)
	require.NotNil(t, failed)
	assert.Equal(t, batchv1.JobReasonDeadlineExceeded, failed.Reason)
	assert.Equal(t, "too long", failed.Message)
	assert.Equal(t, noon, job.Status.StartTime.Time, "a Job that has ended has started")
	assert.Nil(t, job.Status.CompletionTime)
	err := batch.Complete(job, noon)
	require.ErrorIs(t, err, batch.ErrIllegalTransition)
	assert.EqualError(t, err, "completing job ns/j: it fails: illegal transition")
}

func TestSuspendAndResume(t *testing.T) {
	t.Parallel()
	job := makeJob()
	require.NoError(t, batch.Start(job, noon))
	require.ErrorIs(t, batch.Suspend(job, noon), batch.ErrIllegalTransition, "the spec does not ask for it")
	job.Spec.Suspend = new(true)
	require.NoError(t, batch.Suspend(job, noon))
	assert.Nil(t, job.Status.StartTime)
	assert.Equal(t, batch.ReasonSuspended, batch.Condition(job, batchv1.JobSuspended).Reason)
	require.ErrorIs(t, batch.Resume(job, noon), batch.ErrIllegalTransition, "the spec still asks for suspension")
	require.ErrorIs(t, batch.Start(job, noon), batch.ErrIllegalTransition)
	job.Spec.Suspend = new(false)
	require.NoError(t, batch.Start(job, noon.Add(time.Hour)), "starting a suspended Job resumes it")
	assert.Equal(t, at(13), job.Status.StartTime)
	assert.Equal(t, batch.ReasonResumed, batch.Condition(job, batchv1.JobSuspended).Reason)
	assert.False(t, batch.HasCondition(job, batchv1.JobSuspended))

	require.NoError(t, batch.SuccessCriteriaMet(job, batchv1.JobReasonSuccessPolicy, "m", noon))
	job.Spec.Suspend = new(true)
	require.ErrorIs(t, batch.Suspend(job, noon), batch.ErrIllegalTransition, "what is decided is not suspended")
}

func TestCompletionIsNotBeforeTheStart(t *testing.T) {
	t.Parallel()
	job := makeJob()
	require.NoError(t, batch.Start(job, noon))
	require.NoError(t, batch.Complete(job, noon.Add(-time.Hour)))
	assert.Equal(t, at(12), job.Status.CompletionTime)
}

// TestTransitionsAreAccepted walks through random lives of Jobs: whatever a transition makes of a status that a server
// accepted, the server accepts; and what is called illegal leaves the status as it was.
func TestTransitionsAreAccepted(t *testing.T) {
	t.Parallel()
	for seed := range uint64(400) {
		random := rand.New(rand.NewPCG(seed, 7))
		job := randomJob(random)
		job.ResourceVersion = "5"
		now := noon
		for step := range 12 {
			now = now.Add(time.Duration(random.IntN(4000)-400) * time.Second)
			if random.IntN(4) == 0 && !finished(job) {
				job.Spec.Suspend = new(random.IntN(2) == 0)
			}
			next := job.DeepCopy()
			what, err := randomTransition(random, next, now)
			if err != nil {
				require.ErrorIs(t, err, batch.ErrIllegalTransition)
				require.Empty(t, cmp.Diff(job, next), "%s (-want +got)", what)
			}
			require.Empty(t, lines(batch.ValidateStatusUpdate(next, job.DeepCopy())), "seed %d step %d: %s", seed, step, what)
			if err == nil {
				again := next.DeepCopy()
				require.NoError(t, repeat(what, again, now.Add(time.Hour)))
				require.Empty(t, cmp.Diff(next, again), "%s twice (-want +got)", what)
			}
			job = next
		}
	}
}

func finished(job *batchv1.Job) bool {
	_, finished := batch.Finished(job)
	return finished
}

func randomJob(random *rand.Rand) *batchv1.Job {
	return makeJob(func(job *batchv1.Job) {
		if random.IntN(2) == 0 {
			indexed(int32(random.IntN(4)))(job)
		}
		job.Spec.Suspend = new(random.IntN(3) == 0)
		if random.IntN(4) == 0 {
			job.Spec.Completions = new(int32(0))
		}
	})
}

// randomTransition applies one of the transitions, or news of pods.
func randomTransition(random *rand.Rand, job *batchv1.Job, now time.Time) (string, error) {
	names := []string{"start", "suspend", "resume", "criteria", "target", "complete", "fail", "pods", "pods", "duplicate"}
	name := names[random.IntN(len(names))]
	switch name {
	case "pods":
		if !finished(job) {
			job.Status.Active = int32(random.IntN(4))
			job.Status.Ready = new(int32(random.IntN(int(job.Status.Active) + 1)))
			job.Status.Terminating = new(int32(random.IntN(3)))
			job.Status.Failed += int32(random.IntN(2))
			job.Status.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{
				Failed: []types.UID{types.UID(fmt.Sprint("pod-", random.IntN(9)))},
			}
		}
		return name, nil
	case "duplicate":
		// A server lets the same type stand twice.
		job.Status.Conditions = append(job.Status.Conditions,
			batch.NewCondition(batchv1.JobSuspended, corev1.ConditionUnknown, "r", "m", now))
		return name, nil
	}
	return name, repeat(name, job, now)
}

func repeat(name string, job *batchv1.Job, now time.Time) error {
	switch name {
	case "start":
		return batch.Start(job, now)
	case "suspend":
		return batch.Suspend(job, now)
	case "resume":
		return batch.Resume(job, now)
	case "criteria":
		return batch.SuccessCriteriaMet(job, batchv1.JobReasonSuccessPolicy, "m", now)
	case "target":
		return batch.FailureTarget(job, batchv1.JobReasonBackoffLimitExceeded, "m", now)
	case "complete":
		return batch.Complete(job, now)
	case "fail":
		return batch.Fail(job, batchv1.JobReasonBackoffLimitExceeded, "m", now)
	}
	return nil
}
