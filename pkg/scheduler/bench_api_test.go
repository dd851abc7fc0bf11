package scheduler_test

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/generated/clientset/versioned"
	"github.com/musterkube/muster/pkg/emulator"
	"github.com/musterkube/muster/pkg/scheduler"
)

// BenchmarkGangsOnTheAPI has 100 gangs of 3 made and bound on 500 nodes, through an API server in the same process.
func BenchmarkGangsOnTheAPI(b *testing.B) {
	server, err := emulator.Start(b.Context(), emulator.Options{DisabledAdmission: []string{"TaintNodesByCondition"}})
	if err != nil {
		b.Fatal(err)
	}
	defer server.Stop()
	kube, muster := kubernetes.NewForConfigOrDie(server.Config()), versioned.NewForConfigOrDie(server.Config())
	for i := range 500 {
		node := exampleNode(fmt.Sprintf("n%d", i))
		node.Status.Allocatable[corev1.ResourceCPU] = resource.MustParse("1000")
		if _, err := kube.CoreV1().Nodes().Create(b.Context(), node, metav1.CreateOptions{}); err != nil {
			b.Fatal(err)
		}
	}
	s, err := scheduler.New(server.Config(), scheduler.Options{})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			b.Error(err)
		}
	}()
	changes, err := muster.SchedulingV1alpha2().PodGroups("default").Watch(b.Context(), metav1.ListOptions{})
	if err != nil {
		b.Fatal(err)
	}
	defer changes.Stop()
	round := 0
	for b.Loop() {
		for g := range 100 {
			name := fmt.Sprintf("g-%d-%d", round, g)
			if _, err := muster.SchedulingV1alpha2().PodGroups("default").Create(b.Context(), exampleGang(name, 3), metav1.CreateOptions{}); err != nil {
				b.Fatal(err)
			}
			for i := range 3 {
				if _, err := kube.CoreV1().Pods("default").Create(b.Context(), examplePod(fmt.Sprintf("%s-%d", name, i), name), metav1.CreateOptions{}); err != nil {
					b.Fatal(err)
				}
			}
		}
		round++
		for scheduled := 0; scheduled < 100; {
			event := <-changes.ResultChan()
			group, ok := event.Object.(*schedulingv1alpha2.PodGroup)
			if !ok {
				b.Fatalf("watching pod groups: %v", event.Object)
			}
			if len(group.Status.Conditions) > 0 && group.Status.Conditions[0].Status == metav1.ConditionTrue {
				scheduled++
			}
		}
	}
	b.ReportMetric(300*float64(round)/b.Elapsed().Seconds(), "pods/s")
}
