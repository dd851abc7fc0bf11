package emulator

import (
	"reflect"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// leanConvertor leaves the managed fields out of stored objects that it converts to an API version. Patches are applied
// to such a version: a strategic merge patch turns all of it into maps and back, of which managed fields would be a
// third, and what the result lacks of them is taken from the stored object in any case (managedfields.FieldManager). The
// other user of the conversions is that manager, which leaves managed fields out of its comparisons.
type leanConvertor struct{ runtime.ObjectConvertor }

// ConvertToVersion implements runtime.ObjectConvertor.
func (c leanConvertor) ConvertToVersion(obj runtime.Object, target runtime.GroupVersioner) (runtime.Object, error) {
	// Stored objects are of no version, as they are read here, until they are converted to one.
	version, single := target.(schema.GroupVersion)
	if single && version.Version != runtime.APIVersionInternal && obj.GetObjectKind().GroupVersionKind().Empty() {
		obj = withoutManagedFields(obj)
	}
	return c.ObjectConvertor.ConvertToVersion(obj, target)
}

// withoutManagedFields returns a shallow copy of obj without managed fields; obj itself if it has none.
func withoutManagedFields(obj runtime.Object) runtime.Object {
	if _, shapeless := obj.(runtime.Unstructured); shapeless {
		return obj // a shallow copy would share its content
	}
	accessor, err := meta.Accessor(obj)
	value := reflect.ValueOf(obj)
	if err != nil || len(accessor.GetManagedFields()) == 0 || value.Kind() != reflect.Pointer {
		return obj
	}
	copied := reflect.New(value.Type().Elem())
	copied.Elem().Set(value.Elem())
	lean, ok := reflect.TypeAssert[runtime.Object](copied)
	if !ok {
		return obj
	}
	accessor, err = meta.Accessor(lean)
	if err != nil {
		return obj
	}
	accessor.SetManagedFields(nil)
	return lean
}

// hubConvertor also converts objects to what they are: stored objects have the Go types of an API version, and webhooks
// and policies ask for a conversion from the one to the other and back, into an object of their own.
type hubConvertor struct{ runtime.ObjectConvertor }

// Convert implements runtime.ObjectConvertor. The kind is not among what is converted: stored objects bear none.
func (c hubConvertor) Convert(in, out, context any) error {
	source, isObject := in.(runtime.Object)
	from, to := reflect.ValueOf(in), reflect.ValueOf(out)
	_, shapeless := in.(runtime.Unstructured)
	if !isObject || shapeless || from.Type() != to.Type() || from.Kind() != reflect.Pointer {
		return c.ObjectConvertor.Convert(in, out, context)
	}
	target := out.(runtime.Object) // of the type of source
	kind := target.GetObjectKind().GroupVersionKind()
	to.Elem().Set(reflect.ValueOf(source.DeepCopyObject()).Elem())
	target.GetObjectKind().SetGroupVersionKind(kind)
	return nil
}
