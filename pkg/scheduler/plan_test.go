package scheduler

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/pkg/features"
)

const (
	noRoom        = " no new claims to deallocate, preemption: not eligible due to workload aware preemption enabled"
	waitsForGang  = "pod group is unschedulable, waiting for minCount pods from a gang to be scheduled, one or more plugins asked to wait and no plugin rejected pod"
	groupRejected = "0/1 placements are available, first placement status: pod group is unschedulable, No preemption victims found for incoming preemptor"
)

// show renders decisions as lines, so that a table can hold what is wanted of them.
func show(decisions []Decision) []string {
	var lines []string
	for _, d := range decisions {
		if d.PodGroup.Name != "" {
			lines = append(lines, "group "+d.PodGroup.String())
		}
		for _, b := range d.Bindings {
			lines = append(lines, fmt.Sprintf("bind %s to %s", b.Pod.Name, b.Node))
		}
		for _, e := range d.Evictions {
			lines = append(lines, fmt.Sprintf("evict %s for %s %s from %s", e.Pod.Name, e.For, e.ForUID, e.From))
		}
		for _, r := range d.Rejections {
			line := fmt.Sprintf("reject %s %s: %s", r.Pod.Name, r.Reason, r.Message)
			if r.NominatedNode != "" {
				line += " (nominated " + r.NominatedNode + ")"
			}
			lines = append(lines, line)
		}
		if d.Condition != nil {
			lines = append(lines, strings.TrimSpace(fmt.Sprintf("condition %s %s %s", d.Condition.Status, d.Condition.Reason, d.Condition.Message)))
		}
	}
	return lines
}

type planCase struct {
	nodes   []*corev1.Node
	groups  []*schedulingv1alpha2.PodGroup
	pods    []*corev1.Pod
	options Options
	want    []string
}

func (tc planCase) run(t *testing.T) {
	t.Helper()
	snapshot := Snapshot{Nodes: tc.nodes, Pods: tc.pods, PodGroups: tc.groups}
	got := show(Plan(snapshot, tc.options))
	if diff := cmp.Diff(tc.want, got); diff != "" {
		t.Errorf("plan differs (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(got, show(Plan(snapshot, tc.options))); diff != "" {
		t.Errorf("the same snapshot has another plan (-first +second):\n%s", diff)
	}
}

func pods(wrappers ...*podWrapper) []*corev1.Pod {
	var out []*corev1.Pod
	for _, w := range wrappers {
		out = append(out, w.Obj())
	}
	return out
}

func podGroups(wrappers ...*groupWrapper) []*schedulingv1alpha2.PodGroup {
	var out []*schedulingv1alpha2.PodGroup
	for _, w := range wrappers {
		out = append(out, w.Obj())
	}
	return out
}

func TestPlanOfPodsOnTheirOwn(t *testing.T) {
	for name, tc := range map[string]planCase{
		"pods spread over the emptiest nodes, and the one too many is rejected": {
			nodes: makeNodes(3, "1"),
			pods:  pods(makePod("a", "1"), makePod("b", "1"), makePod("c", "1"), makePod("d", "1")),
			want: []string{
				"bind a to n1", "bind b to n2", "bind c to n3",
				"reject d Unschedulable: 0/3 nodes are available: 3 Insufficient cpu. no new claims to deallocate, preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod.",
			},
		},
		"a pod too large for any node is told that preemption would not help": {
			nodes: makeNodes(2, "1"),
			pods:  pods(makePod("a", "5")),
			want: []string{
				"reject a Unschedulable: 0/2 nodes are available: 2 Insufficient cpu. no new claims to deallocate, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.",
			},
		},
		"without nodes there is one message": {
			pods: pods(makePod("a", "1")),
			want: []string{"reject a Unschedulable: no nodes available to schedule pods"},
		},
		"higher priority goes first, then the older pod": {
			nodes: makeNodes(1, "2"),
			pods: pods(
				makePod("young", "1").Created(time.Hour), makePod("old", "1"), makePod("urgent", "1").Priority(10).Created(2*time.Hour)),
			want: []string{
				"bind urgent to n1", "bind old to n1",
				"reject young Unschedulable: 0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.",
			},
		},
		"a pod with a scheduling gate, one being deleted and one of another scheduler are left alone": {
			nodes: makeNodes(1, "4"),
			pods:  pods(makePod("a", "1").Gate("hold"), makePod("b", "1").Deleting(), makePod("c", "1").Scheduler("other")),
		},
		"bound pods take room, finished ones do not": {
			nodes: makeNodes(1, "2"),
			pods: pods(
				makePod("bound", "1").On("n1"), makePod("done", "1").On("n1").Phase(corev1.PodSucceeded),
				makePod("failed", "1").On("n1").Phase(corev1.PodFailed), makePod("a", "1")),
			want: []string{"bind a to n1"},
		},
		"a pod that names a group is a pod on its own when there are no groups": {
			nodes:   makeNodes(1, "2"),
			pods:    pods(makePod("a", "1").Group("missing")),
			options: Options{Gates: features.KubernetesDefaults()},
			want:    []string{"bind a to n1"},
		},
	} {
		t.Run(name, tc.run)
	}
}

func TestPlanOfGangs(t *testing.T) {
	succeeded := func(name string) *podWrapper {
		return makePod(name, "1").Group("g").On("n1").Phase(corev1.PodSucceeded)
	}
	for name, tc := range map[string]planCase{
		"a gang waits for its PodGroup": {
			nodes: makeNodes(3, "1"),
			pods:  pods(makePod("a", "1").Group("g"), makePod("b", "1").Group("g")),
		},
		"a basic group waits for its PodGroup as well": {
			nodes: makeNodes(3, "1"),
			pods:  pods(makePod("a", "1").Group("g")),
		},
		"a gang waits for minCount members": {
			nodes:  makeNodes(3, "1"),
			groups: podGroups(makeGang("g", 3)),
			pods:   pods(makePod("a", "1").Group("g"), makePod("b", "1").Group("g")),
		},
		"a pod of another scheduler is no member before it is bound": {
			nodes:  makeNodes(3, "1"),
			groups: podGroups(makeGang("g", 2)),
			pods:   pods(makePod("a", "1").Group("g"), makePod("b", "1").Group("g").Scheduler("other")),
		},
		"a pod that another scheduler has bound is one": {
			nodes:  makeNodes(2, "1"),
			groups: podGroups(makeGang("g", 2)),
			pods:   pods(makePod("a", "1").Group("g"), makePod("b", "1").Group("g").Scheduler("other").On("n2")),
			want:   []string{"group ns/g", "bind a to n1", "condition True Scheduled"},
		},
		"a complete gang that fits is bound": {
			nodes:  makeNodes(3, "1"),
			groups: podGroups(makeGang("g", 3)),
			pods:   pods(makePod("a", "1").Group("g"), makePod("b", "1").Group("g"), makePod("c", "1").Group("g")),
			want:   []string{"group ns/g", "bind a to n1", "bind b to n2", "bind c to n3", "condition True Scheduled"},
		},
		"a gang that does not fit is not bound at all": {
			nodes:  makeNodes(2, "1"),
			groups: podGroups(makeGang("g", 3)),
			pods:   pods(makePod("a", "1").Group("g"), makePod("b", "1").Group("g"), makePod("c", "1").Group("g")),
			want: []string{
				"group ns/g",
				"reject a Unschedulable: " + waitsForGang,
				"reject b Unschedulable: " + waitsForGang,
				"reject c Unschedulable: 0/2 nodes are available: 2 Insufficient cpu." + noRoom,
				"condition False Unschedulable " + groupRejected,
			},
		},
		"of two gangs that compete one gets everything and the other nothing": {
			nodes:  makeNodes(3, "1"),
			groups: podGroups(makeGang("g", 3), makeGang("h", 3)),
			pods: pods(
				makePod("h1", "1").Group("h"), makePod("g1", "1").Group("g"), makePod("h2", "1").Group("h"),
				makePod("g2", "1").Group("g"), makePod("g3", "1").Group("g"), makePod("h3", "1").Group("h")),
			want: []string{
				"group ns/h", "bind h1 to n1", "bind h2 to n2", "bind h3 to n3", "condition True Scheduled",
				"group ns/g",
				"reject g1 Unschedulable: 0/3 nodes are available: 3 Insufficient cpu." + noRoom,
				"reject g2 Unschedulable: 0/3 nodes are available: 3 Insufficient cpu." + noRoom,
				"reject g3 Unschedulable: 0/3 nodes are available: 3 Insufficient cpu." + noRoom,
				"condition False Unschedulable " + groupRejected,
			},
		},
		"pods beyond minCount are taken along as far as they fit": {
			nodes:  makeNodes(3, "1"),
			groups: podGroups(makeGang("g", 2)),
			pods:   pods(makePod("a", "1").Group("g"), makePod("b", "1").Group("g"), makePod("c", "1").Group("g"), makePod("d", "1").Group("g")),
			want: []string{
				"group ns/g", "bind a to n1", "bind b to n2", "bind c to n3",
				"reject d Unschedulable: 0/3 nodes are available: 3 Insufficient cpu." + noRoom,
				"condition True Scheduled",
			},
		},
		"a member that cannot be placed does not hold up a quorum of others": {
			nodes:  makeNodes(2, "1"),
			groups: podGroups(makeGang("g", 2)),
			pods:   pods(makePod("huge", "5").Group("g"), makePod("b", "1").Group("g"), makePod("c", "1").Group("g")),
			want: []string{
				"group ns/g", "bind b to n1", "bind c to n2",
				"reject huge Unschedulable: 0/2 nodes are available: 2 Insufficient cpu." + noRoom,
				"condition True Scheduled",
			},
		},
		"a gated member counts as there and is not placed": {
			nodes:  makeNodes(3, "1"),
			groups: podGroups(makeGang("g", 3)),
			pods:   pods(makePod("a", "1").Group("g"), makePod("b", "1").Group("g"), makePod("c", "1").Group("g").Gate("hold")),
			want: []string{
				"group ns/g", "reject a Unschedulable: " + waitsForGang, "reject b Unschedulable: " + waitsForGang,
				"condition False Unschedulable " + groupRejected,
			},
		},
		"members that are bound already count towards the quorum": {
			nodes:  makeNodes(3, "1"),
			groups: podGroups(makeGang("g", 3)),
			pods:   pods(makePod("a", "1").Group("g").On("n1"), makePod("b", "1").Group("g").On("n3"), makePod("c", "1").Group("g")),
			want:   []string{"group ns/g", "bind c to n2", "condition True Scheduled"},
		},
		"a retry is placed after another member has succeeded": {
			nodes:  makeNodes(3, "1"),
			groups: podGroups(makeGang("g", 3)),
			pods:   pods(succeeded("a"), makePod("b", "1").Group("g").On("n2"), makePod("c", "1").Group("g")),
			want:   []string{"group ns/g", "bind c to n1", "condition True Scheduled"},
		},
		"or where its PodGroup says that one is done, whose pod is gone": {
			nodes:  makeNodes(3, "1"),
			groups: podGroups(finished(makeGang("g", 3), "1")),
			pods:   pods(makePod("b", "1").Group("g").On("n2"), makePod("c", "1").Group("g")),
			want:   []string{"group ns/g", "bind c to n1", "condition True Scheduled"},
		},
		"a member is not counted as seen and as told": {
			nodes:  makeNodes(3, "1"),
			groups: podGroups(finished(makeGang("g", 4), "1")),
			pods:   pods(succeeded("a"), makePod("b", "1").Group("g").On("n2"), makePod("c", "1").Group("g")),
		},
		"with parity what the PodGroup says does not count": {
			nodes:   makeNodes(3, "1"),
			groups:  podGroups(finished(makeGang("g", 3), "1")),
			pods:    pods(makePod("b", "1").Group("g").On("n2"), makePod("c", "1").Group("g")),
			options: Options{Parity: true},
		},
		"with parity it waits for ever": {
			nodes:   makeNodes(3, "1"),
			groups:  podGroups(makeGang("g", 3)),
			pods:    pods(succeeded("a"), makePod("b", "1").Group("g").On("n2"), makePod("c", "1").Group("g")),
			options: Options{Parity: true},
		},
		"a member that failed does not count": {
			nodes:  makeNodes(3, "1"),
			groups: podGroups(makeGang("g", 3)),
			pods:   pods(makePod("a", "1").Group("g").On("n1").Phase(corev1.PodFailed), makePod("b", "1").Group("g"), makePod("c", "1").Group("g")),
		},
		"a basic group is placed as far as it fits": {
			nodes:  makeNodes(2, "1"),
			groups: podGroups(makeBasicGroup("g")),
			pods:   pods(makePod("a", "1").Group("g"), makePod("b", "1").Group("g"), makePod("c", "1").Group("g")),
			want: []string{
				"group ns/g", "bind a to n1", "bind b to n2",
				"reject c Unschedulable: 0/2 nodes are available: 2 Insufficient cpu." + noRoom,
				"condition True Scheduled",
			},
		},
		"a basic group of which nothing fits is unschedulable": {
			nodes:  makeNodes(1, "1"),
			groups: podGroups(makeBasicGroup("g")),
			pods:   pods(makePod("a", "2").Group("g")),
			want: []string{
				"group ns/g", "reject a Unschedulable: 0/1 nodes are available: 1 Insufficient cpu." + noRoom,
				"condition False Unschedulable " + groupRejected,
			},
		},
		"without the gang gate the quorum is not asked for": {
			nodes:   makeNodes(1, "1"),
			groups:  podGroups(makeGang("g", 3)),
			pods:    pods(makePod("a", "1").Group("g")),
			options: Options{Gates: features.KubernetesDefaults().With(features.GenericWorkload, true)},
			want:    []string{"group ns/g", "bind a to n1", "condition True Scheduled"},
		},
		"without placements the group's message is short": {
			nodes:   makeNodes(1, "1"),
			groups:  podGroups(makeGang("g", 2)),
			pods:    pods(makePod("a", "1").Group("g"), makePod("b", "1").Group("g")),
			options: Options{Gates: features.Gates{}.With(features.TopologyAwareWorkloadScheduling, false)},
			want: []string{
				"group ns/g", "reject a Unschedulable: " + waitsForGang,
				"reject b Unschedulable: 0/1 nodes are available: 1 Insufficient cpu." + noRoom,
				"condition False Unschedulable pod group is unschedulable, No preemption victims found for incoming preemptor",
			},
		},
	} {
		t.Run(name, tc.run)
	}
}

func TestPlanUnderTopologyConstraints(t *testing.T) {
	racks := func(cpu string, racks ...string) []*corev1.Node {
		nodes := makeNodes(len(racks), cpu)
		for i, rack := range racks {
			if rack != "" {
				nodes[i].Labels["rack"] = rack
			}
		}
		return nodes
	}
	const noPreemption = "workload aware preemption is not supported for pod groups with scheduling constraints"
	for name, tc := range map[string]planCase{
		"all members go to one rack": {
			nodes:  racks("1", "r1", "r2", "r1", "r2", "r2"),
			groups: podGroups(makeGang("g", 3).Topology("rack")),
			pods:   pods(makePod("a", "1").Group("g"), makePod("b", "1").Group("g"), makePod("c", "1").Group("g")),
			want:   []string{"group ns/g", "bind a to n2", "bind b to n4", "bind c to n5", "condition True Scheduled"},
		},
		"the rack that takes most members wins over the first": {
			nodes:  racks("1", "r1", "r1", "r2", "r2", "r2"),
			groups: podGroups(makeGang("g", 2).Topology("rack")),
			pods:   pods(makePod("a", "1").Group("g"), makePod("b", "1").Group("g"), makePod("c", "1").Group("g")),
			want:   []string{"group ns/g", "bind a to n3", "bind b to n4", "bind c to n5", "condition True Scheduled"},
		},
		"members that are placed already say which rack": {
			nodes:  racks("1", "r1", "r2", "r1", "r2"),
			groups: podGroups(makeGang("g", 2).Topology("rack")),
			pods:   pods(makePod("a", "1").Group("g").On("n2"), makePod("b", "1").Group("g")),
			want:   []string{"group ns/g", "bind b to n4", "condition True Scheduled"},
		},
		"no rack is large enough": {
			nodes:  racks("1", "r1", "r2"),
			groups: podGroups(makeGang("g", 2).Topology("rack")),
			pods:   pods(makePod("a", "1").Group("g"), makePod("b", "1").Group("g")),
			want: []string{
				"group ns/g", "reject a Unschedulable: " + waitsForGang,
				"reject b Unschedulable: 0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: not eligible due to placement-based pod group scheduling limitation",
				"condition False Unschedulable 0/2 placements are available, first placement status: pod group is unschedulable, " + noPreemption,
			},
		},
		"no node has the label": {
			nodes:  racks("1", "", ""),
			groups: podGroups(makeGang("g", 2).Topology("rack")),
			pods:   pods(makePod("a", "1").Group("g"), makePod("b", "1").Group("g")),
			want: []string{
				"group ns/g",
				"reject a Unschedulable: no feasible placements found, " + noPreemption,
				"reject b Unschedulable: no feasible placements found, " + noPreemption,
				"condition False Unschedulable no feasible placements found, " + noPreemption,
			},
		},
		"members in two racks are an error": {
			nodes:  racks("1", "r1", "r2", "r1"),
			groups: podGroups(makeGang("g", 2).Topology("rack")),
			pods:   pods(makePod("a", "1").Group("g").On("n1"), makePod("b", "1").Group("g").On("n2"), makePod("c", "1").Group("g")),
			want: []string{
				"group ns/g",
				"reject c SchedulerError: cannot determine domain for already scheduled pods: more than 1 domain found for pod group: r1, r2",
				"condition False SchedulerError cannot determine domain for already scheduled pods: more than 1 domain found for pod group: r1, r2",
			},
		},
		"with the gate off the constraint is not looked at": {
			nodes:   racks("1", "r1", "r2"),
			groups:  podGroups(makeGang("g", 2).Topology("rack")),
			pods:    pods(makePod("a", "1").Group("g"), makePod("b", "1").Group("g")),
			options: Options{Gates: features.Gates{}.With(features.TopologyAwareWorkloadScheduling, false)},
			want:    []string{"group ns/g", "bind a to n1", "bind b to n2", "condition True Scheduled"},
		},
	} {
		t.Run(name, tc.run)
	}
}
