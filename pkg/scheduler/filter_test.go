package scheduler

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func TestFilter(t *testing.T) {
	affinity := func(name string, operator corev1.NodeSelectorOperator, values ...string) *podWrapper {
		p := makePod(name, "1")
		p.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
				MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "disk", Operator: operator, Values: values}},
			}}},
		}}
		return p
	}
	withInit := func(init, sidecar, overhead string) *podWrapper {
		request := func(cpu string) corev1.ResourceRequirements {
			return corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}}
		}
		p := makePod("p", "1")
		p.Spec.InitContainers = []corev1.Container{
			{Name: "sidecar", RestartPolicy: new(corev1.ContainerRestartPolicyAlways), Resources: request(sidecar)},
			{Name: "init", Resources: request(init)},
		}
		p.Spec.Overhead = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(overhead)}
		return p
	}
	for name, tc := range map[string]struct {
		node      *nodeWrapper
		on        []*podWrapper
		pod       *podWrapper
		want      []string
		wantFinal bool
	}{
		"enough of everything":                   {node: makeNode("n", "2"), pod: makePod("p", "2")},
		"too little CPU left":                    {node: makeNode("n", "2"), on: []*podWrapper{makePod("o", "1")}, pod: makePod("p", "2"), want: []string{"Insufficient cpu"}},
		"too little CPU in all":                  {node: makeNode("n", "2"), pod: makePod("p", "2001m"), want: []string{"Insufficient cpu"}, wantFinal: true},
		"two resources too few":                  {node: makeNode("n", "2"), pod: makePod("p", "3").Request(corev1.ResourceMemory, "65Gi"), want: []string{"Insufficient cpu", "Insufficient memory"}, wantFinal: true},
		"ephemeral storage counts":               {node: makeNode("n", "2").Allocatable(corev1.ResourceEphemeralStorage, "1Gi"), pod: makePod("p", "1").Request(corev1.ResourceEphemeralStorage, "2Gi"), want: []string{"Insufficient ephemeral-storage"}, wantFinal: true},
		"an extended resource that is there":     {node: makeNode("n", "2").Allocatable("example.com/gpu", "1"), pod: makePod("p", "1").Request("example.com/gpu", "1")},
		"an extended resource that is taken":     {node: makeNode("n", "2").Allocatable("example.com/gpu", "1"), on: []*podWrapper{makePod("o", "1").Request("example.com/gpu", "1")}, pod: makePod("p", "1").Request("example.com/gpu", "1"), want: []string{"Insufficient example.com/gpu"}},
		"an extended resource that is not there": {node: makeNode("n", "2"), pod: makePod("p", "1").Request("example.com/gpu", "1"), want: []string{"Insufficient example.com/gpu"}, wantFinal: true},
		"a pod that asks for nothing needs a place": {
			node: makeNode("n", "2").Allocatable(corev1.ResourcePods, "1"), on: []*podWrapper{makePod("o", "0")}, pod: makePod("p", "0"), want: []string{"Too many pods"},
		},
		"an init container larger than the others":    {node: makeNode("n", "3"), pod: withInit("3", "500m", "0"), want: []string{"Insufficient cpu"}, wantFinal: true},
		"sidecar and overhead on top of the others":   {node: makeNode("n", "1900m"), pod: withInit("1", "500m", "500m"), want: []string{"Insufficient cpu"}, wantFinal: true},
		"sidecar and overhead that just fit":          {node: makeNode("n", "2"), pod: withInit("1", "500m", "500m")},
		"a cordoned node":                             {node: makeNode("n", "2").Cordoned(), pod: makePod("p", "1"), want: []string{"node(s) were unschedulable"}, wantFinal: true},
		"a cordoned node and a pod that tolerates it": {node: makeNode("n", "2").Cordoned(), pod: makePod("p", "1").Tolerate(corev1.TaintNodeUnschedulable)},
		"a taint":                                     {node: makeNode("n", "2").Taint("k", corev1.TaintEffectNoExecute), pod: makePod("p", "1"), want: []string{"node(s) had untolerated taint(s)"}, wantFinal: true},
		"a taint that is tolerated":                   {node: makeNode("n", "2").Taint("k", corev1.TaintEffectNoSchedule), pod: makePod("p", "1").Tolerate("k")},
		"a taint that only advises":                   {node: makeNode("n", "2").Taint("k", corev1.TaintEffectPreferNoSchedule), pod: makePod("p", "1")},
		"a selector that matches":                     {node: makeNode("n", "2").Label("disk", "ssd"), pod: makePod("p", "1").Selector("disk", "ssd")},
		"a selector that does not":                    {node: makeNode("n", "2"), pod: makePod("p", "1").Selector("disk", "ssd"), want: []string{"node(s) didn't match Pod's node affinity/selector"}, wantFinal: true},
		"an affinity that matches":                    {node: makeNode("n", "2").Label("disk", "ssd"), pod: affinity("p", corev1.NodeSelectorOpIn, "hdd", "ssd")},
		"an affinity that does not":                   {node: makeNode("n", "2").Label("disk", "ssd"), pod: affinity("p", corev1.NodeSelectorOpNotIn, "ssd"), want: []string{"node(s) didn't match Pod's node affinity/selector"}, wantFinal: true},
		"a host port that is taken":                   {node: makeNode("n", "2"), on: []*podWrapper{makePod("o", "1").HostPort(80, "")}, pod: makePod("p", "1").HostPort(80, "127.0.0.1"), want: []string{"node(s) didn't have free ports for the requested pod ports"}},
		"a host port on another address":              {node: makeNode("n", "2"), on: []*podWrapper{makePod("o", "1").HostPort(80, "127.0.0.2")}, pod: makePod("p", "1").HostPort(80, "127.0.0.1")},
		"the first check that fails gives the reason": {node: makeNode("n", "1").Taint("k", corev1.TaintEffectNoSchedule), pod: makePod("p", "2").Selector("disk", "ssd"), want: []string{"node(s) had untolerated taint(s)"}, wantFinal: true},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNodeInfo(tc.node.Name)
			n.set(tc.node.Obj())
			for _, other := range tc.on {
				n.add(newPodInfo(other.Obj(), true))
			}
			got := filter(newPodInfo(tc.pod.Obj(), true), n)
			assert.Equal(t, tc.want, got.reasons)
			assert.Equal(t, tc.wantFinal, got.final)
		})
	}
}

func TestNodeChoice(t *testing.T) {
	for name, tc := range map[string]struct {
		nodes []*nodeWrapper
		on    map[string][]*podWrapper
		pod   *podWrapper
		want  string
	}{
		"equal nodes: the first by name": {
			nodes: []*nodeWrapper{makeNode("a", "2"), makeNode("b", "2")}, pod: makePod("p", "1"), want: "a",
		},
		"most left over": {
			nodes: []*nodeWrapper{makeNode("a", "2"), makeNode("b", "4")}, pod: makePod("p", "1"), want: "b",
		},
		"the emptier one": {
			nodes: []*nodeWrapper{makeNode("a", "2"), makeNode("b", "2")},
			on:    map[string][]*podWrapper{"a": {makePod("o", "1")}}, pod: makePod("p", "1"), want: "b",
		},
		"pods that ask for nothing are spread as well": {
			nodes: []*nodeWrapper{makeNode("a", "2"), makeNode("b", "2")},
			on:    map[string][]*podWrapper{"a": {makePod("o", "0")}}, pod: makePod("p", "0"), want: "b",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(Options{}.policy())
			for _, node := range tc.nodes {
				c.setNode(node.Obj())
				for _, pod := range tc.on[node.Name] {
					c.setPod(pod.On(node.Name).Obj())
				}
			}
			assert.Equal(t, tc.want, c.findNode(newPodInfo(tc.pod.Obj(), true), c.order).node.name)
		})
	}
}
