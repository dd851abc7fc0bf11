// Package scheduler places pods on nodes, and gangs as a whole or not at all, as kube-scheduler 1.36 does with the
// PodGroups of scheduling.k8s.io/v1alpha2 (KEP-4671).
//
// [New] makes a [Scheduler] for an API server and Run runs it. [Plan] makes the same decisions about a [Snapshot] and
// does nothing about them, which answers the question whether a gang would fit.
//
// # What it does
//
// A pod that names a PodGroup waits, with nothing said about it, until the PodGroup exists and, for a gang, until
// minCount members do. Then the waiting members are placed together, by priority and age, in one cycle that nothing else
// comes between: two gangs never hold half of the cluster each. If minCount members have a node, counting those that had
// one before, all that fit are bound, and the PodGroup gets PodGroupScheduled=True. If not, none is; the pods get
// PodScheduled=False with kube-scheduler's words, the PodGroup PodGroupScheduled=False, and the group is tried again
// after 1, 2, 4, 8, 10, 10… seconds, or sooner: when a node comes that takes a pod for which there was none, or a pod
// leaves one, or a member is added. The pods of a basic group, and pods without one, are placed one by one.
//
// A node takes a pod if it has the CPU, memory, ephemeral storage, extended resources, host ports and room in its number
// of pods, matches node selector and required node affinity, and has no taint that the pod does not tolerate. Of those
// that do, the one with most left over and the best balance of CPU and memory is taken, by kube-scheduler's formulas; then
// the one with the fewest pods, then the first by name, so that equal clusters get equal answers. A topology constraint of
// the PodGroup keeps its pods on nodes that share the value of a label (KEP-5732); of several values the one with room for
// most members is taken, and the one whose nodes they fill. Pods of lower priority are preempted, a group's as one if its
// disruptionMode says so (KEP-5710).
//
// # What differs from kube-scheduler
//
// Members of a gang that succeeded count towards its quorum, those that its controller counts on the PodGroup
// (builder.FinishedMembersAnnotation) included, so that a Job's retry of one index is placed after another index is done;
// kube-scheduler leaves it waiting for ever. Room in the cluster is used at once instead of after the
// back-off. [Options].Parity takes both back. In either case a failed member does not count, nor does one whose pod is
// deleted, and members that were bound together are bound by separate requests: a pod that is deleted in that moment
// leaves the others where they are.
//
// # What it does not do
//
// Preferences are not weighed: preferred node affinity, PreferNoSchedule taints, images. Pod affinity, topology spread
// constraints, volumes, dynamic resource allocation and PodDisruptionBudgets are not looked at. There is one profile, no
// leader election and no metrics.
package scheduler
