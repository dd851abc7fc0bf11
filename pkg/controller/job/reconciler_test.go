package job

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/musterkube/muster/pkg/features"
)

// counting is a metrics that keeps what it was told.
type counting struct {
	mu     sync.Mutex
	counts map[string]int
}

func (c *counting) add(what string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts[what] += n
}

func (c *counting) queues() workqueue.MetricsProvider { return nil }

func (c *counting) synced(_ *batchv1.Job, action syncAction, _ time.Duration, err error) {
	if err != nil {
		c.add("failed syncs", 1)
	}
	c.add("sync "+string(action), 1)
}
func (c *counting) staleSync(_, resource string)                   { c.add("stale "+resource, 1) }
func (c *counting) finished(_ *batchv1.Job, o *outcome)            { c.add("finished "+o.reason, 1) }
func (c *counting) podsCreated(reason string, done, _ int)         { c.add("created "+reason, done) }
func (c *counting) managedByOther(controller string)               { c.add("managed by "+controller, 1) }
func (c *counting) statusWritten(*batchv1.Job, *batchv1.JobStatus) { c.add("status", 1) }
func (c *counting) finishedPodTracked(appeared bool) {
	if appeared {
		c.add("tracked", 1)
	} else {
		c.add("tracked", -1)
	}
}
func (c *counting) failureHandled(action batchv1.PodFailurePolicyAction, n int) {
	c.add("handled "+string(action), n)
}

// testReconciler is a reconciler whose caches hold what the test puts there, on a client that holds the same.
type testReconciler struct {
	*reconciler
	ctx    context.Context //nolint:containedctx // one test's
	client *fake.Clientset
	counts map[string]int
}

func newTestReconciler(t *testing.T, job jobWrapper, pods ...podWrapper) *testReconciler {
	t.Helper()
	client := fake.NewClientset(job.Job)
	for _, pod := range pods {
		require.NoError(t, client.Tracker().Add(pod.Pod))
	}
	// The fake does not make names.
	client.PrependReactor("create", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		pod := action.(clienttesting.CreateAction).GetObject().(*corev1.Pod)
		pod.Name = pod.GenerateName + rand.String(5)
		return false, nil, nil
	})
	c := newController(client, nil, Options{Gates: features.KubernetesDefaults()})
	counted := &counting{counts: map[string]int{}}
	c.metrics = counted
	r := &testReconciler{newReconciler(c), klog.NewContext(t.Context(), logr.Discard()), client, counted.counts}
	t.Cleanup(r.shutDownQueues)
	require.NoError(t, r.jobStore.Add(job.Job))
	for _, pod := range pods {
		require.NoError(t, r.podStore.Add(pod.Pod))
	}
	return r
}

// writes returns the verbs and resources of the writes, without events.
func (r *testReconciler) writes() []string {
	var writes []string
	for _, action := range r.client.Actions() {
		if what := action.GetVerb() + " " + action.GetResource().Resource; !slices.Contains([]string{"get", "list", "watch"}, action.GetVerb()) {
			if action.GetSubresource() != "" {
				what += "/" + action.GetSubresource()
			}
			writes = append(writes, what)
		}
	}
	return writes
}

func (r *testReconciler) toldReasons() []string {
	var reasons []string
	for len(r.events.queue) > 0 {
		reasons = append(reasons, (<-r.events.queue).Reason)
	}
	return reasons
}

func TestSyncWritesNoMoreThanTheProtocolNeeds(t *testing.T) {
	tests := map[string]struct {
		job  jobWrapper
		pods []podWrapper
		want []string
	}{
		"a job that starts": {job: makeJob(), want: []string{"create pods", "update jobs/status"}},
		"a job that runs":   {job: makeJob().started(1), pods: []podWrapper{makePod("a")}},
		"a pod that ends, and the job with it": {
			job: makeJob().started(1), pods: []podWrapper{makePod("a").succeeded(epoch)},
			want: []string{"update jobs/status", "patch pods", "update jobs/status"},
		},
		"a pod that ends while the job goes on": {
			job: makeJob().size(2, 2).started(2), pods: []podWrapper{makePod("a").succeeded(epoch), makePod("b")},
			want: []string{"update jobs/status", "patch pods", "update jobs/status"},
		},
		"an index that ends while the job goes on": {
			job: makeJob().size(2, 2).indexed().started(2), pods: []podWrapper{makePod("a").index(0).succeeded(epoch), makePod("b").index(1)},
			want: []string{"update jobs/status", "patch pods"},
		},
		"a finished job":              {job: makeJob().started(0).condition(batchv1.JobComplete, corev1.ConditionTrue, "R", "m"), pods: []podWrapper{makePod("a").succeeded(epoch)}},
		"a job of another":            {job: ofAnother(makeJob())},
		"a job of an unknown mode":    {job: ofMode(makeJob(), "Sorted")},
		"a job that is being deleted": {job: makeJob().started(1).deleting(), pods: []podWrapper{makePod("a")}, want: []string{"patch pods"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := newTestReconciler(t, tc.job, tc.pods...)
			require.NoError(t, r.sync(r.ctx, keyOf(tc.job.Job)))
			assert.Equal(t, tc.want, r.writes())
		})
	}
}

func ofAnother(job jobWrapper) jobWrapper {
	job = jobWrapper{job.DeepCopy()}
	job.Spec.ManagedBy = new("example.com/other")
	return job
}

func ofMode(job jobWrapper, mode batchv1.CompletionMode) jobWrapper {
	job.Spec.CompletionMode = &mode
	return job
}

func TestSyncLeavesAJobAloneThatHasFinishedUnseen(t *testing.T) {
	job := makeJob().started(0)
	r := newTestReconciler(t, job)
	r.memory.setFinished(keyOf(job.Job))
	require.NoError(t, r.sync(r.ctx, keyOf(job.Job)))
	assert.Empty(t, r.writes())

	again := jobWrapper{job.DeepCopy()}
	again.UID = "another"
	require.NoError(t, r.jobStore.Update(again.Job))
	require.NoError(t, r.sync(r.ctx, keyOf(again.Job)))
	assert.Contains(t, r.writes(), "create pods", "a job of the same name is another one")
}

func TestSyncForgetsAJobThatIsGone(t *testing.T) {
	job := makeJob()
	r := newTestReconciler(t, job)
	r.memory.setFinished(keyOf(job.Job))
	require.NoError(t, r.jobStore.Delete(job.Job))
	require.NoError(t, r.sync(r.ctx, keyOf(job.Job)))
	assert.Empty(t, r.memory.records)
	assert.Empty(t, r.writes())
}

func TestSyncsThatFailComeAgain(t *testing.T) {
	job := makeJob().started(1)
	tests := map[string]struct {
		err  error
		wait time.Duration
	}{
		"soon after a conflict, which the cache will show": {apierrors.NewConflict(batchv1.Resource("jobs"), "j", nil), firstStaleRetry},
		"later after anything else":                        {apierrors.NewInternalError(errors.New("no")), time.Second},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newTestReconciler(t, job, makePod("a").succeeded(epoch))
				r.client.PrependReactor("update", "jobs", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, tc.err })
				r.processJob(r.ctx, keyOf(job.Job))
				<-clock.RealClock{}.After(tc.wait - time.Millisecond)
				synctest.Wait()
				require.Zero(t, r.queue.Len())
				<-clock.RealClock{}.After(time.Millisecond)
				synctest.Wait()
				assert.Equal(t, 1, r.queue.Len())
				assert.Equal(t, 1, r.counts["failed syncs"])
			})
		})
	}
}

func TestPodsAreMadeInGrowingBatches(t *testing.T) {
	// Ten pods come in batches of 1, 2, 4 and 3. The fourth is refused: what its batch has made stands, the rest waits.
	job := makeJob().size(10, 10)
	r := newTestReconciler(t, job)
	var mu sync.Mutex
	tries := 0
	r.client.PrependReactor("create", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
		mu.Lock()
		defer mu.Unlock()
		tries++
		return tries == 4, nil, apierrors.NewForbidden(corev1.Resource("pods"), "", errors.New("exceeded quota"))
	})
	err := r.sync(r.ctx, keyOf(job.Job))
	require.ErrorContains(t, err, "exceeded quota")
	assert.Equal(t, 7, tries)
	assert.Equal(t, map[string]int{"SuccessfulCreate": 6, "FailedCreate": 1}, countEach(r.toldReasons()))
	stored, err := r.client.BatchV1().Jobs("ns").Get(t.Context(), "j", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, int32(6), stored.Status.Active, "the status is right all the same")
	r.memory.view(keyOf(job.Job), func(record *jobRecord) {
		assert.Equal(t, 6, record.creations, "only pods that exist are waited for")
	})
}

func countEach(values []string) map[string]int {
	counts := map[string]int{}
	for _, value := range values {
		counts[value]++
	}
	return counts
}

func TestPodsAreDeletedByUID(t *testing.T) {
	job := makeJob().size(0, 1).started(1)
	r := newTestReconciler(t, job, makePod("a"))
	require.NoError(t, r.sync(r.ctx, keyOf(job.Job)))
	require.Equal(t, []string{"patch pods", "delete pods", "update jobs/status"}, r.writes())
	for _, action := range r.client.Actions() {
		switch action := action.(type) {
		case clienttesting.PatchAction:
			assert.Contains(t, string(action.GetPatch()), `"uid":"a"`)
		case clienttesting.DeleteAction:
			assert.Equal(t, metav1.NewUIDPreconditions("a"), action.GetDeleteOptions().Preconditions)
		}
	}
}

func TestOutcomeIsStoredBeforePodsAreStoppedForIt(t *testing.T) {
	job := makeJob().size(2, 2).backoffLimit(0).started(2)
	pods := []podWrapper{makePod("a").failed(1, epoch), makePod("b").running()}
	all := []string{"update jobs/status", "delete pods", "update jobs/status", "patch pods", "patch pods", "update jobs/status"}
	for parity, want := range map[bool][]string{false: all, true: all[1:]} {
		r := newTestReconciler(t, jobWrapper{job.DeepCopy()}, pods...)
		r.better = deviationsOf(parity)
		require.NoError(t, r.sync(r.ctx, keyOf(job.Job)))
		assert.Equal(t, want, r.writes(), "parity %v", parity)
	}
}

func TestPodsInTheCacheAreNotExpected(t *testing.T) {
	job := makeJob()
	key := keyOf(job.Job)
	for version, settled := range map[string]bool{"20": true, "": false} {
		r := newTestReconciler(t, job)
		r.podStore.Bookmark("20")
		r.memory.expectCreations(key, 1)
		if version != "" {
			r.memory.wrotePod(key, version)
		}
		require.NoError(t, r.upToDate(key))
		assert.Equal(t, settled, r.memory.settled(key), "pod written at %q", version)
	}
}

func TestSyncTellsOfAnUnknownMode(t *testing.T) {
	job := ofMode(makeJob(), "Sorted")
	r := newTestReconciler(t, job)
	require.NoError(t, r.sync(r.ctx, keyOf(job.Job)))
	assert.Equal(t, []string{"UnknownCompletionMode"}, r.toldReasons())
}

func TestMetricsAreTold(t *testing.T) {
	job := makeJob().size(2, 3).onExit(9, batchv1.PodFailurePolicyActionIgnore).started(2)
	r := newTestReconciler(t, job, makePod("a").failed(9, at(-60)), makePod("b").succeeded(epoch))
	handler := r.podHandler()
	for _, object := range r.podStore.List() {
		handler.OnAdd(object, true)
	}
	require.NoError(t, r.sync(r.ctx, keyOf(job.Job)))
	assert.Equal(t, map[string]int{
		"tracked": 2, "sync pods_created": 1, "created new": 2, "status": 2, "handled Ignore": 1,
	}, r.counts)

	r.jobHandler().OnAdd(ofAnother(makeJob()).Job, false)
	assert.Equal(t, 1, r.counts["managed by example.com/other"])

	done := makeJob().started(0).withSucceeded(1)
	r = newTestReconciler(t, done)
	require.NoError(t, r.sync(r.ctx, keyOf(done.Job)))
	assert.Equal(t, 1, r.counts["finished CompletionsReached"])
	assert.Equal(t, []string{"Completed"}, r.toldReasons())
}

func (w jobWrapper) withSucceeded(n int32) jobWrapper {
	w.Status.Succeeded = n
	return w
}

// queued returns what is in the queue now, in order.
func queued[K comparable](q interface {
	Len() int
	Get() (K, bool)
	Done(K)
}) []K {
	var keys []K
	for q.Len() > 0 {
		key, _ := q.Get()
		q.Done(key)
		keys = append(keys, key)
	}
	return keys
}

func TestHandlersQueueWhatMustBeSeenTo(t *testing.T) {
	running := makeJob().started(1)
	finished := makeJob().started(0).condition(batchv1.JobComplete, corev1.ConditionTrue, "R", "m")
	bySelector := orphanKey{namespace: "ns", selector: "batch.kubernetes.io/controller-uid=job-uid"}
	pod := makePod("a")
	orphan := orphanPod(pod.Pod)
	unowned := makePod("a")
	unowned.OwnerReferences = nil
	later := func(w podWrapper) podWrapper {
		w = podWrapper{w.DeepCopy()}
		w.ResourceVersion = "21"
		return w
	}
	again := makeJob()
	again.UID = "another"

	tests := map[string]struct {
		job     jobWrapper
		event   func(r *reconciler)
		syncs   bool
		orphans []orphanKey
	}{
		"a new job is synced":                                {job: running, event: func(r *reconciler) { r.jobHandler().OnAdd(running.Job, false) }, syncs: true},
		"a job of another is, for its user to be told":       {job: running, event: func(r *reconciler) { r.jobHandler().OnAdd(ofAnother(makeJob()).Job, false) }, syncs: true},
		"but not when it changes":                            {job: running, event: func(r *reconciler) { r.jobHandler().OnUpdate(ofAnother(makeJob()).Job, ofAnother(makeJob()).Job) }},
		"a job that changes is synced":                       {job: running, event: func(r *reconciler) { r.jobHandler().OnUpdate(running.Job, running.Job) }, syncs: true},
		"a job that finishes is not, but its pods are freed": {job: finished, event: func(r *reconciler) { r.jobHandler().OnUpdate(running.Job, finished.Job) }, orphans: []orphanKey{bySelector}},
		"a job that goes is forgotten and its pods freed":    {job: running, event: func(r *reconciler) { r.jobHandler().OnDelete(running.Job) }, syncs: true, orphans: []orphanKey{bySelector}},
		"also if only its last state is known": {
			job: running, event: func(r *reconciler) { r.jobHandler().OnDelete(cache.DeletedFinalStateUnknown{Obj: running.Job}) }, syncs: true, orphans: []orphanKey{bySelector},
		},
		"a job that was made again unseen is both":      {job: again, event: func(r *reconciler) { r.jobHandler().OnUpdate(running.Job, again.Job) }, syncs: true, orphans: []orphanKey{bySelector}},
		"a new pod syncs its job":                       {job: running, event: func(r *reconciler) { r.podHandler().OnAdd(pod.Pod, false) }, syncs: true},
		"a pod of a finished job is freed":              {job: finished, event: func(r *reconciler) { r.podHandler().OnAdd(pod.Pod, false) }, orphans: []orphanKey{orphan}},
		"a pod of a job that is not there is looked at": {job: again, event: func(r *reconciler) { r.podHandler().OnAdd(pod.Pod, false) }, orphans: []orphanKey{orphan}},
		"a pod without owner is freed and offered":      {job: running, event: func(r *reconciler) { r.podHandler().OnAdd(unowned.Pod, false) }, syncs: true, orphans: []orphanKey{orphan}},
		"a pod that nothing new is known of is left":    {job: running, event: func(r *reconciler) { r.podHandler().OnUpdate(pod.Pod, pod.Pod) }},
		"a pod that changes syncs its job":              {job: running, event: func(r *reconciler) { r.podHandler().OnUpdate(pod.Pod, later(pod).Pod) }, syncs: true},
		"a pod that loses its owner syncs that":         {job: running, event: func(r *reconciler) { r.podHandler().OnUpdate(pod.Pod, later(unowned).Pod) }, syncs: true, orphans: []orphanKey{orphan}},
		"a pod without owner is not offered again":      {job: running, event: func(r *reconciler) { r.podHandler().OnUpdate(unowned.Pod, later(unowned).Pod) }, orphans: []orphanKey{orphan}},
		"a pod that goes syncs its job":                 {job: running, event: func(r *reconciler) { r.podHandler().OnDelete(pod.Pod) }, syncs: true},
		"a pod that is going of a finished job is freed": {
			job: finished, event: func(r *reconciler) { r.podHandler().OnUpdate(pod.Pod, later(makePod("a").terminating()).Pod) }, orphans: []orphanKey{orphan},
		},
		"a pod that is gone needs nothing":    {job: finished, event: func(r *reconciler) { r.podHandler().OnDelete(pod.Pod) }},
		"a pod of another's job is left":      {job: ofAnother(makeJob()), event: func(r *reconciler) { r.podHandler().OnDelete(pod.Pod) }},
		"something that is no pod is nothing": {job: running, event: func(r *reconciler) { r.podHandler().OnDelete("?"); r.jobHandler().OnDelete(3) }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newTestReconciler(t, tc.job)
				tc.event(r.reconciler)
				<-clock.RealClock{}.After(2 * time.Second)
				synctest.Wait()
				assert.Equal(t, tc.syncs, len(queued(r.queue)) > 0, "sync")
				assert.Equal(t, tc.orphans, queued(r.orphans))
			})
		})
	}
}

func TestEventsOfPodsFulfilWhatIsExpected(t *testing.T) {
	job := makeJob().started(1)
	key := keyOf(job.Job)
	t.Run("a pod that was made", func(t *testing.T) {
		r := newTestReconciler(t, job)
		r.memory.expectCreations(key, 1)
		r.podHandler().OnAdd(makePod("a").Pod, false)
		assert.True(t, r.memory.settled(key))
	})
	t.Run("not one that is going already", func(t *testing.T) {
		r := newTestReconciler(t, job)
		r.memory.expectCreations(key, 1)
		r.podHandler().OnAdd(makePod("a").terminating().Pod, false)
		assert.False(t, r.memory.settled(key))
	})
	t.Run("a pod that was deleted", func(t *testing.T) {
		r := newTestReconciler(t, job)
		r.memory.expectDeletions(key, 1)
		r.podHandler().OnDelete(makePod("a").Pod)
		assert.True(t, r.memory.settled(key))
	})
	t.Run("a finalizer that went", func(t *testing.T) {
		r := newTestReconciler(t, job)
		r.memory.expectRemovals(key, []types.UID{"a", "b", "c"})
		gone := makePod("a").released()
		gone.ResourceVersion = "21"
		r.podHandler().OnUpdate(makePod("a").Pod, gone.Pod)
		r.podHandler().OnDelete(makePod("b").Pod)
		assert.Equal(t, []types.UID{"c"}, r.memory.awaited(key).UnsortedList())
	})
}

func TestOrphansAreFreedUnlessTheirJobCountsThem(t *testing.T) {
	foreign := makePod("a")
	foreign.OwnerReferences = []metav1.OwnerReference{{APIVersion: "example.com/v1", Kind: "Job", Name: "j", UID: "x", Controller: new(true)}}
	unowned := makePod("a")
	unowned.OwnerReferences = nil
	other := makeJob()
	other.UID = "another"
	finished := makeJob().started(0).condition(batchv1.JobFailed, corev1.ConditionTrue, "R", "m")

	tests := map[string]struct {
		cached, live jobWrapper
		pod          podWrapper
		freed        bool
	}{
		"its job runs":                       {cached: makeJob(), pod: makePod("a")},
		"its job has finished":               {cached: finished, pod: makePod("a"), freed: true},
		"its job has finished under another": {cached: ofAnother(finished), pod: makePod("a")},
		"its job was replaced":               {cached: other, live: other, pod: makePod("a"), freed: true},
		"its job is too new for the cache":   {cached: other, live: makeJob(), pod: makePod("a")},
		"nothing owns it":                    {cached: makeJob(), pod: unowned, freed: true},
		"something else owns it":             {cached: makeJob(), pod: foreign},
		"it has no finalizer":                {cached: finished, pod: makePod("a").released()},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			stored := tc.live
			if stored.Job == nil {
				stored = tc.cached
			}
			r := newTestReconciler(t, stored, tc.pod)
			require.NoError(t, r.jobStore.Update(tc.cached.Job))
			require.NoError(t, r.syncOrphans(r.ctx, orphanPod(tc.pod.Pod)))
			assert.Equal(t, tc.freed, len(r.writes()) > 0)
		})
	}
}
