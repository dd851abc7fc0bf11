package scheduler

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// TestReprieveOfMany has a gang of three preempt in clusters of many sizes: exactly three pods go, those that are to be
// spared least, and not one look at the cluster is taken for each of the others.
func TestReprieveOfMany(t *testing.T) {
	for _, nodes := range []int{3, 17, 64, 1000} {
		t.Run(fmt.Sprintf("%d nodes", nodes), func(t *testing.T) {
			c := newCluster(Options{}.policy())
			for _, node := range makeNodes(nodes, "1") {
				c.setNode(node)
			}
			for i := range nodes {
				c.setPod(makePod(fmt.Sprintf("low-%04d", i), "1").On(fmt.Sprintf("n%d", i+1)).Obj())
			}
			c.setGroup(makeGang("g", 3).Priority(10).Obj())
			var members []*podInfo
			for _, name := range []string{"a", "b", "c"} {
				members = append(members, c.setPod(makePod(name, "1").Group("g").Priority(10).Obj()))
			}
			g := c.groups[members[0].groupKey()]

			candidates := c.victims(10)
			require.Len(t, candidates, nodes)
			for _, v := range candidates {
				c.lift(v)
			}
			looks := 0
			victims := c.reprieve(candidates, func() bool {
				looks++
				return c.tryPlacements(g, members, false).enough
			})
			var gone []string
			for _, v := range victims {
				gone = append(gone, v.pods[0].key.Name)
			}
			var last []string
			for i := nodes - 3; i < nodes; i++ {
				last = append(last, fmt.Sprintf("low-%04d", i))
			}
			assert.Equal(t, last, gone)
			assert.Less(t, looks, 200)
			for _, n := range c.order {
				assert.LessOrEqual(t, len(n.pods), 1)
			}
		})
	}
}

func TestWithoutPodsOfLowerPriorityNobodyIsLookedFor(t *testing.T) {
	c := newCluster(Options{}.policy())
	c.setNode(makeNode("n1", "9").Obj())
	assert.False(t, c.anyBelow(10))
	low := makePod("low", "1").Priority(9).On("n1")
	c.setPod(low.Obj())
	assert.True(t, c.anyBelow(10))
	assert.False(t, c.anyBelow(9))
	c.removePod(low.Obj())
	assert.False(t, c.anyBelow(10))
}

func TestAGangThatFellBelowItsQuorumIsLeftAlone(t *testing.T) {
	s := still(makeNodes(1, "1")...)
	s.groupChanged(nil, makeGang("g", 2).Obj())
	a, b := makePod("a", "1").Group("g").Obj(), makePod("b", "1").Group("g").Obj()
	s.podChanged(nil, a)
	s.podChanged(nil, b)
	u, decision := s.cycle()
	require.Len(t, decision.Rejections, 2)
	s.settle(u, &decision, nil)
	s.podDeleted(a)
	s.queue.activate(u.key, u.urgency) // as after its back-off
	again, _ := s.cycle()
	assert.Nil(t, again)
	assert.Equal(t, nowhere, u.place)
	s.podChanged(nil, makePod("c", "1").Group("g").Obj())
	again, decision = s.cycle()
	assert.Same(t, u, again)
	assert.Len(t, decision.Rejections, 2)
}

func TestPodsOfOneInstantAreTakenByName(t *testing.T) {
	names := func(d Decision) (of []string) {
		for _, b := range d.Bindings {
			of = append(of, b.Pod.Name)
		}
		return of
	}
	for _, order := range [][]string{{"a", "b", "c"}, {"c", "b", "a"}, {"b", "a", "c"}} {
		c := newCluster(Options{}.policy())
		c.setNode(makeNode("n1", "9").Obj())
		c.setGroup(makeGang("g", 3).Obj())
		c.arrive(epoch())
		for _, name := range order {
			c.arrive(epoch())
			c.setPod(makePod(name, "1").Group("g").Obj())
		}
		assert.Equal(t, []string{"a", "b", "c"}, names(c.scheduleGroup(c.groups[types.NamespacedName{Namespace: "ns", Name: "g"}])))
	}
	// Those that a Job has made alike are taken as they came: what the server appended to their names is chance.
	c := newCluster(Options{}.policy())
	c.setNode(makeNode("n1", "9").Obj())
	c.setGroup(makeGang("g", 2).Obj())
	c.arrive(epoch())
	for _, name := range []string{"j-z", "j-a"} {
		pod := makePod(name, "1").Group("g").Obj()
		pod.GenerateName = "j-"
		c.setPod(pod)
	}
	assert.Equal(t, []string{"j-z", "j-a"}, names(c.scheduleGroup(c.groups[types.NamespacedName{Namespace: "ns", Name: "g"}])))
}

func TestAnEventIsNotToldTwice(t *testing.T) {
	r := Rejection{Pod: makePod("a", "1").Obj(), Reason: corev1.PodReasonUnschedulable, Message: "no room"}
	assert.False(t, alreadyTold(r))
	r.Pod.Status.Conditions = []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: r.Reason, Message: "less room",
	}}
	assert.False(t, alreadyTold(r))
	r.Pod.Status.Conditions[0].Message = "no room"
	assert.True(t, alreadyTold(r))
}
