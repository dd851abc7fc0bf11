package job_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/pkg/batch"
	"github.com/musterkube/muster/pkg/builder"
	"github.com/musterkube/muster/pkg/controller/job"
	"github.com/musterkube/muster/pkg/controller/leader"
	"github.com/musterkube/muster/pkg/emulator"
)

// ordeal is something that Jobs go through in clusters. It is played in virtual time, by one controller, by one with
// parity, and by two replicas of which the leader is killed in between.
type ordeal struct {
	options func(*job.Options)
	// before is played before a controller runs.
	before func(w *ordealWorld)
	// play returns what went wrong, "" for nothing.
	play func(w *ordealWorld) string
	// builtInFails says that the Job controller of Kubernetes 1.36 does not stand it.
	builtInFails bool
}

// ordealWorld is a world whose controllers reach the server through a wire that can be cut and meddled with.
type ordealWorld struct {
	*world
	pods *lag
	// meddle, if set, may answer a request in the server's place.
	meddle atomic.Pointer[func(*http.Request) (*http.Response, error)]
	// kill kills the controller that is at work, if there are several.
	kill func()
	// qps and burst throttle the clients of controllers; zero does not.
	qps   float32
	burst int
	// rest is how long the world is left alone for controllers to come to rest.
	rest time.Duration
}

// settle lets controllers come to rest.
func (w *ordealWorld) settle() { pass(w.rest) }

func (w *ordealWorld) meddleWith(f func(*http.Request) (*http.Response, error)) { w.meddle.Store(&f) }

// refused is the answer of a server that does not want a request, with a code.
func refused(request *http.Request, code int, reason metav1.StatusReason) *http.Response {
	response := refusal(request)
	body := fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"code":%d}`, reason, code)
	response.StatusCode, response.Body = code, io.NopCloser(strings.NewReader(body))
	return response
}

// newOrdealWorld starts a server without a garbage collector: what is left of deleted owners stays until a test removes it.
func newOrdealWorld(t *testing.T) *ordealWorld {
	t.Helper()
	w := newWorldWith(t, emulator.Options{DisabledControllers: []string{emulator.ControllerGarbageCollector}})
	return &ordealWorld{world: w, pods: newLag("pods"), kill: func() {}, rest: 5 * time.Second}
}

// wired returns a config whose requests pass the lag of pods, the meddler and a wire.
func (w *ordealWorld) wired(cut *atomic.Bool) *rest.Config {
	config := w.pods.config(w.config)
	config.QPS, config.Burst = w.qps, w.burst
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			if cut.Load() {
				return nil, errors.New("the process is dead")
			}
			if meddle := w.meddle.Load(); meddle != nil {
				if response, err := (*meddle)(request); response != nil || err != nil {
					return response, err
				}
			}
			return next.RoundTrip(request)
		})
	})
	return config
}

// runReplicas runs two controllers that elect a leader. kill cuts the leader off and starts another replica.
func (w *ordealWorld) runReplicas(options job.Options) {
	var mu sync.Mutex
	var leading func() // kills the leader
	start := func(identity string) {
		cut := &atomic.Bool{}
		config := w.wired(cut)
		controller, err := job.New(config, options)
		require.NoError(w, err)
		ctx, cancel := context.WithCancel(klog.NewContext(w.Context(), logr.Discard()))
		var ended sync.WaitGroup
		stop := sync.OnceFunc(func() { cancel(); ended.Wait() })
		ended.Go(func() {
			_ = leader.Run(ctx, config, leader.Options{Name: "job", Identity: identity}, func(ctx context.Context) error {
				mu.Lock()
				leading = func() { cut.Store(true); stop() }
				mu.Unlock()
				return controller.Run(ctx)
			})
		})
		w.Cleanup(stop)
	}
	start("first")
	start("second")
	replicas := 2
	w.kill = func() {
		mu.Lock()
		kill := leading
		mu.Unlock()
		kill()
		replicas++
		start(fmt.Sprintf("replica %d", replicas))
	}
	// A replica takes over once the lease of the one before it has run out.
	w.rest = leader.DefaultLeaseDuration + 10*time.Second
}

func TestOrdeals(t *testing.T) {
	for name, o := range ordeals() {
		play := func(t *testing.T, parity, replicas bool) string {
			t.Helper()
			problem := ""
			inBubble(t, func(t *testing.T) {
				w := newOrdealWorld(t)
				options := job.Options{Parity: parity}
				if o.options != nil {
					o.options(&options)
				}
				if o.before != nil {
					o.before(w)
				}
				if replicas {
					w.runReplicas(options)
				} else {
					w.runWith(w.wired(&atomic.Bool{}), options)
				}
				pass(time.Second)
				problem = o.play(w)
			})
			return problem
		}
		t.Run(name, func(t *testing.T) { assert.Empty(t, play(t, false, false)) })
		t.Run(name+", with two replicas", func(t *testing.T) { assert.Empty(t, play(t, false, true)) })
		if o.builtInFails {
			t.Run(name+", with parity", func(t *testing.T) {
				assert.NotEmpty(t, play(t, true, false), "the built-in controller does not stand this")
			})
		}
	}
}

// ordeals are sorted by what they are about.
func ordeals() map[string]ordeal {
	all := map[string]ordeal{}
	for _, some := range []map[string]ordeal{gangOrdeals(), identityOrdeals(), countingOrdeals(), refusalOrdeals(), optionOrdeals(), answerOrdeals()} {
		maps.Copy(all, some)
	}
	return all
}

// wrong returns a text if something is not as it should be.
func wrong(is bool, format string, args ...any) string {
	if is {
		return ""
	}
	return fmt.Sprintf(format, args...)
}

// first returns the first problem.
func first(problems ...string) string {
	return cmp.Or(problems...)
}

// inGroup says what is wrong unless there are n active pods, all in a group of that name.
func (w *ordealWorld) inGroup(n int, group string) string {
	pods := w.active()
	for _, pod := range pods {
		if groupOf(pod) != group {
			return fmt.Sprintf("pod %s is in the group %q, not %q", pod.Name, groupOf(pod), group)
		}
	}
	return wrong(len(pods) == n, "%d active pods, not %d", len(pods), n)
}

// told says what is wrong unless an event of the Job begins so.
func (w *ordealWorld) told(job, prefix string) string {
	events := w.events(job)
	return wrong(slices.ContainsFunc(events, func(e string) bool { return strings.HasPrefix(e, prefix) }),
		"no event begins with %q: %s", prefix, strings.Join(events, "\n"))
}

// completed says what is wrong unless the Job j is complete, with these counts.
func (w *ordealWorld) completed(succeeded, failed int32) string {
	s := w.job("j").Status
	return first(
		wrong(batch.HasCondition(w.job("j"), batchv1.JobComplete), "the job is not complete: %v", conditionTypes(w.job("j"))),
		wrong(s.Succeeded == succeeded && s.Failed == failed, "%d succeeded and %d failed, not %d and %d", s.Succeeded, s.Failed, succeeded, failed),
		w.released())
}

// released says what is wrong if a pod has the tracking finalizer.
func (w *ordealWorld) released() string {
	for _, pod := range w.allPods() {
		if slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer) {
			return fmt.Sprintf("pod %s has the finalizer still", pod.Name)
		}
	}
	return ""
}

func suspendedSpec(spec *batchv1.JobSpec) { spec.Suspend = new(true) }

// userWorkload makes a Workload as a user would for the Job train, of which two pods are to start at once.
func (w *ordealWorld) userWorkload(name string) *schedulingv1alpha2.Workload {
	w.Helper()
	workload, err := builder.New(&metav1.ObjectMeta{Name: "train", Namespace: namespace, UID: "u"}, batchv1.SchemeGroupVersion.WithKind("Job"),
		[]schedulingv1alpha2.PodGroupTemplate{builder.Gang("workers", 2)}, builder.Options{})
	require.NoError(w, err)
	workload.Name, workload.OwnerReferences = name, nil
	made, err := w.scheduling.SchedulingV1alpha2().Workloads(namespace).Create(w.Context(), workload, metav1.CreateOptions{})
	require.NoError(w, err)
	return made
}

func (w *ordealWorld) deleteWorkload(name string) {
	w.Helper()
	require.NoError(w, w.scheduling.SchedulingV1alpha2().Workloads(namespace).Delete(w.Context(), name, metav1.DeleteOptions{}))
}

// oneGang returns the one Workload and the one PodGroup, or says that there are not one of each.
func (w *ordealWorld) oneGang() (*schedulingv1alpha2.Workload, *schedulingv1alpha2.PodGroup, string) {
	workloads, groups := w.gang()
	if len(workloads) != 1 || len(groups) != 1 {
		return nil, nil, fmt.Sprintf("%d workloads and %d pod groups, not one of each", len(workloads), len(groups))
	}
	return &workloads[0], &groups[0], ""
}

func (w *ordealWorld) removePodGroupFinalizer(name string) {
	w.Helper()
	_, err := w.scheduling.SchedulingV1alpha2().PodGroups(namespace).Patch(w.Context(), name, mergePatch, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	require.NoError(w, err)
}

func (w *ordealWorld) deleteJob(name string) {
	w.Helper()
	require.NoError(w, w.client.BatchV1().Jobs(namespace).Delete(w.Context(), name, metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)}))
}

func (w *ordealWorld) tryPatch(name, patch string) error {
	_, err := w.client.BatchV1().Jobs(namespace).Patch(w.Context(), name, mergePatch, []byte(patch), metav1.PatchOptions{})
	return err
}

// userGroup makes a PodGroup as a user would from a Workload.
func (w *ordealWorld) userGroup(name string, workload *schedulingv1alpha2.Workload) {
	w.Helper()
	groups, err := builder.PodGroups(workload, builder.Options{})
	require.NoError(w, err)
	groups[0].Name, groups[0].OwnerReferences = name, nil
	_, err = w.scheduling.SchedulingV1alpha2().PodGroups(namespace).Create(w.Context(), groups[0], metav1.CreateOptions{})
	require.NoError(w, err)
}

// ownedBy returns the active pods of a Job.
func (w *ordealWorld) ownedBy(j *batchv1.Job) []*corev1.Pod {
	return slices.DeleteFunc(w.active(), func(pod *corev1.Pod) bool { return !metav1.IsControlledBy(pod, j) })
}

// owns says what is wrong unless a Job has n active pods.
func (w *ordealWorld) owns(j *batchv1.Job, n int) string {
	pods := w.ownedBy(j)
	return wrong(len(pods) == n, "job %s has %d active pods, not %d", j.Name, len(pods), n)
}
