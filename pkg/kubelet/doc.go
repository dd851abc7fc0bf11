// Package kubelet plays pods on nodes: it reports what a kubelet would report of pods that run, end, fail, are started
// again and are deleted. It runs nothing, unless it is told to run containers as processes of this machine.
//
// [New] makes a [Kubelet] for an API server and Run runs it. One kubelet serves many nodes: those that [Options].Nodes
// has it register, or every node that there is. How long a container runs and how it ends is up to a [Script], which
// knows for each start which Job, which index and which attempt it is, and to annotations on the pod; see
// [AnnotationRunDuration]. With [Options].Runtime set to [Processes], containers are commands that really run, and end as
// they end.
//
// # What it does
//
// A pod that is bound to one of its nodes goes from Pending to Running to Succeeded or Failed, with start time,
// addresses, container states, exit codes and conditions as a kubelet of 1.36 sets them: init containers one after
// another, sidecars beside the others and ended after them, restartPolicy OnFailure and Always with restarts in place
// after 0, 10, 20, 40… seconds up to 5 minutes, activeDeadlineSeconds of the pod, eviction by script. A pod that is
// deleted has its containers ended, with exit code 143, or 137 when they outlast the grace period, gets a final status,
// and is then removed from the API; one with finalizers stays until those are gone. What containers write is kept in
// bounds and can be read, see [Kubelet.ContainerLogs]. Nodes are kept Ready and their Leases renewed; [Kubelet.Lose] cuts
// one off.
//
// Everything that is played is timed by the clock of the options, and the state of a pod can be told from its status: a
// kubelet that is started after another goes on where that one stopped. Processes live by the real clock; a kubelet that
// is started later has lost them.
//
// # What it does not do
//
// No image is pulled, no volume mounted, no probe sent: a running container is ready. There are no events, no eviction
// under pressure, and no resizing of pods in place. Resources are not looked at, so that a pod which names its node
// itself is run there in any case.
package kubelet
