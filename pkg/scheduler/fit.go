package scheduler

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// messageNoNodes is what a pod is told when the cluster, or the part of it that was looked at, has no node at all.
const messageNoNodes = "no nodes available to schedule pods"

// fit is the outcome of looking for a node for one pod: the node, or each node's refusal.
type fit struct {
	node *nodeInfo
	// nodes are those that were asked, and said what they answered, by their places. Both are only set when node is nil, and
	// only good until nodes are asked again.
	nodes []*nodeInfo
	said  []verdict
}

// refusal is why the node with that index did not take the pod.
func (f fit) refusal(i int) *refusal { return &f.said[f.nodes[i].at].refusal }

// findNode looks for the best of the nodes that take the pod: the one where room was made for it, or else the one with the
// best score, then the one with the fewest pods, then the first by name. Equal clusters give equal answers. The nodes are
// among those that exist, and sorted by name.
func (c *cluster) findNode(p *podInfo, nodes []*nodeInfo) fit {
	said := c.verdicts.of(p, len(c.order))
	if p.nominated != "" {
		at := slices.IndexFunc(nodes, func(n *nodeInfo) bool { return n.name == p.nominated })
		if at >= 0 && nodes[at].ask(p, &said[nodes[at].at]).refusal.fits() {
			return fit{node: nodes[at]}
		}
	}
	var best *nodeInfo
	var winner *verdict
	for _, n := range nodes {
		v := n.ask(p, &said[n.at])
		if !v.refusal.fits() {
			continue
		}
		if best == nil || v.score > winner.score || v.score == winner.score && v.pods < winner.pods {
			best, winner = n, v
		}
	}
	if best != nil {
		return fit{node: best}
	}
	return fit{nodes: nodes, said: said}
}

// message tells why no node took the pod, counted over the nodes, and what came of looking for pods to preempt:
// "0/3 nodes are available: 3 Insufficient cpu. …".
func (f fit) message(preemption string) string {
	if len(f.nodes) == 0 {
		return messageNoNodes
	}
	text := unavailable(len(f.nodes), f.refusal)
	if preemption != "" {
		text += " " + preemption
	}
	return text
}

// unavailable counts the reasons of so many nodes.
func unavailable(total int, refusal func(i int) *refusal) string {
	counts := map[string]int{}
	for i := 0; i < total; {
		// Neighbours mostly say the same.
		reasons, same := refusal(i).reasons, i+1
		for same < total && slices.Equal(reasons, refusal(same).reasons) {
			same++
		}
		for _, reason := range reasons {
			counts[reason] += same - i
		}
		i = same
	}
	lines := make([]string, 0, len(counts))
	for reason, count := range maps.All(counts) {
		lines = append(lines, fmt.Sprintf("%d %s", count, reason))
	}
	// Sorted as text, count first, which is the order that kube-scheduler prints.
	slices.Sort(lines)
	text := fmt.Sprintf("0/%d nodes are available:", total)
	if len(lines) > 0 {
		text += " " + strings.Join(lines, ", ") + "."
	}
	return text
}
