package scheduler

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/pkg/builder"
)

// epoch is when everything in the fixtures was made.
func epoch() time.Time { return time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC) }

type nodeWrapper struct{ corev1.Node }

// makeNode returns a ready node with that much CPU, and memory and pods enough.
func makeNode(name, cpu string) *nodeWrapper {
	return &nodeWrapper{corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("node-" + name), Labels: map[string]string{corev1.LabelHostname: name}},
		Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{
			corev1.ResourceCPU:    resource.MustParse(cpu),
			corev1.ResourceMemory: resource.MustParse("64Gi"),
			corev1.ResourcePods:   resource.MustParse("110"),
		}},
	}}
}

func (w *nodeWrapper) Label(key, value string) *nodeWrapper {
	w.Labels[key] = value
	return w
}

func (w *nodeWrapper) Taint(key string, effect corev1.TaintEffect) *nodeWrapper {
	w.Spec.Taints = append(w.Spec.Taints, corev1.Taint{Key: key, Effect: effect})
	return w
}

func (w *nodeWrapper) Allocatable(name corev1.ResourceName, quantity string) *nodeWrapper {
	w.Status.Allocatable[name] = resource.MustParse(quantity)
	return w
}

func (w *nodeWrapper) Cordoned() *nodeWrapper {
	w.Spec.Unschedulable = true
	return w
}

func (w *nodeWrapper) Obj() *corev1.Node { return &w.Node }

// makeNodes returns that many nodes n1, n2… of that much CPU each.
func makeNodes(count int, cpu string) []*corev1.Node {
	var nodes []*corev1.Node
	for i := range count {
		nodes = append(nodes, makeNode(fmt.Sprintf("n%d", i+1), cpu).Obj())
	}
	return nodes
}

type podWrapper struct{ corev1.Pod }

// makePod returns a pod in namespace "ns" that asks for that much CPU and waits for a node.
func makePod(name, cpu string) *podWrapper {
	return &podWrapper{corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: "ns", UID: types.UID("pod-" + name), CreationTimestamp: metav1.NewTime(epoch()),
		},
		Spec: corev1.PodSpec{
			SchedulerName: corev1.DefaultSchedulerName,
			RestartPolicy: corev1.RestartPolicyNever,
			Containers: []corev1.Container{{
				Name: "c", Image: "busybox",
				Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}},
			}},
		},
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	}}
}

func (w *podWrapper) Group(name string) *podWrapper {
	w.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: &name}
	return w
}

func (w *podWrapper) Priority(priority int32) *podWrapper {
	w.Spec.Priority = &priority
	return w
}

func (w *podWrapper) Created(after time.Duration) *podWrapper {
	w.CreationTimestamp = metav1.NewTime(epoch().Add(after))
	return w
}

func (w *podWrapper) On(node string) *podWrapper {
	w.Spec.NodeName = node
	return w
}

func (w *podWrapper) Phase(phase corev1.PodPhase) *podWrapper {
	w.Status.Phase = phase
	return w
}

func (w *podWrapper) Started(after time.Duration) *podWrapper {
	w.Status.Phase = corev1.PodRunning
	w.Status.StartTime = new(metav1.NewTime(epoch().Add(after)))
	return w
}

func (w *podWrapper) Gate(name string) *podWrapper {
	w.Spec.SchedulingGates = append(w.Spec.SchedulingGates, corev1.PodSchedulingGate{Name: name})
	return w
}

func (w *podWrapper) Scheduler(name string) *podWrapper {
	w.Spec.SchedulerName = name
	return w
}

func (w *podWrapper) Selector(key, value string) *podWrapper {
	w.Spec.NodeSelector = map[string]string{key: value}
	return w
}

func (w *podWrapper) Tolerate(key string) *podWrapper {
	w.Spec.Tolerations = append(w.Spec.Tolerations, corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists})
	return w
}

func (w *podWrapper) Request(name corev1.ResourceName, quantity string) *podWrapper {
	w.Spec.Containers[0].Resources.Requests[name] = resource.MustParse(quantity)
	return w
}

func (w *podWrapper) HostPort(port int32, ip string) *podWrapper {
	w.Spec.Containers[0].Ports = append(w.Spec.Containers[0].Ports, corev1.ContainerPort{
		ContainerPort: port, HostPort: port, HostIP: ip, Protocol: corev1.ProtocolTCP,
	})
	return w
}

func (w *podWrapper) Deleting() *podWrapper {
	w.DeletionTimestamp = new(metav1.NewTime(epoch()))
	return w
}

func (w *podWrapper) NeverPreempting() *podWrapper {
	w.Spec.PreemptionPolicy = new(corev1.PreemptNever)
	return w
}

func (w *podWrapper) Obj() *corev1.Pod { return &w.Pod }

type groupWrapper struct {
	schedulingv1alpha2.PodGroup
}

// finished says on a PodGroup how many of its members are done.
func finished(g *groupWrapper, n string) *groupWrapper {
	g.Annotations = map[string]string{builder.FinishedMembersAnnotation: n}
	return g
}

// makeGang returns a PodGroup in namespace "ns" that wants so many members placed together.
func makeGang(name string, minCount int32) *groupWrapper {
	return &groupWrapper{schedulingv1alpha2.PodGroup{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "ns", UID: types.UID("group-" + name), Generation: 1},
		Spec: schedulingv1alpha2.PodGroupSpec{SchedulingPolicy: schedulingv1alpha2.PodGroupSchedulingPolicy{
			Gang: &schedulingv1alpha2.GangSchedulingPolicy{MinCount: minCount},
		}},
	}}
}

// makeBasicGroup returns a PodGroup in namespace "ns" whose pods are placed one by one.
func makeBasicGroup(name string) *groupWrapper {
	w := makeGang(name, 1)
	w.Spec.SchedulingPolicy = schedulingv1alpha2.PodGroupSchedulingPolicy{Basic: &schedulingv1alpha2.BasicSchedulingPolicy{}}
	return w
}

func (w *groupWrapper) Topology(key string) *groupWrapper {
	w.Spec.SchedulingConstraints = &schedulingv1alpha2.PodGroupSchedulingConstraints{
		Topology: []schedulingv1alpha2.TopologyConstraint{{Key: key}},
	}
	return w
}

func (w *groupWrapper) Priority(priority int32) *groupWrapper {
	w.Spec.Priority = &priority
	return w
}

func (w *groupWrapper) Mode(mode schedulingv1alpha2.DisruptionMode) *groupWrapper {
	w.Spec.DisruptionMode = &mode
	return w
}

func (w *groupWrapper) Obj() *schedulingv1alpha2.PodGroup { return &w.PodGroup }
