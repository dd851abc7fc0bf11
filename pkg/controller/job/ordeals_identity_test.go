package job_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// isPods reports whether a request is about pods: to make one, or one of a name.
func isPods(request *http.Request, method string) bool {
	return request.Method == method && strings.Contains(request.URL.Path, "/pods")
}

// identityOrdeals are about Jobs that are made again, and about pods that are seen late.
func identityOrdeals() map[string]ordeal {
	return map[string]ordeal{
		"a Job that is made again starts while a request of the old one is under way": {builtInFails: true, play: func(w *ordealWorld) string {
			var held atomic.Bool
			release := make(chan struct{})
			defer close(release)
			w.meddleWith(func(request *http.Request) (*http.Response, error) {
				if isPods(request, http.MethodPost) && held.CompareAndSwap(false, true) {
					select {
					case <-release:
					case <-request.Context().Done():
					}
					return refused(request, http.StatusForbidden, metav1.StatusReasonForbidden), nil
				}
				return nil, nil
			})
			w.create(newJob("j", size(2, 2)))
			w.settle()
			w.deleteJob("j")
			w.kill()
			again := w.create(newJob("j", size(2, 2)))
			w.settle()
			return first(w.owns(again, 2), wrong(w.job("j").Status.Active == 2, "the status says %d active", w.job("j").Status.Active))
		}},
		"a Job that is made again inherits no back-off, deadline or pod": {play: func(w *ordealWorld) string {
			w.create(newJob("j", both(size(2, 2), func(spec *batchv1.JobSpec) {
				spec.BackoffLimit, spec.ActiveDeadlineSeconds = new(int32(9)), new(int64(100))
			})))
			w.settle()
			w.fail(w.active()...)
			pass(2 * time.Second)
			hold := w.pods.hold()
			w.deleteJob("j")
			again := w.create(newJob("j", size(2, 2)))
			w.kill()
			w.settle()
			hold()
			w.settle()
			problem := w.owns(again, 2)
			pass(200 * time.Second)
			w.succeed(w.ownedBy(again)...)
			w.settle()
			return first(problem, wrong(w.job("j").Status.Failed == 0 && w.job("j").Status.Succeeded == 2, "the counts are %+v", w.job("j").Status))
		}},
		"a pod whose news come minutes late is made once": {play: func(w *ordealWorld) string {
			release := w.pods.hold()
			w.create(newJob("j", nil))
			for i := range 12 {
				pass(time.Minute)
				w.patch("j", fmt.Sprintf(`{"metadata":{"labels":{"minute":"%d"}}}`, i))
			}
			release()
			w.kill()
			w.settle()
			return wrong(len(w.allPods()) == 1, "there are %d pods", len(w.allPods()))
		}},
		"a pod whose news come after a restart is made once": {play: func(w *ordealWorld) string {
			w.pods.hold()
			w.create(newJob("j", nil))
			pass(time.Second)
			w.kill()
			release := w.pods.hold()
			pass(time.Minute)
			release()
			w.settle()
			return wrong(len(w.allPods()) == 1, "there are %d pods", len(w.allPods()))
		}},
		"50 finished Jobs that are deleted at once leave no finalizer": {play: func(w *ordealWorld) string {
			var stuck atomic.Bool
			stuck.Store(true)
			w.meddleWith(func(request *http.Request) (*http.Response, error) {
				if stuck.Load() && isPods(request, http.MethodPatch) {
					return refused(request, http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable), nil
				}
				return nil, nil
			})
			for i := range 50 {
				w.create(newJob(fmt.Sprintf("j%d", i), nil))
			}
			w.settle()
			w.succeed(w.active()...)
			w.settle()
			for i := range 50 {
				w.deleteJob(fmt.Sprintf("j%d", i))
				if i == 25 {
					w.kill()
				}
			}
			stuck.Store(false)
			w.settle()
			pass(time.Minute)
			return first(wrong(len(w.allPods()) == 50, "there are %d pods", len(w.allPods())), w.released())
		}},
		"of two pods with one index one goes, and the index counts once": {play: func(w *ordealWorld) string {
			j := w.create(newJob("j", indexed(2, 3)))
			w.settle()
			w.start(w.active()...)
			twin := w.active()[0].DeepCopy()
			twin.ObjectMeta = metav1.ObjectMeta{
				Name: "twin", Namespace: namespace, Labels: twin.Labels, Annotations: twin.Annotations, OwnerReferences: twin.OwnerReferences, Finalizers: twin.Finalizers,
			}
			twin.Status = corev1.PodStatus{}
			if _, err := w.client.CoreV1().Pods(namespace).Create(w.Context(), twin, metav1.CreateOptions{}); err != nil {
				return err.Error()
			}
			w.kill()
			w.settle()
			problem := first(w.owns(j, 2), wrong(w.pod("twin").UID == "", "the one that is less far stayed"))
			for range 3 {
				w.succeed(w.active()...)
				w.settle()
			}
			return first(problem, w.completed(3, 0))
		}},
	}
}
