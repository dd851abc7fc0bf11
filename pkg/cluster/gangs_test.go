package cluster_test

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/musterkube/muster/pkg/cluster"
)

// TestGangs plays what was recorded of gangs under a kube-scheduler, with the controllers of Jobs beside it. The steps
// make the nodes.
func TestGangs(t *testing.T) { playAll(t, "gangs.json", gangs()) }

// TestMoreGangs plays further recordings of the same form: each situation by name, without those in which kube-scheduler
// leaves the outcome to chance.
func TestMoreGangs(t *testing.T) { playAll(t, "gangs-more.json", gangs()) }

func gangs() script[gangStep] {
	return script[gangStep]{
		controllers: append(cluster.Controllers(), cluster.ControllerScheduler),
		take:        (*player).takeGangStep,
		still:       func(s gangStep) time.Duration { return seconds(s.Still, 0.3) },
		note:        (*player).noteGangs,
	}
}

// gangStep is what a user or a kubelet does. Beside Still one of its fields is set.
type gangStep struct {
	Nodes         []nodeStep     `json:"nodes"`
	PriorityClass *classStep     `json:"priorityClass"`
	Group         *groupStep     `json:"group"`
	Pods          *podsStep      `json:"pods"`
	Job           map[string]any `json:"job"` // the spec, but for the template
	DeletePods    []string       `json:"deletePods"`
	DeleteGroup   string         `json:"deleteGroup"`
	DeleteNode    string         `json:"deleteNode"`
	Finish        *finishStep    `json:"finish"`
	FinishIndex   *finishStep    `json:"finishIndex"`
	Ungate        []string       `json:"ungate"`
	Still         float64        `json:"still"` // seconds
}

type nodeStep struct {
	Name   string            `json:"name"`
	CPU    json.Number       `json:"cpu"`
	Labels map[string]string `json:"labels"`
	Taints []any             `json:"taints"`
}

type classStep struct {
	Name  string `json:"name"`
	Value int32  `json:"value"`
}

type groupStep struct {
	Name     string `json:"name"`
	Min      int32  `json:"min"` // 0 for a group without a gang
	Class    string `json:"class"`
	Mode     string `json:"mode"`
	Topology string `json:"topology"`
}

type podsStep struct {
	Names       []string          `json:"names"`
	CPU         string            `json:"cpu"`
	Group       string            `json:"group"`
	Class       string            `json:"class"`
	Selector    map[string]string `json:"selector"`
	Gates       []string          `json:"gates"`
	Scheduler   string            `json:"scheduler"`
	Tolerations []any             `json:"tolerations"`
}

// finishStep names pods, or says which index of a Job is meant.
type finishStep struct {
	Names []string        `json:"names"`
	Index int             `json:"index"`
	Phase corev1.PodPhase `json:"phase"`
}

func (p *player) takeGangStep(s gangStep) {
	p.Helper()
	switch {
	case s.Nodes != nil:
		for _, n := range s.Nodes {
			p.addNode(n)
		}
	case s.PriorityClass != nil:
		p.create("/apis/scheduling.k8s.io/v1/priorityclasses", map[string]any{
			"metadata": map[string]any{"name": s.PriorityClass.Name}, "value": s.PriorityClass.Value,
		})
	case s.Group != nil:
		p.create(resources["PodGroup"], map[string]any{"metadata": map[string]any{"name": s.Group.Name}, "spec": s.Group.spec()})
	case s.Pods != nil:
		for _, name := range s.Pods.Names {
			p.create(resources["Pod"], map[string]any{"metadata": map[string]any{"name": name}, "spec": s.Pods.spec()})
			pass(time.Millisecond) // requests take their time: the scheduler sees the pods one by one
		}
	case s.Job != nil:
		spec := maps.Clone(s.Job)
		spec["template"] = map[string]any{"spec": podSpec("1")}
		p.create(resources["Job"], map[string]any{"metadata": map[string]any{"name": "j"}, "spec": spec})
	case s.DeleteGroup != "":
		p.remove(path("PodGroup", s.DeleteGroup), "")
	case s.DeleteNode != "":
		p.remove("/api/v1/nodes/"+s.DeleteNode, "")
	default:
		p.takeGangPodStep(s)
	}
}

func (p *player) takeGangPodStep(s gangStep) {
	p.Helper()
	switch {
	case s.DeletePods != nil:
		for _, name := range s.DeletePods {
			p.remove(path("Pod", name), "gracePeriodSeconds=0")
		}
	case s.Finish != nil:
		for _, name := range s.Finish.Names {
			p.report([]object{p.get(path("Pod", name))}, report{Phase: s.Finish.Phase})
		}
	case s.FinishIndex != nil:
		p.report(p.selected(selection{Index: &s.FinishIndex.Index}), report{Phase: s.FinishIndex.Phase})
	case s.Ungate != nil:
		for _, name := range s.Ungate {
			p.patch(path("Pod", name), map[string]any{"spec": map[string]any{"schedulingGates": nil}})
		}
	default:
		p.Fatal("a step that says nothing")
	}
}

// addNode makes a node that is ready. There is no node controller to take the taint off that every new node gets; that
// request was not recorded.
func (p *player) addNode(n nodeStep) {
	p.Helper()
	p.rackOf[n.Name] = n.Labels["rack"]
	labels := map[string]string{corev1.LabelHostname: n.Name}
	maps.Copy(labels, n.Labels)
	p.create("/api/v1/nodes", map[string]any{
		"metadata": map[string]any{"name": n.Name, "labels": labels}, "spec": map[string]any{"taints": n.Taints},
	})
	capacity := map[string]any{"cpu": n.CPU.String(), "memory": "64Gi", "pods": "110"}
	p.patch("/api/v1/nodes/"+n.Name+"/status", map[string]any{"status": map[string]any{
		"capacity": capacity, "allocatable": capacity,
		"conditions": []any{map[string]any{
			"type": "Ready", "status": "True", "reason": "KubeletReady", "lastHeartbeatTime": epoch, "lastTransitionTime": epoch,
		}},
	}})
	codes := p.codes
	p.patch("/api/v1/nodes/"+n.Name, map[string]any{"spec": map[string]any{"taints": n.Taints}})
	p.codes = codes
}

func (g *groupStep) spec() map[string]any {
	spec := map[string]any{"schedulingPolicy": map[string]any{"basic": map[string]any{}}}
	if g.Min > 0 {
		spec["schedulingPolicy"] = map[string]any{"gang": map[string]any{"minCount": g.Min}}
	}
	if g.Class != "" {
		spec["priorityClassName"] = g.Class
	}
	if g.Mode != "" {
		spec["disruptionMode"] = g.Mode
	}
	if g.Topology != "" {
		spec["schedulingConstraints"] = map[string]any{"topology": []any{map[string]any{"key": g.Topology}}}
	}
	return spec
}

// podSpec is the spec of a pod that asks for so much CPU.
func podSpec(cpu string) map[string]any {
	return map[string]any{
		"restartPolicy": "Never", "terminationGracePeriodSeconds": 0,
		"containers": []any{map[string]any{
			"name": "c", "image": "busybox", "resources": map[string]any{"requests": map[string]any{"cpu": cpu}},
		}},
	}
}

func (s *podsStep) spec() map[string]any {
	spec := podSpec(s.CPU)
	if s.Group != "" {
		spec["schedulingGroup"] = map[string]any{"podGroupName": s.Group}
	}
	if s.Class != "" {
		spec["priorityClassName"] = s.Class
	}
	if s.Selector != nil {
		spec["nodeSelector"] = s.Selector
	}
	if s.Scheduler != "" {
		spec["schedulerName"] = s.Scheduler
	}
	if s.Tolerations != nil {
		spec["tolerations"] = s.Tolerations
	}
	gates := []any{}
	for _, gate := range s.Gates {
		gates = append(gates, map[string]any{"name": gate})
	}
	spec["schedulingGates"] = gates
	return spec
}

// noteGangs returns what stands of pods, groups and nodes. Members of one group are alike: which of them is tried first,
// and on which of nodes that are alike it is put, is the scheduler's own affair.
func (p *player) noteGangs() map[string]any {
	p.Helper()
	pods, groups, perNode := []any{}, []any{}, map[string]int{}
	for _, pod := range p.list("Pod") {
		pods = append(pods, noteMember(pod))
		if node := nodeOf(pod); node != "" && !ended(pod) {
			perNode[node]++
		}
	}
	for _, g := range p.list("PodGroup") {
		note := map[string]any{"name": withoutHash(hash, g.GetName()), "conditions": conditionsOf(g)}
		if g.GetDeletionTimestamp() != nil {
			note["deleting"] = true
		}
		groups = append(groups, note)
	}
	after := map[string]any{"pods": pods, "podGroups": groups, "boundPerNode": append([]int{}, slices.Sorted(maps.Values(perNode))...)}
	racks := map[string]bool{}
	for node := range perNode {
		if rack := p.rackOf[node]; rack != "" {
			racks[rack] = true
		}
	}
	if len(racks) > 0 {
		after["racks"] = len(racks)
	}
	return after
}

func noteMember(pod object) map[string]any {
	group, _, _ := unstructured.NestedString(pod.Object, "spec", "schedulingGroup", "podGroupName") // a pod of the server's is well formed
	of := cmp.Or(group, "(none)")
	if pod.GetGenerateName() != "" {
		of = "(job)"
	}
	note := map[string]any{"of": of, "phase": phaseOf(pod), "bound": nodeOf(pod) != ""}
	if pod.GetDeletionTimestamp() != nil {
		note["deleting"] = true
	}
	conditions := conditionsOf(pod, string(corev1.PodScheduled), string(corev1.DisruptionTarget))
	if len(conditions) > 0 {
		note["conditions"] = conditions
	}
	return note
}

func nodeOf(pod object) string {
	node, _, _ := unstructured.NestedString(pod.Object, "spec", "nodeName") // a pod of the server's is well formed
	return node
}

// conditionsOf returns what conditions say, sorted by type: those of the types given, of all types if none is.
func conditionsOf(o object, types ...string) []map[string]any {
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions") // an object of the server's is well formed
	said := []map[string]any{}
	for _, c := range conditions {
		c := c.(map[string]any)
		if len(types) > 0 && !slices.Contains(types, c["type"].(string)) {
			continue
		}
		note := map[string]any{}
		for _, key := range []string{"type", "status", "reason", "message"} {
			if text, _ := c[key].(string); text != "" {
				note[key] = text
			}
		}
		said = append(said, note)
	}
	slices.SortFunc(said, func(a, b map[string]any) int { return cmp.Compare(a["type"].(string), b["type"].(string)) })
	return said
}
