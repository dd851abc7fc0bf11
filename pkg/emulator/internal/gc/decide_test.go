package gc

import (
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/musterkube/muster/pkg/emulator/internal/objects"
)

// thing is an object under construction. Its name is its UID.
type thing struct{ object *objects.Object }

func makeThing(uid types.UID) *thing {
	o := &objects.Object{Revision: 1}
	o.APIVersion, o.PartialObjectMetadata.Kind = "v1", "ConfigMap"
	o.Name, o.UID, o.Namespace = string(uid), uid, "ns"
	return &thing{o}
}

func (t *thing) in(namespace string) *thing { t.object.Namespace = namespace; return t }

func (t *thing) ownedBy(owner types.UID, blocking bool) *thing {
	t.object.OwnerReferences = append(t.object.OwnerReferences, metav1.OwnerReference{
		APIVersion: "v1", Kind: "ConfigMap", Name: string(owner), UID: owner, BlockOwnerDeletion: &blocking,
	})
	return t
}

func (t *thing) deleting(finalizers ...string) *thing {
	t.object.DeletionTimestamp = &metav1.Time{}
	t.object.Finalizers = finalizers
	return t
}

func (t *thing) finalizers(finalizers ...string) *thing { t.object.Finalizers = finalizers; return t }

func graphOf(things ...*thing) *graph {
	g := newGraph()
	for _, t := range things {
		g.put(t.object)
	}
	return g
}

const (
	foreground = metav1.FinalizerDeleteDependents
	orphan     = metav1.FinalizerOrphanDependents
)

func TestDecide(t *testing.T) {
	cases := map[string]struct {
		things []*thing
		found  map[types.UID]standing // for owners that are not among the things
		want   decision               // without the object
	}{
		"an object without owners stays":            {things: []*thing{makeThing("x")}},
		"one with an owner that exists stays":       {things: []*thing{makeThing("x").ownedBy("a", true), makeThing("a")}},
		"an unknown owner has to be looked up":      {things: []*thing{makeThing("x").ownedBy("a", true)}, want: decision{lookUp: makeThing("").ownedBy("a", true).object.OwnerReferences}},
		"without any owner left it is deleted":      {things: []*thing{makeThing("x").ownedBy("a", true)}, found: map[types.UID]standing{"a": absent}, want: decision{deleteWith: metav1.DeletePropagationBackground}},
		"its own finalizer says with which policy":  {things: []*thing{makeThing("x").ownedBy("a", true).finalizers(orphan)}, found: map[types.UID]standing{"a": absent}, want: decision{deleteWith: metav1.DeletePropagationOrphan}},
		"and so does that of the foreground":        {things: []*thing{makeThing("x").ownedBy("a", true).finalizers(foreground)}, found: map[types.UID]standing{"a": absent}, want: decision{deleteWith: metav1.DeletePropagationForeground}},
		"with one of two owners left it stays":      {things: []*thing{makeThing("x").ownedBy("a", true).ownedBy("b", false), makeThing("b")}, found: map[types.UID]standing{"a": absent}, want: decision{dropOwners: []types.UID{"a"}}},
		"an owner that waits is dropped, too":       {things: []*thing{makeThing("x").ownedBy("a", true).ownedBy("b", false), makeThing("a").deleting(foreground), makeThing("b")}, want: decision{dropOwners: []types.UID{"a"}}},
		"an owner that waits has it deleted":        {things: []*thing{makeThing("x").ownedBy("a", true), makeThing("a").deleting(foreground)}, want: decision{deleteWith: metav1.DeletePropagationBackground}},
		"with dependents in the foreground":         {things: []*thing{makeThing("x").ownedBy("a", true), makeThing("a").deleting(foreground), makeThing("y").ownedBy("x", true)}, want: decision{deleteWith: metav1.DeletePropagationForeground}},
		"in a circle it stops blocking":             {things: []*thing{makeThing("x").ownedBy("a", true), makeThing("a").ownedBy("x", true).deleting(foreground)}, want: decision{unblock: true, deleteWith: metav1.DeletePropagationForeground}},
		"one that is being deleted is left alone":   {things: []*thing{makeThing("x").ownedBy("a", true).deleting("example.com/mine")}, found: map[types.UID]standing{"a": absent}},
		"the foreground waits for what blocks":      {things: []*thing{makeThing("x").deleting(foreground), makeThing("y").ownedBy("x", true)}, want: decision{look: []types.UID{"y"}}},
		"it does not wait for what does not":        {things: []*thing{makeThing("x").deleting(foreground), makeThing("y").ownedBy("x", false)}, want: decision{dropFinalizer: foreground}},
		"what waits itself need not be looked at":   {things: []*thing{makeThing("x").deleting(foreground), makeThing("y").ownedBy("x", true).deleting(foreground)}},
		"orphaning sets dependents free":            {things: []*thing{makeThing("x").deleting(orphan), makeThing("y").ownedBy("x", true)}, want: decision{orphan: []*objects.Object{makeThing("y").ownedBy("x", true).object}, dropFinalizer: orphan}},
		"an owner of another namespace is unknown":  {things: []*thing{makeThing("x").ownedBy("a", true), makeThing("a").in("other")}, want: decision{lookUp: makeThing("").ownedBy("a", true).object.OwnerReferences}},
		"an owner without a namespace counts":       {things: []*thing{makeThing("x").ownedBy("a", true), makeThing("a").in("")}},
		"an owner of another name is unknown":       {things: []*thing{makeThing("x").ownedBy("a", true), renamed(makeThing("a"))}, want: decision{lookUp: makeThing("").ownedBy("a", true).object.OwnerReferences}},
		"an object that is gone needs no decision":  {things: []*thing{makeThing("y")}},
		"an owner whose finalizer is another's own": {things: []*thing{makeThing("x").ownedBy("a", true), makeThing("a").deleting("example.com/mine")}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			g := graphOf(tc.things...)
			got := g.decide("x", func(object *objects.Object, ref metav1.OwnerReference) standing {
				if s := g.standing(object, ref); s != unknown {
					return s
				}
				return tc.found[ref.UID]
			})
			got.object = nil
			assert.Equal(t, tc.want, got)
		})
	}
}

func renamed(t *thing) *thing { t.object.Name = "renamed"; return t }

func TestGraphSaysWhomToLookAt(t *testing.T) {
	g := newGraph()
	assert.Equal(t, []types.UID{"y"}, g.put(makeThing("y").ownedBy("x", true).object), "a new object")
	assert.Equal(t, []types.UID{"x"}, g.put(makeThing("x").object))

	changed := makeThing("x")
	changed.object.Revision, changed.object.Labels = 2, map[string]string{"a": "b"}
	assert.Empty(t, g.put(changed.object), "a change of no consequence")

	old := makeThing("x").deleting(foreground)
	old.object.Revision = 1
	assert.Empty(t, g.put(old.object), "an older state")

	waiting := makeThing("x").deleting(foreground)
	waiting.object.Revision = 3
	assert.ElementsMatch(t, []types.UID{"x", "y"}, g.put(waiting.object), "the dependents of one that begins to wait")

	unblocked := makeThing("y").ownedBy("x", false)
	unblocked.object.Revision = 4
	assert.Subset(t, g.put(unblocked.object), []types.UID{"x", "y"}, "the owner that waits")

	assert.Equal(t, []types.UID{"x"}, g.remove("y"), "the owner that waits for one that is gone")
	assert.Empty(t, g.dependents)
	assert.Empty(t, g.remove("x"))
}

func TestReplaceRemovesWhatIsNotThere(t *testing.T) {
	g := graphOf(makeThing("a"), makeThing("x").ownedBy("a", true))
	removed, affected := g.replace([]*objects.Object{makeThing("x").ownedBy("a", true).object, makeThing("b").object})
	assert.Equal(t, []types.UID{"a"}, removed)
	assert.ElementsMatch(t, []types.UID{"x", "b"}, affected)
	assert.Len(t, g.objects, 2)
}
