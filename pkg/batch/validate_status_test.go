package batch_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/musterkube/muster/pkg/batch"
)

const (
	isTrue  = corev1.ConditionTrue
	isFalse = corev1.ConditionFalse
)

func conditions(types ...batchv1.JobConditionType) []batchv1.JobCondition {
	list := make([]batchv1.JobCondition, 0, len(types))
	for _, t := range types {
		list = append(list, condition(t, isTrue))
	}
	return list
}

func TestValidateStatusUpdate(t *testing.T) {
	t.Parallel()
	complete := batchv1.JobStatus{
		StartTime: at(10), CompletionTime: at(11),
		Conditions: conditions(batchv1.JobSuccessCriteriaMet, batchv1.JobComplete),
	}
	failed := batchv1.JobStatus{StartTime: at(10), Conditions: conditions(batchv1.JobFailureTarget, batchv1.JobFailed)}
	with := func(status batchv1.JobStatus, edit func(*batchv1.JobStatus)) batchv1.JobStatus {
		status = *status.DeepCopy()
		edit(&status)
		return status
	}
	cases := map[string]struct {
		spec     func(*batchv1.Job)
		old, new batchv1.JobStatus
		want     []string
	}{
		"a Job may complete":                {new: complete},
		"a Job may fail":                    {new: failed},
		"counters may grow":                 {old: batchv1.JobStatus{Failed: 1}, new: batchv1.JobStatus{Failed: 2, Active: 1, Ready: new(int32(1))}},
		"nothing is held against no change": {old: with(complete, func(s *batchv1.JobStatus) { s.Active = 1 }), new: with(complete, func(s *batchv1.JobStatus) { s.Active = 1 })},
		"unknown conditions are let through": {
			new: batchv1.JobStatus{Conditions: []batchv1.JobCondition{condition("Mine", "Perhaps"), condition("Mine", isTrue)}},
		},
		"counters are not negative": {
			new: batchv1.JobStatus{Active: -1, Terminating: new(int32(-2))},
			want: []string{
				"status.active: Invalid value: -1: must be greater than or equal to 0",
				"status.terminating: Invalid value: -2: must be greater than or equal to 0",
			},
		},
		"a pod waits to be counted once, in one list": {
			new: batchv1.JobStatus{UncountedTerminatedPods: &batchv1.UncountedTerminatedPods{
				Succeeded: []types.UID{"a", ""}, Failed: []types.UID{"a"},
			}},
			want: []string{
				`status.uncountedTerminatedPods.succeeded[1]: Invalid value: "": must not be empty`,
				`status.uncountedTerminatedPods.failed[0]: Duplicate value: "a"`,
			},
		},
		"success is announced before it is reached": {
			new:  with(complete, func(s *batchv1.JobStatus) { s.Conditions = conditions(batchv1.JobComplete) }),
			want: []string{"status.conditions: Invalid value: cannot set Complete=True condition without the SuccessCriteriaMet=true condition"},
		},
		"failure is announced before it is reached": {
			new:  with(failed, func(s *batchv1.JobStatus) { s.Conditions = conditions(batchv1.JobFailed) }),
			want: []string{"status.conditions: Invalid value: cannot set Failed=True condition without the FailureTarget=true condition"},
		},
		"a Job does not both succeed and fail": {
			new: batchv1.JobStatus{StartTime: at(10), CompletionTime: at(11), Conditions: conditions(
				batchv1.JobSuccessCriteriaMet, batchv1.JobComplete, batchv1.JobFailureTarget, batchv1.JobFailed)},
			want: []string{
				"status.conditions: Invalid value: cannot set Complete=True and Failed=true conditions",
				"status.conditions: Invalid value: cannot set Complete=True and FailureTarget=true conditions",
				"status.conditions: Invalid value: cannot set SuccessCriteriaMet=True and Failed=true conditions",
				"status.conditions: Invalid value: cannot set SuccessCriteriaMet=True and FailureTarget=true conditions",
			},
		},
		"a Job that has ended leaves nothing running, waiting or untimed": {
			new: with(complete, func(s *batchv1.JobStatus) {
				s.Active, s.Terminating, s.StartTime, s.CompletionTime = 1, new(int32(1)), nil, nil
				s.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{Failed: []types.UID{"a"}}
			}),
			want: []string{
				"status.completionTime: Required value: completionTime is required for Complete jobs",
				"status.active: Invalid value: 1: active>0 is invalid for finished job",
				"status.startTime: Required value: startTime is required for finished job",
				`status.uncountedTerminatedPods: Invalid value: {"failed":["a"]}: must be empty for finished job`,
				"status.terminating: Invalid value: 1: terminating>0 is invalid for finished job",
			},
		},
		"a suspended Job without work may complete without ever starting": {
			spec: func(job *batchv1.Job) {
				suspended(job)
				job.Spec.Completions = new(int32(0))
			},
			new: with(complete, func(s *batchv1.JobStatus) { s.StartTime = nil }),
		},
		"completion is after the start": {
			new:  with(complete, func(s *batchv1.JobStatus) { s.CompletionTime = at(9) }),
			want: []string{`status.completionTime: Invalid value: "2026-01-01T09:00:00Z": must be equal to or after ` + "`startTime`"},
		},
		"only completion has a completion time": {
			new:  with(failed, func(s *batchv1.JobStatus) { s.CompletionTime = at(11) }),
			want: []string{`status.completionTime: Invalid value: "2026-01-01T11:00:00Z": cannot set completionTime when there is no Complete=True condition`},
		},
		"an end cannot be taken back": {
			old: complete,
			new: batchv1.JobStatus{StartTime: at(10)},
			want: []string{
				"status.conditions: Invalid value: cannot disable the terminal Complete=True condition",
				"status.conditions: Invalid value: cannot disable the SuccessCriteriaMet=True condition",
			},
		},
		"counters do not shrink": {
			old: batchv1.JobStatus{Failed: 2, Succeeded: 2},
			new: batchv1.JobStatus{Failed: 1, Succeeded: 1},
			want: []string{
				"status.failed: Invalid value: 1: cannot decrease the failed counter",
				"status.succeeded: Invalid value: 1: cannot decrease the succeeded counter",
			},
		},
		"what an elastic Job has done shrinks with it": {
			spec: indexed(3),
			old:  batchv1.JobStatus{Succeeded: 3, CompletedIndexes: "0-2"},
			new:  batchv1.JobStatus{Succeeded: 1, CompletedIndexes: "0"},
		},
		"a start time stays while the Job runs": {
			old:  batchv1.JobStatus{StartTime: at(10)},
			new:  batchv1.JobStatus{StartTime: at(11)},
			want: []string{`status.startTime: Invalid value: "2026-01-01T11:00:00Z": field is immutable for unsuspended job once set`},
		},
		"a start time goes when the Job is suspended": {
			spec: suspended,
			old:  batchv1.JobStatus{StartTime: at(10)},
		},
		"a start time is set anew when the Job is resumed": {
			old: batchv1.JobStatus{StartTime: at(10), Conditions: conditions(batchv1.JobSuspended)},
			new: batchv1.JobStatus{StartTime: at(11), Conditions: []batchv1.JobCondition{condition(batchv1.JobSuspended, isFalse)}},
		},
		"ready pods are among the active ones": {
			new:  batchv1.JobStatus{Active: 1, Ready: new(int32(2))},
			want: []string{"status.ready: Invalid value: 2: cannot set more ready pods than active"},
		},
		"only Indexed Jobs have indexes": {
			new: batchv1.JobStatus{CompletedIndexes: "0", FailedIndexes: new("")},
			want: []string{
				`status.completedIndexes: Invalid value: "0": cannot set non-empty completedIndexes when non-indexed completion mode`,
				`status.failedIndexes: Invalid value: "": cannot set non-null failedIndexes when backoffLimitPerIndex is null`,
			},
		},
		"an index does not both succeed and fail": {
			spec: func(job *batchv1.Job) {
				indexed(9)(job)
				job.Spec.BackoffLimitPerIndex = new(int32(0))
			},
			new: batchv1.JobStatus{CompletedIndexes: "0,3-5", FailedIndexes: new("1,4")},
			want: []string{
				`status.failedIndexes: Invalid value: "1,4": failedIndexes and completedIndexes overlap at index: 4`,
			},
		},
		"indexes stay below completions": {
			spec: indexed(3),
			new:  batchv1.JobStatus{CompletedIndexes: "0-3"},
			want: []string{`status.completedIndexes: Invalid value: "0-3": error parsing completedIndexes: too large index: "3"`},
		},
		"a list that became too long when the Job was scaled down may stay": {
			spec: indexed(3),
			old:  batchv1.JobStatus{CompletedIndexes: "0-5"},
			new:  batchv1.JobStatus{CompletedIndexes: "0-5", Active: 1},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old := makeJob(func(job *batchv1.Job) {
				if tc.spec != nil {
					tc.spec(job)
				}
			})
			old.ResourceVersion = "5"
			old.Status = *tc.old.DeepCopy()
			job := old.DeepCopy()
			job.Status = *tc.new.DeepCopy()
			got := lines(batch.ValidateStatusUpdate(job, old))
			require.Equal(t, strings.Join(tc.want, "\n"), got)
		})
	}
}
