package scheduler

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
)

// What kube-scheduler's plugins say in the conditions of pods and PodGroups.
const (
	messageGroupUnschedulable = "pod group is unschedulable"
	messageWaitForMinCount    = "waiting for minCount pods from a gang to be scheduled, one or more plugins asked to wait and no plugin rejected pod"
	messageWaitForPreemption  = "pod group is waiting for preemption to complete"
	messageNoPlacements       = "no feasible placements found"
	reasonScheduled           = "Scheduled"
)

// schedulePod runs a cycle for a pod on its own. A pod that finds a node is assumed to be there from now on.
func (c *cluster) schedulePod(p *podInfo) Decision {
	found := c.findNode(p, c.order)
	if found.node != nil {
		c.assume(p, found.node.name)
		return Decision{Bindings: []Binding{{Pod: p.object, Node: found.node.name}}}
	}
	room := c.makeRoomForPod(p, found)
	c.nominate(p, room.node)
	return Decision{
		Rejections: []Rejection{{
			Pod: p.object, Reason: corev1.PodReasonUnschedulable, Message: found.message(room.message), NominatedNode: room.node,
		}},
		Evictions: room.evictions,
		unplaced:  []*podInfo{p},
	}
}

// trial is what placing a group's pods one after another on some nodes came to. It leaves no trace in the cluster.
type trial struct {
	pods []podTrial
	// enough says that the quorum is met: the pods that found a node may have it.
	enough bool
	// evicting says that some pods only have their place once others are gone.
	evicting bool
	// message tells why there is not enough.
	message   string
	evictions []Eviction
	// failed says that the scheduler could not try at all.
	failed bool
}

// podTrial is the part of one pod in a trial.
type podTrial struct {
	pod *podInfo
	// node is where it fits, nil when nowhere.
	node *nodeInfo
	// evicting says that it fits there once other pods are gone.
	evicting bool
	// message tells why it does not fit as things stand.
	message string
}

// scheduleGroup runs a cycle for all waiting pods of a group: finds out where they fit, most urgent first, each seeing
// the ones before it as placed, and gives them their places if the policy is met. For a gang that is when minCount
// members are placed, counting those that were before; pods beyond it are taken along if they fit. Otherwise nobody is
// placed.
func (c *cluster) scheduleGroup(g *groupInfo) Decision {
	pods := g.candidates()
	if len(pods) == 0 {
		return Decision{PodGroup: g.key}
	}
	if g.object == nil && c.policy.placements() {
		return c.groupError(g, pods, podGroupNotFound(g.key))
	}
	best := c.tryPlacements(g, pods, true)
	if best.enough && !best.evicting {
		return c.acceptGroup(g, best)
	}
	if best.failed {
		return c.groupError(g, pods, best.message)
	}
	var preempted bool
	if c.policy.groupPreemption() {
		preempted = c.makeRoomForGroup(g, pods, &best)
	}
	return c.rejectGroup(g, pods, best, preempted)
}

// place tries the pods on the nodes, one after another. It is the whole of a cycle for a group without a topology.
func (c *cluster) place(g *groupInfo, pods []*podInfo, nodes []*nodeInfo, mayPreempt bool) trial {
	out := trial{pods: make([]podTrial, 0, len(pods)), message: messageGroupUnschedulable}
	placed := len(g.placed) + g.finished(c.policy)
	for _, p := range pods {
		result := podTrial{pod: p}
		if found := c.findNode(p, nodes); found.node != nil {
			result.node = found.node
		} else {
			room := c.makeRoomForMember(g, p, found, mayPreempt)
			result.message = found.message(room.message)
			if room.node != "" {
				result.node, result.evicting = c.nodes[room.node], true
				out.evictions = append(out.evictions, room.evictions...)
			}
		}
		if result.node != nil {
			// A later member must not be offered the same room, but may have what was being made for this one elsewhere.
			result.node.add(p)
			c.suspendNomination(p)
			placed++
			out.evicting = out.evicting || result.evicting
			out.enough = out.enough || placed >= g.minCount(c.policy)
		}
		out.pods = append(out.pods, result)
	}
	for _, result := range out.pods {
		if result.node != nil {
			result.node.remove(result.pod)
			c.resumeNomination(result.pod)
		}
	}
	if out.enough && out.evicting {
		out.message = messageGroupUnschedulable + ", " + messageWaitForPreemption
	}
	return out
}

// acceptGroup gives every pod of the trial that found a node its place.
func (c *cluster) acceptGroup(g *groupInfo, t trial) Decision {
	d := Decision{PodGroup: g.key, Condition: groupCondition(metav1.ConditionTrue, reasonScheduled, "")}
	for _, result := range t.pods {
		if result.node == nil {
			c.nominate(result.pod, "")
			d.unplaced = append(d.unplaced, result.pod)
			d.Rejections = append(d.Rejections, Rejection{
				Pod: result.pod.object, Reason: corev1.PodReasonUnschedulable, Message: result.message,
			})
			continue
		}
		c.assume(result.pod, result.node.name)
		d.Bindings = append(d.Bindings, Binding{Pod: result.pod.object, Node: result.node.name})
	}
	return d
}

// rejectGroup leaves every pod unplaced. With preempted, room is being made for all that the trial found a node for.
func (c *cluster) rejectGroup(g *groupInfo, pods []*podInfo, t trial, preempted bool) Decision {
	d := Decision{
		PodGroup:  g.key,
		Condition: groupCondition(metav1.ConditionFalse, schedulingv1alpha2.PodGroupReasonUnschedulable, t.message),
		Evictions: t.evictions,
	}
	waiting := preempted || t.enough && t.evicting
	for i, p := range pods {
		r := Rejection{Pod: p.object, Reason: corev1.PodReasonUnschedulable, Message: t.message}
		placed := false
		if i < len(t.pods) {
			c.explain(g, t.pods[i], waiting, &r)
			placed = t.pods[i].node != nil
		}
		if !placed {
			d.unplaced = append(d.unplaced, p)
		}
		c.nominate(p, r.NominatedNode)
		d.Rejections = append(d.Rejections, r)
	}
	return d
}

// explain tells one pod of a rejected group what its own part was. The pods that fit are told about the group.
func (c *cluster) explain(g *groupInfo, result podTrial, waiting bool, r *Rejection) {
	switch {
	case result.node == nil:
		r.Message = result.message
	case waiting && result.evicting:
		r.Message, r.NominatedNode = result.message, result.node.name
	case waiting:
		r.NominatedNode = result.node.name
	default:
		r.Message = messageGroupUnschedulable
		if g.minCount(c.policy) > 0 {
			r.Message += ", " + messageWaitForMinCount
		}
	}
}

// groupError is the decision about a group that the scheduler cannot judge.
func (c *cluster) groupError(g *groupInfo, pods []*podInfo, message string) Decision {
	d := Decision{
		PodGroup:  g.key,
		Condition: groupCondition(metav1.ConditionFalse, schedulingv1alpha2.PodGroupReasonSchedulerError, message),
	}
	for _, p := range pods {
		c.nominate(p, "")
		d.unplaced = append(d.unplaced, p)
		d.Rejections = append(d.Rejections, Rejection{Pod: p.object, Reason: corev1.PodReasonSchedulerError, Message: message})
	}
	return d
}

func podGroupNotFound(key types.NamespacedName) string {
	return fmt.Sprintf("podgroup.scheduling.k8s.io %q not found", key.Name)
}
