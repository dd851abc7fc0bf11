package clustertest

import "path/filepath"

// Kubeconfig opens the cluster to other processes, on a free port of the loopback address, and returns the name of a
// kubeconfig of a cluster administrator: for programs that are told by a flag where their cluster is. The file is removed
// after the test. It is for clusters of [Start] and [RunOnRealClock]: in a bubble, where there can be no sockets, it fails
// the test.
func (c *Cluster) Kubeconfig() string {
	c.t.Helper()
	if _, err := c.Server().Listen(c.t.Context(), "127.0.0.1:0"); err != nil {
		c.t.Fatalf("opening the cluster to other processes: %v", err)
	}
	path := filepath.Join(c.t.TempDir(), "kubeconfig")
	if err := c.Server().WriteKubeconfig(path); err != nil {
		c.t.Fatalf("writing a kubeconfig: %v", err)
	}
	return path
}
