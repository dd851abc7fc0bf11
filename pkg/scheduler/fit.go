package scheduler

import (
	"cmp"
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
	// nodes are those that were asked; refusals answers to the same index. Both are only set when node is nil.
	nodes    []*nodeInfo
	refusals []refusal
}

// findNode looks for the best of the nodes that take the pod: the one with the largest share of CPU and memory left
// over, then the one with the fewest pods, then the first by name. Equal clusters give equal answers.
func findNode(p *podInfo, nodes []*nodeInfo) fit {
	var best *nodeInfo
	var bestScore int64
	refusals := make([]refusal, 0, 8)
	for _, n := range nodes {
		r := filter(p, n)
		if !r.fits() {
			if best == nil {
				refusals = append(refusals, r)
			}
			continue
		}
		score := leastAllocated(p, n)
		if best == nil || cmp.Or(
			cmp.Compare(bestScore, score),
			cmp.Compare(len(n.pods), len(best.pods)),
			strings.Compare(n.name, best.name)) < 0 {
			best, bestScore = n, score
		}
	}
	if best != nil {
		return fit{node: best}
	}
	return fit{nodes: nodes, refusals: refusals}
}

// leastAllocated is the mean share of CPU and memory, in thousandths, that would stay free on the node with the pod.
func leastAllocated(p *podInfo, n *nodeInfo) int64 {
	share := func(capacity, used, request int64) int64 {
		if capacity <= 0 {
			return 0
		}
		return max(0, capacity-used-request) * 1000 / capacity
	}
	return (share(n.capacity.milliCPU, n.used.milliCPU, p.requests.milliCPU) +
		share(n.capacity.memory, n.used.memory, p.requests.memory)) / 2
}

// message tells why no node took the pod, counted over the nodes, and what came of looking for pods to preempt:
// "0/3 nodes are available: 3 Insufficient cpu. …".
func (f fit) message(preemption string) string {
	if len(f.nodes) == 0 {
		return messageNoNodes
	}
	text := unavailable(len(f.nodes), f.refusals)
	if preemption != "" {
		text += " " + preemption
	}
	return text
}

func unavailable(total int, refusals []refusal) string {
	counts := map[string]int{}
	for _, r := range refusals {
		for _, reason := range r.reasons {
			counts[reason]++
		}
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
