package scheme

import (
	"reflect"
	"slices"
	"strings"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
)

// plan tells where newer fields can be within a type. Types that cannot hold any have no plan.
type plan struct {
	// newer has the struct's own newer fields, by JSON name, with the way to them.
	newer map[string][]int
	// older has the other fields, by JSON name, in whose types there are newer ones.
	older map[string]step
	// elem is the plan of a list's elements; such a plan has nothing else.
	elem *plan
}

// step leads from a struct to the field of an index, which plan describes.
type step struct {
	index []int
	plan  *plan
}

// plans is made once: it says how the types are, so it cannot change.
var plans = sync.OnceValue(func() map[reflect.Type]*plan {
	all := map[reflect.Type]*plan{}
	for _, root := range []reflect.Type{
		reflect.TypeFor[corev1.Pod](), reflect.TypeFor[corev1.Node](), reflect.TypeFor[corev1.PodTemplate](), reflect.TypeFor[corev1.ReplicationController](),
		reflect.TypeFor[corev1.PersistentVolumeClaim](),
		reflect.TypeFor[appsv1.DaemonSet](), reflect.TypeFor[appsv1.Deployment](), reflect.TypeFor[appsv1.ReplicaSet](), reflect.TypeFor[appsv1.StatefulSet](),
		reflect.TypeFor[batchv1.Job](), reflect.TypeFor[batchv1.CronJob](), reflect.TypeFor[autoscalingv2.HorizontalPodAutoscaler](),
		reflect.TypeFor[resourcev1.ResourceClaim](), reflect.TypeFor[resourcev1.ResourceClaimTemplate](), reflect.TypeFor[resourcev1.ResourceSlice](),
	} {
		all[root] = makePlan(root)
	}
	return all
})

// planOf returns the plan of one of the kinds, nil for a kind without newer fields.
func planOf(t reflect.Type) *plan {
	return plans()[t]
}

// makePlan follows t down to newer fields. The types of the kinds that have a plan do not contain themselves, and no
// newer field of theirs stands below a map.
func makePlan(t reflect.Type) *plan {
	switch t.Kind() {
	case reflect.Pointer:
		return makePlan(t.Elem())
	case reflect.Slice:
		if elem := makePlan(t.Elem()); elem != nil {
			return &plan{elem: elem}
		}
		return nil
	case reflect.Struct:
		p := &plan{newer: map[string][]int{}, older: map[string]step{}}
		p.addFields(t, nil)
		if len(p.newer)+len(p.older) == 0 {
			return nil
		}
		return p
	}
	return nil
}

// addFields adds the fields of t, which stands at an index of the struct that p is for: an inlined struct's fields are
// JSON fields of the struct round it.
func (p *plan) addFields(t reflect.Type, at []int) {
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() {
			continue
		}
		index := append(append([]int{}, at...), i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "" && (f.Anonymous || options == "inline") && f.Type.Kind() == reflect.Struct:
			p.addFields(f.Type, index)
		case name == "" || name == "-":
		case isNewer(t, name):
			p.newer[name] = index
		default:
			if child := makePlan(f.Type); child != nil {
				p.older[name] = step{index: index, plan: child}
			}
		}
	}
}

func isNewer(t reflect.Type, name string) bool {
	for _, fields := range newer {
		if fields.Type == t {
			return slices.Contains(fields.Names, name)
		}
	}
	return false
}
