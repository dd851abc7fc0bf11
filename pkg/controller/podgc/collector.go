package podgc

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/musterkube/muster/pkg/core"
)

// collector is one run of a controller.
type collector struct {
	*Controller
	factory informers.SharedInformerFactory
	nodes   corelisters.NodeLister
	pods    corelisters.PodLister
	synced  []cache.DoneChecker
	// missing has the nodes that pods are bound to and that do not exist, with when that was noticed.
	missing map[string]time.Time
}

func newCollector(c *Controller) *collector {
	factory := informers.NewSharedInformerFactoryWithOptions(c.kube, 0, informers.WithTransform(trim))
	nodes, pods := factory.Core().V1().Nodes(), factory.Core().V1().Pods()
	return &collector{
		Controller: c, factory: factory, nodes: nodes.Lister(), pods: pods.Lister(),
		synced:  []cache.DoneChecker{nodes.Informer().HasSyncedChecker(), pods.Informer().HasSyncedChecker()},
		missing: map[string]time.Time{},
	}
}

// run works until ctx ends and everything has stopped.
func (c *collector) run(ctx context.Context) {
	c.factory.StartWithContext(ctx)
	defer c.factory.Shutdown()
	if !cache.WaitFor(ctx, "", c.synced...) {
		return
	}
	ticker := c.opts.Clock.NewTicker(c.opts.Period)
	defer ticker.Stop()
	for {
		if err := c.collect(ctx); err != nil && ctx.Err() == nil {
			klog.FromContext(ctx).Error(err, "Removing a pod failed; it is tried again")
		}
		select {
		case <-ticker.C():
		case <-ctx.Done():
			return
		}
	}
}

// collect looks at all pods once. It returns the first error, and goes on in spite of it.
func (c *collector) collect(ctx context.Context) error {
	var first error
	note := func(err error) {
		if first == nil {
			first = err
		}
	}
	pods, err := c.pods.List(labels.Everything())
	note(err)
	gone, err := c.goneNodes(ctx, pods)
	note(err)
	for _, pod := range surplus(pods, c.opts.TerminatedThreshold) {
		note(c.remove(ctx, pod, nil))
	}
	for _, pod := range pods {
		switch {
		case gone[pod.Spec.NodeName]:
			note(c.remove(ctx, pod, &corev1.PodCondition{
				Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, ObservedGeneration: pod.Generation,
				Reason: "DeletionByPodGC", Message: "PodGC: node no longer exists",
				LastTransitionTime: metav1.NewTime(c.opts.Clock.Now()),
			}))
		case pod.DeletionTimestamp == nil:
		case pod.Spec.NodeName == "" || c.outOfService(pod.Spec.NodeName):
			note(c.remove(ctx, pod, nil))
		}
	}
	return first
}

// goneNodes returns the nodes that pods are bound to and that have been missing for long enough. The cache may be behind,
// so that the API server is asked as well.
func (c *collector) goneNodes(ctx context.Context, pods []*corev1.Pod) (map[string]bool, error) {
	now := c.opts.Clock.Now()
	missing, gone := map[string]time.Time{}, map[string]bool{}
	for _, pod := range pods {
		name := pod.Spec.NodeName
		if _, err := c.nodes.Get(name); name == "" || !apierrors.IsNotFound(err) {
			continue
		}
		since, known := c.missing[name]
		if !known {
			since = now
		}
		missing[name] = since
	}
	c.missing = missing
	for name, since := range missing {
		if now.Sub(since) < c.opts.Quarantine {
			continue
		}
		_, err := c.kube.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			gone[name] = true
		case err != nil:
			return gone, fmt.Errorf("reading node %s: %w", name, err)
		}
	}
	return gone, nil
}

// outOfService says whether somebody has declared that what ran on a node that is not ready runs no longer.
func (c *collector) outOfService(name string) bool {
	node, err := c.nodes.Get(name)
	if err != nil {
		return false
	}
	ready := slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
	return !ready && slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.Key == corev1.TaintNodeOutOfService })
}

// surplus returns the pods that have ended beyond so many, evicted ones and then the oldest first; none if there is no
// bound.
func surplus(pods []*corev1.Pod, threshold int) []*corev1.Pod {
	if threshold == 0 {
		return nil
	}
	var ended []*corev1.Pod
	for _, pod := range pods {
		if core.PodFinished(pod) {
			ended = append(ended, pod)
		}
	}
	slices.SortFunc(ended, func(a, b *corev1.Pod) int {
		return cmp.Or(
			cmp.Compare(rank(a), rank(b)), a.CreationTimestamp.Compare(b.CreationTimestamp.Time),
			cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return ended[:max(0, len(ended)-threshold)]
}

func rank(pod *corev1.Pod) int {
	if pod.Status.Phase == corev1.PodFailed && pod.Status.Reason == "Evicted" {
		return 0
	}
	return 1
}

// remove makes a pod that has not ended fail, with the condition if there is one, and deletes it at once.
func (c *collector) remove(ctx context.Context, pod *corev1.Pod, condition *corev1.PodCondition) error {
	if !core.PodFinished(pod) {
		status := map[string]any{"phase": corev1.PodFailed}
		if condition != nil {
			status["conditions"] = []corev1.PodCondition{*condition}
		}
		patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": pod.UID}, "status": status})
		if err == nil {
			_, err = c.kube.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
		}
		if err != nil {
			return removing(pod, err)
		}
	}
	return removing(pod, c.kube.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{
		GracePeriodSeconds: new(int64(0)), Preconditions: &metav1.Preconditions{UID: &pod.UID},
	}))
}

// removing words an error. That a pod is gone, or another by now, is none.
func removing(pod *corev1.Pod, err error) error {
	cause, found := apierrors.StatusCause(err, metav1.CauseTypeFieldValueInvalid)
	if err == nil || apierrors.IsNotFound(err) || apierrors.IsConflict(err) || found && cause.Field == "metadata.uid" {
		return nil
	}
	return fmt.Errorf("removing pod %s/%s: %w", pod.Namespace, pod.Name, err)
}

// trim drops from an object in the cache what takes much room and decisions do not rest on.
func trim(object any) (any, error) {
	if accessor, ok := object.(metav1.Object); ok {
		accessor.SetManagedFields(nil)
	}
	if pod, ok := object.(*corev1.Pod); ok {
		pod.Spec = corev1.PodSpec{NodeName: pod.Spec.NodeName}
	}
	return object, nil
}
