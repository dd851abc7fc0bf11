package job

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	batchv1 "k8s.io/api/batch/v1"
)

func TestPlanPods(t *testing.T) {
	plain := func(n int) []newPod {
		var pods []newPod
		for range n {
			pods = append(pods, newPod{index: -1})
		}
		return pods
	}
	at3 := makeJob().size(3, 3).started(0)
	tests := map[string]struct {
		job        jobWrapper
		pods       []podWrapper
		backoff    backoffRecord
		perSync    int
		create     []newPod
		remove     []string
		wait       time.Duration
		wantAction syncAction
	}{
		"a new job gets as many pods as may run at once": {job: makeJob().size(2, 5), create: plain(2), wantAction: actionPodsCreated},
		"and no more than are to complete":               {job: makeJob().size(5, 2), create: plain(2), wantAction: actionPodsCreated},
		"what has succeeded is not done again": {
			job:    makeJob().size(3, 5).started(0).status(func(s *batchv1.JobStatus) { s.Succeeded = 3 }),
			pods:   []podWrapper{makePod("a").succeeded(epoch)},
			create: plain(1), wantAction: actionPodsCreated,
		},
		"pods that run are left alone": {job: makeJob().size(2, 5).started(2), pods: []podWrapper{makePod("a"), makePod("b")}, wantAction: actionTracking},
		"parallelism zero stops all": {
			job: makeJob().size(0, 5).started(2), pods: []podWrapper{makePod("a"), makePod("b")}, remove: []string{"a", "b"}, wantAction: actionPodsDeleted,
		},
		"the pod that is least far along goes first": {
			job: makeJob().size(1, 5).started(2), pods: []podWrapper{makePod("run").running(), makePod("wait")}, remove: []string{"wait"}, wantAction: actionPodsDeleted,
		},
		"no more pods are deleted than one sync may": {
			job: makeJob().size(0, 5).started(3), pods: []podWrapper{makePod("a"), makePod("b"), makePod("c")}, perSync: 2, remove: []string{"b", "c"}, wantAction: actionPodsDeleted,
		},
		"no more pods are made than one sync may":       {job: makeJob().size(5, 5), perSync: 2, create: plain(2), wantAction: actionPodsCreated},
		"a suspended job loses all, however many":       {job: makeJob().size(3, 3).suspend().started(3), pods: []podWrapper{makePod("a"), makePod("b"), makePod("c")}, perSync: 2, remove: []string{"a", "b", "c"}, wantAction: actionPodsDeleted},
		"a work queue starts as many as may run":        {job: makeJob().workQueue(3), create: plain(3), wantAction: actionPodsCreated},
		"a work queue starts none after a success":      {job: makeJob().workQueue(3).started(1), pods: []podWrapper{makePod("a").succeeded(epoch), makePod("b").running()}, wantAction: actionTracking},
		"a work queue stops none after a success":       {job: makeJob().workQueue(1).started(2), pods: []podWrapper{makePod("a").succeeded(epoch), makePod("b").running(), makePod("c").running()}, wantAction: actionTracking},
		"a deleted pod is replaced before it has ended": {job: makeJob().started(1), pods: []podWrapper{makePod("a").running().terminating().released()}, create: plain(1), wantAction: actionPodsCreated},
		"not where only failed pods are replaced":       {job: makeJob().replaceFailedOnly().started(1), pods: []podWrapper{makePod("a").running().terminating()}, wantAction: actionTracking},
		"a failed pod is replaced after the back-off": {
			job: makeJob().started(1), pods: []podWrapper{makePod("a").failed(1, at(-4))}, wait: 6 * time.Second, wantAction: actionPodsCreated,
		},
		"which doubles with the failures before": {
			job: makeJob().started(1), pods: []podWrapper{makePod("a").failed(1, at(-4))}, backoff: backoffRecord{failures: 1, last: at(-20)},
			wait: 16 * time.Second, wantAction: actionPodsCreated,
		},
		"and is over after that": {job: makeJob().started(1), pods: []podWrapper{makePod("a").failed(1, at(-10))}, create: plain(1), wantAction: actionPodsCreated},
		"a success ends the back-off": {
			job: makeJob().size(1, 3).started(1), pods: []podWrapper{makePod("a").failed(1, at(-2)), makePod("b").succeeded(at(-1))},
			create: plain(1), wantAction: actionPodsCreated,
		},
		"the lowest indexes without a pod come first": {
			job: at3.DeepCopied().indexed().status(func(s *batchv1.JobStatus) { s.CompletedIndexes = "0" }), pods: []podWrapper{makePod("a").index(2)},
			create: []newPod{{index: 1}}, wantAction: actionPodsCreated,
		},
		"an index whose pod failed is tried again": {
			job: makeJob().size(3, 3).indexed().started(2), pods: []podWrapper{makePod("a").index(0), makePod("b").index(1).failed(1, at(-60)), makePod("c").index(2)},
			create: []newPod{{index: 1}}, wantAction: actionPodsCreated,
		},
		"an index whose pod terminates waits where only failed pods are replaced": {
			job: makeJob().size(2, 2).indexed().replaceFailedOnly().started(1), pods: []podWrapper{makePod("a").index(0).running().terminating()},
			create: []newPod{{index: 1}}, wantAction: actionPodsCreated,
		},
		"pods with an index that another has, or none, go before any is made": {
			job:    makeJob().size(3, 3).indexed().started(3),
			pods:   []podWrapper{makePod("a").index(0).running(), makePod("b").index(0), makePod("none"), makePod("far").index(3)},
			remove: []string{"none", "b", "far"}, wantAction: actionPodsDeleted,
		},
		"scaling an indexed job down removes the indexes beyond": {
			job: makeJob().size(1, 1).indexed().started(2), pods: []podWrapper{makePod("a").index(0), makePod("b").index(1)}, remove: []string{"b"}, wantAction: actionPodsDeleted,
		},
		"with a limit per index the first pods count no failure": {
			job: makeJob().size(2, 2).perIndex(1), create: []newPod{{index: 0, perIndex: true}, {index: 1, perIndex: true}}, wantAction: actionPodsCreated,
		},
		"a replacement counts the failure before it": {
			job: makeJob().size(1, 2).perIndex(3).started(1), pods: []podWrapper{makePod("a").index(0).failures(1, 1).failed(1, at(-60))},
			create: []newPod{{index: 0, perIndex: true, counted: 2, ignored: 1}}, wantAction: actionPodsCreated,
		},
		"or the ignored failure": {
			job:  makeJob().size(1, 2).perIndex(3).onExit(7, batchv1.PodFailurePolicyActionIgnore).started(1),
			pods: []podWrapper{makePod("a").index(0).failures(1, 0).failed(7, at(-60))}, create: []newPod{{index: 0, perIndex: true, counted: 1, ignored: 1}},
			wantAction: actionPodsCreated,
		},
		"indexes wait each on their own": {
			job: makeJob().size(2, 2).perIndex(3).started(2), pods: []podWrapper{makePod("a").index(0).failures(0, 0).failed(1, epoch), makePod("b").index(1).failures(0, 0).failed(1, at(-10))},
			create: []newPod{{index: 1, perIndex: true, counted: 1}}, wantAction: actionPodsCreated,
		},
		"if all wait, the shortest wait counts": {
			job: makeJob().size(2, 2).perIndex(3).started(2), pods: []podWrapper{makePod("a").index(0).failures(1, 0).failed(1, epoch), makePod("b").index(1).failures(0, 0).failed(1, at(-2))},
			wait: 8 * time.Second, wantAction: actionPodsCreated,
		},
		"an index that has failed for good is not tried again": {
			job: makeJob().size(2, 2).perIndex(0).started(2), pods: []podWrapper{makePod("a").index(0).failures(0, 0).failed(1, at(-60)), makePod("b").index(1).running()},
			wantAction: actionPodsCreated,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := takeSnapshot(tc.job, tc.pods...)
			s.backoff = tc.backoff
			if tc.perSync > 0 {
				s.limits.podsPerSync = tc.perSync
			}
			plan := planPods(s, count(s))
			assert.Equal(t, tc.create, plan.create, "pods to make")
			assert.ElementsMatch(t, tc.remove, names(plan.delete), "pods to delete")
			assert.Equal(t, tc.wait, plan.wait, "back-off")
			assert.Equal(t, tc.wantAction, plan.action)
		})
	}
}

func (w jobWrapper) DeepCopied() jobWrapper { return jobWrapper{w.DeepCopy()} }

func TestDecideManagesPodsOnlyWhenItMay(t *testing.T) {
	t.Run("a sync that waits for pods it made makes none", func(t *testing.T) {
		s := takeSnapshot(makeJob())
		s.settled = false
		d := decide(s)
		assert.False(t, d.managed)
		assert.Empty(t, d.pods.create)
		assert.Equal(t, actionReconciling, d.pods.action)
	})
	t.Run("a job that is being deleted gets no pods", func(t *testing.T) {
		d := decide(takeSnapshot(makeJob().deleting()))
		assert.False(t, d.managed)
		assert.Empty(t, d.pods.create)
	})
	t.Run("an outcome deletes what is active, even while pods are expected", func(t *testing.T) {
		s := takeSnapshot(makeJob().started(2).backoffLimit(0), makePod("a").failed(1, epoch), makePod("b").running())
		s.settled = false
		d := decide(s)
		assert.True(t, d.pods.counted)
		assert.Equal(t, []string{"b"}, names(d.pods.delete))
	})
}
