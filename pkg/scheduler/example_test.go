package scheduler_test

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/generated/clientset/versioned"
	"github.com/musterkube/muster/pkg/emulator"
	"github.com/musterkube/muster/pkg/scheduler"
)

// exampleNode has room for one pod of the examples.
func exampleNode(name string) *corev1.Node {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	node.Status.Allocatable = corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourcePods: resource.MustParse("110"),
	}
	return node
}

func examplePod(name, group string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	pod.Spec = podSpec("1", group)
	return pod
}

func exampleGang(name string, minCount int32) *schedulingv1alpha2.PodGroup {
	group := &schedulingv1alpha2.PodGroup{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	group.Spec.SchedulingPolicy.Gang = &schedulingv1alpha2.GangSchedulingPolicy{MinCount: minCount}
	return group
}

// Two gangs want three nodes: the older gets both that it needs, the other none, although one node is left.
func ExamplePlan() {
	snapshot := scheduler.Snapshot{
		Nodes:     []*corev1.Node{exampleNode("n1"), exampleNode("n2"), exampleNode("n3")},
		PodGroups: []*schedulingv1alpha2.PodGroup{exampleGang("blue", 2), exampleGang("green", 2)},
	}
	for _, name := range []string{"blue-0", "green-0", "blue-1", "green-1"} {
		group, _, _ := strings.Cut(name, "-")
		snapshot.Pods = append(snapshot.Pods, examplePod(name, group))
	}
	for _, decision := range scheduler.Plan(snapshot, scheduler.Options{}) {
		fmt.Printf("%s: %s\n", decision.PodGroup.Name, decision.Condition.Reason)
		for _, binding := range decision.Bindings {
			fmt.Printf("  %s goes to %s\n", binding.Pod.Name, binding.Node)
		}
		for _, rejection := range decision.Rejections {
			fmt.Printf("  %s waits\n", rejection.Pod.Name)
		}
	}
	// Output:
	// blue: Scheduled
	//   blue-0 goes to n1
	//   blue-1 goes to n2
	// green: Unschedulable
	//   green-0 waits
	//   green-1 waits
}

// A scheduler runs beside an API server, here the emulator, and binds a gang once it is complete.
func ExampleScheduler_Run() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	server, err := emulator.Start(ctx, emulator.Options{DisabledAdmission: []string{"TaintNodesByCondition"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Stop()
	s, err := scheduler.New(server.Config(), scheduler.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	ended := make(chan error)
	go func() { ended <- s.Run(ctx) }()
	defer func() {
		cancel()
		fmt.Println("scheduler ended:", <-ended)
	}()

	if err := submitGang(ctx, server); err != nil {
		fmt.Println(err)
		return
	}
	muster := versioned.NewForConfigOrDie(server.Config())
	groups, err := muster.SchedulingV1alpha2().PodGroups("default").Watch(ctx, metav1.ListOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer groups.Stop()
	for event := range groups.ResultChan() {
		group, ok := event.Object.(*schedulingv1alpha2.PodGroup)
		if ok && event.Type != watch.Deleted && len(group.Status.Conditions) > 0 {
			condition := group.Status.Conditions[0]
			fmt.Printf("%s %s: %s\n", group.Name, condition.Type, condition.Status)
			break
		}
	}
	// Output:
	// blue PodGroupScheduled: True
	// scheduler ended: <nil>
}

// submitGang makes two nodes, a PodGroup and the two pods that it wants.
func submitGang(ctx context.Context, server *emulator.Server) error {
	kube := kubernetes.NewForConfigOrDie(server.Config())
	for _, name := range []string{"n1", "n2"} {
		if _, err := kube.CoreV1().Nodes().Create(ctx, exampleNode(name), metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	muster := versioned.NewForConfigOrDie(server.Config())
	if _, err := muster.SchedulingV1alpha2().PodGroups("default").Create(ctx, exampleGang("blue", 2), metav1.CreateOptions{}); err != nil {
		return err
	}
	for _, name := range []string{"blue-0", "blue-1"} {
		if _, err := kube.CoreV1().Pods("default").Create(ctx, examplePod(name, "blue"), metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	return nil
}
