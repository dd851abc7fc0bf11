package scheduler_test

import (
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/musterkube/muster/pkg/features"
	"github.com/musterkube/muster/pkg/scheduler"
)

// bubble runs a test in virtual time, in a world of its own.
func bubble(t *testing.T, options scheduler.Options, test func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, options.Gates)
		w.start(options)
		test(w)
	})
}

func TestAGangIsBoundAsAWhole(t *testing.T) {
	bubble(t, scheduler.Options{}, func(w *world) {
		for _, name := range []string{"n1", "n2"} {
			w.node(name, "2", nil)
		}
		w.gang("g", 3)
		w.pods("1", "g", "a", "b")
		w.pass(time.Minute)
		assert.Empty(w.t, w.bound(), "a member is missing")
		status, _ := w.scheduled("g")
		assert.Empty(w.t, status, "nothing is said about a gang that is not complete")

		w.pods("1", "g", "c")
		w.pass(time.Millisecond)
		assert.Equal(w.t, []string{"a", "b", "c"}, w.bound())
		status, _ = w.scheduled("g")
		assert.Equal(w.t, metav1.ConditionTrue, status)

		events, err := w.kube.CoreV1().Events(namespace).List(w.t.Context(), metav1.ListOptions{})
		require.NoError(w.t, err)
		var notes []string
		for _, event := range events.Items {
			notes = append(notes, event.Type+" "+event.Reason+" "+event.Message)
		}
		assert.ElementsMatch(w.t, []string{
			"Normal Scheduled Successfully assigned default/a to n1",
			"Normal Scheduled Successfully assigned default/b to n2",
			"Normal Scheduled Successfully assigned default/c to n1",
		}, notes)
	})
}

func TestCompetingGangsNeverHoldHalfEach(t *testing.T) {
	bubble(t, scheduler.Options{}, func(w *world) {
		for _, name := range []string{"n1", "n2", "n3", "n4"} {
			w.node(name, "1", nil)
		}
		w.gang("g", 3)
		w.gang("h", 3)
		for _, i := range []string{"1", "2", "3"} {
			w.pods("1", "g", "g"+i)
			w.pods("1", "h", "h"+i)
		}
		w.pass(time.Minute)
		assert.Equal(w.t, []string{"g1", "g2", "g3"}, w.bound())
		status, message := w.scheduled("h")
		assert.Equal(w.t, metav1.ConditionFalse, status)
		assert.Equal(w.t, "0/1 placements are available, first placement status: pod group is unschedulable, No preemption victims found for incoming preemptor", message)

		for _, name := range []string{"g1", "g2", "g3"} {
			w.finish(name, corev1.PodSucceeded)
		}
		w.pass(time.Second)
		assert.Equal(w.t, []string{"g1", "g2", "g3", "h1", "h2", "h3"}, w.bound())
		status, _ = w.scheduled("h")
		assert.Equal(w.t, metav1.ConditionTrue, status)
	})
}

func TestARetryIsPlacedAfterAnotherMemberHasSucceeded(t *testing.T) {
	for name, tc := range map[string]struct {
		parity bool
		want   []string
	}{
		"by default":          {want: []string{"a", "b", "b2", "c"}},
		"but not with parity": {parity: true, want: []string{"a", "b", "c"}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, scheduler.Options{Parity: tc.parity}, func(w *world) {
				w.node("n1", "3", nil)
				w.gang("g", 3)
				w.pods("1", "g", "a", "b", "c")
				w.pass(time.Second)
				w.finish("a", corev1.PodSucceeded)
				w.finish("b", corev1.PodFailed)
				w.pods("1", "g", "b2")
				w.pass(time.Minute)
				assert.Equal(w.t, tc.want, w.bound())
				status, _ := w.scheduled("g")
				assert.Equal(w.t, metav1.ConditionTrue, status, "once scheduled a group stays so")
			})
		})
	}
}

func TestBackOff(t *testing.T) {
	for name, tc := range map[string]struct {
		parity bool
		// wantAfter is how long the gang waits for its place, which is there 20 seconds after its first attempt.
		wantAfter time.Duration
	}{
		// Attempts at 0, 1, 3, 7, 15 and 25 seconds.
		"with parity a group waits for its turn": {parity: true, wantAfter: 5 * time.Second},
		"by default room is used at once":        {wantAfter: 0},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, scheduler.Options{Parity: tc.parity}, func(w *world) {
				w.node("n1", "1", nil)
				w.gang("g", 2)
				w.pods("1", "g", "a", "b")
				w.pass(20 * time.Second)
				assert.Empty(w.t, w.bound())
				w.node("n2", "1", nil)
				if tc.wantAfter > 0 {
					w.pass(tc.wantAfter - 10*time.Millisecond)
					assert.Empty(w.t, w.bound())
				}
				w.pass(20 * time.Millisecond)
				assert.Equal(w.t, []string{"a", "b"}, w.bound())
			})
		})
	}
}

func TestAMemberThatComesLaterEndsTheBackOff(t *testing.T) {
	bubble(t, scheduler.Options{Parity: true}, func(w *world) {
		w.node("n1", "2", nil)
		w.gang("g", 2)
		w.pod("a", podSpec("1", "g"))
		w.pod("huge", podSpec("5", "g"))
		w.pass(16 * time.Second)
		assert.Empty(w.t, w.bound())
		w.pod("b", podSpec("1", "g"))
		w.pass(10 * time.Millisecond)
		assert.Equal(w.t, []string{"a", "b"}, w.bound())
	})
}

func TestAGateIsLifted(t *testing.T) {
	bubble(t, scheduler.Options{}, func(w *world) {
		w.node("n1", "2", nil)
		spec := podSpec("1", "")
		spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/hold"}}
		w.pod("a", spec)
		w.pass(time.Minute)
		assert.Empty(w.t, w.bound())
		pod := w.getPod("a")
		pod.Spec.SchedulingGates = nil
		_, err := w.kube.CoreV1().Pods(namespace).Update(w.t.Context(), pod, metav1.UpdateOptions{})
		require.NoError(w.t, err)
		w.pass(10 * time.Millisecond)
		assert.Equal(w.t, []string{"a"}, w.bound())
	})
}

func TestAPodThatDoesNotFitIsTold(t *testing.T) {
	bubble(t, scheduler.Options{}, func(w *world) {
		w.node("n1", "1", nil)
		w.pods("2", "", "a")
		w.pass(time.Hour)
		pod := w.getPod("a")
		require.Len(w.t, pod.Status.Conditions, 1)
		condition := pod.Status.Conditions[0]
		assert.Equal(w.t, corev1.PodScheduled, condition.Type)
		assert.Equal(w.t, corev1.ConditionFalse, condition.Status)
		assert.Equal(w.t, corev1.PodReasonUnschedulable, condition.Reason)
		assert.Equal(w.t, "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.", condition.Message)

		// A pod on its own is tried again when something changes, not by the hour.
		events, err := w.kube.CoreV1().Events(namespace).List(w.t.Context(), metav1.ListOptions{})
		require.NoError(w.t, err)
		require.Len(w.t, events.Items, 1)
		assert.Equal(w.t, "FailedScheduling", events.Items[0].Reason)
		assert.EqualValues(w.t, 1, max(1, events.Items[0].Count))

		w.node("n2", "2", nil)
		w.pass(time.Second)
		assert.Equal(w.t, []string{"a"}, w.bound())
	})
}

func TestWithoutGroupsASchedulerNeedsNoPodGroups(t *testing.T) {
	bubble(t, scheduler.Options{Gates: features.KubernetesDefaults()}, func(w *world) {
		w.node("n1", "1", nil)
		w.pods("1", "", "a")
		w.pass(time.Second)
		assert.Equal(w.t, []string{"a"}, w.bound())
	})
}

func TestWithoutPodGroupsInTheAPITheSchedulerSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, features.KubernetesDefaults())
		s, err := scheduler.New(w.cfg, scheduler.Options{})
		require.NoError(t, err)
		err = s.Run(t.Context())
		require.ErrorIs(t, err, scheduler.ErrNotServed)
		require.ErrorContains(t, err, "starting scheduler: scheduling.k8s.io/v1alpha2 is not served: without PodGroups, switch the gate GenericWorkload off")
		require.ErrorContains(t, s.Run(t.Context()), "it runs already or has run", "a scheduler runs once")
	})
}

func TestPodsOfAnotherSchedulerAreLeftAlone(t *testing.T) {
	bubble(t, scheduler.Options{SchedulerName: "ours"}, func(w *world) {
		w.node("n1", "4", nil)
		w.gang("g", 2)
		spec := podSpec("1", "g")
		spec.SchedulerName = "ours"
		w.pod("a", spec)
		w.pod("b", spec)
		w.pods("1", "", "c")
		w.pass(time.Minute)
		assert.Equal(w.t, []string{"a", "b"}, w.bound())
	})
}

func TestASchedulerThatComesLaterGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, features.Gates{})
		w.node("n1", "2", nil)
		w.gang("g", 3)
		w.pods("1", "g", "a", "b", "c")
		stop := w.start(scheduler.Options{})
		w.pass(time.Minute)
		stop()
		assert.Empty(t, w.bound())
		w.node("n2", "1", nil)
		w.pass(time.Minute)
		w.start(scheduler.Options{})
		w.pass(time.Second)
		assert.Equal(t, []string{"a", "b", "c"}, w.bound())
	})
}

// failOnce fails the first request with that method and end of path.
type failOnce struct {
	next         http.RoundTripper
	method, path string
	failed       atomic.Bool
}

func (f *failOnce) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method == f.method && strings.HasSuffix(request.URL.Path, f.path) && f.failed.CompareAndSwap(false, true) {
		return nil, errors.New("the wire was cut")
	}
	return f.next.RoundTrip(request)
}

func TestABindingThatFailsIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, features.Gates{})
		w.cfg = rest.CopyConfig(w.cfg)
		w.cfg.Wrap(func(next http.RoundTripper) http.RoundTripper {
			return &failOnce{next: next, method: http.MethodPost, path: "/pods/b/binding"}
		})
		w.node("n1", "2", nil)
		w.gang("g", 2)
		w.start(scheduler.Options{})
		w.pods("1", "g", "a", "b")
		w.pass(500 * time.Millisecond)
		assert.Equal(t, []string{"a"}, w.bound(), "one binding does not undo another")
		w.pass(time.Second)
		assert.Equal(t, []string{"a", "b"}, w.bound())
		status, _ := w.scheduled("g")
		assert.Equal(t, metav1.ConditionTrue, status)
	})
}

func TestALostConditionIsWrittenByTheNextAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, features.Gates{})
		w.cfg = rest.CopyConfig(w.cfg)
		w.cfg.Wrap(func(next http.RoundTripper) http.RoundTripper {
			return &failOnce{next: next, method: http.MethodPatch, path: "/podgroups/g/status"}
		})
		w.gang("g", 1)
		w.start(scheduler.Options{})
		w.pods("1", "g", "a")
		w.pass(500 * time.Millisecond)
		status, _ := w.scheduled("g")
		assert.Empty(t, status)
		w.pass(time.Second)
		status, _ = w.scheduled("g")
		assert.Equal(t, metav1.ConditionFalse, status)
	})
}
