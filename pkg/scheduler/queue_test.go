package scheduler

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
)

func TestBackOffGrowsToTenSeconds(t *testing.T) {
	for attempts, want := range map[int]time.Duration{
		1: time.Second, 2: 2 * time.Second, 3: 4 * time.Second, 4: 8 * time.Second, 5: 10 * time.Second, 1000: 10 * time.Second,
	} {
		assert.Equal(t, want, backoffAfter(attempts), "after %d failures", attempts)
	}
}

// key and pod make units for queue tests that differ in name and priority.
func queueKey(name string) unitKey {
	return unitKey{NamespacedName: types.NamespacedName{Namespace: "ns", Name: name}}
}

func queuePod(name string, priority int32) *podInfo {
	return newPodInfo(makePod(name, "1").Priority(priority).Obj(), true)
}

func popAll(q *queue, now time.Time) []string {
	var names []string
	for u := q.pop(now); u != nil; u = q.pop(now) {
		names = append(names, u.key.Name)
	}
	return names
}

func TestQueueGivesTheMostUrgentFirst(t *testing.T) {
	q := newQueue()
	q.activate(queueKey("low"), queuePod("low", 1))
	q.activate(queueKey("high"), queuePod("high", 9))
	q.activate(queueKey("mid"), queuePod("mid", 5))
	q.activate(queueKey("high"), queuePod("high", 9))
	assert.Equal(t, []string{"high", "mid", "low"}, popAll(q, epoch()))
}

func TestQueueAfterAFailure(t *testing.T) {
	const (
		retried  = "after its back-off"
		soon     = "after the settling time"
		never    = "never"
		atOnce   = "at once"
		nowEpoch = time.Duration(0)
	)
	for name, tc := range map[string]struct {
		park, parity bool
		during       func(*queue, *unit)
		after        func(*queue, *unit)
		want         string
	}{
		"a group comes back by itself":                         {want: retried},
		"a pod on its own does not":                            {park: true, want: never},
		"a change brings a group forward":                      {after: hurryUnit(false), want: soon},
		"but not with parity":                                  {parity: true, after: hurryUnit(true), want: retried},
		"a change brings a pod back":                           {park: true, after: hurryUnit(false), want: soon},
		"with parity after its back-off":                       {park: true, parity: true, after: hurryUnit(true), want: retried},
		"a change during the attempt counts":                   {park: true, during: hurryUnit(false), want: soon},
		"with parity too":                                      {park: true, parity: true, during: hurryUnit(true), want: retried},
		"what changes itself during the attempt starts afresh": {during: activateUnit, want: atOnce},
		"what changes itself afterwards as well":               {parity: true, after: activateUnit, want: atOnce},
	} {
		t.Run(name, func(t *testing.T) {
			q := newQueue()
			q.activate(queueKey("u"), queuePod("u", 0))
			u := q.pop(epoch())
			require.NotNil(t, u)
			if tc.during != nil {
				tc.during(q, u)
			}
			q.retry(u, epoch(), tc.park, tc.parity)
			if tc.after != nil {
				tc.after(q, u)
			}
			got := never
			for _, step := range []struct {
				at   time.Duration
				name string
			}{{nowEpoch, atOnce}, {settle, soon}, {backoffFirst, retried}} {
				if q.pop(epoch().Add(step.at)) != nil {
					got = step.name
					break
				}
			}
			assert.Equal(t, tc.want, got)
		})
	}
}

func hurryUnit(parity bool) func(*queue, *unit) {
	return func(q *queue, u *unit) { q.hurry(u, epoch(), parity) }
}

func activateUnit(q *queue, u *unit) { q.activate(u.key, u.urgency) }

func TestQueueForgetsWhatIsDone(t *testing.T) {
	q := newQueue()
	q.activate(queueKey("u"), queuePod("u", 0))
	u := q.pop(epoch())
	q.retry(u, epoch(), false, false)
	due, found := q.next()
	require.True(t, found)
	assert.Equal(t, epoch().Add(backoffFirst), due)
	q.drop(u.key)
	_, found = q.next()
	assert.False(t, found)
	q.activate(queueKey("u"), queuePod("u", 0))
	assert.Zero(t, q.pop(epoch()).attempts, "a unit that comes again is a new one")
}
