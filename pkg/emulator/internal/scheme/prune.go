package scheme

import (
	"reflect"
)

// prune empties the fields of an object that are newer than Kubernetes 1.36. It is part of the defaults, so that such
// fields vanish however the object came in: as JSON, as protobuf or by a patch.
func prune[T any](obj *T) {
	if p := planOf(reflect.TypeFor[T]()); p != nil {
		p.prune(reflect.ValueOf(obj).Elem())
	}
}

func (p *plan) prune(v reflect.Value) {
	for v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return
		}
		v = v.Elem()
	}
	if p.elem != nil {
		for i := range v.Len() {
			p.elem.prune(v.Index(i))
		}
		return
	}
	for _, index := range p.newer {
		if f := v.FieldByIndex(index); !f.IsZero() {
			f.SetZero()
		}
	}
	for _, step := range p.older {
		step.plan.prune(v.FieldByIndex(step.index))
	}
}
