package nodelifecycle

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// How fast nodes are tainted with NoExecute, as in kube-controller-manager 1.36: one of a zone every ten seconds
// (--node-eviction-rate), where most of a large zone is not ready every hundred (--secondary-node-eviction-rate), and of
// a small one none.
const (
	usualPace     = 10 * time.Second
	slowPace      = 100 * time.Second
	largeZone     = 50   // nodes; --large-cluster-size-threshold
	unhealthyPart = 0.55 // of a zone; --unhealthy-zone-threshold
	unhealthyMin  = 2    // nodes that are not ready do not make a zone unhealthy, whatever its size
)

// labelExcluded on a node has it not count in its zone.
const labelExcluded = "node.kubernetes.io/exclude-disruption"

// zone is a failure domain of nodes.
type zone struct{ ready, other int }

// zoneOf names the zone of a node.
func zoneOf(node *corev1.Node) string {
	return node.Labels[corev1.LabelTopologyRegion] + "/" + node.Labels[corev1.LabelTopologyZone]
}

// countZones sorts nodes by zone.
func countZones(nodes []*corev1.Node) map[string]zone {
	zones := map[string]zone{}
	for _, node := range nodes {
		if _, excluded := node.Labels[labelExcluded]; excluded {
			continue
		}
		z := zones[zoneOf(node)]
		if readiness(node) == corev1.ConditionTrue {
			z.ready++
		} else {
			z.other++
		}
		zones[zoneOf(node)] = z
	}
	return zones
}

// blackout says that no node of the cluster is ready: it is not the nodes, then.
func blackout(zones map[string]zone) bool {
	for _, z := range zones {
		if z.ready > 0 {
			return false
		}
	}
	return len(zones) > 0
}

// pace is how long to wait between two nodes of a zone; zero says that none is to be tainted.
func (z zone) pace() time.Duration {
	size := z.ready + z.other
	switch {
	case z.ready == 0 || z.other <= unhealthyMin || float64(z.other)/float64(size) < unhealthyPart:
		return usualPace
	case size > largeZone:
		return slowPace
	}
	return 0
}
