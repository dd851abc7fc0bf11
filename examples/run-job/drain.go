package main

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// drainLimit bounds the wait for the watches to show what the server has. They are milliseconds behind; the bound is for
// a machine that is so busy that the run had better end.
const drainLimit = 10 * time.Second

// standing is what a list of one kind showed.
type standing struct {
	kind     reflect.Type
	version  uint64               // of the list
	versions map[types.UID]uint64 // of its objects
}

// drain returns when everything that stands on the server now has been told, deletions included: the timeline and the
// report then end with the same state, however far the watches lagged behind.
func (f *follower) drain(ctx context.Context, c *clients) error {
	ctx, cancel := context.WithTimeout(ctx, drainLimit)
	defer cancel()
	var lists []standing
	for _, list := range c.lists() {
		s, err := stands(list(ctx))
		if err != nil {
			return fmt.Errorf("looking at what stands in the end: %w", err)
		}
		lists = append(lists, s)
	}
	f.await(ctx, func(w *world) bool {
		for _, s := range lists {
			if !w.shows(s) {
				return false
			}
		}
		return true
	})
	return nil
}

// lists are the requests for all objects of each kind that is followed.
func (c *clients) lists() []func(context.Context) (runtime.Object, error) {
	everywhere, every := metav1.NamespaceAll, metav1.ListOptions{}
	return []func(context.Context) (runtime.Object, error){
		func(ctx context.Context) (runtime.Object, error) {
			return c.kube.BatchV1().Jobs(everywhere).List(ctx, every)
		},
		func(ctx context.Context) (runtime.Object, error) {
			return c.kube.CoreV1().Pods(everywhere).List(ctx, every)
		},
		func(ctx context.Context) (runtime.Object, error) { return c.kube.CoreV1().Nodes().List(ctx, every) },
		func(ctx context.Context) (runtime.Object, error) {
			return c.kube.CoreV1().Events(everywhere).List(ctx, every)
		},
		func(ctx context.Context) (runtime.Object, error) {
			return c.muster.SchedulingV1alpha2().Workloads(everywhere).List(ctx, every)
		},
		func(ctx context.Context) (runtime.Object, error) {
			return c.muster.SchedulingV1alpha2().PodGroups(everywhere).List(ctx, every)
		},
	}
}

func stands(list runtime.Object, err error) (standing, error) {
	if err != nil {
		return standing{}, err
	}
	s := standing{versions: map[types.UID]uint64{}}
	accessor, err := meta.ListAccessor(list)
	if err != nil {
		return s, err
	}
	s.version = version(&metav1.ObjectMeta{ResourceVersion: accessor.GetResourceVersion()})
	items, err := meta.ExtractList(list)
	for _, item := range items {
		object, accessErr := meta.Accessor(item)
		if accessErr != nil {
			return s, accessErr
		}
		s.versions[object.GetUID()] = version(object)
	}
	if field, ok := reflect.TypeOf(list).Elem().FieldByName("Items"); ok {
		s.kind = reflect.PointerTo(field.Type.Elem())
	}
	return s, err
}

// shows reports whether the world has come as far as a list: it has the list's objects, in that version or a later
// one, and none that was gone by then.
func (w *world) shows(s standing) bool {
	for uid, version := range s.versions {
		if w.seen[uid] < version && !w.gone[uid] {
			return false
		}
	}
	for uid, object := range w.objects {
		if reflect.TypeOf(object) != s.kind || w.gone[uid] || w.seen[uid] > s.version {
			continue
		}
		if _, stands := s.versions[uid]; !stands {
			return false
		}
	}
	return true
}
