package nodelifecycle

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
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
)

// monitor looks at all nodes time and again, and when one of them has changed, until ctx ends.
func (r *reconciler) monitor(ctx context.Context) {
	ticker := r.opts.Clock.NewTicker(r.opts.MonitorPeriod)
	defer ticker.Stop()
	for {
		if err := r.look(ctx); err != nil && ctx.Err() == nil {
			klog.FromContext(ctx).Error(err, "Looking after a node failed; it is tried again")
		}
		select {
		case <-ticker.C():
		case <-r.changed:
		case <-ctx.Done():
			return
		}
	}
}

// look looks at all nodes once. It returns the first error, and goes on in spite of it.
func (r *reconciler) look(ctx context.Context) error {
	var first error
	note := func(err error) {
		// A node that was changed or deleted meanwhile is looked at again because of that.
		if first == nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
			first = err
		}
	}
	now := r.opts.Clock.Now()
	nodes := r.known()
	for i, node := range nodes {
		after, err := r.listenFor(ctx, node, now)
		note(err)
		if err == nil {
			nodes[i] = after
		}
	}
	zones := countZones(nodes)
	dark := blackout(zones)
	if r.blacked && !dark {
		// Nobody could be heard: the others get their time from now on.
		for name, s := range r.signs {
			s.seen = now
			r.signs[name] = s
		}
	}
	r.blacked = dark
	for _, node := range nodes {
		note(r.taint(ctx, node, r.execute(node, zones, dark, now), now))
	}
	return first
}

// known returns the nodes by name, and forgets those that are gone.
func (r *reconciler) known() []*corev1.Node {
	var nodes []*corev1.Node
	names := map[string]bool{}
	for _, object := range r.nodes.GetIndexer().List() {
		if node, ok := object.(*corev1.Node); ok {
			nodes = append(nodes, node)
			names[node.Name] = true
		}
	}
	for name := range r.signs {
		if !names[name] {
			delete(r.signs, name)
			delete(r.ready, name)
		}
	}
	slices.SortFunc(nodes, func(a, b *corev1.Node) int { return cmp.Compare(a.Name, b.Name) })
	return nodes
}

// listenFor notes whether a node has been heard of, and says so in its status if not. It returns the node as it then is.
func (r *reconciler) listenFor(ctx context.Context, node *corev1.Node, now time.Time) (*corev1.Node, error) {
	var last *sign
	if known, ok := r.signs[node.Name]; ok {
		last = &known
	}
	heard := hear(node, r.leaseOf(node.Name), last, now)
	r.signs[node.Name] = heard
	grace := r.opts.GracePeriod
	if readyCondition(&node.Status) == nil {
		grace = r.opts.StartupGracePeriod
	}
	if now.After(heard.seen.Add(grace)) {
		if changed := silence(node, now); len(changed) > 0 {
			after, err := r.patchNode(ctx, node, map[string]any{"status": map[string]any{"conditions": changed}}, "status")
			if err != nil {
				return nil, err
			}
			klog.FromContext(ctx).V(2).Info("Node is not heard of", "node", klog.KObj(node), "since", heard.seen)
			node = after
		}
	}
	return node, r.unreadyPods(ctx, node, now)
}

// unreadyPods says of the pods of a node that was ready and is no longer that they are not ready either.
func (r *reconciler) unreadyPods(ctx context.Context, node *corev1.Node, now time.Time) error {
	is := readiness(node)
	if is == corev1.ConditionTrue || is == "" || !r.ready[node.Name] {
		r.ready[node.Name] = is == corev1.ConditionTrue
		return nil
	}
	for _, pod := range r.podsOf(node.Name) {
		at := slices.IndexFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodReady })
		if at < 0 || pod.Status.Conditions[at].Status == corev1.ConditionFalse {
			continue
		}
		condition := pod.Status.Conditions[at]
		condition.Status, condition.LastTransitionTime = corev1.ConditionFalse, metav1.NewTime(now)
		if err := r.setPodCondition(ctx, pod, condition); err != nil {
			return err // the node stays noted as one that was ready
		}
	}
	r.ready[node.Name] = false
	return nil
}

// execute returns the key of the taint NoExecute that a node is to have from now on, empty for none.
func (r *reconciler) execute(node *corev1.Node, zones map[string]zone, dark bool, now time.Time) string {
	key := executing(node)
	if key == "" || dark {
		return ""
	}
	if executes(node) {
		return key
	}
	name := zoneOf(node)
	pace := zones[name].pace()
	if pace == 0 || now.Before(r.next[name]) {
		return ""
	}
	r.next[name] = now.Add(pace)
	return key
}

// taint gives a node the taints that it is to have.
func (r *reconciler) taint(ctx context.Context, node *corev1.Node, execute string, now time.Time) error {
	wanted := wantedTaints(node, execute, now)
	if slices.EqualFunc(wanted, node.Spec.Taints, func(a, b corev1.Taint) bool { return a.MatchTaint(&b) }) {
		return nil
	}
	_, err := r.patchNode(ctx, node, map[string]any{
		// The list is replaced as a whole, so that it must be the one that was seen.
		"metadata": map[string]any{"resourceVersion": node.ResourceVersion},
		"spec":     map[string]any{"taints": wanted},
	})
	return err
}

func (r *reconciler) patchNode(ctx context.Context, node *corev1.Node, change map[string]any, subresources ...string) (*corev1.Node, error) {
	patch, err := json.Marshal(change)
	if err != nil {
		return nil, fmt.Errorf("updating node %s: %w", node.Name, err)
	}
	after, err := r.kube.CoreV1().Nodes().Patch(ctx, node.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, subresources...)
	if err != nil {
		return nil, fmt.Errorf("updating node %s: %w", node.Name, err)
	}
	return after, nil
}

// setPodCondition writes one condition of a pod. One that is gone, or was replaced, is left alone.
func (r *reconciler) setPodCondition(ctx context.Context, pod *corev1.Pod, condition corev1.PodCondition) error {
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": pod.UID},
		"status":   map[string]any{"conditions": []corev1.PodCondition{condition}},
	})
	if err == nil {
		_, err = r.kube.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	}
	if err != nil && !apierrors.IsNotFound(err) && !isOfAnother(err) {
		return fmt.Errorf("updating pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	return nil
}

// isOfAnother says whether a patch was refused because it names another UID than the stored object has.
func isOfAnother(err error) bool {
	cause, found := apierrors.StatusCause(err, metav1.CauseTypeFieldValueInvalid)
	return apierrors.IsConflict(err) || apierrors.IsInvalid(err) && found && cause.Field == "metadata.uid"
}
