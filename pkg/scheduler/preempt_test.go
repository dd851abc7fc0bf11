package scheduler

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/pkg/features"
)

func TestPlanOfPreemptionByPods(t *testing.T) {
	leaving := makePod("leaving", "1").On("n1").Deleting()
	leaving.Status.Conditions = []corev1.PodCondition{{
		Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: corev1.PodReasonPreemptionByScheduler,
		LastTransitionTime: metav1.NewTime(epoch()),
	}}
	leavingAlike := &podWrapper{*leaving.DeepCopy()}
	leavingAlike.Priority(10)
	nominated := makePod("a", "1").Priority(10)
	nominated.Status.NominatedNodeName = "n1"
	for name, tc := range map[string]planCase{
		"a pod takes the place of the least important pods": {
			nodes: makeNodes(2, "2"),
			pods: pods(
				makePod("mid", "2").Priority(5).On("n1"), makePod("low1", "1").Priority(1).On("n2").Started(0),
				makePod("low2", "1").Priority(1).On("n2").Started(time.Minute), makePod("a", "1").Priority(10)),
			want: []string{
				"evict low2 for pod pod-a from n2",
				"reject a Unschedulable: 0/2 nodes are available: 2 Insufficient cpu. (nominated n2)",
			},
		},
		"the same priority is safe": {
			nodes: makeNodes(1, "1"),
			pods:  pods(makePod("low", "1").Priority(10).On("n1"), makePod("a", "1").Priority(10)),
			want: []string{
				"reject a Unschedulable: 0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.",
			},
		},
		"a pod that never preempts waits": {
			nodes: makeNodes(1, "1"),
			pods:  pods(makePod("low", "1").On("n1"), makePod("a", "1").Priority(10).NeverPreempting()),
			want: []string{
				"reject a Unschedulable: 0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: not eligible due to preemptionPolicy=Never.",
			},
		},
		"a pod for which room is being made does not ask for more": {
			nodes: makeNodes(1, "1"),
			pods:  pods(leaving, nominated),
			want: []string{
				"reject a Unschedulable: 0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: not eligible due to a terminating pod on the nominated node.",
			},
		},
		"a pod of its own priority that is leaving makes no room for it": {
			nodes: makeNodes(1, "1"),
			pods:  pods(leavingAlike, nominated),
			want: []string{
				"reject a Unschedulable: 0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.",
			},
		},
		"a pod of lower priority does not get the room that is being made": {
			nodes: makeNodes(1, "2"),
			pods:  pods(makePod("low", "1").On("n1"), makePod("big", "2").Priority(10), makePod("small", "1")),
			want: []string{
				"evict low for pod pod-big from n1",
				"reject big Unschedulable: 0/1 nodes are available: 1 Insufficient cpu. (nominated n1)",
				"reject small Unschedulable: 0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.",
			},
		},
		"a taint is no reason to evict anybody": {
			nodes: []*corev1.Node{makeNode("n1", "1").Taint("k", corev1.TaintEffectNoSchedule).Obj()},
			pods:  pods(makePod("low", "1").On("n1"), makePod("a", "1").Priority(10)),
			want: []string{
				"reject a Unschedulable: 0/1 nodes are available: 1 node(s) had untolerated taint(s). no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.",
			},
		},
	} {
		t.Run(name, tc.run)
	}
}

func TestPlanOfPreemptionByGroups(t *testing.T) {
	low := func(name string, priority int32, node string) *podWrapper {
		return makePod(name, "1").Priority(priority).On(node)
	}
	unfit := "0/2 nodes are available: 2 Insufficient cpu." + noRoom
	waiting := "0/1 placements are available, first placement status: pod group is unschedulable"
	for name, tc := range map[string]planCase{
		"a gang evicts what it needs and no more": {
			nodes:  makeNodes(2, "2"),
			groups: podGroups(makeGang("g", 2).Priority(10)),
			pods: pods(
				low("l1", 3, "n1"), low("l2", 1, "n1"), low("l3", 1, "n2"), low("l4", 2, "n2"),
				makePod("a", "1").Group("g").Priority(10), makePod("b", "1").Group("g").Priority(10)),
			want: []string{
				"group ns/g",
				"evict l2 for podgroup group-g from cluster", "evict l3 for podgroup group-g from cluster",
				"reject a Unschedulable: " + unfit, "reject b Unschedulable: " + unfit,
				"condition False Unschedulable " + waiting,
			},
		},
		"a member that fits anyway is nominated for its node": {
			nodes:  makeNodes(2, "1"),
			groups: podGroups(makeGang("g", 2).Priority(10)),
			pods: pods(
				low("l1", 1, "n1"), makePod("a", "1").Group("g").Priority(10), makePod("b", "1").Group("g").Priority(10)),
			want: []string{
				"group ns/g", "evict l1 for podgroup group-g from cluster",
				"reject a Unschedulable: " + waiting + " (nominated n2)",
				"reject b Unschedulable: " + unfit,
				"condition False Unschedulable " + waiting,
			},
		},
		"a gang that would not fit into the emptied cluster evicts nobody": {
			nodes:  makeNodes(2, "1"),
			groups: podGroups(makeGang("g", 3).Priority(10)),
			pods: pods(
				low("l1", 1, "n1"), low("l2", 1, "n2"), makePod("a", "1").Group("g"), makePod("b", "1").Group("g"), makePod("c", "1").Group("g")),
			want: []string{
				"group ns/g", "reject a Unschedulable: " + unfit, "reject b Unschedulable: " + unfit, "reject c Unschedulable: " + unfit,
				"condition False Unschedulable " + waiting + ", " + waiting,
			},
		},
		"it is the priority of the group that counts": {
			nodes:  makeNodes(2, "1"),
			groups: podGroups(makeGang("g", 1)),
			pods:   pods(low("l1", 1, "n1"), low("l2", 1, "n2"), makePod("a", "1").Group("g").Priority(100)),
			want: []string{
				"group ns/g", "reject a Unschedulable: " + unfit, "condition False Unschedulable " + groupRejected,
			},
		},
		"a group that is disrupted as a whole loses all its pods": {
			nodes:  makeNodes(2, "1"),
			groups: podGroups(makeGang("g", 1).Priority(10), makeGang("low", 2).Mode(schedulingv1alpha2.DisruptionModePodGroup)),
			pods:   pods(low("l1", 0, "n1").Group("low"), low("l2", 0, "n2").Group("low"), makePod("a", "1").Group("g").Priority(10)),
			want: []string{
				"group ns/g", "evict l1 for podgroup group-g from cluster", "evict l2 for podgroup group-g from cluster",
				"reject a Unschedulable: " + unfit, "condition False Unschedulable " + waiting,
			},
		},
		"a group that is disrupted pod by pod loses one": {
			nodes:  makeNodes(2, "1"),
			groups: podGroups(makeGang("g", 1).Priority(10), makeGang("low", 2).Mode(schedulingv1alpha2.DisruptionModePod)),
			pods: pods(
				low("l1", 0, "n1").Group("low").Started(0), low("l2", 0, "n2").Group("low").Started(time.Minute), makePod("a", "1").Group("g").Priority(10)),
			want: []string{
				"group ns/g", "evict l2 for podgroup group-g from cluster",
				"reject a Unschedulable: " + unfit, "condition False Unschedulable " + waiting,
			},
		},
		"pods on their own go before members of groups": {
			nodes:  makeNodes(2, "1"),
			groups: podGroups(makeGang("g", 1).Priority(10), makeGang("low", 1).Mode(schedulingv1alpha2.DisruptionModePod)),
			pods: pods(
				low("l1", 0, "n1").Group("low").Started(time.Minute), low("l2", 0, "n2").Started(0), makePod("a", "1").Group("g").Priority(10)),
			want: []string{
				"group ns/g", "evict l2 for podgroup group-g from cluster",
				"reject a Unschedulable: " + unfit, "condition False Unschedulable " + waiting,
			},
		},
		"one member that never preempts speaks for all": {
			nodes:  makeNodes(2, "1"),
			groups: podGroups(makeGang("g", 1).Priority(10)),
			pods:   pods(low("l1", 0, "n1"), low("l2", 0, "n2"), makePod("a", "1").Group("g").Priority(10).NeverPreempting()),
			want: []string{
				"group ns/g", "reject a Unschedulable: " + unfit,
				"condition False Unschedulable " + waiting + ", not eligible due to preemptionPolicy=Never.",
			},
		},
		"with the gate off every member preempts for itself": {
			nodes:   makeNodes(2, "1"),
			groups:  podGroups(makeGang("g", 2)),
			pods:    pods(low("l1", 0, "n1"), low("l2", 0, "n2"), makePod("a", "1").Group("g").Priority(10), makePod("b", "1").Group("g").Priority(10)),
			options: Options{Gates: features.Gates{}.With(features.WorkloadAwarePreemption, false).With(features.TopologyAwareWorkloadScheduling, false)},
			want: []string{
				"group ns/g", "evict l1 for pod pod-a from n1", "evict l2 for pod pod-b from n2",
				"reject a Unschedulable: 0/2 nodes are available: 2 Insufficient cpu. (nominated n1)",
				"reject b Unschedulable: 0/2 nodes are available: 2 Insufficient cpu. (nominated n2)",
				"condition False Unschedulable pod group is unschedulable, pod group is waiting for preemption to complete",
			},
		},
	} {
		t.Run(name, tc.run)
	}
}
