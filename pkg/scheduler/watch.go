package scheduler

import (
	"context"
	"errors"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/generated/informers/externalversions"
	"github.com/musterkube/muster/pkg/builder"
)

// watch starts the informers and returns once the scheduler knows everything that was there. The function that it
// returns ends them and waits until they have; it is never nil.
func (s *Scheduler) watch(ctx context.Context) (stop func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	core := informers.NewSharedInformerFactoryWithOptions(s.kube, 0, informers.WithTransform(slim))
	groups := externalversions.NewSharedInformerFactoryWithOptions(s.muster, 0, externalversions.WithTransform(slim))
	var synced []cache.DoneChecker
	add := func(informer cache.SharedIndexInformer, handler cache.ResourceEventHandler) {
		registration, failed := informer.AddEventHandler(handler)
		if failed != nil {
			err = errors.Join(err, failed)
			return
		}
		synced = append(synced, registration.HasSyncedChecker())
	}
	// Nodes and groups first: it saves cycles that could only fail.
	add(core.Core().V1().Nodes().Informer(), handlers(s.nodeChanged, s.nodeDeleted))
	if s.policy.groups() {
		add(groups.Scheduling().V1alpha2().PodGroups().Informer(), handlers(s.groupChanged, s.groupDeleted))
	}
	add(core.Core().V1().Pods().Informer(), handlers(s.podChanged, s.podDeleted))
	stop = func() {
		cancel()
		core.Shutdown()
		groups.Shutdown()
	}
	if err != nil {
		return stop, err
	}
	core.StartWithContext(ctx)
	groups.StartWithContext(ctx)
	if !cache.WaitFor(ctx, "", synced...) {
		return stop, errors.New("informers did not sync")
	}
	return stop, nil
}

// slim drops from an object what the scheduler never looks at and what takes much room.
func slim(object any) (any, error) {
	if accessor, ok := object.(metav1.Object); ok {
		accessor.SetManagedFields(nil)
	}
	return object, nil
}

// handlers makes an event handler of two functions. changed gets nil for an object that is new.
func handlers[T any](changed func(old, object *T), deleted func(object *T)) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) {
			if typed, ok := object.(*T); ok {
				changed(nil, typed)
			}
		},
		UpdateFunc: func(old, object any) {
			before, _ := old.(*T)
			if typed, ok := object.(*T); ok {
				changed(before, typed)
			}
		},
		DeleteFunc: func(object any) {
			if tombstone, missed := object.(cache.DeletedFinalStateUnknown); missed {
				object = tombstone.Obj
			}
			if typed, ok := object.(*T); ok {
				deleted(typed)
			}
		},
	}
}

func (s *Scheduler) nodeChanged(old, node *corev1.Node) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if old != nil && !nodeMatters(old, node) {
		s.cluster.setNode(node)
		return
	}
	before := s.refusals(node.Name)
	s.cluster.setNode(node)
	s.reconsider(node.Name, before, s.clock.Now())
}

// nodeMatters says whether two versions of a node differ in what the filters look at.
func nodeMatters(old, node *corev1.Node) bool {
	return old.Spec.Unschedulable != node.Spec.Unschedulable ||
		!equality.Semantic.DeepEqual(old.Spec.Taints, node.Spec.Taints) ||
		!equality.Semantic.DeepEqual(old.Labels, node.Labels) ||
		!equality.Semantic.DeepEqual(old.Status.Allocatable, node.Status.Allocatable)
}

func (s *Scheduler) nodeDeleted(node *corev1.Node) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cluster.removeNode(node.Name)
}

func (s *Scheduler) groupChanged(old, group *schedulingv1alpha2.PodGroup) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cluster.setGroup(group)
	if old == nil || old.UID != group.UID || builder.FinishedMembers(old) != builder.FinishedMembers(group) {
		s.activate(unitKey{group: true, NamespacedName: types.NamespacedName{Namespace: group.Namespace, Name: group.Name}})
	}
}

// groupWritten takes over the scheduler's own write, so that the next cycle does not depend on how fast the watch is.
func (s *Scheduler) groupWritten(before, after *schedulingv1alpha2.PodGroup) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := types.NamespacedName{Namespace: before.Namespace, Name: before.Name}
	if g := s.cluster.groups[key]; g != nil && g.object == before {
		s.cluster.setGroup(after)
	}
}

func (s *Scheduler) groupDeleted(group *schedulingv1alpha2.PodGroup) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cluster.removeGroup(types.NamespacedName{Namespace: group.Namespace, Name: group.Name})
}

func (s *Scheduler) podChanged(old, pod *corev1.Pod) {
	if old != nil && old.UID != pod.UID {
		// The informer missed the deletion between two pods of one name.
		s.podDeleted(old)
		old = nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.cluster.pods[uidOf(pod)]
	var left string
	if before != nil {
		left = before.node
	}
	s.cluster.arrive(s.clock.Now())
	s.cluster.setPod(pod)
	after := s.cluster.pods[uidOf(pod)]
	key := keyOf(pod, s.policy)
	switch {
	case after == nil:
		s.left(key, left)
	case before == nil:
		s.activate(key)
	case after.node == "" && old != nil && !equality.Semantic.DeepEqual(&old.Spec, &pod.Spec):
		// A gate was lifted, or a selector widened.
		s.activate(key)
	case after.node != "":
		s.dropIfDone(key)
	}
}

func (s *Scheduler) podDeleted(pod *corev1.Pod) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var node string
	if before := s.cluster.pods[uidOf(pod)]; before != nil {
		node = before.node
	}
	s.cluster.removePod(pod)
	s.left(keyOf(pod, s.policy), node)
}

// left is to be called after a pod is gone or has finished. It frees the pod's place on its node, if it had one.
func (s *Scheduler) left(key unitKey, node string) {
	s.dropIfDone(key)
	if node != "" {
		s.freed(node, s.clock.Now())
	}
}

// dropIfDone forgets a unit that has nothing left to place. One that is in flight is left to settle, which knows whether
// its bindings succeeded.
func (s *Scheduler) dropIfDone(key unitKey) {
	if u := s.queue.units[key]; u != nil && u.place != inFlight && len(s.cluster.candidates(key)) == 0 {
		s.queue.drop(key)
	}
}

// freed is to be called after a node has more to give. It brings the units forward that have a pod for it.
func (s *Scheduler) freed(name string, now time.Time) { s.reconsider(name, nil, now) }

// refusals returns what the node says to each pod that found no node, as far as it is known.
func (s *Scheduler) refusals(name string) map[*podInfo]refusal {
	n := s.cluster.nodes[name]
	if n == nil || n.object == nil {
		return nil
	}
	said := map[*podInfo]refusal{}
	for _, u := range s.queue.waiting() {
		for _, p := range u.unplaced {
			said[p] = filter(p, n)
		}
	}
	return said
}

// reconsider brings the units forward that have a pod which the node would take now, or which it would turn down for
// another reason than before: the pod is to be told.
func (s *Scheduler) reconsider(name string, before map[*podInfo]refusal, now time.Time) {
	n := s.cluster.nodes[name]
	if n == nil || n.object == nil {
		return
	}
	helps := func(p *podInfo) bool {
		if p.node != "" {
			return false
		}
		says := filter(p, n)
		said, known := before[p]
		return says.fits() || known && !said.fits() && said.reasons[0] != says.reasons[0]
	}
	hurried := false
	for _, u := range s.queue.waiting() {
		if slices.ContainsFunc(u.unplaced, helps) {
			s.queue.hurry(u, now, s.policy.parity)
			hurried = true
		}
	}
	if hurried {
		s.signal()
	}
}

// activate has the unit tried at once if it is admitted and has pods that may be placed.
func (s *Scheduler) activate(key unitKey) {
	if !s.cluster.admitted(key) {
		return
	}
	if candidates := s.cluster.candidates(key); len(candidates) > 0 {
		s.queue.activate(key, candidates[0])
		s.signal()
	}
}
