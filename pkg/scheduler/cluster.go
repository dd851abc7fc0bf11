package scheduler

import (
	"cmp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/pkg/core"
	"github.com/musterkube/muster/pkg/features"
)

// policy is what the user chose about how to schedule.
type policy struct {
	schedulerName string
	gates         features.Gates
	parity        bool
}

func (p policy) groups() bool { return p.gates.Enabled(features.GenericWorkload) }
func (p policy) gangs() bool  { return p.groups() && p.gates.Enabled(features.GangScheduling) }
func (p policy) placements() bool {
	return p.groups() && p.gates.Enabled(features.TopologyAwareWorkloadScheduling)
}
func (p policy) groupPreemption() bool {
	return p.gangs() && p.gates.Enabled(features.WorkloadAwarePreemption)
}

// cluster is what the scheduler knows: nodes, unfinished pods and groups, including the places that it gave to pods and
// that the API server has not confirmed. It is the whole input of a scheduling cycle and does no I/O. Its callers keep
// it from being used by two goroutines at once.
type cluster struct {
	policy policy
	nodes  map[string]*nodeInfo
	// order holds the nodes that exist, by name. It is replaced, never changed, so that a cycle can keep it.
	order  []*nodeInfo
	pods   map[types.UID]*podInfo
	groups map[types.NamespacedName]*groupInfo
	// singles are the waiting pods without a group.
	singles map[types.NamespacedName]*podInfo
	// arrivals counts the pods that came, instants the instants at which they did, the last of which is arrivedAt.
	arrivals, instants uint64
	arrivedAt          time.Time
	verdicts           verdicts
	// priorities counts the placed pods of each priority.
	priorities map[int32]int
}

func newCluster(p policy) *cluster {
	return &cluster{
		policy:     p,
		nodes:      map[string]*nodeInfo{},
		pods:       map[types.UID]*podInfo{},
		groups:     map[types.NamespacedName]*groupInfo{},
		singles:    map[types.NamespacedName]*podInfo{},
		verdicts:   verdicts{},
		priorities: map[int32]int{},
	}
}

// arrive tells the time at which the next pods come. Pods of one instant, of which virtual time has many, are not told
// apart by their arrival.
func (c *cluster) arrive(now time.Time) {
	if c.instants == 0 || !now.Equal(c.arrivedAt) {
		c.instants++
		c.arrivedAt = now
	}
}

func (c *cluster) node(name string) *nodeInfo {
	n, known := c.nodes[name]
	if !known {
		n = newNodeInfo(name)
		c.nodes[name] = n
	}
	return n
}

// setNode adds a node or takes over its newer version.
func (c *cluster) setNode(node *corev1.Node) {
	n := c.node(node.Name)
	if n.object == nil {
		at, _ := slices.BinarySearchFunc(c.order, node.Name, func(n *nodeInfo, name string) int {
			return strings.Compare(n.name, name)
		})
		c.reorder(slices.Insert(slices.Clone(c.order), at, n))
	}
	n.set(node)
}

// removeNode forgets a node. Its pods stay on record until they are deleted, for their groups' sake.
func (c *cluster) removeNode(name string) {
	n, known := c.nodes[name]
	if !known {
		return
	}
	n.object = nil
	c.reorder(slices.DeleteFunc(slices.Clone(c.order), func(n *nodeInfo) bool { return n.name == name }))
	c.dropIfIdle(n)
}

// reorder takes over which nodes exist. What they said is forgotten: it was noted by their places.
func (c *cluster) reorder(nodes []*nodeInfo) {
	c.order = nodes
	for at, n := range nodes {
		n.at = at
	}
	clear(c.verdicts)
}

func (c *cluster) dropIfIdle(n *nodeInfo) {
	if n.idle() {
		delete(c.nodes, n.name)
	}
}

// setPod adds a pod or takes over its newer version, and returns it if it is waiting for a node.
func (c *cluster) setPod(pod *corev1.Pod) *podInfo {
	if core.PodFinished(pod) {
		c.finishPod(pod)
		return nil
	}
	p, known := c.pods[uidOf(pod)]
	switch {
	case !known:
		if pod.Spec.NodeName == "" && cmp.Or(pod.Spec.SchedulerName, corev1.DefaultSchedulerName) != c.policy.schedulerName {
			return nil // another scheduler's, and no member of a group before that one has placed it
		}
		p = newPodInfo(pod, c.policy.groups())
		c.arrivals++
		p.arrival, p.instant = c.arrivals, c.instants
		c.pods[uidOf(pod)] = p
		c.enlist(p)
		if p.node == "" {
			// A scheduler that went before was making room there.
			c.nominate(p, pod.Status.NominatedNodeName)
		}
	case pod.Spec.NodeName != "" && (p.node != pod.Spec.NodeName || p.assumed):
		c.withdraw(p)
		p.update(pod)
		p.node, p.assumed = pod.Spec.NodeName, false
		c.nominate(p, "")
		c.enlist(p)
	case p.node != "":
		// Take the old requests off the node before they are replaced.
		c.nodes[p.node].remove(p)
		p.update(pod)
		c.nodes[p.node].add(p)
	default:
		p.update(pod)
	}
	if p.node != "" {
		return nil
	}
	return p
}

// finishPod takes a pod off its node at once; its object may stay for days. A member that succeeded stays known to its
// group unless the scheduler does as kube-scheduler does.
func (c *cluster) finishPod(pod *corev1.Pod) {
	c.removePod(pod)
	p := newPodInfo(pod, c.policy.groups())
	if !c.policy.parity && p.group != "" && pod.Status.Phase == corev1.PodSucceeded {
		c.group(p.groupKey()).succeeded[uidOf(pod)] = struct{}{}
	}
}

// removePod forgets a pod that was deleted.
func (c *cluster) removePod(pod *corev1.Pod) {
	p, known := c.pods[uidOf(pod)]
	if !known {
		p = newPodInfo(pod, c.policy.groups())
	}
	if p.group != "" {
		if g := c.groups[p.groupKey()]; g != nil {
			delete(g.succeeded, uidOf(pod))
			c.dropIfEmpty(g)
		}
	}
	if !known {
		return
	}
	c.nominate(p, "")
	c.withdraw(p)
	delete(c.pods, uidOf(pod))
}

// assume gives the pod its place before the API server has confirmed it, so that later cycles count it.
func (c *cluster) assume(p *podInfo, node string) {
	c.withdraw(p)
	p.node, p.assumed = node, true
	c.nominate(p, "")
	c.enlist(p)
}

// forget takes back an assumed place, because binding failed. It does nothing if the pod is bound or gone meanwhile.
func (c *cluster) forget(uid types.UID) {
	p := c.pods[uid]
	if p == nil || !p.assumed {
		return
	}
	c.withdraw(p)
	p.node, p.assumed = "", false
	c.enlist(p)
}

// nominate notes that room is being made for the pod on a node, or that none is any more.
func (c *cluster) nominate(p *podInfo, node string) {
	if p.nominated == node {
		return
	}
	if p.nominated != "" {
		old := c.node(p.nominated)
		delete(old.nominated, p.uid())
		c.dropIfIdle(old)
	}
	p.nominated = node
	if node != "" {
		c.node(node).nominated[p.uid()] = p
	}
}

// suspendNomination has the room that is being made for a pod offered to others until resumeNomination.
func (c *cluster) suspendNomination(p *podInfo) {
	if p.nominated != "" {
		delete(c.node(p.nominated).nominated, p.uid())
	}
}

func (c *cluster) resumeNomination(p *podInfo) {
	if p.nominated != "" {
		c.node(p.nominated).nominated[p.uid()] = p
	}
}

// enlist files the pod where it belongs: on its node, or among those that wait, and with its group.
func (c *cluster) enlist(p *podInfo) {
	if p.node != "" {
		c.node(p.node).add(p)
		c.priorities[p.priority]++
	}
	switch {
	case p.group != "":
		c.group(p.groupKey()).add(p)
	case p.node == "":
		c.singles[p.key] = p
	}
}

// withdraw undoes enlist.
func (c *cluster) withdraw(p *podInfo) {
	if p.node != "" {
		n := c.node(p.node)
		n.remove(p)
		c.dropIfIdle(n)
		if c.priorities[p.priority]--; c.priorities[p.priority] == 0 {
			delete(c.priorities, p.priority)
		}
	}
	switch {
	case p.group != "":
		g := c.group(p.groupKey())
		g.remove(p)
		c.dropIfEmpty(g)
	case p.node == "" && c.singles[p.key] == p:
		delete(c.singles, p.key)
	}
}

func (c *cluster) group(key types.NamespacedName) *groupInfo {
	g, known := c.groups[key]
	if !known {
		g = newGroupInfo(key)
		c.groups[key] = g
	}
	return g
}

// setGroup adds a PodGroup or takes over its newer version. Members that succeeded under an earlier PodGroup of the
// same name do not count for this one.
func (c *cluster) setGroup(group *schedulingv1alpha2.PodGroup) {
	g := c.group(types.NamespacedName{Namespace: group.Namespace, Name: group.Name})
	if g.object != nil && g.object.UID != group.UID {
		clear(g.succeeded)
	}
	g.object = group
}

func (c *cluster) removeGroup(key types.NamespacedName) {
	if g, known := c.groups[key]; known {
		g.object = nil
		clear(g.succeeded)
		c.dropIfEmpty(g)
	}
}

func (c *cluster) dropIfEmpty(g *groupInfo) {
	if g.empty() {
		delete(c.groups, g.key)
	}
}
