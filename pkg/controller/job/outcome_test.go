package job

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

func TestFindOutcome(t *testing.T) {
	policy := func(w jobWrapper, indexes string, count *int32) jobWrapper {
		rule := batchv1.SuccessPolicyRule{SucceededCount: count}
		if indexes != "" {
			rule.SucceededIndexes = &indexes
		}
		w.Spec.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{rule}}
		return w
	}
	maxFailed := func(w jobWrapper, n int32) jobWrapper {
		w.Spec.MaxFailedIndexes = &n
		return w
	}
	onFailure := func(w jobWrapper) jobWrapper {
		w.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
		return w
	}
	const (
		limit    = "Job has reached the specified backoff limit"
		deadline = "Job was active longer than specified deadline"
	)
	tests := map[string]struct {
		job  jobWrapper
		pods []podWrapper
		want *outcome
	}{
		"a job whose pods run goes on": {
			job: makeJob().started(1), pods: []podWrapper{makePod("a").running()},
		},
		"as many failures as the limit are allowed": {
			job: makeJob().started(1).backoffLimit(1), pods: []podWrapper{makePod("a").failed(1, epoch)},
		},
		"one failure more fails the job": {
			job:  makeJob().started(1).backoffLimit(1),
			pods: []podWrapper{makePod("a").failed(1, epoch), makePod("b").failed(1, epoch)},
			want: failure("BackoffLimitExceeded", limit),
		},
		"failures in the status, in its list and new ones add up": {
			job: makeJob().started(1).backoffLimit(2).status(func(s *batchv1.JobStatus) {
				s.Failed, s.UncountedTerminatedPods.Failed = 1, append(s.UncountedTerminatedPods.Failed, "listed")
			}),
			pods: []podWrapper{makePod("listed").failed(1, epoch), makePod("new").failed(1, epoch), makePod("counted").failed(1, epoch).released()},
			want: failure("BackoffLimitExceeded", limit),
		},
		"a pod that is being deleted counts as failed": {
			job: makeJob().started(1).backoffLimit(0), pods: []podWrapper{makePod("a").running().terminating()},
			want: failure("BackoffLimitExceeded", limit),
		},
		"unless only failed pods are replaced": {
			job: makeJob().started(1).backoffLimit(0).replaceFailedOnly(), pods: []podWrapper{makePod("a").running().terminating()},
		},
		"a pod whose index the job does not have counts for nothing": {
			job: makeJob().indexed().started(1).backoffLimit(0), pods: []podWrapper{makePod("a").index(1).failed(1, epoch), makePod("b").failed(1, epoch)},
		},
		"restarts up to the limit fail a job that restarts its containers": {
			job: onFailure(makeJob().started(1).backoffLimit(3)), pods: []podWrapper{makePod("a").running().restarts(2), makePod("b").running().restarts(1)},
			want: failure("BackoffLimitExceeded", limit),
		},
		"fewer restarts do not": {
			job: onFailure(makeJob().started(1).backoffLimit(3)), pods: []podWrapper{makePod("a").running().restarts(2)},
		},
		"no restart is no failure with a limit of zero": {
			job: onFailure(makeJob().started(1).backoffLimit(0)), pods: []podWrapper{makePod("a").running()},
		},
		"restarts do not count where pods are never restarted": {
			job: makeJob().started(1).backoffLimit(0), pods: []podWrapper{makePod("a").running().restarts(9)},
		},
		"the deadline counts from the second it is reached": {
			job: makeJob().deadline().started(1).status(func(s *batchv1.JobStatus) { s.StartTime.Time = at(-30) }), want: failure("DeadlineExceeded", deadline),
		},
		"a second earlier it does not": {
			job: makeJob().deadline().started(1).status(func(s *batchv1.JobStatus) { s.StartTime.Time = at(-29) }),
		},
		"no deadline runs while the job is suspended": {
			job: makeJob().deadline().suspend().started(0).status(func(s *batchv1.JobStatus) { s.StartTime.Time = at(-60) }),
		},
		"the back-off limit comes before the deadline": {
			job:  makeJob().deadline().backoffLimit(0).started(1).status(func(s *batchv1.JobStatus) { s.StartTime.Time = at(-60) }),
			pods: []podWrapper{makePod("a").failed(1, epoch)}, want: failure("BackoffLimitExceeded", limit),
		},
		"a rule that fails the job comes before the back-off limit": {
			job: makeJob().started(1).backoffLimit(0).onExit(42, batchv1.PodFailurePolicyActionFailJob), pods: []podWrapper{makePod("a").failed(42, epoch)},
			want: failure("PodFailurePolicy", "Container c for pod ns/a failed with exit code 42 matching FailJob rule at index 0"),
		},
		"ignored failures are no failures": {
			job:  makeJob().started(1).backoffLimit(0).onExit(42, batchv1.PodFailurePolicyActionIgnore),
			pods: []podWrapper{makePod("a").failed(42, epoch)},
		},
		"what was announced stands, whatever happens later": {
			job:  makeJob().started(1).backoffLimit(0).condition(batchv1.JobSuccessCriteriaMet, corev1.ConditionTrue, "CompletionsReached", "done"),
			pods: []podWrapper{makePod("a").failed(1, epoch)}, want: &outcome{success: true, reason: "CompletionsReached", message: "done"},
		},
		"an announced failure keeps its reason": {
			job:  makeJob().started(1).condition(batchv1.JobFailureTarget, corev1.ConditionTrue, "DeadlineExceeded", "late"),
			want: failure("DeadlineExceeded", "late"),
		},
		"indexes that failed fail the job when the others have ended": {
			job:  makeJob().size(2, 2).perIndex(0).started(1),
			pods: []podWrapper{makePod("a").index(0).failures(0, 0).failed(1, epoch), makePod("b").index(1).succeeded(epoch)},
			want: failure("FailedIndexes", "Job has failed indexes"),
		},
		"and not before": {
			job:  makeJob().size(2, 2).perIndex(0).started(1),
			pods: []podWrapper{makePod("a").index(0).failures(0, 0).failed(1, epoch), makePod("b").index(1).running()},
		},
		"more failed indexes than allowed fail the job at once": {
			job:  maxFailed(makeJob().size(3, 3).perIndex(0).started(1), 0),
			pods: []podWrapper{makePod("a").index(0).failures(0, 0).failed(1, epoch), makePod("b").index(1).running()},
			want: failure("MaxFailedIndexesExceeded", "Job has exceeded the specified maximal number of failed indexes"),
		},
		"a success policy ends the job while pods run": {
			job:  policy(makeJob().size(3, 3).indexed().started(1), "1", nil),
			pods: []podWrapper{makePod("a").index(1).succeeded(epoch), makePod("b").index(0).running()},
			want: &outcome{success: true, reason: "SuccessPolicy", message: "Matched rules at index 0"},
		},
		"a success policy counts indexes of the status too": {
			job:  policy(makeJob().size(3, 3).indexed().started(1).status(func(s *batchv1.JobStatus) { s.CompletedIndexes = "0" }), "", new(int32(2))),
			pods: []podWrapper{makePod("a").index(1).succeeded(epoch)},
			want: &outcome{success: true, reason: "SuccessPolicy", message: "Matched rules at index 0"},
		},
		"a failure comes before a success policy": {
			job:  policy(makeJob().size(3, 3).indexed().started(1).backoffLimit(0), "1", nil),
			pods: []podWrapper{makePod("a").index(1).succeeded(epoch), makePod("b").index(0).failed(1, epoch)},
			want: failure("BackoffLimitExceeded", limit),
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tc.want, decide(takeSnapshot(tc.job, tc.pods...)).outcome)
		})
	}
}

func TestCompletionsReached(t *testing.T) {
	tests := map[string]struct {
		job    jobWrapper
		pods   []podWrapper
		active int32
		want   bool
	}{
		"enough successes and nothing left":                     {job: makeJob(), pods: []podWrapper{makePod("a").succeeded(epoch)}, want: true},
		"enough successes and a pod left":                       {job: makeJob(), pods: []podWrapper{makePod("a").succeeded(epoch)}, active: 1},
		"too few successes":                                     {job: makeJob().size(1, 2), pods: []podWrapper{makePod("a").succeeded(epoch)}},
		"no completions wanted":                                 {job: makeJob().size(1, 0), want: true},
		"a work queue with one success":                         {job: makeJob().workQueue(3), pods: []podWrapper{makePod("a").succeeded(epoch)}, want: true},
		"a work queue without":                                  {job: makeJob().workQueue(3)},
		"an index that succeeded twice is one":                  {job: makeJob().size(2, 2).indexed(), pods: []podWrapper{makePod("a").index(0).succeeded(epoch), makePod("b").index(0).succeeded(epoch)}},
		"indexes beyond completions do not count after scaling": {job: makeJob().size(2, 2).indexed().status(func(s *batchv1.JobStatus) { s.CompletedIndexes = "0,3" })},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := takeSnapshot(tc.job, tc.pods...)
			assert.Equal(t, tc.want, completionsReached(s, count(s), tc.active) != nil)
		})
	}
}

func TestNextSync(t *testing.T) {
	withDeadline := makeJob().deadline().started(1).status(func(s *batchv1.JobStatus) { s.StartTime.Time = at(-10) })
	tests := map[string]struct {
		job     jobWrapper
		pods    []podWrapper
		backoff backoffRecord
		want    time.Duration
	}{
		"nothing to wait for":                   {job: makeJob().started(1), pods: []podWrapper{makePod("a")}},
		"the deadline":                          {job: withDeadline, pods: []podWrapper{makePod("a")}, want: 20 * time.Second},
		"the deadline of a job that starts":     {job: makeJob().deadline(), want: 30 * time.Second},
		"the back-off, if it ends earlier":      {job: withDeadline, pods: []podWrapper{makePod("a").failed(1, at(-3))}, want: 7 * time.Second},
		"the deadline, if that comes earlier":   {job: withDeadline, pods: []podWrapper{makePod("a").failed(1, at(-1))}, backoff: backoffRecord{failures: 2, last: at(-5)}, want: 20 * time.Second},
		"at least the delay that gathers syncs": {job: makeJob().started(1), pods: []podWrapper{makePod("a").failed(1, epoch.Add(-9900*time.Millisecond))}, want: time.Second},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := takeSnapshot(tc.job, tc.pods...)
			s.backoff = tc.backoff
			assert.Equal(t, tc.want, decide(s).requeue)
		})
	}
}
