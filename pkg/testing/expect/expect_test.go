package expect_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/pkg/emulator"
	"github.com/musterkube/muster/pkg/emulator/emulatortest"
	"github.com/musterkube/muster/pkg/testing/expect"
	"github.com/musterkube/muster/pkg/testing/wrappers"
)

// later runs something after a while of virtual time, in the bubble of the test. What it asks for is done also if the test
// has seen enough before that.
func later(t *testing.T, after time.Duration, do func(ctx context.Context)) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		clock.RealClock{}.Sleep(after)
		do(context.WithoutCancel(t.Context()))
	}()
	t.Cleanup(func() { <-done })
}

// failing takes the place of a test that is to fail, and returns what it fails with.
func failing(t *testing.T, test func(t testing.TB)) string {
	t.Helper()
	stand := &standIn{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		test(stand)
	}()
	<-done
	return stand.message
}

type standIn struct {
	testing.TB

	message string
}

func (s *standIn) Fatalf(format string, args ...any) {
	s.message = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func TestEventuallySeesWhatComesToPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := emulatortest.Start(t, emulator.Options{})
		kube := kubernetes.NewForConfigOrDie(server.Config())
		jobs := kube.BatchV1().Jobs("default")
		began := clock.RealClock{}.Now()

		later(t, 10*time.Second, func(ctx context.Context) {
			_, err := jobs.Create(ctx, wrappers.MakeJob("work", "default").Obj(), metav1.CreateOptions{})
			assert.NoError(t, err)
			_, err = jobs.Create(ctx, wrappers.MakeJob("other", "default").Obj(), metav1.CreateOptions{})
			assert.NoError(t, err)
		})
		job := expect.Eventually(t, jobs, "work", expect.Exists[*batchv1.Job]())
		assert.Equal(t, "work", job.Name)
		assert.Equal(t, 10*time.Second, clock.RealClock{}.Since(began))

		later(t, time.Hour, func(ctx context.Context) {
			job := job.DeepCopy()
			job.Status.Active = 1
			job.Status.StartTime = new(metav1.Now())
			_, err := jobs.UpdateStatus(ctx, job, metav1.UpdateOptions{})
			assert.NoError(t, err)
		})
		job = expect.Within(t, 2*time.Hour, jobs, "work", expect.JobActive(1))
		assert.EqualValues(t, 1, job.Status.Active)

		later(t, time.Second, func(ctx context.Context) {
			assert.NoError(t, jobs.Delete(ctx, "work", metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)}))
		})
		assert.Nil(t, expect.Eventually(t, jobs, "work", expect.Gone[*batchv1.Job]()))
		assert.Nil(t, expect.Eventually(t, jobs, "never", expect.Gone[*batchv1.Job]()))
	})
}

func TestFailureShowsWhatWasSeenLast(t *testing.T) {
	cases := map[string]struct {
		before func(t *testing.T, kube kubernetes.Interface)
		want   string
	}{
		"nothing was there": {
			want: "waiting for g: within 1m0s it did not come to be Running.\nThere was no g.",
		},
		"another phase": {
			before: func(*testing.T, kubernetes.Interface) {},
			want: "waiting for p: within 1m0s it did not come to be Running.\nIt was last seen as\n\n" +
				"metadata:\n  creationTimestamp: \"2000-01-01T00:00:00Z\"\n  generation: 1\n  name: p\n  namespace: default\n",
		},
		"it was deleted": {
			before: func(t *testing.T, kube kubernetes.Interface) {
				t.Helper()
				later(t, time.Second, func(ctx context.Context) {
					assert.NoError(t, kube.CoreV1().Pods("default").Delete(ctx, "p", metav1.DeleteOptions{GracePeriodSeconds: new(int64)}))
				})
			},
			want: "waiting for p: within 1m0s it did not come to be Running.\nIt has been deleted, as\n\nmetadata:\n",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := emulatortest.Start(t, emulator.Options{})
				kube := kubernetes.NewForConfigOrDie(server.Config())
				object := "g"
				if tc.before != nil {
					object = "p"
					_, err := kube.CoreV1().Pods("default").Create(t.Context(), wrappers.MakePod("p", "default").Obj(), metav1.CreateOptions{})
					require.NoError(t, err)
					tc.before(t, kube)
				}
				message := failing(t, func(tb testing.TB) {
					tb.Helper()
					expect.Eventually(tb, kube.CoreV1().Pods("default"), object, expect.PodIs(corev1.PodRunning))
				})
				assert.Contains(t, message, tc.want)
				assert.NotContains(t, message, "managedFields")
			})
		})
	}
}

// stubborn is a client whose answers are errors, one after another, and then an object.
type stubborn struct {
	errors []error
	pod    *corev1.Pod
}

func (s *stubborn) Get(context.Context, string, metav1.GetOptions) (*corev1.Pod, error) {
	if len(s.errors) > 0 {
		err := s.errors[0]
		s.errors = s.errors[1:]
		return nil, err
	}
	return s.pod, nil
}

func (s *stubborn) Watch(context.Context, metav1.ListOptions) (watch.Interface, error) {
	expired := watch.NewFakeWithChanSize(1, false)
	gone := apierrors.NewResourceExpired("too old").Status()
	expired.Error(&gone)
	s.pod.Status.Phase = corev1.PodRunning
	return expired, nil
}

func TestErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := &stubborn{
			errors: []error{apierrors.NewTooManyRequests("later", 1), apierrors.NewInternalError(assert.AnError)},
			pod:    wrappers.MakePod("p", "default").Obj(),
		}
		pod := expect.Eventually(t, client, "p", expect.PodIs(corev1.PodRunning))
		assert.Equal(t, corev1.PodRunning, pod.Status.Phase)

		client.errors = []error{apierrors.NewForbidden(corev1.Resource("pods"), "p", assert.AnError)}
		message := failing(t, func(tb testing.TB) {
			tb.Helper()
			expect.Eventually(tb, client, "p", expect.PodReady())
		})
		assert.Contains(t, message, `waiting for p to be Ready: pods "p" is forbidden`)
	})
}

func TestConditions(t *testing.T) {
	noon := time.Date(2026, time.May, 1, 12, 0, 0, 0, time.UTC)
	scheduled := func(status metav1.ConditionStatus, reason string) *schedulingv1alpha2.PodGroup {
		return wrappers.MakePodGroup("g", "ns").Condition(schedulingv1alpha2.PodGroupScheduled, status, reason, noon).Obj()
	}
	job := wrappers.MakeJob("j", "ns")
	complete := job.Clone().Condition(batchv1.JobComplete, "", noon).Obj()
	pod := wrappers.MakePod("p", "ns")
	node := wrappers.MakeNode("n")
	checks(t, expect.JobIs(batchv1.JobComplete), complete, job.Obj())
	checks(t, expect.JobFinished(), complete, job.Clone().Condition(batchv1.JobSuspended, "", noon).Obj())
	checks(t, expect.JobActive(2), job.Clone().Active(2).Obj(), job.Obj())
	checks(t, expect.PodIs(corev1.PodFailed), pod.Clone().Exited(1, noon).Obj(), pod.Clone().Exited(0, noon).Obj())
	checks(t, expect.PodBound(), pod.Clone().Node("n").Obj(), pod.Obj())
	checks(t, expect.PodReady(), pod.Clone().Condition(corev1.PodReady, corev1.ConditionTrue, "").Obj(), pod.Obj())
	checks(t, expect.NodeReady(corev1.ConditionTrue), node.Obj(), node.Clone().Ready(corev1.ConditionUnknown).Obj())
	checks(t, expect.PodGroupScheduled(), scheduled(metav1.ConditionTrue, "Scheduled"), scheduled(metav1.ConditionFalse, "Unschedulable"))
	checks(t, expect.PodGroupUnschedulable(), scheduled(metav1.ConditionFalse, "Unschedulable"), scheduled(metav1.ConditionFalse, "SchedulerError"))
	checks(t, expect.That("have a node", func(p *corev1.Pod) bool { return p.Spec.NodeName != "" }), pod.Clone().Node("n").Obj(), pod.Obj())
}

func checks[T expect.Object](t *testing.T, condition expect.Condition[T], yes, no T) {
	t.Helper()
	assert.True(t, condition.Holds(yes, true), condition.String())
	assert.False(t, condition.Holds(no, true), condition.String())
	assert.False(t, condition.Holds(yes, false), condition.String())
}
