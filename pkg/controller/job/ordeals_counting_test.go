package job_test

import (
	"encoding/json"
	"net/http"
	"sync/atomic"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/musterkube/muster/pkg/batch"
)

// stuckFinalizers lets no pod lose its finalizer until the function that it returns is called.
func (w *ordealWorld) stuckFinalizers() (release func()) {
	var stuck atomic.Bool
	stuck.Store(true)
	w.meddleWith(func(request *http.Request) (*http.Response, error) {
		if stuck.Load() && isPods(request, http.MethodPatch) {
			return refused(request, http.StatusInternalServerError, metav1.StatusReasonInternalError), nil
		}
		return nil, nil
	})
	return func() { stuck.Store(false) }
}

// countingOrdeals are about pods that must count once.
func countingOrdeals() map[string]ordeal {
	return map[string]ordeal{
		"a pod that is reported succeeded and then failed counts once, as succeeded": {builtInFails: true, play: func(w *ordealWorld) string {
			release := w.stuckFinalizers()
			w.create(newJob("j", size(2, 2)))
			w.settle()
			pods := w.active()
			w.succeed(pods[0])
			w.settle()
			w.fail(pods[0])
			w.settle()
			w.kill()
			w.settle()
			release()
			pass(2 * time.Minute)
			w.succeed(pods[1])
			w.settle()
			return w.completed(2, 0)
		}},
		"so does one of an Indexed Job": {builtInFails: true, play: func(w *ordealWorld) string {
			release := w.stuckFinalizers()
			w.create(newJob("j", indexed(2, 3)))
			w.settle()
			pods := w.active()
			w.succeed(pods[0])
			w.settle()
			w.fail(pods[0])
			w.settle()
			w.kill()
			w.settle()
			release()
			pass(2 * time.Minute)
			for range 2 {
				w.succeed(w.active()...)
				w.settle()
			}
			return w.completed(3, 0)
		}},
		"a pod that is reported failed and then succeeded counts once, as failed": {play: func(w *ordealWorld) string {
			release := w.stuckFinalizers()
			w.create(newJob("j", size(1, 1)))
			w.settle()
			pod := w.active()[0]
			w.fail(pod)
			w.settle()
			w.succeed(pod)
			w.settle()
			w.kill()
			w.settle()
			release()
			pass(2 * time.Minute)
			w.succeed(w.active()...)
			w.settle()
			return w.completed(1, 1)
		}},
		"a Job is not Complete while a pod has the finalizer": {play: func(w *ordealWorld) string {
			release := w.stuckFinalizers()
			w.create(newJob("j", nil))
			w.settle()
			w.succeed(w.active()...)
			w.settle()
			problem := wrong(!batch.HasCondition(w.job("j"), batchv1.JobComplete), "the job is complete")
			w.kill()
			w.settle()
			problem = first(problem, wrong(!batch.HasCondition(w.job("j"), batchv1.JobComplete), "the job is complete"))
			release()
			pass(2 * time.Minute)
			return first(problem, w.completed(1, 0))
		}},
		"a pod that does not match any more is released, at the second try if need be": {play: func(w *ordealWorld) string {
			release := w.stuckFinalizers()
			j := w.create(newJob("j", nil))
			w.settle()
			pod := w.active()[0]
			labels, err := json.Marshal(map[string]any{"metadata": map[string]any{"labels": map[string]any{batchv1.ControllerUidLabel: "x", "controller-uid": "x"}}})
			if err == nil {
				_, err = w.client.CoreV1().Pods(namespace).Patch(w.Context(), pod.Name, mergePatch, labels, metav1.PatchOptions{})
			}
			if err != nil {
				return err.Error()
			}
			w.settle()
			w.kill()
			release()
			pass(2 * time.Minute)
			w.settle()
			released := w.pod(pod.Name)
			return first(wrong(len(released.OwnerReferences) == 0 && len(released.Finalizers) == 0, "the pod is held still"), w.owns(j, 1))
		}},
	}
}

// refusalOrdeals are about requests that the server refuses, and about clients that are throttled.
func refusalOrdeals() map[string]ordeal {
	return map[string]ordeal{
		"1,000 pods that are refused are one request": {play: func(w *ordealWorld) string {
			var requests atomic.Int32
			w.meddleWith(func(request *http.Request) (*http.Response, error) {
				if isPods(request, http.MethodPost) {
					requests.Add(1)
					return refused(request, http.StatusForbidden, metav1.StatusReasonForbidden), nil
				}
				return nil, nil
			})
			w.create(newJob("j", size(1000, 1000)))
			pass(500 * time.Millisecond)
			problem := wrong(requests.Load() == 1, "%d requests in the first sync", requests.Load())
			w.kill()
			pass(w.rest)
			return first(problem, wrong(requests.Load() < 20, "%d requests", requests.Load()),
				w.told("j", "Warning FailedCreate Error creating: "))
		}},
	}
}
