// Package cluster wires an API server, controllers, a gang scheduler and a kubelet into a small Kubernetes cluster
// inside the caller's process.
//
// [Start] is the entry point:
//
//	c, err := cluster.Start(ctx, cluster.Options{Nodes: 3})
//	if err != nil {
//		return err
//	}
//	defer c.Stop()
//	client, err := kubernetes.NewForConfig(c.Config())
//
// A Job created through that Config runs to its end: the Job controller makes its pods (and, for a gang, the Workload
// and the PodGroup first), the scheduler binds them, the kubelet plays them by a script. Start returns once the nodes are
// Ready, so that the first pod has somewhere to go. Nothing listens on a socket until [Cluster.Server]'s Listen is
// called. Several clusters can live in one process and differ in everything.
//
// The parts know one another only through the API, as on a real cluster; each can also be run by itself, see
// pkg/emulator, pkg/controller/job, pkg/scheduler and pkg/kubelet. Pods are played, and have the logs that the script gives them, unless [Options].Runtime has their commands
// run as processes of this machine.
package cluster
