package main

import (
	"cmp"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/pkg/batch"
	"github.com/musterkube/muster/pkg/core"
)

// world is what stands on the cluster as far as the timeline has told it. The report is made from it, so that the two
// cannot disagree.
type world struct {
	// objects are those that exist. Jobs stay here once they are gone, as they were last.
	objects map[types.UID]metav1.Object
	gone    map[types.UID]bool
	// seen is the newest version of each object that was told, see version.
	seen map[types.UID]uint64
}

func newWorld() *world {
	return &world{objects: map[types.UID]metav1.Object{}, gone: map[types.UID]bool{}, seen: map[types.UID]uint64{}}
}

// apply takes in one observation.
func (w *world) apply(o observation) {
	uid := o.object.GetUID()
	w.seen[uid] = max(w.seen[uid], o.version)
	_, isJob := o.object.(*batchv1.Job)
	switch {
	case o.deleted && !isJob:
		delete(w.objects, uid)
	default:
		w.objects[uid] = o.object
	}
	if o.deleted {
		w.gone[uid] = true
	}
}

// all returns the objects of a kind, by namespace and name.
func all[T metav1.Object](w *world) []T {
	var list []T
	for _, object := range w.objects {
		if object, ok := object.(T); ok {
			list = append(list, object)
		}
	}
	slices.SortFunc(list, func(a, b T) int {
		return cmp.Or(cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()), cmp.Compare(a.GetUID(), b.GetUID()))
	})
	return list
}

// named returns the object of a kind with a name, or nil.
func named[T metav1.Object](w *world, namespace, name string) (found T) {
	for _, object := range w.objects {
		if object, ok := object.(T); ok && object.GetNamespace() == namespace && object.GetName() == name && !w.gone[object.GetUID()] {
			return object
		}
	}
	return found
}

// withUID returns the object with a UID if it is of the kind, or nil.
func withUID[T metav1.Object](w *world, uid types.UID) T {
	object, _ := w.objects[uid].(T)
	return object
}

// podsOf returns the pods that a Job controls.
func (w *world) podsOf(job types.UID) []*corev1.Pod {
	return slices.DeleteFunc(all[*corev1.Pod](w), func(pod *corev1.Pod) bool { return owningJob(pod) != job })
}

// members returns the pods that name a pod group.
func (w *world) members(group *schedulingv1alpha2.PodGroup) []*corev1.Pod {
	return slices.DeleteFunc(all[*corev1.Pod](w), func(pod *corev1.Pod) bool {
		return pod.Namespace != group.Namespace || groupOf(pod) != group.Name
	})
}

// eventsOf returns the Events about an object, the oldest first.
func (w *world) eventsOf(uid types.UID) []*corev1.Event {
	events := slices.DeleteFunc(all[*corev1.Event](w), func(e *corev1.Event) bool { return e.InvolvedObject.UID != uid })
	slices.SortStableFunc(events, func(a, b *corev1.Event) int { return cmp.Compare(version(a), version(b)) })
	return events
}

// ended reports whether everything of a manifest that runs has ended, or is gone.
func (w *world) ended(made []*unstructured.Unstructured) bool {
	for _, object := range made {
		if runs(object) && !w.hasEnded(object.GetUID()) {
			return false
		}
	}
	return true
}

func (w *world) hasEnded(uid types.UID) bool {
	switch object := w.objects[uid].(type) {
	case *batchv1.Job:
		_, finished := batch.Finished(object)
		return finished || w.gone[uid]
	case *corev1.Pod:
		return core.PodFinished(object)
	default:
		return w.gone[uid]
	}
}

// runs reports whether an object is one whose end the program waits for.
func runs(object *unstructured.Unstructured) bool {
	kind := object.GroupVersionKind()
	return kind.Group == batchv1.GroupName && kind.Kind == "Job" || kind.Group == corev1.GroupName && kind.Kind == "Pod"
}

// holders says who holds room on the nodes, apart from a pod group itself: each pod group, Job or single pod with the
// number of its pods that are on a node and have not ended.
func (w *world) holders(group *schedulingv1alpha2.PodGroup) []string {
	counts := map[string]int{}
	for _, pod := range all[*corev1.Pod](w) {
		own := pod.Namespace == group.Namespace && groupOf(pod) == group.Name
		if !own && pod.Spec.NodeName != "" && !core.PodFinished(pod) {
			counts[holder(pod)]++
		}
	}
	var list []string
	for name, n := range counts {
		list = append(list, name+" ("+plural(n, "pod")+")")
	}
	slices.Sort(list)
	return list
}

// holder names what a pod belongs to.
func holder(pod *corev1.Pod) string {
	if group := groupOf(pod); group != "" {
		return "podgroup " + pod.Namespace + "/" + group
	}
	if ref := metav1.GetControllerOf(pod); ref != nil {
		return strings.ToLower(ref.Kind) + " " + pod.Namespace + "/" + ref.Name
	}
	return "pod " + qualified(pod)
}

func qualified(object metav1.Object) string {
	return strings.TrimPrefix(object.GetNamespace()+"/"+object.GetName(), "/")
}
