package cluster

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"

	"github.com/musterkube/muster/pkg/kubelet"
)

// awaitNodes returns when pods can be placed on every one of the nodes. The first pod of a cluster would otherwise be
// told that there are none.
func (c *Cluster) awaitNodes(ctx context.Context, nodes []kubelet.Node) error {
	if len(nodes) == 0 {
		return nil
	}
	kube, err := kubernetes.NewForConfig(c.Config())
	if err != nil {
		return err
	}
	missing := make(map[string]bool, len(nodes))
	for _, node := range nodes {
		missing[node.Name] = true
	}
	for len(missing) > 0 {
		// Without a resource version a watch begins with all that is there. One that ends early is begun again.
		changes, err := kube.CoreV1().Nodes().Watch(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		err = c.strikeReady(ctx, changes.ResultChan(), missing)
		changes.Stop()
		if err != nil {
			return err
		}
	}
	return nil
}

// strikeReady strikes the nodes that are ready off a list until it is empty or there are no more changes.
func (c *Cluster) strikeReady(ctx context.Context, changes <-chan watch.Event, missing map[string]bool) error {
	for len(missing) > 0 {
		select {
		case change, more := <-changes:
			if !more {
				return ctx.Err()
			}
			if node, ok := change.Object.(*corev1.Node); ok && takesPods(node) {
				delete(missing, node.Name)
			}
		case <-c.failed:
			return c.Err()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// takesPods says whether a node is Ready, and has lost the taint with which the API server makes every node.
func takesPods(node *corev1.Node) bool {
	tainted := slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.Key == corev1.TaintNodeNotReady })
	return !tainted && slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}
