package clustertest

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/musterkube/muster/pkg/kubelet"
)

// LoseNode cuts a node off until [Cluster.RestoreNode], as [kubelet.Kubelet.Lose] does. It fails the test if there is no
// node of that name: a loss that hits nothing would prove nothing.
func (c *Cluster) LoseNode(name string) {
	c.t.Helper()
	c.kubeletOf(name).Lose(name)
}

// RestoreNode ends what [Cluster.LoseNode] began.
func (c *Cluster) RestoreNode(name string) {
	c.t.Helper()
	c.kubeletOf(name).Restore(name)
}

// kubeletOf returns what runs the pods of a node of the cluster's own.
func (c *Cluster) kubeletOf(node string) *kubelet.Kubelet {
	c.t.Helper()
	nodes, err := c.Kube.CoreV1().Nodes().List(c.t.Context(), metav1.ListOptions{})
	if err != nil {
		c.t.Fatalf("listing nodes: %v", err)
	}
	names := make([]string, 0, len(nodes.Items))
	for _, node := range nodes.Items {
		names = append(names, node.Name)
	}
	switch {
	case c.Kubelet() == nil:
		c.t.Fatalf("there is no node %q that the cluster runs: set Options.Nodes", node)
	case !slices.Contains(names, node):
		c.t.Fatalf("there is no node %q: have %s", node, strings.Join(names, ", "))
	}
	return c.Kubelet()
}
