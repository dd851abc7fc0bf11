package scheduler

import (
	"fmt"
	"maps"
	"slices"
)

// tryPlacements tries the group's pods on each set of nodes that its topology constraint allows, and returns the best
// trial: of those that are enough the one that places many pods and leaves little of the nodes over, or else the first.
// Without a constraint there is one set, all nodes. Domains are taken in the order of their labels' values, and the first
// of equals wins.
func (c *cluster) tryPlacements(g *groupInfo, pods []*podInfo, mayPreempt bool) trial {
	if !c.policy.placements() {
		return c.place(g, pods, c.order, mayPreempt)
	}
	domains, err := c.domains(g)
	if err != nil {
		return trial{failed: true, message: err.Error()}
	}
	if len(domains) == 0 {
		return trial{message: messageNoPlacements}
	}
	trials := make([]trial, len(domains))
	most := 0
	for i, nodes := range domains {
		trials[i] = c.place(g, pods, nodes, mayPreempt)
		if trials[i].enough {
			most = max(most, len(g.placed)+trials[i].placed())
		}
	}
	chosen, highest := -1, int64(0)
	for i := range trials {
		if !trials[i].enough {
			continue
		}
		rating := int64(len(g.placed)+trials[i].placed())*best/int64(most) + fullness(domains[i], &trials[i])
		if chosen < 0 || rating > highest {
			chosen, highest = i, rating
		}
	}
	if chosen < 0 {
		trials[0].message = fmt.Sprintf("0/%d placements are available, first placement status: %s", len(domains), messageGroupUnschedulable)
		return trials[0]
	}
	return trials[chosen]
}

func (t *trial) placed() int {
	count := 0
	for _, result := range t.pods {
		if result.node != nil {
			count++
		}
	}
	return count
}

// domains returns the sets of nodes that may hold the group, each sorted by name. With members already placed, only
// their domain will do.
func (c *cluster) domains(g *groupInfo) ([][]*nodeInfo, error) {
	key := g.topologyKey()
	if key == "" {
		return [][]*nodeInfo{c.order}, nil
	}
	required, bound, err := c.domainOfPlaced(g, key)
	if err != nil {
		return nil, fmt.Errorf("cannot determine domain for already scheduled pods: %w", err)
	}
	byValue := map[string][]*nodeInfo{}
	for _, n := range c.order {
		if value, labelled := n.object.Labels[key]; labelled && (!bound || value == required) {
			byValue[value] = append(byValue[value], n)
		}
	}
	domains := make([][]*nodeInfo, 0, len(byValue))
	for _, value := range slices.Sorted(maps.Keys(byValue)) {
		domains = append(domains, byValue[value])
	}
	return domains, nil
}

// domainOfPlaced returns the domain that the placed members share; bound is false when there are none.
func (c *cluster) domainOfPlaced(g *groupInfo, key string) (domain string, bound bool, err error) {
	placed := slices.SortedFunc(maps.Values(g.placed), byUrgency)
	for _, p := range placed {
		n := c.nodes[p.node]
		if n == nil || n.object == nil {
			return "", false, fmt.Errorf("getting node for pod %s: nodeinfo not found for node name %q", p.key, p.node)
		}
		value, labelled := n.object.Labels[key]
		if !labelled {
			return "", false, fmt.Errorf("no topology domain found for pod %s", p.key)
		}
		if bound && value != domain {
			return "", false, fmt.Errorf("more than 1 domain found for pod group: %s, %s", domain, value)
		}
		domain, bound = value, true
	}
	return domain, bound, nil
}
