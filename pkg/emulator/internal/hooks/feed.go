package hooks

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/rest"
)

// object is a configuration object.
type object interface {
	runtime.Object
	metav1.Object
}

// changes counts the writes to the objects of one resource.
type changes struct{ count atomic.Int64 }

// feed has the objects of one resource. It reads them again when there were writes since it read them last.
type feed[T object] struct {
	*changes
	resource schema.GroupVersionResource
	lister   rest.Lister
	last     atomic.Pointer[look[T]]
	reading  sync.Mutex
}

// snapshot is all objects as they were after so many writes, sorted by name. It does not change.
type snapshot[T object] struct {
	after int64
	items []T
}

// look is what was found after so many writes.
type look[T object] struct {
	after int64
	found *snapshot[T]
}

func newFeed[T object](resource string, storages map[schema.GroupVersion]map[string]rest.Storage) (*feed[T], error) {
	version := admissionregistrationv1.SchemeGroupVersion
	lister, ok := storages[version][resource].(rest.Lister)
	if !ok {
		return nil, fmt.Errorf("reading %s: not served", version.WithResource(resource))
	}
	return &feed[T]{changes: &changes{}, resource: version.WithResource(resource), lister: lister}, nil
}

// now returns the objects with all writes that had been answered before the call. It is the same snapshot until something
// else is found.
func (f *feed[T]) now(ctx context.Context) (*snapshot[T], error) {
	if last := f.last.Load(); last != nil && last.after == f.count.Load() {
		return last.found, nil
	}
	f.reading.Lock()
	defer f.reading.Unlock()
	after := f.count.Load() // before the read: what is written during it makes for another one
	last := f.last.Load()
	if last != nil && last.after == after {
		return last.found, nil
	}
	items, err := f.read(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", f.resource.GroupResource(), err)
	}
	next := &look[T]{after, &snapshot[T]{after, items}}
	if last != nil && slices.EqualFunc(last.found.items, items, sameVersion) {
		next.found = last.found
	}
	f.last.Store(next)
	return next.found, nil
}

// sameVersion tells whether two objects are the same, and have not changed.
func sameVersion[T object](a, b T) bool {
	return a.GetUID() == b.GetUID() && a.GetResourceVersion() == b.GetResourceVersion()
}

func (f *feed[T]) read(ctx context.Context) ([]T, error) {
	list, err := f.lister.List(asRequestFor(ctx, f.resource, ""), &metainternalversion.ListOptions{})
	if err != nil {
		return nil, err
	}
	var items []T
	err = meta.EachListItem(list, func(obj runtime.Object) error {
		item, ok := obj.(T)
		if !ok {
			return fmt.Errorf("%T is none of them", obj)
		}
		items = append(items, item)
		return nil
	})
	slices.SortFunc(items, func(a, b T) int { return strings.Compare(a.GetName(), b.GetName()) })
	return items, err
}
