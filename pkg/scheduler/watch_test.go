package scheduler

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

// still makes a scheduler that knows the nodes and has no API: what it decides is taken from its cycles.
func still(nodes ...*corev1.Node) *Scheduler {
	s := newScheduler(nil, nil, Options{})
	for _, node := range nodes {
		s.nodeChanged(nil, node)
	}
	return s
}

func TestABindingIsSeenBeforeAnotherIsKnownToHaveFailed(t *testing.T) {
	s := still(makeNodes(2, "1")...)
	s.groupChanged(nil, makeGang("g", 2).Obj())
	a, b := makePod("a", "1").Group("g").Obj(), makePod("b", "1").Group("g").Obj()
	s.podChanged(nil, a)
	s.podChanged(nil, b)
	u, decision := s.cycle()
	require.NotNil(t, u)
	require.Len(t, decision.Bindings, 2)

	bound := a.DeepCopy()
	bound.Spec.NodeName = "n1"
	s.podChanged(a, bound)
	s.settle(u, &decision, []*corev1.Pod{b})
	assert.Equal(t, backoff, s.queue.units[u.key].place, "the pod that was not bound is tried again")
	assert.Empty(t, s.cluster.pods[b.UID].node, "and has no place meanwhile")
}

func TestAPodThatFailedToBindGivesItsPlaceToAnother(t *testing.T) {
	s := still(makeNodes(1, "1")...)
	a, b := makePod("a", "1").Obj(), makePod("b", "1").Obj()
	s.podChanged(nil, a)
	u, decision := s.cycle()
	require.Len(t, decision.Bindings, 1)
	s.podChanged(nil, b)
	other, rejected := s.cycle()
	require.Len(t, rejected.Rejections, 1, "the place is given away while the binding is under way")
	s.settle(other, &rejected, nil)
	s.settle(u, &decision, []*corev1.Pod{a})
	assert.Equal(t, backoff, s.queue.units[other.key].place, "the pod that found no place is about to be tried again")
}

func TestAPodIsTriedAgainWhenANodeTurnsItDownForAnotherReason(t *testing.T) {
	tainted := makeNode("n1", "1").Taint("k", corev1.TaintEffectNoSchedule).Obj()
	s := still(tainted)
	s.podChanged(nil, makePod("a", "2").Obj())
	u, decision := s.cycle()
	s.settle(u, &decision, nil)
	require.Equal(t, parked, u.place)

	changed := tainted.DeepCopy()
	changed.Annotations = map[string]string{"of": "no concern"}
	s.nodeChanged(tainted, changed)
	assert.Equal(t, parked, u.place)
	s.nodeChanged(changed, makeNode("n1", "1").Obj())
	assert.Equal(t, backoff, u.place)
}

func TestAMemberThatFinishesIsNoLongerPlaced(t *testing.T) {
	s := still(makeNodes(1, "1")...)
	s.groupChanged(nil, makeGang("g", 1).Obj())
	a := makePod("a", "1").Group("g").Obj()
	s.podChanged(nil, a)
	u, decision := s.cycle()
	s.settle(u, &decision, nil)
	assert.Empty(t, s.queue.units, "nothing is left to place")

	done := a.DeepCopy()
	done.Spec.NodeName, done.Status.Phase = "n1", corev1.PodSucceeded
	s.podChanged(a, done)
	g := s.cluster.group(u.key.NamespacedName)
	assert.Empty(t, g.placed)
	assert.Len(t, g.succeeded, 1)
	assert.Empty(t, s.cluster.nodes["n1"].pods)

	s.podDeleted(done)
	s.groupDeleted(makeGang("g", 1).Obj())
	assert.Empty(t, s.cluster.groups)
	assert.Empty(t, s.cluster.pods)
}

func TestASuccessUnderAnEarlierPodGroupOfTheSameNameDoesNotCount(t *testing.T) {
	s := still(makeNodes(1, "1")...)
	group := makeGang("g", 2).Obj()
	s.groupChanged(nil, group)
	s.podChanged(nil, makePod("old", "1").Group("g").On("n1").Phase(corev1.PodSucceeded).Obj())
	s.groupDeleted(group)
	again := group.DeepCopy()
	again.UID = "another"
	s.groupChanged(nil, again)
	s.podChanged(nil, makePod("a", "1").Group("g").Obj())
	u, _ := s.cycle()
	assert.Nil(t, u, "one of two members is there")
}
