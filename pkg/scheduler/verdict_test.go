package scheduler

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

// TestNodesAreAskedAgainAfterTheyHaveChanged changes a cluster in many ways, and wants what is remembered of its nodes to be
// what they would say.
func TestNodesAreAskedAgainAfterTheyHaveChanged(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	c := newCluster(Options{}.policy())
	node := func() *corev1.Node {
		n := makeNode(fmt.Sprintf("n%d", random.IntN(8)), fmt.Sprint(1+random.IntN(3)))
		if random.IntN(4) == 0 {
			n.Taint("k", corev1.TaintEffectNoSchedule)
		}
		return n.Label("disk", []string{"ssd", "hdd"}[random.IntN(2)]).Obj()
	}
	kinds := []*podWrapper{
		makePod("plain", "1"), makePod("small", "500m"), makePod("urgent", "1").Priority(9), makePod("port", "1").HostPort(80, ""),
		makePod("picky", "1").Selector("disk", "ssd"), makePod("tolerant", "1").Tolerate("k"),
	}
	asked := 0
	for round := range 2000 {
		switch random.IntN(6) {
		case 0:
			c.setNode(node())
		case 1:
			c.removeNode(fmt.Sprintf("n%d", random.IntN(8)))
		case 2, 3:
			kind := kinds[random.IntN(len(kinds))].DeepCopy()
			kind.UID, kind.Name = "", fmt.Sprintf("p%d", random.IntN(12))
			c.removePod(kind)
			kind.Spec.NodeName = fmt.Sprintf("n%d", random.IntN(8))
			c.setPod(kind)
		case 4:
			p := newPodInfo(makePod(fmt.Sprintf("w%d", random.IntN(3)), "1").Priority(int32(random.IntN(10))).Obj(), true)
			if known := c.pods[p.uid()]; known != nil {
				p = known
			} else {
				p = c.setPod(p.object)
			}
			c.nominate(p, []string{"", fmt.Sprintf("n%d", random.IntN(8))}[random.IntN(2)])
		default:
			p := newPodInfo(kinds[random.IntN(len(kinds))].Obj(), true)
			said := c.verdicts.of(p, len(c.order))
			for at, n := range c.order {
				asked++
				require.Equal(t, at, n.at)
				v := n.ask(p, &said[at])
				want := filter(p, n)
				require.Equal(t, want, v.refusal, "round %d: %s on %s", round, p.key, n.name)
				if want.fits() {
					require.Equal(t, score(p, n), v.score)
					require.Len(t, n.pods, v.pods)
				}
			}
		}
	}
	assert.Greater(t, asked, 500)
}

func TestKindsOfPods(t *testing.T) {
	kind := func(w *podWrapper) string { return newPodInfo(w.Obj(), true).kind() }
	plain := kind(makePod("a", "1"))
	assert.Equal(t, plain, kind(makePod("b", "1000m").Group("g").Priority(5)))
	for name, other := range map[string]*podWrapper{
		"more CPU":             makePod("a", "2"),
		"another resource":     makePod("a", "1").Request("example.com/gpu", "1"),
		"a selector":           makePod("a", "1").Selector("disk", "ssd"),
		"another selector":     makePod("a", "1").Selector("disk", "hdd"),
		"a toleration":         makePod("a", "1").Tolerate("k"),
		"another toleration":   makePod("a", "1").Tolerate("l"),
		"a host port":          makePod("a", "1").HostPort(80, ""),
		"memory that is said":  makePod("a", "1").Request(corev1.ResourceMemory, "1Gi"),
		"memory as is assumed": makePod("a", "1").Request(corev1.ResourceMemory, "200Mi"),
	} {
		assert.NotEqual(t, plain, kind(other), name)
	}
}

func TestAMemoryOfManyKindsIsBounded(t *testing.T) {
	v := verdicts{}
	for i := range 10 * mostKinds {
		v.of(newPodInfo(makePod("a", fmt.Sprintf("%dm", i+1)).Obj(), true), 3)
		require.LessOrEqual(t, len(v), mostKinds)
	}
}
