package scheduler

import (
	"cmp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// What kube-scheduler says when a group cannot preempt (KEP-5710).
const (
	messageNoGroupVictims    = "No preemption victims found for incoming preemptor"
	messageConstraintsRefuse = "workload aware preemption is not supported for pod groups with scheduling constraints"
)

// victim is what leaves together: one pod, or all placed pods of a group whose disruptionMode is PodGroup.
type victim struct {
	pods     []*podInfo
	priority int32
	ofGroup  bool
	start    time.Time
}

// makeRoomForGroup looks in the whole cluster for pods of lower priority than the group's that have to go for the group
// to fit, as few and as unimportant as possible, and puts them into the trial. It reports whether it found any; if not,
// the reason is added to the trial's message.
func (c *cluster) makeRoomForGroup(g *groupInfo, pods []*podInfo, t *trial) bool {
	victims, refusal := c.groupVictims(g, pods)
	if refusal != "" {
		t.message += ", " + refusal
		return false
	}
	for _, v := range victims {
		for _, p := range v.pods {
			t.evictions = append(t.evictions, Eviction{Pod: p.object, For: "podgroup", ForUID: g.object.UID, From: "cluster"})
		}
	}
	return true
}

// groupVictims returns who has to go, the most important first, or why nobody does.
func (c *cluster) groupVictims(g *groupInfo, pods []*podInfo) (victims []victim, refusal string) {
	switch {
	case g.object == nil:
		return nil, podGroupNotFound(g.key)
	case g.topologyKey() != "":
		return nil, messageConstraintsRefuse
	case slices.ContainsFunc(pods, neverPreempts):
		return nil, messageNever
	}
	candidates := c.victims(g.priority())
	if len(candidates) == 0 {
		return nil, messageNoGroupVictims
	}
	// Everyone leaves, and then comes back one after another as long as the group still fits.
	for _, v := range candidates {
		c.lift(v)
	}
	defer func() {
		for _, v := range candidates {
			c.putBack(v)
		}
	}()
	if t := c.tryPlacements(g, pods, false); !t.enough {
		return nil, t.message
	}
	return c.reprieve(candidates, func() bool { return c.tryPlacements(g, pods, false).enough }), ""
}

// reprieve puts back, in order, everyone beside whom the group still fits, and returns those that have to stay away. In a
// large cluster most need not go at all: the longer it went well, the more are put back at once.
func (c *cluster) reprieve(candidates []victim, fits func() bool) (victims []victim) {
	const oneByOne = 16
	for streak := 0; len(candidates) > 0; {
		some := candidates[:min(1+streak/oneByOne, len(candidates))]
		for _, v := range some {
			c.putBack(v)
		}
		if fits() {
			candidates = candidates[len(some):]
			streak += len(some)
			continue
		}
		for _, v := range some {
			c.lift(v)
		}
		streak = 0
		if len(some) == 1 {
			victims = append(victims, some[0])
			candidates = candidates[1:]
		}
	}
	return victims
}

func neverPreempts(p *podInfo) bool {
	policy := p.object.Spec.PreemptionPolicy
	return policy != nil && *policy == corev1.PreemptNever
}

// victims returns everyone of a lower priority who is on a node, as units that leave together, those to be spared first.
func (c *cluster) victims(below int32) []victim {
	if !c.anyBelow(below) {
		return nil
	}
	var out []victim
	groups := map[types.NamespacedName]int{}
	for _, n := range c.order {
		for _, p := range n.pods {
			whole := c.evictedWhole(p)
			if whole == nil {
				if p.priority < below {
					out = append(out, victim{pods: []*podInfo{p}, priority: p.priority, ofGroup: p.group != "", start: startOf(p)})
				}
				continue
			}
			if whole.priority() >= below {
				continue
			}
			at, known := groups[whole.key]
			if !known {
				at = len(out)
				groups[whole.key] = at
				out = append(out, victim{priority: whole.priority(), ofGroup: true, start: startOf(p)})
			}
			out[at].pods = append(out[at].pods, p)
			if start := startOf(p); compareStart(start, out[at].start) < 0 {
				out[at].start = start
			}
		}
	}
	for _, v := range out {
		slices.SortFunc(v.pods, byUrgency)
	}
	slices.SortFunc(out, compareVictims)
	return out
}

// anyBelow says whether there may be victims at all, which in a full cluster is asked for every group that waits.
func (c *cluster) anyBelow(priority int32) bool {
	for of := range c.priorities {
		if of < priority {
			return true
		}
	}
	for _, g := range c.groups {
		if len(g.placed) > 0 && g.evictedWhole() && g.priority() < priority {
			return true
		}
	}
	return false
}

// evictedWhole returns the pod's group if its pods are only disrupted together.
func (c *cluster) evictedWhole(p *podInfo) *groupInfo {
	if p.group == "" {
		return nil
	}
	if g := c.groups[p.groupKey()]; g != nil && g.evictedWhole() {
		return g
	}
	return nil
}

// compareVictims puts the more important first: higher priority, members of groups before pods on their own, larger
// groups before smaller ones, earlier starts before later ones.
func compareVictims(a, b victim) int {
	ofGroup := func(v victim) int {
		if v.ofGroup {
			return 0
		}
		return 1
	}
	return cmp.Or(
		cmp.Compare(b.priority, a.priority),
		cmp.Compare(ofGroup(a), ofGroup(b)),
		cmp.Compare(len(b.pods), len(a.pods)),
		compareStart(a.start, b.start),
		strings.Compare(a.pods[0].key.String(), b.pods[0].key.String()),
	)
}

// lift takes the victim's pods off their nodes, for a trial.
func (c *cluster) lift(v victim) {
	for _, p := range v.pods {
		c.nodes[p.node].remove(p)
	}
}

func (c *cluster) putBack(v victim) {
	for _, p := range v.pods {
		c.nodes[p.node].add(p)
	}
}
