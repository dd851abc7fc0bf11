package wrappers

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Owner is a reference to an owner that is the controller of what it owns, and whose deletion in the foreground waits for
// that. Objects of typed clients do not know their kind, so it has to be said.
func Owner(owner metav1.Object, kind schema.GroupVersionKind) metav1.OwnerReference {
	return *metav1.NewControllerRef(owner, kind)
}

// Resources returns a list of resources from names and quantities in turn, such as "cpu", "4", "memory", "8Gi". It panics
// where a quantity is none, or a name is without one, which is a mistake in the test.
func Resources(pairs ...string) corev1.ResourceList {
	list := corev1.ResourceList{}
	if len(pairs)%2 != 0 {
		panic("wrappers.Resources: want a quantity after each name")
	}
	for i := 0; i < len(pairs); i += 2 {
		list[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return list
}

// metadata changes what all objects have. Each wrapper has its own methods, which return it.
type metadata struct{ *metav1.ObjectMeta }

func (m metadata) label(key, value string)      { put(&m.Labels, key, value) }
func (m metadata) annotation(key, value string) { put(&m.Annotations, key, value) }
func (m metadata) finalizer(name string)        { m.Finalizers = append(m.Finalizers, name) }
func (m metadata) owner(owner metav1.OwnerReference) {
	m.OwnerReferences = append(m.OwnerReferences, owner)
}

// deleted makes the object one that is being deleted. A server keeps such an object only while it has finalizers.
func (m metadata) deleted(at time.Time) { m.DeletionTimestamp = new(metav1.NewTime(at)) }

func (m metadata) created(at time.Time) { m.CreationTimestamp = metav1.NewTime(at) }
func (m metadata) uid(uid types.UID)    { m.UID = uid }

func put(texts *map[string]string, key, value string) {
	if *texts == nil {
		*texts = map[string]string{}
	}
	(*texts)[key] = value
}

// container is the one that pods have unless they are given others.
func container() corev1.Container {
	return corev1.Container{Name: "main", Image: "registry.example/main:v1"}
}

// podSpec changes what pods and the templates of pods have in common.
type podSpec struct{ *corev1.PodSpec }

// request adds to the first container.
func (s podSpec) request(name corev1.ResourceName, quantity string) {
	requests := &s.Containers[0].Resources.Requests
	if *requests == nil {
		*requests = corev1.ResourceList{}
	}
	(*requests)[name] = resource.MustParse(quantity)
}

func (s podSpec) command(command ...string) { s.Containers[0].Command = command }
func (s podSpec) image(image string)        { s.Containers[0].Image = image }

func (s podSpec) group(name string) {
	s.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: &name}
}

func (s podSpec) nodeSelector(key, value string) { put(&s.NodeSelector, key, value) }

func (s podSpec) tolerate(key string, effect corev1.TaintEffect) {
	s.Tolerations = append(s.Tolerations, corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: effect})
}
