package openapi

import (
	"reflect"
	"strings"
	"sync"

	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// An update changes little of an object: a kubelet its status, a controller a finalizer. To find the owners of fields, the
// whole of it is compared with what was stored, field by field through reflection. Here are values that leave out of a
// comparison with one another what is the same in both, which is quicker to see at a glance. What differs is compared as
// ever, so the outcome is the same.

// levels is how deep the glance goes: the parts of an object, and the parts of its metadata, spec and status.
const levels = 2

// alike is the value of a struct.
type alike struct {
	value.Value
	of    reflect.Value
	level int
}

// newAlike returns the value of an object, which points to a struct.
func newAlike(obj any) (value.Value, error) {
	inner, err := value.NewValueReflect(obj)
	if err != nil {
		return nil, err
	}
	of := reflect.ValueOf(obj).Elem()
	if of.Kind() != reflect.Struct {
		return inner, nil
	}
	return alike{inner, of, 1}, nil
}

// AsMap implements value.Value.
func (v alike) AsMap() value.Map { return v.AsMapUsing(value.HeapAllocator) }

// AsMapUsing implements value.Value.
func (v alike) AsMapUsing(a value.Allocator) value.Map {
	return alikeFields{v.Value.AsMapUsing(a), v.of, v.level}
}

// alikeFields are the fields of a struct.
type alikeFields struct {
	value.Map
	of    reflect.Value
	level int
}

// Zip implements value.Map.
func (m alikeFields) Zip(other value.Map, order value.MapTraverseOrder, visit func(key string, left, right value.Value) bool) bool {
	return m.ZipUsing(value.HeapAllocator, other, order, visit)
}

// ZipUsing implements value.Map. With the fields of another such value of the same type, it visits those that differ.
// Only comparisons come here with two of them: what is merged into an object has no Go type.
func (m alikeFields) ZipUsing(a value.Allocator, other value.Map, order value.MapTraverseOrder,
	visit func(key string, left, right value.Value) bool,
) bool {
	with, ok := other.(alikeFields)
	if !ok || m.of.Type() != with.of.Type() {
		return m.Map.ZipUsing(a, other, order, visit)
	}
	parts := partsOf(m.of.Type())
	return m.Map.ZipUsing(a, with.Map, order, func(key string, left, right value.Value) bool {
		at, found := parts[key]
		if !found || left == nil || right == nil {
			return visit(key, left, right)
		}
		ours, theirs := m.of.Field(at).Addr(), with.of.Field(at).Addr()
		if reflect.DeepEqual(ours.Interface(), theirs.Interface()) {
			return true
		}
		if m.level < levels && ours.Elem().Kind() == reflect.Struct {
			left, right = alike{left, ours.Elem(), m.level + 1}, alike{right, theirs.Elem(), m.level + 1}
		}
		return visit(key, left, right)
	})
}

// knownParts holds what partsOf has found out of types, which do not change.
var knownParts sync.Map

// partsOf returns the index of each field of a struct by its name in JSON, but for those that are inlined and those of
// few bytes, with which a comparison is as quick.
func partsOf(of reflect.Type) map[string]int {
	if known, found := knownParts.Load(of); found {
		return known.(map[string]int)
	}
	parts := map[string]int{}
	for i := range of.NumField() {
		name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
		switch of.Field(i).Type.Kind() {
		case reflect.Struct, reflect.Slice, reflect.Map, reflect.Pointer:
			if name != "" && name != "-" {
				parts[name] = i
			}
		}
	}
	knownParts.Store(of, parts)
	return parts
}
