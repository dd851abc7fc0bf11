package kubelet

import (
	"context"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/klog/v2"
)

// leaseSeconds is for how long a Lease says that its node is alive: four times as long as the default interval.
const leaseSeconds = 40

// leaseTimeout bounds each request for a Lease. It is not cut off when the kubelet is told to end: that takes no longer.
const leaseTimeout = 5 * time.Second

// heartbeat renews the Leases of the nodes until ctx ends.
func (k *Kubelet) heartbeat(ctx context.Context) {
	held := map[string]*coordinationv1.Lease{}
	ticker := k.clock.NewTicker(k.options.LeaseInterval)
	defer ticker.Stop()
	for {
		nodes, err := k.nodes.List(labels.Everything())
		if err != nil {
			klog.FromContext(ctx).Error(err, "Listing nodes failed; it is tried again")
		}
		for _, node := range nodes {
			if !k.serves(node.Name) || k.isLost(node.Name) {
				continue
			}
			held[node.Name], err = k.renew(ctx, node, held[node.Name])
			if ctx.Err() != nil {
				return
			}
			if err != nil {
				klog.FromContext(ctx).Error(err, "Renewing the lease of a node failed; it is tried again", "node", klog.KObj(node))
			}
		}
		select {
		case <-ticker.C():
		case <-ctx.Done():
			return
		}
	}
}

// renew renews the Lease of a node, which is made if it is not there, and returns it as it is now. last is how it was
// after the last time, nil if that is not known.
func (k *Kubelet) renew(ctx context.Context, node *corev1.Node, last *coordinationv1.Lease) (*coordinationv1.Lease, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaseTimeout)
	defer cancel()
	leases := k.kube.CoordinationV1().Leases(corev1.NamespaceNodeLease)
	if last == nil {
		found, err := leases.Get(ctx, node.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			made, err := leases.Create(ctx, newLease(node, k.clock.Now()), metav1.CreateOptions{})
			return made, renewing(node, err)
		}
		if err != nil {
			return nil, renewing(node, err)
		}
		last = found
	}
	lease, wanted := last.DeepCopy(), newLease(node, k.clock.Now())
	lease.OwnerReferences, lease.Spec = wanted.OwnerReferences, wanted.Spec
	renewed, err := leases.Update(ctx, lease, metav1.UpdateOptions{})
	if err != nil {
		return nil, renewing(node, err) // the next time begins with how it is
	}
	return renewed, nil
}

func renewing(node *corev1.Node, err error) error {
	if err != nil {
		return fmt.Errorf("renewing lease of node %s: %w", node.Name, err)
	}
	return nil
}

func newLease(node *corev1.Node, now time.Time) *coordinationv1.Lease {
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{
			Name: node.Name, Namespace: corev1.NamespaceNodeLease,
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: node.Name, UID: node.UID}},
		},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: &node.Name, LeaseDurationSeconds: new(int32(leaseSeconds)), RenewTime: new(metav1.NewMicroTime(now)),
		},
	}
}
