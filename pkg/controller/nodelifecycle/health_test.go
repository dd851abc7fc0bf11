package nodelifecycle

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// epoch is when everything in the fixtures was made.
func epoch() time.Time { return time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC) }

// at is so many seconds later.
func at(seconds int) time.Time { return epoch().Add(time.Duration(seconds) * time.Second) }

type nodeWrapper struct{ corev1.Node }

func makeNode(name string) *nodeWrapper {
	return &nodeWrapper{corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(epoch())}}}
}

func (w *nodeWrapper) Condition(conditionType corev1.NodeConditionType, status corev1.ConditionStatus, heartbeat int) *nodeWrapper {
	w.Status.Conditions = append(w.Status.Conditions, corev1.NodeCondition{
		Type: conditionType, Status: status, LastHeartbeatTime: metav1.NewTime(at(heartbeat)),
	})
	return w
}

func (w *nodeWrapper) Ready(status corev1.ConditionStatus) *nodeWrapper {
	return w.Condition(corev1.NodeReady, status, 0)
}

func (w *nodeWrapper) Taint(key string, effect corev1.TaintEffect) *nodeWrapper {
	w.Spec.Taints = append(w.Spec.Taints, corev1.Taint{Key: key, Effect: effect})
	return w
}

func (w *nodeWrapper) Label(key, value string) *nodeWrapper {
	if w.Labels == nil {
		w.Labels = map[string]string{}
	}
	w.Labels[key] = value
	return w
}

func (w *nodeWrapper) Unschedulable() *nodeWrapper {
	w.Spec.Unschedulable = true
	return w
}

func (w *nodeWrapper) Obj() *corev1.Node { return &w.Node }

func leaseAt(seconds int) *coordinationv1.Lease {
	return &coordinationv1.Lease{Spec: coordinationv1.LeaseSpec{RenewTime: new(metav1.NewMicroTime(at(seconds)))}}
}

func TestHear(t *testing.T) {
	for name, tc := range map[string]struct {
		node  *nodeWrapper
		lease *coordinationv1.Lease
		last  *sign
		want  int // seconds after the epoch at which the node was heard of
	}{
		"one that never reported, since it was made":         {makeNode("n"), nil, nil, 0},
		"one that is met for the first time":                 {makeNode("n").Ready(corev1.ConditionTrue), nil, nil, 100},
		"one that only has a lease":                          {makeNode("n"), leaseAt(1), nil, 100},
		"one that is silent":                                 {makeNode("n").Ready(corev1.ConditionTrue), leaseAt(1), &sign{at(1), at(0), at(50)}, 50},
		"one that has renewed its lease":                     {makeNode("n").Ready(corev1.ConditionTrue), leaseAt(11), &sign{at(1), at(0), at(50)}, 100},
		"one whose clock is far behind":                      {makeNode("n").Ready(corev1.ConditionTrue), leaseAt(-900), &sign{at(-910), at(0), at(50)}, 100},
		"one whose status has a new heartbeat":               {makeNode("n").Condition(corev1.NodeReady, corev1.ConditionFalse, 60), nil, &sign{heartbeat: at(0), seen: at(50)}, 100},
		"one of which others say that it is not heard of":    {makeNode("n").Condition(corev1.NodeReady, corev1.ConditionUnknown, 60), nil, &sign{heartbeat: at(0), seen: at(50)}, 50},
		"one whose lease was deleted":                        {makeNode("n").Ready(corev1.ConditionTrue), nil, &sign{at(1), at(0), at(50)}, 50},
		"one that has made a lease, and nothing else of old": {makeNode("n"), leaseAt(1), &sign{seen: at(0)}, 100},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, at(tc.want), hear(tc.node.Obj(), tc.lease, tc.last, at(100)).seen.UTC())
		})
	}
}

func TestSilence(t *testing.T) {
	node := makeNode("n").Ready(corev1.ConditionTrue).Condition(corev1.NodeMemoryPressure, corev1.ConditionUnknown, 0).
		Condition(corev1.NodeNetworkUnavailable, corev1.ConditionFalse, 0).Obj()
	said := map[corev1.NodeConditionType]string{}
	for _, condition := range silence(node, at(100)) {
		said[condition.Type] = string(condition.Status) + " " + condition.Reason
		assert.Equal(t, at(100), condition.LastTransitionTime.UTC())
	}
	assert.Equal(t, map[corev1.NodeConditionType]string{
		corev1.NodeReady:        "Unknown NodeStatusUnknown",
		corev1.NodeDiskPressure: "Unknown NodeStatusNeverUpdated",
		corev1.NodePIDPressure:  "Unknown NodeStatusNeverUpdated",
	}, said)
}

func TestWantedTaints(t *testing.T) {
	for name, tc := range map[string]struct {
		node    *nodeWrapper
		execute string
		want    []string
	}{
		"a node that is well": {makeNode("n").Ready(corev1.ConditionTrue), "", nil},
		"one that is not ready": {
			makeNode("n").Ready(corev1.ConditionFalse), corev1.TaintNodeNotReady,
			[]string{"node.kubernetes.io/not-ready:NoSchedule", "node.kubernetes.io/not-ready:NoExecute"},
		},
		"one that is not heard of, whose turn has not come": {
			makeNode("n").Ready(corev1.ConditionUnknown), "", []string{"node.kubernetes.io/unreachable:NoSchedule"},
		},
		"one that was not ready and is not heard of": {
			makeNode("n").Ready(corev1.ConditionUnknown).Taint(corev1.TaintNodeNotReady, corev1.TaintEffectNoSchedule).Taint(corev1.TaintNodeNotReady, corev1.TaintEffectNoExecute),
			corev1.TaintNodeUnreachable,
			[]string{"node.kubernetes.io/unreachable:NoSchedule", "node.kubernetes.io/unreachable:NoExecute"},
		},
		"one that is well again, with taints of others": {
			makeNode("n").Ready(corev1.ConditionTrue).Taint("gpu", corev1.TaintEffectNoExecute).
				Taint(corev1.TaintNodeUnreachable, corev1.TaintEffectNoExecute).Taint(corev1.TaintNodeOutOfService, corev1.TaintEffectNoExecute),
			"",
			[]string{"gpu:NoExecute", "node.kubernetes.io/out-of-service:NoExecute"},
		},
		"pressure, and a node that is closed": {
			makeNode("n").Ready(corev1.ConditionTrue).Condition(corev1.NodeMemoryPressure, corev1.ConditionTrue, 0).Unschedulable(), "",
			[]string{"node.kubernetes.io/unschedulable:NoSchedule", "node.kubernetes.io/memory-pressure:NoSchedule"},
		},
		"one that is opened again": {makeNode("n").Ready(corev1.ConditionTrue).Taint(corev1.TaintNodeUnschedulable, corev1.TaintEffectNoSchedule), "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, taint := range wantedTaints(tc.node.Obj(), tc.execute, at(0)) {
				got = append(got, taint.Key+":"+string(taint.Effect))
			}
			assert.Empty(t, cmp.Diff(tc.want, got), "(-want +got)")
		})
	}
}

func TestTolerates(t *testing.T) {
	unreachable := corev1.Taint{Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoExecute}
	gpu := corev1.Taint{Key: "gpu", Value: "a", Effect: corev1.TaintEffectNoExecute}
	tolerate := func(key string, seconds ...int64) corev1.Toleration {
		t := corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute}
		if len(seconds) > 0 {
			t.TolerationSeconds = &seconds[0]
		}
		return t
	}
	for name, tc := range map[string]struct {
		taints      []corev1.Taint
		tolerations []corev1.Toleration
		want        time.Duration
		wantForever bool
	}{
		"no taint":                         {nil, nil, 0, true},
		"a taint that is not tolerated":    {[]corev1.Taint{unreachable}, nil, 0, false},
		"one that is, for a while":         {[]corev1.Taint{unreachable}, []corev1.Toleration{tolerate(corev1.TaintNodeUnreachable, 300)}, 5 * time.Minute, false},
		"one that is for ever":             {[]corev1.Taint{unreachable}, []corev1.Toleration{tolerate(corev1.TaintNodeUnreachable)}, 0, true},
		"one of two":                       {[]corev1.Taint{unreachable, gpu}, []corev1.Toleration{tolerate(corev1.TaintNodeUnreachable)}, 0, false},
		"the shorter of two":               {[]corev1.Taint{unreachable, gpu}, []corev1.Toleration{tolerate(corev1.TaintNodeUnreachable, 300), tolerate("gpu", 7)}, 7 * time.Second, false},
		"one for ever and one for a while": {[]corev1.Taint{unreachable, gpu}, []corev1.Toleration{tolerate(corev1.TaintNodeUnreachable), tolerate("gpu", 7)}, 7 * time.Second, false},
		"less than no time":                {[]corev1.Taint{gpu}, []corev1.Toleration{tolerate("gpu", -7)}, 0, false},
		"another value":                    {[]corev1.Taint{gpu}, []corev1.Toleration{{Key: "gpu", Value: "b", Operator: corev1.TolerationOpEqual}}, 0, false},
		"everything":                       {[]corev1.Taint{unreachable, gpu}, []corev1.Toleration{{Operator: corev1.TolerationOpExists}}, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			stay, forever := tolerates(tc.taints, tc.tolerations)
			assert.Equal(t, tc.wantForever, forever)
			if !forever {
				assert.Equal(t, tc.want, stay)
			}
		})
	}
}

func TestPace(t *testing.T) {
	for name, tc := range map[string]struct {
		zone zone
		want time.Duration
	}{
		"one node of many":             {zone{99, 1}, usualPace},
		"two of three":                 {zone{1, 2}, usualPace},
		"three of four":                {zone{1, 3}, 0},
		"half of a small zone":         {zone{3, 3}, usualPace},
		"most of a large zone":         {zone{20, 60}, slowPace},
		"all of a zone, not of others": {zone{0, 9}, usualPace},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, tc.want, tc.zone.pace()) })
	}
}

func TestZones(t *testing.T) {
	nodes := []*corev1.Node{
		makeNode("a").Label(corev1.LabelTopologyZone, "1").Ready(corev1.ConditionTrue).Obj(),
		makeNode("b").Label(corev1.LabelTopologyZone, "1").Ready(corev1.ConditionUnknown).Obj(),
		makeNode("c").Label(corev1.LabelTopologyZone, "2").Obj(),
		makeNode("d").Label(corev1.LabelTopologyZone, "3").Label(labelExcluded, "").Ready(corev1.ConditionTrue).Obj(),
	}
	zones := countZones(nodes)
	assert.Equal(t, map[string]zone{"/1": {1, 1}, "/2": {0, 1}}, zones)
	assert.False(t, blackout(zones))
	assert.True(t, blackout(countZones(nodes[1:])))
	assert.False(t, blackout(nil))
}
