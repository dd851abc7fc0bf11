package gc

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"

	"github.com/musterkube/muster/pkg/emulator/internal/objects"
)

// process looks at one object and does what is to be done. An error means that it has to be looked at again.
func (c *Collector) process(ctx context.Context, uid types.UID) error {
	d := c.decide(uid, nil)
	if len(d.lookUp) > 0 {
		found, err := c.lookUp(ctx, d.object, d.lookUp)
		if err != nil {
			return err
		}
		if d = c.decide(uid, found); len(d.lookUp) > 0 {
			// The object has got another owner meanwhile, and was enqueued for it, or an owner that cannot be looked up.
			return nil
		}
	}
	c.queue.Add(d.look...)
	return c.act(ctx, d)
}

// act carries a decision out.
func (c *Collector) act(ctx context.Context, d decision) error {
	for _, dependent := range d.orphan {
		if err := c.dropOwners(ctx, dependent, []types.UID{d.object.UID}); err != nil {
			return fmt.Errorf("orphaning: %w", err)
		}
	}
	switch {
	case d.dropFinalizer != "":
		return c.dropFinalizer(ctx, d.object, d.dropFinalizer)
	case len(d.dropOwners) > 0:
		return c.dropOwners(ctx, d.object, d.dropOwners)
	case d.unblock:
		// The object is enqueued when the patch is seen, and deleted then: its revision is another by now.
		return c.unblock(ctx, d.object)
	case d.deleteWith != "":
		return c.delete(ctx, d.object, d.deleteWith)
	default:
		return nil
	}
}

// lookUp asks the server for owners that the graph does not have. An owner that can never be looked up is left out.
func (c *Collector) lookUp(ctx context.Context, object *objects.Object, refs []metav1.OwnerReference) (map[types.UID]standing, error) {
	found := map[types.UID]standing{}
	for _, ref := range refs {
		kind := schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind)
		mapping, err := c.mapper.RESTMapping(kind.GroupKind(), kind.Version)
		if err != nil {
			return nil, fmt.Errorf("finding the resource of owner %s %s: %w", kind, ref.Name, err)
		}
		namespaced := mapping.Scope.Name() == meta.RESTScopeNameNamespace
		c.warnOfNamespace(ctx, object, ref)
		if namespaced && object.Namespace == "" {
			continue
		}
		owner, err := c.client(mapping, object.Namespace).Get(ctx, ref.Name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err) || err == nil && owner.UID != ref.UID:
			found[ref.UID] = absent
		case err != nil:
			return nil, fmt.Errorf("looking up owner %s %s: %w", kind, ref.Name, err)
		case inForeground(&objects.Object{PartialObjectMetadata: *owner}):
			found[ref.UID] = waiting
		default:
			found[ref.UID] = solid
		}
	}
	return found, nil
}

// delete deletes an object if it is still as the decision saw it.
func (c *Collector) delete(ctx context.Context, object *objects.Object, policy metav1.DeletionPropagation) error {
	client, err := c.clientOf(object)
	if err != nil {
		return err
	}
	err = client.Delete(ctx, object.Name, metav1.DeleteOptions{
		PropagationPolicy: &policy,
		Preconditions:     &metav1.Preconditions{UID: &object.UID, ResourceVersion: new(version(object))},
	})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("deleting %s %s/%s: %w", object.Kind().Kind, object.Namespace, object.Name, err)
	}
	return nil
}

// dropOwners takes owner references away from an object.
func (c *Collector) dropOwners(ctx context.Context, object *objects.Object, owners []types.UID) error {
	return c.patch(ctx, object, "ownerReferences", slices.DeleteFunc(slices.Clone(object.OwnerReferences), func(ref metav1.OwnerReference) bool {
		return slices.Contains(owners, ref.UID)
	}))
}

// unblock has an object block the deletion of its owners no more.
func (c *Collector) unblock(ctx context.Context, object *objects.Object) error {
	refs := slices.Clone(object.OwnerReferences)
	blocked := false
	for i := range refs {
		if refs[i].BlockOwnerDeletion != nil && *refs[i].BlockOwnerDeletion {
			refs[i].BlockOwnerDeletion, blocked = new(false), true
		}
	}
	if !blocked {
		return c.delete(ctx, object, metav1.DeletePropagationForeground)
	}
	return c.patch(ctx, object, "ownerReferences", refs)
}

// dropFinalizer takes a finalizer of ours away from an object.
func (c *Collector) dropFinalizer(ctx context.Context, object *objects.Object, finalizer string) error {
	return c.patch(ctx, object, "finalizers", slices.DeleteFunc(slices.Clone(object.Finalizers), func(f string) bool { return f == finalizer }))
}

// patch replaces a list in an object's metadata, if the object is still as the decision saw it. An object that is gone
// needs no patch.
func (c *Collector) patch(ctx context.Context, object *objects.Object, field string, list any) error {
	client, err := c.clientOf(object)
	if err != nil {
		return err
	}
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": object.UID, "resourceVersion": version(object), field: list,
	}})
	if err != nil {
		return fmt.Errorf("writing a patch: %w", err)
	}
	_, err = client.Patch(ctx, object.Name, types.MergePatchType, body, metav1.PatchOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("patching %s of %s %s/%s: %w", field, object.Kind().Kind, object.Namespace, object.Name, err)
	}
	return nil
}

func (c *Collector) clientOf(object *objects.Object) (metadata.ResourceInterface, error) {
	kind := object.Kind()
	mapping, err := c.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return nil, fmt.Errorf("finding the resource of %s: %w", kind, err)
	}
	return c.client(mapping, object.Namespace), nil
}

func (c *Collector) client(mapping *meta.RESTMapping, namespace string) metadata.ResourceInterface {
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		return c.metadata.Resource(mapping.Resource).Namespace(namespace)
	}
	return c.metadata.Resource(mapping.Resource)
}

// version returns the resource version of an object: the stored form leaves it to the revision of the store.
func version(object *objects.Object) string {
	return strconv.FormatInt(object.Revision, 10)
}
