// Package podgc removes pods that nobody else will, as the pod garbage collector of kube-controller-manager 1.36 does,
// which cannot be imported.
//
//	controller, err := podgc.New(config, podgc.Options{})
//	if err != nil {
//		return err
//	}
//	return controller.Run(ctx)
//
// These are: pods that are bound to a Node which does not exist, and did not forty seconds before either (they get the
// condition DisruptionTarget, reason DeletionByPodGC, KEP-3329); pods that are being deleted and were never bound; pods
// that are being deleted on a Node that is not ready and has the taint node.kubernetes.io/out-of-service (KEP-2268); and,
// beyond a number that is set, the oldest of those that have ended. A pod that has not ended is made to fail first, so
// that it counts as failed to its Job. All are deleted without a grace period: whether their containers still run,
// nobody knows.
//
// It has no metrics and elects no leader: two of them do no harm. The rights that it needs in a cluster with RBAC are in
// rbac.yaml beside this file, and in [RBAC]: get, list and watch nodes, list, watch and delete pods, and patch their status.
package podgc
