// Package nodelifecycle finds nodes that are out of reach and moves their pods away, as the node lifecycle and taint
// eviction controllers of kube-controller-manager 1.36 do, which cannot be imported.
//
//	controller, err := nodelifecycle.New(config, nodelifecycle.Options{})
//	if err != nil {
//		return err
//	}
//	return controller.Run(ctx)
//
// A node is alive while its Lease in namespace kube-node-lease is renewed, or the heartbeat of its condition Ready moves.
// One that has not been for [Options].GracePeriod gets the status Unknown in the conditions of its kubelet, its pods are
// no longer Ready, and it is tainted: node.kubernetes.io/unreachable with the effect NoSchedule at once, and with the
// effect NoExecute one node of a zone every ten seconds. Where more than half of a small zone, and more than two nodes,
// are not ready, or all nodes of the cluster, the fault is taken to lie elsewhere, and no more nodes get the second.
// Other conditions, and spec.unschedulable, have their taints as well, and all go when the node is well again.
//
// A pod on a node with a taint NoExecute is deleted once the time is over for which it tolerates it
// (spec.tolerations[].tolerationSeconds, five minutes unless the pod says otherwise), with the condition
// DisruptionTarget, reason DeletionByTaintManager (KEP-3329). Only the node's kubelet can say that the pod has ended:
// without it the pod stays Terminating, until the kubelet is back or the Node is deleted; see pkg/controller/podgc.
//
// It writes no events, has no metrics, and does not reconcile the labels of nodes. It elects no leader: two of them do no
// harm. The rights that it needs in a cluster with RBAC are in rbac.yaml beside this file, and in [RBAC]: list, watch and
// patch nodes, list, watch and delete pods, patch the status of both, list and watch the Leases of nodes.
package nodelifecycle
