package scheduler

import (
	"cmp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// What kube-scheduler says about making room by preemption, after the reasons why no node took the pod.
const (
	// messageNoClaims is there whether or not the pod knows anything of devices.
	messageNoClaims         = "no new claims to deallocate"
	messageLeftToGroup      = "preemption: not eligible due to workload aware preemption enabled"
	messageLeftToPlacement  = "preemption: not eligible due to placement-based pod group scheduling limitation"
	messageNever            = "not eligible due to preemptionPolicy=Never."
	messageStillTerminating = "not eligible due to a terminating pod on the nominated node."
	reasonNoVictims         = "No preemption victims found for incoming pod"
	reasonNotHelpful        = "Preemption is not helpful for scheduling"
)

// room is what came of looking for pods that could make place for another.
type room struct {
	// node is where there will be place, empty if there is no way.
	node      string
	evictions []Eviction
	// message is the text to add to the pod's own message; empty when room is being made.
	message string
}

// makeRoomForMember is preemption by one pod of a group. With group preemption, or under a topology constraint, it is
// not for single members to preempt.
func (c *cluster) makeRoomForMember(g *groupInfo, p *podInfo, found fit, mayPreempt bool) room {
	switch {
	case len(found.nodes) == 0:
		return room{}
	case !mayPreempt:
		return room{message: "All PostFilter plugins are skipped"}
	case c.policy.placements() && g.object != nil && g.object.Spec.SchedulingConstraints != nil:
		return room{message: messageNoClaims + ", " + messageLeftToPlacement}
	case c.policy.groupPreemption():
		return room{message: messageNoClaims + ", " + messageLeftToGroup}
	}
	return c.makeRoomForPod(p, found)
}

// makeRoomForPod looks for the node on which the pod fits if pods of lower priority leave it, and where that costs
// least: the lowest priorities, then the fewest pods, then those that started last.
func (c *cluster) makeRoomForPod(p *podInfo, found fit) room {
	if len(found.nodes) == 0 {
		return room{}
	}
	refuse := func(text string) room { return room{message: messageNoClaims + ", preemption: " + text} }
	if policy := p.object.Spec.PreemptionPolicy; policy != nil && *policy == corev1.PreemptNever {
		return refuse(messageNever)
	}
	if c.roomIsBeingMade(p, found) {
		return refuse(messageStillTerminating)
	}
	var best *nodeInfo
	var bestVictims []*podInfo
	refusals := make([]refusal, len(found.nodes))
	notHelpful := refusal{reasons: []string{reasonNotHelpful}}
	for i, n := range found.nodes {
		if found.refusal(i).final {
			refusals[i] = notHelpful
			continue
		}
		victims, r := victimsOn(n, p)
		if len(victims) == 0 {
			refusals[i] = r
			continue
		}
		if best == nil || cheaper(victims, bestVictims) {
			best, bestVictims = n, victims
		}
	}
	if best == nil {
		return refuse(unavailable(len(refusals), func(i int) *refusal { return &refusals[i] }))
	}
	out := room{node: best.name}
	for _, v := range bestVictims {
		out.evictions = append(out.evictions, Eviction{Pod: v.object, For: "pod", ForUID: p.uid(), From: best.name})
	}
	return out
}

// roomIsBeingMade says whether pods are still leaving the node that this pod waits for.
func (c *cluster) roomIsBeingMade(p *podInfo, found fit) bool {
	name := cmp.Or(p.nominated, p.object.Status.NominatedNodeName)
	if name == "" {
		return false
	}
	for i, n := range found.nodes {
		if n.name != name {
			continue
		}
		if found.refusal(i).final {
			return false
		}
		for _, other := range n.pods {
			if other.priority < p.priority && leavingByPreemption(other.object) {
				return true
			}
		}
	}
	return false
}

func leavingByPreemption(pod *corev1.Pod) bool {
	if pod.DeletionTimestamp == nil {
		return false
	}
	return slices.ContainsFunc(pod.Status.Conditions, func(condition corev1.PodCondition) bool {
		return condition.Type == corev1.DisruptionTarget && condition.Status == corev1.ConditionTrue &&
			condition.Reason == corev1.PodReasonPreemptionByScheduler
	})
}

// victimsOn returns the fewest pods of lower priority that have to leave the node for the pod to fit, the most important
// first, or why there is no such set.
func victimsOn(n *nodeInfo, p *podInfo) ([]*podInfo, refusal) {
	var lower []*podInfo
	for _, other := range n.pods {
		if other.priority < p.priority {
			lower = append(lower, other)
		}
	}
	if len(lower) == 0 {
		return nil, refusal{reasons: []string{reasonNoVictims}}
	}
	slices.SortFunc(lower, byImportance)
	for _, other := range lower {
		n.remove(other)
	}
	defer func() {
		for _, other := range lower {
			n.add(other)
		}
	}()
	if r := filter(p, n); !r.fits() {
		return nil, r
	}
	var victims []*podInfo
	for _, other := range lower {
		n.add(other)
		if !filter(p, n).fits() {
			n.remove(other)
			victims = append(victims, other)
		}
	}
	return victims, refusal{}
}

// byImportance orders pods that may have to go, those to be spared first: by priority, then by how long they have run.
func byImportance(a, b *podInfo) int {
	return cmp.Or(cmp.Compare(b.priority, a.priority), compareStart(startOf(a), startOf(b)), byUrgency(a, b))
}

// cheaper says whether evicting the first set costs less than the second. Both are sorted by importance.
func cheaper(a, b []*podInfo) bool {
	sum := func(pods []*podInfo) (total int64) {
		for _, p := range pods {
			// Shifted above zero, so that few pods of a negative priority are not dearer than many.
			total += int64(p.priority) + 1<<31
		}
		return total
	}
	return cmp.Or(
		cmp.Compare(a[0].priority, b[0].priority),
		cmp.Compare(sum(a), sum(b)),
		cmp.Compare(len(a), len(b)),
		// The later start is the smaller loss.
		compareStart(earliestTop(b), earliestTop(a)),
		strings.Compare(a[0].node, b[0].node),
	) < 0
}

// earliestTop is the first start among the pods of the highest priority.
func earliestTop(pods []*podInfo) time.Time {
	earliest := startOf(pods[0])
	for _, p := range pods[1:] {
		if start := startOf(p); p.priority == pods[0].priority && compareStart(start, earliest) < 0 {
			earliest = start
		}
	}
	return earliest
}

// startOf is when the pod began to run, the zero time if it has not.
func startOf(p *podInfo) time.Time {
	if p.object.Status.StartTime == nil {
		return time.Time{}
	}
	return p.object.Status.StartTime.Time
}

// compareStart orders times of start; a pod that has not started comes after all that have.
func compareStart(a, b time.Time) int {
	switch {
	case a.IsZero() && b.IsZero():
		return 0
	case a.IsZero():
		return 1
	case b.IsZero():
		return -1
	}
	return a.Compare(b)
}
