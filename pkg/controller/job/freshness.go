package job

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// A cache may start with an old list: API servers may answer from caches of their own, which lag. A controller that
// takes over from another would then not see the pods that the other has made or counted, and would run their work
// again or count them again. So it asks for the current versions before the caches start, and does nothing until the
// caches have come that far.

// versions says how far caches must have come.
type versions struct{ jobs, pods string }

// currentVersions returns the resource versions that the API server is at. It tries until it has an answer or ctx ends,
// which is the error.
func (r *reconciler) currentVersions(ctx context.Context) (versions, error) {
	var current versions
	// Without a resource version in the request the answer is as of now, whatever is cached.
	one := metav1.ListOptions{Limit: 1}
	err := r.untilDone(ctx, "asking for current versions", func() error {
		jobs, err := r.kube.BatchV1().Jobs(r.opts.Namespace).List(ctx, one)
		if err != nil {
			return err
		}
		pods, err := r.kube.CoreV1().Pods(r.opts.Namespace).List(ctx, one)
		if err != nil {
			return err
		}
		current = versions{jobs: jobs.ResourceVersion, pods: pods.ResourceVersion}
		return nil
	})
	if err == nil {
		err = ctx.Err()
	}
	return current, err
}

// waitForCaches waits until the caches are filled, and not with less than since. It returns false if ctx ends first.
func (r *reconciler) waitForCaches(ctx context.Context, since versions) bool {
	return cache.WaitFor(ctx, "", r.synced...) &&
		r.waitForCache(ctx, r.jobStore, "jobs", since.jobs, r.liveJobs) &&
		r.waitForCache(ctx, r.podStore, "pods", since.pods, r.livePods)
}

// waitForCache waits until a cache has come as far as since. In a quiet cluster the last version that a cache has seen
// may stay behind although nothing is missing, so then the objects themselves are compared with those that there are.
func (r *reconciler) waitForCache(ctx context.Context, store cache.Indexer, resource, since string, list func(context.Context) ([]metav1.Object, error)) bool {
	if isBehind(store, resource, since) == nil {
		return true
	}
	var live []metav1.Object
	err := r.untilDone(ctx, "listing "+resource, func() (err error) {
		live, err = list(ctx)
		return err
	})
	for err == nil && ctx.Err() == nil {
		if isBehind(store, resource, since) == nil {
			return true
		}
		missing := slices.IndexFunc(live, func(object metav1.Object) bool { return !shows(store, object) })
		if missing < 0 {
			return true
		}
		klog.FromContext(ctx).Info("Waiting for a cache that is behind", "resource", resource, "object", klog.KObj(live[missing]))
		wait(ctx, r.opts.Clock, lastStaleRetry)
	}
	return false
}

func (r *reconciler) liveJobs(ctx context.Context) ([]metav1.Object, error) {
	list, err := r.kube.BatchV1().Jobs(r.opts.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	return objects(list.Items, func(job *batchv1.Job) metav1.Object { return job }), nil
}

func (r *reconciler) livePods(ctx context.Context) ([]metav1.Object, error) {
	list, err := r.kube.CoreV1().Pods(r.opts.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	return objects(list.Items, func(pod *corev1.Pod) metav1.Object { return pod }), nil
}

func objects[T any](items []T, object func(*T) metav1.Object) []metav1.Object {
	found := make([]metav1.Object, len(items))
	for i := range items {
		found[i] = object(&items[i])
	}
	return found
}

// isUncertain reports whether a request that failed with err may have been carried out all the same: the answer was lost
// on the way, or the server gave up waiting for its own.
func isUncertain(err error) bool {
	var status apierrors.APIStatus
	return !errors.As(err, &status) || status.Status().Code >= http.StatusInternalServerError
}

// checkUncertain sees to it that a pod which may have been made is in the cache if it was, so that no other is made in
// its place. Errors that wrap errStale say that it is and the cache does not show it yet.
func (r *reconciler) checkUncertain(ctx context.Context, key jobKey, job *batchv1.Job) error {
	uncertain := false
	r.memory.view(key, func(record *jobRecord) { uncertain = record.uncertain })
	if !uncertain {
		return nil
	}
	live, err := r.kube.CoreV1().Pods(job.Namespace).List(ctx, metav1.ListOptions{LabelSelector: metav1.FormatLabelSelector(job.Spec.Selector)})
	if err != nil {
		return err
	}
	for i := range live.Items {
		if pod := &live.Items[i]; metav1.IsControlledBy(pod, job) && !shows(r.podStore, pod) {
			return fmt.Errorf("looking for pod %s: %w", klog.KObj(pod), errStale)
		}
	}
	r.memory.change(key, func(record *jobRecord) { record.uncertain = false })
	return nil
}

// shows reports whether a cache has live, or a later version of it.
func shows(store cache.Store, live metav1.Object) bool {
	found, exists, err := store.GetByKey(cache.MetaObjectToName(live).String())
	cached, ok := found.(metav1.Object)
	if err != nil || !exists || !ok || cached.GetUID() != live.GetUID() {
		return false
	}
	order, err := resourceversion.CompareResourceVersion(cached.GetResourceVersion(), live.GetResourceVersion())
	return err != nil || order >= 0
}
