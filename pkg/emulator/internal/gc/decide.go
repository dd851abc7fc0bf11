package gc

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/musterkube/muster/pkg/emulator/internal/objects"
)

// standing is what is known of an owner that a reference names.
type standing int

const (
	unknown standing = iota // not seen: it has to be looked up
	solid                   // it exists and keeps its dependents
	waiting                 // it is being deleted in the foreground and waits for its dependents
	absent                  // there is no such object
)

// decision is what is to become of an object. The zero value leaves it alone.
type decision struct {
	object *objects.Object

	// lookUp are references whose owner has to be looked up before anything can be decided.
	lookUp []metav1.OwnerReference
	// dropOwners are the UIDs of owners that the object is to name no more.
	dropOwners []types.UID
	// unblock has the object block the deletion of its owners no more, since they wait for one another.
	unblock bool
	// deleteWith is the policy with which the object is to be deleted; empty for not at all.
	deleteWith metav1.DeletionPropagation
	// orphan are the dependents that are to lose their reference to the object, before it loses the orphan finalizer.
	orphan []*objects.Object
	// dropFinalizer is the finalizer that the object has no use for any more.
	dropFinalizer string
	// look are the UIDs of others to look at.
	look []types.UID
}

// decide says what is to become of an object. Standing tells what is known of the owner that a reference names.
func (g *graph) decide(uid types.UID, standingOf func(*objects.Object, metav1.OwnerReference) standing) decision {
	object := g.objects[uid]
	switch {
	case object == nil:
		return decision{}
	case orphaning(object):
		return g.decideOrphaning(object)
	case inForeground(object):
		return g.decideForeground(object)
	case object.DeletionTimestamp != nil || len(object.OwnerReferences) == 0:
		return decision{}
	}
	d := decision{object: object}
	owners := map[standing][]types.UID{}
	for _, ref := range object.OwnerReferences {
		s := standingOf(object, ref)
		owners[s] = append(owners[s], ref.UID)
		if s == unknown {
			d.lookUp = append(d.lookUp, ref)
		}
	}
	switch {
	case len(d.lookUp) > 0:
	case len(owners[solid]) > 0:
		d.dropOwners = slices.Concat(owners[absent], owners[waiting])
	case len(owners[waiting]) > 0 && len(g.dependents[uid]) > 0:
		d.unblock = g.inCircle(object)
		d.deleteWith = metav1.DeletePropagationForeground
	default:
		d.deleteWith = policyOf(object)
	}
	return d
}

// decideOrphaning sets free what depends on an object, and then the object.
func (g *graph) decideOrphaning(object *objects.Object) decision {
	d := decision{object: object, dropFinalizer: metav1.FinalizerOrphanDependents}
	for _, uid := range g.dependentsOf(object.UID) {
		if dependent := g.objects[uid]; dependent != nil {
			d.orphan = append(d.orphan, dependent)
		}
	}
	return d
}

// decideForeground lets an object go once nothing blocks that; until then it makes sure that what blocks is looked at.
func (g *graph) decideForeground(object *objects.Object) decision {
	d := decision{object: object}
	blocked := false
	for _, uid := range g.dependentsOf(object.UID) {
		dependent := g.objects[uid]
		if dependent == nil || !blocks(dependent, object.UID) {
			continue
		}
		blocked = true
		if !inForeground(dependent) {
			d.look = append(d.look, uid)
		}
	}
	if !blocked {
		d.dropFinalizer = metav1.FinalizerDeleteDependents
	}
	return d
}

// inCircle reports whether an object that is to be deleted in the foreground has a dependent that already is: the two
// might wait for one another without end.
func (g *graph) inCircle(object *objects.Object) bool {
	for uid := range g.dependents[object.UID] {
		if dependent := g.objects[uid]; dependent != nil && inForeground(dependent) {
			return true
		}
	}
	return false
}

// standing tells what the graph knows of an owner. One that it does not have may still exist: it may be younger than
// the graph, or of a kind or in a namespace that the reference does not reach.
func (g *graph) standing(object *objects.Object, ref metav1.OwnerReference) standing {
	owner := g.objects[ref.UID]
	switch {
	case owner == nil || !names(object, ref, owner):
		return unknown
	case inForeground(owner):
		return waiting
	default:
		return solid
	}
}

// names reports whether an object's reference reaches an owner: it has that kind and name, and its namespace is the
// object's or none.
func names(object *objects.Object, ref metav1.OwnerReference, owner *objects.Object) bool {
	kind := schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind)
	return owner.Kind().GroupKind() == kind.GroupKind() && owner.Name == ref.Name &&
		(owner.Namespace == "" || owner.Namespace == object.Namespace)
}

// policyOf returns the policy that an object's finalizers ask for when it is deleted.
func policyOf(object *objects.Object) metav1.DeletionPropagation {
	switch {
	case slices.Contains(object.Finalizers, metav1.FinalizerOrphanDependents):
		return metav1.DeletePropagationOrphan
	case slices.Contains(object.Finalizers, metav1.FinalizerDeleteDependents):
		return metav1.DeletePropagationForeground
	default:
		return metav1.DeletePropagationBackground
	}
}
