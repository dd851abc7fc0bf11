package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/generated/clientset/versioned"
	"github.com/musterkube/muster/pkg/emulator"
	"github.com/musterkube/muster/pkg/scheduler"
)

// scheduleBenchmark has gangs wait for a scheduler, and takes the time until it has placed them all; then further gangs,
// for which there is no room, and takes the time until all have been told. It does so with a fifth of the nodes and of
// the gangs, with either, and with both, to show how the cost grows.
type scheduleBenchmark struct {
	nodes, gangs, size int
}

func (b *scheduleBenchmark) flags(set *pflag.FlagSet) {
	set.IntVar(&b.nodes, "nodes", 5000, "how many nodes there are")
	set.IntVar(&b.gangs, "gangs", 1000, "how many gangs there are")
	set.IntVar(&b.size, "size", 3, "how many pods each gang has; the nodes have room for all of them")
}

func (b *scheduleBenchmark) check() error { return positive(b.nodes, b.gangs, b.size) }

func (b *scheduleBenchmark) run(ctx context.Context, r *report) error {
	t := r.table(fmt.Sprintf("Gangs of %d until the scheduler is done with them", b.size),
		"outcome", "nodes", "gangs", "seconds", "pods/s", "CPU µs a pod", "KiB a pod", "peak MiB")
	few := func(n int) int { return max(1, n/5) }
	for _, size := range [][2]int{
		{few(b.nodes), few(b.gangs)}, {b.nodes, few(b.gangs)}, {few(b.nodes), b.gangs}, {b.nodes, b.gangs},
	} {
		if err := b.measure(ctx, t, size[0], size[1]); err != nil {
			return fmt.Errorf("measuring %d gangs on %d nodes: %w", size[1], size[0], err)
		}
	}
	return nil
}

func (b *scheduleBenchmark) measure(ctx context.Context, t *table, nodes, gangs int) error {
	s, err := startScheduling(ctx, nodes, gangs*b.size)
	if err != nil {
		return err
	}
	defer s.stop()
	row := func(outcome string, c cost) {
		pods := gangs * b.size
		t.add(text(outcome), number(nodes, 0), number(gangs, 0), number(c.wall.Seconds(), 3), number(rate(pods, c.wall), 0),
			number(per(c.cpu, pods, time.Microsecond), 0), number(float64(c.allocated)/1024/float64(pods), 0), number(c.peak, 0))
	}
	placed, err := s.gangs(ctx, "placed", gangs, b.size, metav1.ConditionTrue)
	if err != nil {
		return err
	}
	row("placed", placed)
	refused, err := s.gangs(ctx, "refused", gangs, b.size, metav1.ConditionFalse)
	if err != nil {
		return err
	}
	row("no room", refused)
	return nil
}

// scheduling is a server with nodes.
type scheduling struct {
	server *emulator.Server
	kube   kubernetes.Interface
	muster versioned.Interface
}

// startScheduling starts a server whose nodes have room for that many pods of a core each, and no more.
func startScheduling(ctx context.Context, nodes, pods int) (*scheduling, error) {
	// No controller is there to take off the taint that new nodes get.
	server, err := emulator.Start(ctx, emulator.Options{DisabledAdmission: []string{"TaintNodesByCondition"}})
	if err != nil {
		return nil, err
	}
	s := &scheduling{server: server}
	kube, errKube := client(server.Config())
	s.kube = kube
	s.muster, err = versioned.NewForConfig(server.Config())
	if err := errors.Join(errKube, err); err != nil {
		s.stop()
		return nil, err
	}
	_, err = each(ctx, nodes, clients, func(ctx context.Context, i int) error {
		cores := pods / nodes
		if i < pods%nodes {
			cores++
		}
		_, err := s.kube.CoreV1().Nodes().Create(ctx, &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: objectName(i)},
			Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{
				corev1.ResourceCPU:    *resource.NewQuantity(int64(cores), resource.DecimalSI),
				corev1.ResourceMemory: resource.MustParse("64Gi"),
				corev1.ResourcePods:   resource.MustParse("110"),
			}},
		}, metav1.CreateOptions{})
		return err
	})
	if err != nil {
		s.stop()
		return nil, fmt.Errorf("creating nodes: %w", err)
	}
	return s, nil
}

func (s *scheduling) stop() { s.server.Stop() }

// gangs makes gangs, lets a scheduler at them, and takes what it costs until each has that condition.
func (s *scheduling) gangs(ctx context.Context, prefix string, gangs, size int, want metav1.ConditionStatus) (c cost, err error) {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: prefix}}
	if _, err := s.kube.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}); err != nil {
		return c, fmt.Errorf("creating the namespace: %w", err)
	}
	changes, err := s.muster.SchedulingV1alpha2().PodGroups(prefix).Watch(ctx, metav1.ListOptions{})
	if err != nil {
		return c, fmt.Errorf("watching: %w", err)
	}
	defer changes.Stop()
	if _, err := each(ctx, gangs, clients, func(ctx context.Context, i int) error { return s.gang(ctx, prefix, objectName(i), size) }); err != nil {
		return c, fmt.Errorf("creating gangs: %w", err)
	}
	placing, err := scheduler.New(s.server.Config(), scheduler.Options{})
	if err != nil {
		return c, err
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	meter := startMeter()
	go func() { ended <- placing.Run(ctx) }()
	err = awaitConditions(ctx, changes, gangs, want)
	c = meter.stop()
	cancel()
	return c, errors.Join(err, <-ended)
}

// gang makes a PodGroup and its pods.
func (s *scheduling) gang(ctx context.Context, namespace, name string, size int) error {
	_, err := s.muster.SchedulingV1alpha2().PodGroups(namespace).Create(ctx, &schedulingv1alpha2.PodGroup{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: schedulingv1alpha2.PodGroupSpec{SchedulingPolicy: schedulingv1alpha2.PodGroupSchedulingPolicy{
			Gang: &schedulingv1alpha2.GangSchedulingPolicy{MinCount: int32(size)},
		}},
	}, metav1.CreateOptions{})
	for i := 0; i < size && err == nil; i++ {
		_, err = s.kube.CoreV1().Pods(namespace).Create(ctx, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d", name, i)},
			Spec: corev1.PodSpec{
				SchedulingGroup: &corev1.PodSchedulingGroup{PodGroupName: &name},
				Containers: []corev1.Container{{Name: "c", Image: "busybox", Resources: corev1.ResourceRequirements{
					Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")},
				}}},
			},
		}, metav1.CreateOptions{})
	}
	return err
}

// awaitConditions waits until so many PodGroups have a PodGroupScheduled condition of a status.
func awaitConditions(ctx context.Context, changes watch.Interface, n int, want metav1.ConditionStatus) error {
	for have := map[string]bool{}; len(have) < n; {
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d of %d gangs are as they should be: %w", len(have), n, context.Cause(ctx))
		case event, open := <-changes.ResultChan():
			if !open {
				return fmt.Errorf("the watch has ended while %d of %d gangs were as they should be", len(have), n)
			}
			group, ok := event.Object.(*schedulingv1alpha2.PodGroup)
			if ok && apimeta.IsStatusConditionPresentAndEqual(group.Status.Conditions, schedulingv1alpha2.PodGroupScheduled, want) {
				have[group.Name] = true
			}
		}
	}
	return nil
}
