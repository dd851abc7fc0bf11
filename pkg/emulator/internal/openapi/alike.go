package openapi

import (
	"reflect"
	"slices"
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

// ZipUsing implements value.Map. With the fields of another such value of the same type, it visits those that differ, in
// the order of their names. Only comparisons come here with two of them: what is merged into an object has no Go type.
func (m alikeFields) ZipUsing(a value.Allocator, other value.Map, order value.MapTraverseOrder,
	visit func(key string, left, right value.Value) bool,
) bool {
	with, ok := other.(alikeFields)
	if !ok || m.of.Type() != with.of.Type() {
		return m.Map.ZipUsing(a, other, order, visit)
	}
	for _, p := range partsOf(m.of.Type()) {
		ours, theirs := m.of.FieldByIndex(p.index), with.of.FieldByIndex(p.index)
		if !same(ours, theirs) && !m.visit(a, p.name, with, ours, theirs, visit) {
			return false
		}
	}
	return true
}

// visit visits a field that differs from that of another struct of the type, unless both leave it out. With an empty one,
// as everything has on a create, nothing is alike.
func (m alikeFields) visit(a value.Allocator, name string, with alikeFields, ours, theirs reflect.Value,
	visit func(key string, left, right value.Value) bool,
) bool {
	left, present := m.GetUsing(a, name)
	right, presentThere := with.GetUsing(a, name)
	if present {
		defer a.Free(left)
	}
	if presentThere {
		defer a.Free(right)
	}
	switch {
	case !present && !presentThere:
		return true
	case present && presentThere && m.level < levels && ours.Kind() == reflect.Struct && !ours.IsZero() && !theirs.IsZero():
		return visit(name, alike{left, ours, m.level + 1}, alike{right, theirs, m.level + 1})
	}
	return visit(name, left, right)
}

// same tells whether two values of a type are the same, the quickest way.
func same(a, b reflect.Value) bool {
	switch a.Kind() {
	case reflect.String:
		return a.String() == b.String()
	case reflect.Bool:
		return a.Bool() == b.Bool()
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return a.Int() == b.Int()
	case reflect.Pointer, reflect.Map, reflect.Slice:
		if a.IsNil() || b.IsNil() {
			return a.IsNil() == b.IsNil()
		}
	}
	return reflect.DeepEqual(a.Addr().Interface(), b.Addr().Interface())
}

// part is a field of a struct.
type part struct {
	name  string // in JSON
	index []int  // of it, below that of the structs it is inlined from
}

// knownParts holds what partsOf has found out of types, which do not change.
var knownParts sync.Map

// partsOf returns the fields of a struct, by name, with those of structs that are inlined.
func partsOf(of reflect.Type) []part {
	if known, found := knownParts.Load(of); found {
		return known.([]part)
	}
	var parts []part
	for field := range of.Fields() {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name == "-":
		case name != "":
			parts = append(parts, part{name, field.Index})
		case field.Type.Kind() == reflect.Struct && (options == "inline" || field.Anonymous):
			for _, inner := range partsOf(field.Type) {
				parts = append(parts, part{inner.name, slices.Concat(field.Index, inner.index)})
			}
		}
	}
	slices.SortFunc(parts, func(a, b part) int { return strings.Compare(a.name, b.name) })
	knownParts.Store(of, parts)
	return parts
}
