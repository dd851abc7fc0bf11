// Package podgroupprotection keeps a PodGroup that is being deleted until the last pod of it has ended, as the
// podgroup-protection-controller of kube-controller-manager 1.36 does (KEP-4671), which cannot be imported.
//
// The API server gives each new PodGroup the [Finalizer]; this controller takes it off again. It looks at a PodGroup
// that is being deleted, and when no pod of its namespace names it in spec.schedulingGroup, or all that do are
// Succeeded or Failed, it removes the finalizer, upon which the PodGroup goes. Pods that are being deleted count until
// they have ended.
//
//	controller, err := podgroupprotection.New(config, podgroupprotection.Options{})
//	if err != nil {
//		return err
//	}
//	return controller.Run(ctx)
//
// It adds the finalizer to nothing, and deletes nothing itself. It compares names, not UIDs, since that is all a pod
// says. Pods are watched from when the first PodGroup waits, so that they cost nothing before; what pods there are the
// controller takes from its cache, unless the cache has not come as far as the deletion: then it lists the pods of the
// namespace, which the built-in controller does not, so that a PodGroup does not go from under pods that were made just
// before. A pod that is made later than the deletion may come too late, in both. It elects no leader: two of them do no
// harm, the second write of the same removal is refused.
//
// The rights that it needs in a cluster with RBAC are in rbac.yaml beside this file, and in [RBAC]: list, watch and
// update PodGroups, list and watch pods.
package podgroupprotection
