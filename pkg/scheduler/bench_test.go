package scheduler

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// BenchmarkPlanOfGangs places 100 gangs of 3 on 500 nodes.
func BenchmarkPlanOfGangs(b *testing.B) {
	snapshot := Snapshot{Nodes: makeNodes(500, "4")}
	for g := range 100 {
		name := fmt.Sprintf("g%d", g)
		snapshot.PodGroups = append(snapshot.PodGroups, makeGang(name, 3).Obj())
		for i := range 3 {
			snapshot.Pods = append(snapshot.Pods, makePod(fmt.Sprintf("%s-%d", name, i), "2").Group(name).Obj())
		}
	}
	for b.Loop() {
		bound := 0
		for _, d := range Plan(snapshot, Options{}) {
			bound += len(d.Bindings)
		}
		if bound != 300 {
			b.Fatalf("%d pods were bound, want 300", bound)
		}
	}
}

// BenchmarkFreedWithManyWaiting is what one pod that ends costs while 5000 pods wait for larger nodes.
func BenchmarkFreedWithManyWaiting(b *testing.B) {
	s := newScheduler(nil, nil, Options{})
	for _, node := range makeNodes(500, "1") {
		s.nodeChanged(nil, node)
	}
	for i := range 5000 {
		s.podChanged(nil, makePod(fmt.Sprintf("waits-%d", i), "2").Obj())
	}
	for u, decision := s.cycle(); u != nil; u, decision = s.cycle() {
		s.settle(u, &decision, nil)
	}
	pod := makePod("ends", "1").On("n1").Obj()
	ended := pod.DeepCopy()
	ended.Status.Phase = corev1.PodSucceeded
	for i := 0; b.Loop(); i++ {
		pod.UID, ended.UID = types.UID(fmt.Sprint(i)), types.UID(fmt.Sprint(i))
		s.podChanged(nil, pod)
		s.podChanged(pod, ended)
	}
	if len(s.queue.parked) != 5000 {
		b.Fatalf("%d pods are parked, want 5000", len(s.queue.parked))
	}
}
