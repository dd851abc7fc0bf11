package job

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

// telling runs an event writer while f tells, and returns what it has written.
func telling(t *testing.T, client *fake.Clientset, f func(ctx context.Context, w *eventWriter)) []corev1.Event {
	t.Helper()
	ctx := klog.NewContext(t.Context(), logr.Discard())
	w := newEventWriter(client.CoreV1(), clock.RealClock{})
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		w.run(ctx, stop)
	}()
	f(ctx, w)
	close(stop)
	<-ended
	list, err := client.CoreV1().Events("ns").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	return list.Items
}

func TestEventsLookLikeThoseOfTheBuiltInController(t *testing.T) {
	written := telling(t, fake.NewClientset(), func(ctx context.Context, w *eventWriter) {
		w.tell(ctx, makeJob().Job, podCreated("j-abc"))
	})
	require.Len(t, written, 1)
	e := written[0]
	assert.Equal(t, corev1.ObjectReference{APIVersion: "batch/v1", Kind: "Job", Namespace: "ns", Name: "j", UID: "job-uid", ResourceVersion: "10"}, e.InvolvedObject)
	assert.Equal(t, []string{"Normal", "SuccessfulCreate", "Created pod: j-abc"}, []string{e.Type, e.Reason, e.Message})
	assert.Equal(t, corev1.EventSource{Component: "job-controller"}, e.Source)
	assert.Equal(t, "job-controller", e.ReportingController)
	assert.Equal(t, int32(1), e.Count)
	assert.Regexp(t, `^j\.[0-9a-f]+$`, e.Name)
}

func TestEventsThatRepeatAreCounted(t *testing.T) {
	written := telling(t, fake.NewClientset(), func(ctx context.Context, w *eventWriter) {
		for range 3 {
			w.tell(ctx, makeJob().Job, podNotCreated(errors.New("no quota")))
		}
		w.tell(ctx, makeJob().Job, completed)
	})
	require.Len(t, written, 2)
	assert.Equal(t, "Error creating: no quota", written[0].Message)
	assert.Equal(t, int32(3), written[0].Count)
}

func TestEventsWaitForAServerThatIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset()
		tries := 0
		client.PrependReactor("create", "events", func(clienttesting.Action) (bool, runtime.Object, error) {
			tries++
			return tries < 3, nil, errors.New("connection refused")
		})
		written := telling(t, client, func(ctx context.Context, w *eventWriter) {
			w.tell(ctx, makeJob().Job, completed)
			<-clock.RealClock{}.After(3 * eventPause)
		})
		require.Len(t, written, 1)
		assert.Equal(t, 3, tries)
		assert.Equal(t, int32(1), written[0].Count, "a try is no repetition")
	})
}

func TestEventsThatAreRefusedAreDropped(t *testing.T) {
	client := fake.NewClientset()
	tries := 0
	client.PrependReactor("create", "events", func(clienttesting.Action) (bool, runtime.Object, error) {
		tries++
		return tries == 1, nil, apierrors.NewForbidden(corev1.Resource("events"), "e", errors.New("no"))
	})
	written := telling(t, client, func(ctx context.Context, w *eventWriter) {
		w.tell(ctx, makeJob().Job, suspended)
		w.tell(ctx, makeJob().Job, resumed)
	})
	require.Len(t, written, 1)
	assert.Equal(t, "Resumed", written[0].Reason)
}

func TestEventsThatWaitAreGivenUpWhenTheServerIsAwayAtTheEnd(t *testing.T) {
	client := fake.NewClientset()
	tries := 0
	client.PrependReactor("create", "events", func(clienttesting.Action) (bool, runtime.Object, error) {
		tries++
		return true, nil, errors.New("connection refused")
	})
	started := clock.RealClock{}.Now()
	assert.Empty(t, telling(t, client, func(ctx context.Context, w *eventWriter) {
		for i := range 5 {
			w.tell(ctx, makeJob().Job, podCreated(fmt.Sprint(i)))
		}
	}))
	assert.LessOrEqual(t, tries, 2, "one that was under way and one that shows that it is no use")
	assert.Less(t, clock.RealClock{}.Since(started), eventPause)
}

func TestEventsNeverHoldUpASync(t *testing.T) {
	w := newEventWriter(fake.NewClientset().CoreV1(), clock.RealClock{})
	ctx := klog.NewContext(t.Context(), logr.Discard())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range eventQueue + 10 {
			w.tell(ctx, makeJob().Job, completed)
		}
	}()
	select {
	case <-done:
	case <-clock.RealClock{}.After(10 * time.Second):
		t.Fatal("telling blocks though nobody writes")
	}
	assert.Len(t, w.queue, eventQueue)
}

func TestFinishEvents(t *testing.T) {
	done := &outcome{success: true}
	assert.Equal(t, []event{completed}, finishEvents(makeJob().Job, done))
	many := makeJob()
	many.Status.Succeeded = 2
	assert.Equal(t, []event{tooMany, completed}, finishEvents(many.Job, done))
	assert.Equal(t, []event{completed}, finishEvents(makeJob().workQueue(3).Job, done))
	assert.Equal(t, []event{{"Warning", "DeadlineExceeded", "late"}}, finishEvents(makeJob().Job, failure("DeadlineExceeded", "late")))
}
