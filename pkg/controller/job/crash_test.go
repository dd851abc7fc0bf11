package job_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/musterkube/muster/pkg/batch"
	"github.com/musterkube/muster/pkg/core"
)

// errCrashed is what requests of a controller get that has crashed.
var errCrashed = errors.New("crashed")

// crash is a transport that dies at one of the writes: before it, or between the write and its answer. Nothing passes
// after that, as with a process that is gone.
type crash struct {
	next     http.RoundTripper
	at       int
	answered bool // the write that it dies at is done, and only the answer lost

	mu     sync.Mutex
	writes int
	dead   chan struct{}
}

func (c *crash) RoundTrip(request *http.Request) (*http.Response, error) {
	isWrite := request.Method != http.MethodGet && !strings.HasSuffix(request.URL.Path, "/events")
	c.mu.Lock()
	select {
	case <-c.dead:
		c.mu.Unlock()
		return nil, errCrashed
	default:
	}
	last := false
	if isWrite {
		c.writes++
		last = c.writes == c.at
	}
	if last && !c.answered {
		close(c.dead)
	}
	c.mu.Unlock()
	if last && !c.answered {
		return nil, errCrashed
	}
	response, err := c.next.RoundTrip(request)
	if !last {
		return response, err
	}
	if err == nil {
		_ = response.Body.Close()
	}
	c.mu.Lock()
	close(c.dead)
	c.mu.Unlock()
	return nil, errCrashed
}

// runUntilCrash runs a controller that dies at a write; it returns false if there was no such write before done.
func (w *world) runUntilCrash(at int, answered bool, done <-chan struct{}) bool {
	w.Helper()
	transport := &crash{at: at, answered: answered, dead: make(chan struct{})}
	config := rest.CopyConfig(w.config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		transport.next = next
		return transport
	})
	stop := w.runWith(config, quick())
	defer stop()
	select {
	case <-transport.dead:
		return true
	case <-done:
		return false
	}
}

// script says what becomes of pods.
type script struct {
	// fails tells whether the nth pod of its index, or of the Job, fails.
	fails func(pod *corev1.Pod, nth int) bool
	// runOn, if not zero, makes pods that do not fail run on, and none fail before there are that many. Otherwise they
	// succeed. Pods of the index only, if not zero, succeed nevertheless.
	runOn, only int
}

// kubelets play each pod once, in the order in which they appear.
func (w *world) kubelets(ctx context.Context, pods script) {
	seen := map[types.UID]bool{}
	nth := map[int]int{}
	for {
		w.mu.Lock()
		changed := w.changed
		w.mu.Unlock()
		for _, pod := range w.allPods() {
			if len(w.allPods()) < pods.runOn {
				break
			}
			if seen[pod.UID] || !core.PodActive(pod) || ctx.Err() != nil {
				continue
			}
			seen[pod.UID] = true
			index, _ := batch.CompletionIndex(pod)
			phase, code := corev1.PodSucceeded, int32(0)
			switch {
			case pods.fails(pod, nth[index]):
				phase, code = corev1.PodFailed, 1
			case pods.runOn > 0 && (pods.only == 0 || index != pods.only):
				phase = corev1.PodRunning
			}
			nth[index]++
			if err := w.trySet(pod, phase, code); !apierrors.IsNotFound(err) { // it may have been stopped
				require.NoError(w, err)
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

func TestCrashAtAnyWriteLosesNothingAndCountsNothingTwice(t *testing.T) {
	tests := map[string]struct {
		job *batchv1.Job
		// fails tells whether the nth pod of its index, or of the Job, fails.
		fails             func(pod *corev1.Pod, nth int) bool
		succeeded, failed int32
		pods              int
		completed         string
		ends              batchv1.JobConditionType
		runOn, only       int
	}{
		"pods that are like each other": {
			job:       newJob("j", size(2, 4)),
			fails:     func(_ *corev1.Pod, nth int) bool { return nth == 0 || nth == 3 },
			succeeded: 4, failed: 2, pods: 6, ends: batchv1.JobComplete,
		},
		"a gang": {
			job: newJob("j", indexed(2, 2)),
			fails: func(pod *corev1.Pod, nth int) bool {
				index, _ := batch.CompletionIndex(pod)
				return index == 1 && nth == 0
			},
			succeeded: 2, failed: 1, pods: 3, completed: "0,1", ends: batchv1.JobComplete,
		},
		"indexes with a limit each": {
			job: newJob("j", both(indexed(2, 3), func(spec *batchv1.JobSpec) { spec.BackoffLimitPerIndex = new(int32(2)) })),
			fails: func(pod *corev1.Pod, nth int) bool {
				index, _ := batch.CompletionIndex(pod)
				return index == 1 && nth < 2
			},
			succeeded: 3, failed: 2, pods: 5, completed: "0-2", ends: batchv1.JobComplete,
		},
		"a job that succeeds while pods run": {
			job: newJob("j", both(indexed(3, 3), func(spec *batchv1.JobSpec) {
				spec.BackoffLimit = new(int32(0))
				spec.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededIndexes: new("1")}}}
			})),
			fails:     func(*corev1.Pod, int) bool { return false },
			runOn:     3,
			only:      1,
			succeeded: 1, pods: 1, completed: "1", ends: batchv1.JobComplete,
		},
		"a job that fails while pods run": {
			job: newJob("j", both(size(3, 3), func(spec *batchv1.JobSpec) { spec.BackoffLimit = new(int32(0)) })),
			// The others have no end of their own: they are stopped, and have failed for that. No node had them, so they
			// are gone when they have been counted.
			fails:  func(_ *corev1.Pod, nth int) bool { return nth == 0 },
			failed: 3, pods: 1, ends: batchv1.JobFailed, runOn: 3,
		},
	}
	for name, tc := range tests {
		for _, answered := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, write done %v", name, answered), func(t *testing.T) {
				for at := 1; crashOnce(t, tc.job, at, answered, script{tc.fails, tc.runOn, tc.only}, func(w *world) {
					j := w.awaitCondition("j", tc.ends)
					w.awaitReleased()
					assert.Equal(t, tc.succeeded, j.Status.Succeeded, "succeeded, crash at write %d", at)
					assert.Equal(t, tc.failed, j.Status.Failed, "failed, crash at write %d", at)
					assert.Equal(t, tc.completed, j.Status.CompletedIndexes, "crash at write %d", at)
					assert.Equal(t, tc.pods, len(w.allPods()), "pods, crash at write %d", at)
				}); at++ {
					require.Less(t, at, 100, "the writes have no end")
				}
			})
		}
	}
}

// crashOnce plays the life of a Job whose controller crashes at a write and is followed by another. It returns false if
// the Job ended before that write.
func crashOnce(t *testing.T, j *batchv1.Job, at int, answered bool, pods script, check func(*world)) (crashed bool) {
	t.Run("", func(t *testing.T) {
		w := newWorld(t)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var playing sync.WaitGroup
		playing.Go(func() { w.kubelets(ctx, pods) })
		defer playing.Wait()
		defer cancel()
		w.create(j)

		finished := make(chan struct{})
		playing.Go(func() {
			defer close(finished)
			for {
				w.mu.Lock()
				changed := w.changed
				w.mu.Unlock()
				if _, ended := batch.Finished(w.job("j")); ended {
					return
				}
				select {
				case <-changed:
				case <-ctx.Done():
					return
				}
			}
		})
		crashed = w.runUntilCrash(at, answered, finished)
		w.run(quick())
		check(w)
	})
	return crashed
}
