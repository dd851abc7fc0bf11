package gc

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/musterkube/muster/pkg/emulator/internal/objects"
)

// graph holds every object and who depends on whom. It is not safe for use by several goroutines.
type graph struct {
	objects map[types.UID]*objects.Object
	// dependents has, for the UID of each owner that a reference names, whether or not it exists, the UIDs of the
	// objects with that reference.
	dependents map[types.UID]map[types.UID]bool
}

func newGraph() *graph {
	return &graph{objects: map[types.UID]*objects.Object{}, dependents: map[types.UID]map[types.UID]bool{}}
}

// put adds an object or a new state of it, and returns the UIDs of those for which that may have consequences.
func (g *graph) put(object *objects.Object) []types.UID {
	old := g.objects[object.UID]
	if old != nil && old.Revision > object.Revision {
		return nil
	}
	g.objects[object.UID] = object
	if old == nil {
		g.link(object)
		return append(g.afterChange(nil, object), object.UID)
	}
	if !relevant(old, object) {
		return nil
	}
	g.unlink(old)
	g.link(object)
	return append(g.afterChange(old, object), object.UID)
}

// relevant reports whether two states of an object differ in something that this package looks at.
func relevant(old, object *objects.Object) bool {
	return !equality.Semantic.DeepEqual(old.OwnerReferences, object.OwnerReferences) ||
		!slices.Equal(old.Finalizers, object.Finalizers) ||
		(old.DeletionTimestamp == nil) != (object.DeletionTimestamp == nil)
}

// afterChange returns the other objects to look at when an object has changed.
func (g *graph) afterChange(old, object *objects.Object) []types.UID {
	affected := g.foregroundOwners(object)
	if old != nil {
		affected = append(affected, g.foregroundOwners(old)...)
	}
	if inForeground(object) && (old == nil || !inForeground(old)) {
		affected = append(affected, g.dependentsOf(object.UID)...)
	}
	return affected
}

// remove takes an object out, and returns the UIDs of those for which that may have consequences.
func (g *graph) remove(uid types.UID) []types.UID {
	object := g.objects[uid]
	if object == nil {
		return g.dependentsOf(uid)
	}
	delete(g.objects, uid)
	g.unlink(object)
	return append(g.dependentsOf(uid), g.foregroundOwners(object)...)
}

// replace makes the graph one of these objects alone; it returns what was removed, and whom to look at.
func (g *graph) replace(all []*objects.Object) (removed, affected []types.UID) {
	present := make(map[types.UID]bool, len(all))
	for _, object := range all {
		present[object.UID] = true
	}
	for uid := range g.objects {
		if !present[uid] {
			removed = append(removed, uid)
		}
	}
	for _, uid := range removed {
		affected = append(affected, g.remove(uid)...)
	}
	for _, object := range all {
		affected = append(affected, g.put(object)...)
	}
	return removed, affected
}

func (g *graph) link(object *objects.Object) {
	for _, ref := range object.OwnerReferences {
		if g.dependents[ref.UID] == nil {
			g.dependents[ref.UID] = map[types.UID]bool{}
		}
		g.dependents[ref.UID][object.UID] = true
	}
}

func (g *graph) unlink(object *objects.Object) {
	for _, ref := range object.OwnerReferences {
		delete(g.dependents[ref.UID], object.UID)
		if len(g.dependents[ref.UID]) == 0 {
			delete(g.dependents, ref.UID)
		}
	}
}

// dependentsOf returns the UIDs of the objects that name an owner, in a fixed order.
func (g *graph) dependentsOf(owner types.UID) []types.UID {
	return slices.Sorted(maps.Keys(g.dependents[owner]))
}

// foregroundOwners returns the UIDs of the owners of an object that wait for their dependents to go.
func (g *graph) foregroundOwners(object *objects.Object) []types.UID {
	var owners []types.UID
	for _, ref := range object.OwnerReferences {
		if owner := g.objects[ref.UID]; owner != nil && inForeground(owner) {
			owners = append(owners, ref.UID)
		}
	}
	return owners
}

// inForeground reports whether an object is being deleted in the foreground: it waits for its dependents.
func inForeground(object *objects.Object) bool {
	return object.DeletionTimestamp != nil && slices.Contains(object.Finalizers, metav1.FinalizerDeleteDependents)
}

// orphaning reports whether an object is being deleted and its dependents are to stay.
func orphaning(object *objects.Object) bool {
	return object.DeletionTimestamp != nil && slices.Contains(object.Finalizers, metav1.FinalizerOrphanDependents)
}

// blocks reports whether an object keeps an owner that is deleted in the foreground from going.
func blocks(object *objects.Object, owner types.UID) bool {
	return slices.ContainsFunc(object.OwnerReferences, func(ref metav1.OwnerReference) bool {
		return ref.UID == owner && ref.BlockOwnerDeletion != nil && *ref.BlockOwnerDeletion
	})
}
