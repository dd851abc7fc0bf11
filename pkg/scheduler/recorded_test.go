package scheduler_test

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/pkg/scheduler"
)

// recording is a scenario with what a kube-scheduler 1.36.3 with all gates on made of it.
type recording struct {
	ID    string  `json:"id"`
	Trace []entry `json:"trace"`
}

// entry is one step with what stood after it.
type entry struct {
	Step  step        `json:"step"`
	After observation `json:"after"`
}

// step is what a user or a kubelet does; one of its fields is set.
type step struct {
	Nodes         []nodeStep `json:"nodes"`
	PriorityClass *struct {
		Name  string `json:"name"`
		Value int32  `json:"value"`
	} `json:"priorityClass"`
	Group *struct {
		Name     string                             `json:"name"`
		Min      int32                              `json:"min"`
		Class    string                             `json:"class"`
		Mode     *schedulingv1alpha2.DisruptionMode `json:"mode"`
		Topology string                             `json:"topology"`
	} `json:"group"`
	Pods *struct {
		Group       string              `json:"group"`
		Names       []string            `json:"names"`
		CPU         string              `json:"cpu"`
		Class       string              `json:"class"`
		Selector    map[string]string   `json:"selector"`
		Gates       []string            `json:"gates"`
		Scheduler   string              `json:"scheduler"`
		Tolerations []corev1.Toleration `json:"tolerations"`
	} `json:"pods"`
	DeletePods  []string `json:"deletePods"`
	DeleteGroup string   `json:"deleteGroup"`
	DeleteNode  string   `json:"deleteNode"`
	Ungate      []string `json:"ungate"`
	Finish      *struct {
		Names []string        `json:"names"`
		Phase corev1.PodPhase `json:"phase"`
	} `json:"finish"`
	Job   json.RawMessage `json:"job"`
	Still float64         `json:"still"`
}

type nodeStep struct {
	Name   string            `json:"name"`
	CPU    json.Number       `json:"cpu"`
	Labels map[string]string `json:"labels"`
	Taints []corev1.Taint    `json:"taints"`
}

// observation is what stood when nothing had changed for a while.
type observation struct {
	BoundPerNode []int           `json:"boundPerNode"`
	PodGroups    []groupObserved `json:"podGroups"`
	Pods         []podObserved   `json:"pods"`
	Racks        int             `json:"racks,omitempty"`
}

type groupObserved struct {
	Name       string              `json:"name"`
	Deleting   bool                `json:"deleting,omitempty"`
	Conditions []conditionObserved `json:"conditions,omitempty"`
}

// podObserved leaves out the name: which member of a group is tried first is the scheduler's own affair.
type podObserved struct {
	Of         string              `json:"of"`
	Phase      corev1.PodPhase     `json:"phase"`
	Bound      bool                `json:"bound"`
	Deleting   bool                `json:"deleting,omitempty"`
	Conditions []conditionObserved `json:"conditions,omitempty"`
}

type conditionObserved struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
}

// TestAsRecorded plays what was recorded from a kube-scheduler, except for the scenarios that need a Job controller
// beside it. None of the others is about the differences that parity takes back.
func TestAsRecorded(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "gangs.json"))
	require.NoError(t, err)
	var recordings []recording
	require.NoError(t, json.Unmarshal(data, &recordings))
	for mode, options := range map[string]scheduler.Options{"by default": {}, "with parity": {Parity: true}} {
		for _, r := range recordings {
			if slices.ContainsFunc(r.Trace, func(e entry) bool { return e.Step.Job != nil }) {
				continue
			}
			t.Run(r.ID+" "+mode, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { r.play(t, options) })
			})
		}
	}
}

func (r recording) play(t *testing.T, options scheduler.Options) {
	t.Helper()
	w := newWorld(t, options.Gates)
	w.start(options)
	for i, e := range r.Trace {
		w.do(e.Step)
		w.pass(time.Duration(cmp.Or(e.Step.Still, 1) * float64(time.Second)))
		if diff := gocmp.Diff(e.After, w.observe(), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("after step %d (-recorded +got):\n%s", i+1, diff)
		}
	}
}

func (w *world) do(s step) {
	w.t.Helper()
	ctx := w.t.Context()
	for _, n := range s.Nodes {
		w.node(n.Name, n.CPU.String(), n.Labels, n.Taints...)
	}
	if s.PriorityClass != nil {
		_, err := w.kube.SchedulingV1().PriorityClasses().Create(ctx, &schedulingv1.PriorityClass{
			ObjectMeta: metav1.ObjectMeta{Name: s.PriorityClass.Name}, Value: s.PriorityClass.Value,
		}, metav1.CreateOptions{})
		require.NoError(w.t, err)
	}
	if s.Group != nil {
		w.doGroup(s)
	}
	if s.Pods != nil {
		w.doPods(s)
	}
	for _, name := range s.DeletePods {
		w.deletePod(name)
	}
	if s.DeleteGroup != "" {
		require.NoError(w.t, w.muster.SchedulingV1alpha2().PodGroups(namespace).Delete(ctx, s.DeleteGroup, metav1.DeleteOptions{}))
	}
	if s.DeleteNode != "" {
		require.NoError(w.t, w.kube.CoreV1().Nodes().Delete(ctx, s.DeleteNode, metav1.DeleteOptions{}))
	}
	for _, name := range s.Ungate {
		pod := w.getPod(name)
		pod.Spec.SchedulingGates = nil
		_, err := w.kube.CoreV1().Pods(namespace).Update(ctx, pod, metav1.UpdateOptions{})
		require.NoError(w.t, err)
	}
	if s.Finish != nil {
		for _, name := range s.Finish.Names {
			pod := w.getPod(name)
			// As the recording did, conditions of others are not kept.
			pod.Status = corev1.PodStatus{Phase: s.Finish.Phase}
			_, err := w.kube.CoreV1().Pods(namespace).UpdateStatus(ctx, pod, metav1.UpdateOptions{})
			require.NoError(w.t, err)
		}
	}
}

func (w *world) doGroup(s step) {
	w.t.Helper()
	spec := schedulingv1alpha2.PodGroupSpec{
		SchedulingPolicy:  schedulingv1alpha2.PodGroupSchedulingPolicy{Basic: &schedulingv1alpha2.BasicSchedulingPolicy{}},
		PriorityClassName: s.Group.Class,
		DisruptionMode:    s.Group.Mode,
	}
	if s.Group.Min > 0 {
		spec.SchedulingPolicy = schedulingv1alpha2.PodGroupSchedulingPolicy{
			Gang: &schedulingv1alpha2.GangSchedulingPolicy{MinCount: s.Group.Min},
		}
	}
	if s.Group.Topology != "" {
		spec.SchedulingConstraints = &schedulingv1alpha2.PodGroupSchedulingConstraints{
			Topology: []schedulingv1alpha2.TopologyConstraint{{Key: s.Group.Topology}},
		}
	}
	w.group(s.Group.Name, spec)
}

func (w *world) doPods(s step) {
	w.t.Helper()
	for _, name := range s.Pods.Names {
		spec := podSpec(s.Pods.CPU, s.Pods.Group)
		spec.PriorityClassName = s.Pods.Class
		spec.NodeSelector = s.Pods.Selector
		spec.SchedulerName = s.Pods.Scheduler
		spec.Tolerations = s.Pods.Tolerations
		for _, gate := range s.Pods.Gates {
			spec.SchedulingGates = append(spec.SchedulingGates, corev1.PodSchedulingGate{Name: gate})
		}
		w.pod(name, spec)
		w.pass(time.Millisecond) // requests take their time: the scheduler sees the pods one by one
	}
}

func (w *world) observe() observation {
	w.t.Helper()
	ctx := w.t.Context()
	var o observation
	nodes, err := w.kube.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	require.NoError(w.t, err)
	pods, err := w.kube.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
	require.NoError(w.t, err)
	perNode, racks := map[string]int{}, map[string]bool{}
	for i := range pods.Items {
		pod := &pods.Items[i]
		o.Pods = append(o.Pods, observePod(pod))
		if pod.Spec.NodeName != "" && pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed {
			perNode[pod.Spec.NodeName]++
		}
	}
	for name, count := range perNode {
		o.BoundPerNode = append(o.BoundPerNode, count)
		for i := range nodes.Items {
			if rack := nodes.Items[i].Labels["rack"]; nodes.Items[i].Name == name && rack != "" {
				racks[rack] = true
			}
		}
	}
	slices.Sort(o.BoundPerNode)
	o.Racks = len(racks)
	slices.SortFunc(o.Pods, func(a, b podObserved) int { return cmp.Compare(sortable(a), sortable(b)) })

	groups, err := w.muster.SchedulingV1alpha2().PodGroups(namespace).List(ctx, metav1.ListOptions{})
	require.NoError(w.t, err)
	for i := range groups.Items {
		g := groupObserved{Name: groups.Items[i].Name, Deleting: groups.Items[i].DeletionTimestamp != nil}
		for _, c := range groups.Items[i].Status.Conditions {
			g.Conditions = append(g.Conditions, conditionObserved{c.Type, string(c.Status), c.Reason, c.Message})
		}
		o.PodGroups = append(o.PodGroups, g)
	}
	return o
}

func observePod(pod *corev1.Pod) podObserved {
	p := podObserved{
		Of: "(none)", Phase: pod.Status.Phase, Bound: pod.Spec.NodeName != "", Deleting: pod.DeletionTimestamp != nil,
	}
	if pod.Spec.SchedulingGroup != nil {
		p.Of = *pod.Spec.SchedulingGroup.PodGroupName
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled || c.Type == corev1.DisruptionTarget {
			p.Conditions = append(p.Conditions, conditionObserved{string(c.Type), string(c.Status), c.Reason, c.Message})
		}
	}
	slices.SortFunc(p.Conditions, func(a, b conditionObserved) int { return cmp.Compare(a.Type, b.Type) })
	return p
}

// sortable is the key by which the recordings are sorted: the JSON text with sorted keys.
func sortable(p podObserved) string {
	text, err := json.Marshal(p)
	if err != nil {
		return ""
	}
	var fields map[string]any
	if json.Unmarshal(text, &fields) != nil {
		return ""
	}
	text, _ = json.Marshal(fields)
	return string(text)
}
