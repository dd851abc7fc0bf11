package scheduler

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/pkg/builder"
)

// groupInfo is a PodGroup with the pods that name it. Like kube-scheduler, the scheduler goes by name: pods that came
// before their PodGroup, or that outlived one of the same name, are its members.
type groupInfo struct {
	key    types.NamespacedName
	object *schedulingv1alpha2.PodGroup // nil while there are only pods
	// waiting have no node; placed are bound or about to be.
	waiting, placed map[types.UID]*podInfo
	// succeeded are members that ran to their end. Always empty with parity.
	succeeded map[types.UID]struct{}
}

func newGroupInfo(key types.NamespacedName) *groupInfo {
	return &groupInfo{
		key:       key,
		waiting:   map[types.UID]*podInfo{},
		placed:    map[types.UID]*podInfo{},
		succeeded: map[types.UID]struct{}{},
	}
}

func (g *groupInfo) add(p *podInfo) {
	if p.node == "" {
		g.waiting[p.uid()] = p
	} else {
		g.placed[p.uid()] = p
	}
}

func (g *groupInfo) remove(p *podInfo) {
	delete(g.waiting, p.uid())
	delete(g.placed, p.uid())
}

func (g *groupInfo) empty() bool {
	return g.object == nil && len(g.waiting)+len(g.placed)+len(g.succeeded) == 0
}

// minCount is how many members have to be placed together; 0 for a group that is no gang, or if gangs are switched off.
func (g *groupInfo) minCount(p policy) int {
	if !p.gangs() || g.object == nil || g.object.Spec.SchedulingPolicy.Gang == nil {
		return 0
	}
	return int(g.object.Spec.SchedulingPolicy.Gang.MinCount)
}

// admitted says whether the group's pods may be tried at all: the PodGroup exists, and so do the members of its quorum.
// Pods that are not admitted are left alone: no condition tells of it, as with kube-scheduler.
func (g *groupInfo) admitted(p policy) bool {
	if g.object == nil {
		return !p.gangs()
	}
	return len(g.waiting)+len(g.placed)+g.finished(p) >= g.minCount(p)
}

// finished is how many members count towards the quorum though they need no node any more: those that are seen to have
// succeeded, or those that the controller of the group counts if these are more, since pods may be gone by then.
func (g *groupInfo) finished(p policy) int {
	if p.parity {
		return 0
	}
	return max(len(g.succeeded), builder.FinishedMembers(g.object))
}

// candidates are the members to be placed now, the most urgent first.
func (g *groupInfo) candidates() []*podInfo {
	pods := slices.DeleteFunc(slices.Collect(maps.Values(g.waiting)), func(p *podInfo) bool { return !p.eligible() })
	slices.SortFunc(pods, byUrgency)
	return pods
}

// topologyKey is the node label whose value all members must share, empty for a group without a constraint. The API
// allows one (KEP-5732).
func (g *groupInfo) topologyKey() string {
	if g.object == nil || g.object.Spec.SchedulingConstraints == nil || len(g.object.Spec.SchedulingConstraints.Topology) == 0 {
		return ""
	}
	return g.object.Spec.SchedulingConstraints.Topology[0].Key
}

// priority is what the group weighs in preemption; nothing set counts as zero.
func (g *groupInfo) priority() int32 {
	if g.object == nil || g.object.Spec.Priority == nil {
		return 0
	}
	return *g.object.Spec.Priority
}

// evictedWhole says whether the group's pods are only disrupted together.
func (g *groupInfo) evictedWhole() bool {
	return g.object != nil && g.object.Spec.DisruptionMode != nil &&
		*g.object.Spec.DisruptionMode == schedulingv1alpha2.DisruptionModePodGroup
}
