package job_test

import (
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/utils/clock"

	"github.com/musterkube/muster/pkg/controller/job"
)

func TestMain(m *testing.M) {
	// The second of the default handlers sleeps until a moment of the process's own clock, which a bubble never reaches.
	utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1]
	os.Exit(m.Run())
}

// inBubble runs a test in virtual time: hours pass as soon as everything waits for them.
func inBubble(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, test)
}

// pass lets time pass, and what it brings about happen.
func pass(d time.Duration) {
	<-clock.RealClock{}.After(d)
	synctest.Wait()
}

func TestBackoffDoublesInTime(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		w := newWorld(t)
		w.run(job.Options{})
		w.create(newJob("j", func(spec *batchv1.JobSpec) { spec.BackoffLimit = new(int32(20)) }))
		for failures, delay := range []time.Duration{10, 20, 40, 80, 160, 320, 600, 600} {
			pod := w.awaitActive(1)[0]
			w.fail(pod)
			pass(delay*time.Second - 2*time.Second)
			require.Empty(t, w.active(), "after failure %d", failures+1)
			require.Equal(t, int32(failures+1), w.job("j").Status.Failed)
			pass(3 * time.Second)
			require.Len(t, w.active(), 1, "after failure %d", failures+1)
		}
	})
}

func TestBackoffBeginsAnewWithAnotherController(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		w := newWorld(t)
		stop := w.run(job.Options{})
		w.create(newJob("j", nil))
		w.fail(w.awaitActive(1)[0])
		pass(2 * time.Second)
		require.Equal(t, int32(1), w.job("j").Status.Failed)
		stop()
		w.run(job.Options{})
		pass(2 * time.Second)
		assert.Len(t, w.active(), 1, "how the pod failed is forgotten with its count")
	})
}

func TestIndexesBackOffEachOnTheirOwn(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		w := newWorld(t)
		w.run(job.Options{})
		w.create(newJob("j", func(spec *batchv1.JobSpec) {
			indexed(2, 2)(spec)
			spec.BackoffLimitPerIndex = new(int32(5))
		}))
		pods := w.awaitActive(2)
		w.fail(pods[0])
		pass(5 * time.Second)
		w.fail(pods[1])
		pass(6 * time.Second)
		active := w.active()
		require.Len(t, active, 1, "ten seconds after its failure an index is tried again")
		assert.Equal(t, "0", active[0].Annotations[batchv1.JobCompletionIndexAnnotation])
		pass(5 * time.Second)
		assert.Len(t, w.active(), 2)
	})
}

func TestDeadlineEndsTheJobInTime(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		w := newWorld(t)
		w.run(job.Options{})
		w.create(newJob("j", func(spec *batchv1.JobSpec) { spec.ActiveDeadlineSeconds = new(int64(3600)) }))
		pods := w.bind(w.awaitActive(1)...)
		w.start(pods...)
		pass(3599 * time.Second)
		require.Empty(t, w.job("j").Status.Conditions)
		pass(2 * time.Second)
		j := w.awaitCondition("j", batchv1.JobFailureTarget)
		assert.Equal(t, "DeadlineExceeded", j.Status.Conditions[0].Reason)
		assert.NotNil(t, w.pod(pods[0].Name).DeletionTimestamp)
		w.remove(metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}, pods...)
		j = w.awaitCondition("j", batchv1.JobFailed)
		w.awaitReleased()
		assert.Equal(t, int32(1), j.Status.Failed)
	})
}

func TestDeadlineCanBeChangedAndBeginsAnewAfterSuspension(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		w := newWorld(t)
		w.run(job.Options{})
		w.create(newJob("j", nil))
		w.awaitActive(1)
		pass(50 * time.Second)
		w.patch("j", `{"spec":{"activeDeadlineSeconds":100}}`)
		pass(40 * time.Second)
		w.patch("j", `{"spec":{"suspend":true}}`)
		pass(time.Hour)
		w.patch("j", `{"spec":{"suspend":false}}`)
		pass(90 * time.Second)
		assert.Equal(t, int32(1), w.job("j").Status.Active)
		w.patch("j", `{"spec":{"activeDeadlineSeconds":80}}`)
		pass(2 * time.Second)
		j := w.awaitCondition("j", batchv1.JobFailed)
		assert.Equal(t, "DeadlineExceeded", j.Status.Conditions[len(j.Status.Conditions)-1].Reason)
	})
}

func TestSyncsGatherEvents(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		w := newWorld(t)
		w.run(job.Options{})
		w.create(newJob("j", size(20, 20)))
		pods := w.awaitActive(20)
		pass(3 * time.Second)
		before := w.job("j").ResourceVersion
		writes := w.countWrites("j", before)
		w.succeed(pods...)
		pass(10 * time.Second)
		require.Equal(t, int32(20), w.job("j").Status.Succeeded)
		assert.Equal(t, 2, writes(), "all pods are counted with two writes of the status, the second of which ends the job")
	})
}

// countWrites counts the versions of a Job after the one given.
func (w *world) countWrites(name, since string) func() int {
	w.Helper()
	watcher, err := w.client.BatchV1().Jobs(namespace).Watch(w.Context(), metav1.ListOptions{
		FieldSelector: "metadata.name=" + name, ResourceVersion: since,
	})
	require.NoError(w, err)
	var n atomic.Int32
	go func() {
		for range watcher.ResultChan() {
			n.Add(1)
		}
	}()
	return func() int {
		synctest.Wait()
		watcher.Stop()
		return int(n.Load())
	}
}

func TestQuotaIsNotHammered(t *testing.T) {
	// A namespace that is being deleted refuses every pod: one batch of one pod is tried, and then nothing for long.
	inBubble(t, func(t *testing.T) {
		w := newWorld(t)
		j := newJob("j", size(50, 50))
		j.Spec.Template.Spec.PriorityClassName = "no-such-class"
		w.run(job.Options{})
		w.create(j)
		pass(time.Second)
		var failures []string
		for _, e := range w.events("j") {
			failures = append(failures, fmt.Sprint(e))
		}
		require.Len(t, failures, 1, "one refusal is told, not fifty")
		assert.Contains(t, failures[0], "Warning FailedCreate Error creating: ")
		assert.Equal(t, int32(0), w.job("j").Status.Active)
		assert.Empty(t, w.allPods())
	})
}
