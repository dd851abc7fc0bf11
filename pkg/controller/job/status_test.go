package job

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// concluded decides on a snapshot as if all writes to pods had worked, and concludes.
func concluded(s *snapshot) *statusPlan {
	d := decide(s)
	return conclude(s, d, podResult{created: int32(len(d.pods.create)), deleted: int32(len(d.pods.delete))})
}

func TestConcludeWritesTheStatusOfAFirstSync(t *testing.T) {
	p := concluded(takeSnapshot(makeJob().size(2, 2)))
	want := batchv1.JobStatus{
		StartTime: &metav1.Time{Time: epoch}, Active: 2, Ready: new(int32(0)), Terminating: new(int32(0)),
		UncountedTerminatedPods: &batchv1.UncountedTerminatedPods{},
	}
	assert.Empty(t, cmp.Diff(want, p.job.Status), "(-want +got)")
	assert.True(t, p.write)
	assert.Empty(t, p.release)
}

func TestConcludeWritesNothingWhenNothingChanged(t *testing.T) {
	p := concluded(takeSnapshot(makeJob().started(1), makePod("a").running()))
	assert.False(t, p.write)
	assert.Nil(t, p.outcome)
}

func TestConcludeCountsPods(t *testing.T) {
	tests := map[string]struct {
		job                 jobWrapper
		pods                []podWrapper
		awaited             []types.UID
		limit               int
		wantWrite           bool
		succeeded, failed   int32
		listedOK, listedBad []types.UID
		completed           string
		failedIndexes       *string
		release             []string
		full                bool
	}{
		"a pod that succeeded is listed": {
			job: makeJob().size(1, 2).started(1), pods: []podWrapper{makePod("a").succeeded(epoch)},
			wantWrite: true, listedOK: []types.UID{"a"}, release: []string{"a"},
		},
		"a pod that failed is listed": {
			job: makeJob().size(1, 2).started(1), pods: []podWrapper{makePod("a").failed(1, epoch)},
			wantWrite: true, listedBad: []types.UID{"a"}, release: []string{"a"},
		},
		"a pod that is listed is not listed again, but released": {
			job: makeJob().size(1, 2).started(0).status(func(s *batchv1.JobStatus) {
				s.UncountedTerminatedPods.Succeeded = []types.UID{"a"}
			}), pods: []podWrapper{makePod("a").succeeded(epoch)}, wantWrite: true, listedOK: []types.UID{"a"}, release: []string{"a"},
		},
		"a listed pod without finalizer is counted": {
			job: makeJob().size(1, 3).started(0).status(func(s *batchv1.JobStatus) {
				s.Succeeded, s.Failed = 1, 2
				s.UncountedTerminatedPods.Succeeded, s.UncountedTerminatedPods.Failed = []types.UID{"a"}, []types.UID{"b"}
			}), pods: []podWrapper{makePod("a").succeeded(epoch).released()}, wantWrite: true, succeeded: 2, failed: 3,
		},
		"a pod whose finalizer was removed just now is not counted twice": {
			job: makeJob().size(1, 2).started(1), pods: []podWrapper{makePod("a").succeeded(epoch), makePod("b").running()}, awaited: []types.UID{"a"},
		},
		"a pod that was listed as failed stays failed": {
			job: makeJob().size(1, 2).started(1).status(func(s *batchv1.JobStatus) {
				s.UncountedTerminatedPods.Failed = []types.UID{"a"}
			}), pods: []podWrapper{makePod("a").succeeded(epoch), makePod("b").running()}, listedBad: []types.UID{"a"}, release: []string{"a"},
		},
		"an index is completed, and no pod listed": {
			job: makeJob().size(2, 3).indexed().started(2), pods: []podWrapper{makePod("a").index(1).succeeded(epoch), makePod("b").index(0).running()},
			wantWrite: true, succeeded: 1, completed: "1", release: []string{"a"},
		},
		"an index that has been completed is released without a write": {
			job:  makeJob().size(2, 3).indexed().started(1).status(func(s *batchv1.JobStatus) { s.CompletedIndexes, s.Succeeded = "1", 1 }),
			pods: []podWrapper{makePod("a").index(1).succeeded(epoch), makePod("b").index(0).running()}, succeeded: 1, completed: "1", release: []string{"a"},
			wantWrite: true, // a pod for index 2 is made
		},
		"indexes beyond completions are dropped": {
			job:  makeJob().size(2, 2).indexed().started(2).status(func(s *batchv1.JobStatus) { s.CompletedIndexes, s.Succeeded = "0,2-4", 4 }),
			pods: []podWrapper{makePod("b").index(1).running()}, wantWrite: true, succeeded: 1, completed: "0",
		},
		"a failed pod with an index that the job does not have is released uncounted": {
			job: makeJob().size(1, 1).indexed().started(1), pods: []podWrapper{makePod("a").index(4).failed(1, epoch), makePod("b").index(0).running()}, release: []string{"a"},
		},
		"a failed pod that its replacement needs is kept": {
			job:  makeJob().size(2, 2).perIndex(1).started(2).status(func(s *batchv1.JobStatus) { s.FailedIndexes = new("") }),
			pods: []podWrapper{makePod("a").index(0).failures(0, 0).failed(1, epoch), makePod("b").index(1).running()}, wantWrite: true, failedIndexes: new(""),
		},
		"until the replacement is there": {
			job:       makeJob().size(2, 2).perIndex(1).started(2).status(func(s *batchv1.JobStatus) { s.FailedIndexes = new("") }),
			pods:      []podWrapper{makePod("a").index(0).failures(0, 0).failed(1, epoch), makePod("n").index(0).failures(1, 0), makePod("b").index(1).running()},
			wantWrite: true, listedBad: []types.UID{"a"}, release: []string{"a"}, failedIndexes: new(""),
		},
		"an index that failed for good is told, and its pod counted": {
			job: makeJob().size(2, 2).perIndex(0).started(2), pods: []podWrapper{makePod("a").index(0).failures(0, 0).failed(1, epoch), makePod("b").index(1).running()},
			wantWrite: true, listedBad: []types.UID{"a"}, release: []string{"a"}, failedIndexes: new("0"),
		},
		"a rule fails an index at its first failure": {
			job:       makeJob().size(2, 2).perIndex(5).onExit(9, batchv1.PodFailurePolicyActionFailIndex).started(2),
			pods:      []podWrapper{makePod("a").index(0).failures(0, 0).failed(9, epoch), makePod("b").index(1).running()},
			wantWrite: true, listedBad: []types.UID{"a"}, release: []string{"a"}, failedIndexes: new("0"),
		},
		"an ignored failure is released uncounted": {
			job:  makeJob().size(1, 2).onExit(9, batchv1.PodFailurePolicyActionIgnore).started(1),
			pods: []podWrapper{makePod("a").failed(9, epoch), makePod("b").running()}, release: []string{"a"},
		},
		"the list takes no more than its limit": {
			job: makeJob().size(3, 9).started(3), pods: []podWrapper{makePod("a").succeeded(epoch), makePod("b").failed(1, epoch), makePod("c").succeeded(epoch)},
			limit: 2, wantWrite: true, listedOK: []types.UID{"a"}, listedBad: []types.UID{"b"}, release: []string{"a", "b"}, full: true,
		},
		"completed indexes count against the limit too": {
			job: makeJob().size(3, 9).indexed().started(3), pods: []podWrapper{makePod("a").index(0).succeeded(epoch), makePod("b").index(1).succeeded(epoch), makePod("c").index(2).succeeded(epoch)},
			limit: 2, wantWrite: true, succeeded: 3, completed: "0-2", release: []string{"a", "b"}, full: true,
		},
		"all pods of a job that is being deleted are released": {
			job: makeJob().size(2, 2).deleting().started(2), pods: []podWrapper{makePod("a").running(), makePod("b").failed(1, epoch)},
			wantWrite: true, listedBad: []types.UID{"b"}, release: []string{"a", "b"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := takeSnapshot(tc.job, tc.pods...)
			s.awaited.Insert(tc.awaited...)
			if tc.limit > 0 {
				s.limits.uncounted = tc.limit
			}
			p := concluded(s)
			status := &p.job.Status
			assert.Equal(t, tc.wantWrite, p.write, "write")
			assert.Equal(t, tc.succeeded, status.Succeeded, "succeeded")
			assert.Equal(t, tc.failed, status.Failed, "failed")
			assert.Equal(t, tc.listedOK, status.UncountedTerminatedPods.Succeeded, "listed as succeeded")
			assert.Equal(t, tc.listedBad, status.UncountedTerminatedPods.Failed, "listed as failed")
			assert.Equal(t, tc.completed, status.CompletedIndexes)
			assert.Equal(t, tc.failedIndexes, status.FailedIndexes)
			assert.Equal(t, tc.release, names(p.release))
			assert.Equal(t, tc.full, p.full)
		})
	}
}

func TestConcludeAnnouncesAnOutcome(t *testing.T) {
	t.Run("success before the pods are released", func(t *testing.T) {
		p := concluded(takeSnapshot(makeJob().started(1), makePod("a").succeeded(epoch)))
		require.Len(t, p.job.Status.Conditions, 1)
		assert.Equal(t, batchv1.JobSuccessCriteriaMet, p.job.Status.Conditions[0].Type)
		assert.Equal(t, "CompletionsReached", p.job.Status.Conditions[0].Reason)
	})
	t.Run("failure, and the pods that were deleted count as failed", func(t *testing.T) {
		p := concluded(takeSnapshot(makeJob().size(2, 2).backoffLimit(0).started(2), makePod("a").failed(1, epoch), makePod("b").running()))
		require.Len(t, p.job.Status.Conditions, 1)
		assert.Equal(t, batchv1.JobFailureTarget, p.job.Status.Conditions[0].Type)
		assert.Equal(t, []types.UID{"a", "b"}, p.job.Status.UncountedTerminatedPods.Failed)
		assert.Equal(t, int32(1), p.terminating)
		assert.False(t, p.finish(epoch), "a pod is terminating")
	})
	t.Run("success does not count what is left as failed", func(t *testing.T) {
		job := makeJob().size(2, 2).indexed().started(2)
		job.Spec.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededCount: new(int32(1))}}}
		p := concluded(takeSnapshot(job, makePod("a").index(0).succeeded(epoch), makePod("b").index(1).running()))
		assert.Empty(t, p.job.Status.UncountedTerminatedPods.Failed)
		assert.Equal(t, []string{"a", "b"}, names(p.release))
	})
	t.Run("nor pods that an earlier sync has stopped for it", func(t *testing.T) {
		for parity, failed := range map[bool][]types.UID{false: nil, true: {"b"}} {
			s := takeSnapshot(makeJob().size(2, 2).indexed().started(1).condition(batchv1.JobSuccessCriteriaMet, corev1.ConditionTrue, "SuccessPolicy", "m"),
				makePod("a").index(0).succeeded(epoch), makePod("b").index(1).running().terminating())
			s.better = deviationsOf(parity)
			p := concluded(s)
			assert.Equal(t, failed, p.job.Status.UncountedTerminatedPods.Failed, "parity %v", parity)
			assert.Equal(t, []string{"a", "b"}, names(p.release))
		}
	})
	t.Run("once", func(t *testing.T) {
		p := concluded(takeSnapshot(makeJob().started(0).condition(batchv1.JobFailureTarget, corev1.ConditionTrue, "R", "m")))
		assert.Len(t, p.job.Status.Conditions, 1)
		assert.False(t, p.write)
	})
	t.Run("not while a pod could not be deleted", func(t *testing.T) {
		s := takeSnapshot(makeJob().size(2, 2).backoffLimit(0).started(2), makePod("a").failed(1, epoch), makePod("b").running())
		p := conclude(s, decide(s), podResult{deleted: 0})
		assert.Nil(t, p.outcome)
		assert.Empty(t, p.job.Status.Conditions)
		assert.Equal(t, []string{"a"}, names(p.release))
	})
	t.Run("not while pods may be missing in the cache", func(t *testing.T) {
		s := takeSnapshot(makeJob().backoffLimit(0).started(1), makePod("a").failed(1, epoch))
		s.settled = false
		assert.Nil(t, concluded(s).outcome)
	})
}

func TestFinishWaitsForAllPods(t *testing.T) {
	ended := func() *statusPlan {
		return concluded(takeSnapshot(makeJob().started(0), makePod("a").succeeded(epoch).released()).withCounts(1))
	}
	t.Run("a complete job has a completion time", func(t *testing.T) {
		p := ended()
		require.True(t, p.finish(at(1)))
		conditions := p.job.Status.Conditions
		require.Len(t, conditions, 2)
		assert.Equal(t, batchv1.JobComplete, conditions[1].Type)
		assert.Equal(t, "CompletionsReached", conditions[1].Reason)
		assert.Equal(t, conditions[1].LastTransitionTime, *p.job.Status.CompletionTime)
	})
	t.Run("a failed one has not", func(t *testing.T) {
		p := concluded(takeSnapshot(makeJob().started(0).condition(batchv1.JobFailureTarget, corev1.ConditionTrue, "R", "m")))
		require.True(t, p.finish(epoch))
		assert.Equal(t, batchv1.JobFailed, p.job.Status.Conditions[1].Type)
		assert.Nil(t, p.job.Status.CompletionTime)
	})
	t.Run("a pod that is listed holds it up", func(t *testing.T) {
		p := ended()
		p.job.Status.UncountedTerminatedPods.Succeeded = []types.UID{"a"}
		assert.False(t, p.finish(epoch))
	})
	t.Run("a pod that terminates holds it up", func(t *testing.T) {
		p := ended()
		p.terminating = 1
		assert.False(t, p.finish(epoch))
	})
	t.Run("pods that wait for the next sync hold it up", func(t *testing.T) {
		p := ended()
		p.full = true
		assert.False(t, p.finish(epoch))
	})
}

// withCounts sets how many pods the status says have succeeded.
func (s *snapshot) withCounts(succeeded int32) *snapshot {
	s.job.Status.Succeeded = succeeded
	return s
}

func TestConcludeFollowsSuspension(t *testing.T) {
	resumedAt := at(60)
	tests := map[string]struct {
		job           jobWrapper
		wantCondition *batchv1.JobCondition
		wantStart     *metav1.Time
		wantEvents    []event
	}{
		"a job that never was suspended has no condition": {job: makeJob().started(0), wantStart: &metav1.Time{Time: epoch}},
		"a job that is suspended loses its start": {
			job: makeJob().suspend().started(0), wantEvents: []event{suspended},
			wantCondition: &batchv1.JobCondition{Type: "Suspended", Status: "True", Reason: "JobSuspended", Message: "Job suspended"},
		},
		"a job that is resumed starts anew": {
			job:        makeJob().started(0).condition(batchv1.JobSuspended, corev1.ConditionTrue, "JobSuspended", "Job suspended"),
			wantEvents: []event{resumed}, wantStart: &metav1.Time{Time: resumedAt},
			wantCondition: &batchv1.JobCondition{Type: "Suspended", Status: "False", Reason: "JobResumed", Message: "Job resumed"},
		},
		"a job that stays resumed keeps its start": {
			job:           makeJob().started(0).condition(batchv1.JobSuspended, corev1.ConditionFalse, "JobResumed", "Job resumed"),
			wantCondition: &batchv1.JobCondition{Type: "Suspended", Status: "False", Reason: "JobResumed", Message: "Job resumed"},
			wantStart:     &metav1.Time{Time: epoch},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := takeSnapshot(tc.job)
			s.now = resumedAt
			p := concluded(s)
			assert.Equal(t, tc.wantStart, p.job.Status.StartTime)
			assert.Equal(t, tc.wantEvents, p.events)
			if tc.wantCondition == nil {
				assert.Empty(t, p.job.Status.Conditions)
				return
			}
			require.Len(t, p.job.Status.Conditions, 1)
			got := p.job.Status.Conditions[0]
			got.LastProbeTime, got.LastTransitionTime = metav1.Time{}, metav1.Time{}
			assert.Equal(t, *tc.wantCondition, got)
		})
	}
	t.Run("a suspended job without work completes", func(t *testing.T) {
		p := concluded(takeSnapshot(makeJob().size(1, 0).suspend()))
		require.NotNil(t, p.outcome)
		assert.True(t, p.outcome.success)
		assert.Empty(t, p.events)
	})
}

func TestConcludeLeavesTheSnapshotAlone(t *testing.T) {
	job := makeJob().size(2, 2).indexed().started(2).status(func(s *batchv1.JobStatus) { s.CompletedIndexes = "1" })
	s := takeSnapshot(job, makePod("a").index(0).succeeded(epoch), makePod("b").index(1).failed(1, epoch))
	before := job.DeepCopy()
	p := concluded(s)
	settleCounts(&p.job.Status, nil)
	p.finish(epoch)
	assert.Empty(t, cmp.Diff(before, s.job), "the cached job was written to")
}
