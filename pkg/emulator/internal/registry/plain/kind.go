package plain

import (
	"fmt"
	"maps"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/clock"

	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
)

// kind is a row of the table: a kind whose objects are of the Go type T. Functions may be nil.
type kind[T any] struct {
	// version, plural and singular name the resource, short and categories are what kubectl takes besides.
	version           schema.GroupVersion
	plural, singular  string
	short, categories []string
	// list is an empty list of the kind.
	list runtime.Object

	// clusterScoped kinds live outside namespaces.
	clusterScoped bool
	// createOnUpdate lets a PUT create an object.
	createOnUpdate bool
	// conditional refuses updates without a resource version.
	conditional bool
	// orphans keeps the dependents of objects that are deleted, unless the request says otherwise.
	orphans bool
	// returnDeleted answers a delete with the object.
	returnDeleted bool

	// name is the rule for names. Default: DNS subdomains.
	name apivalidation.ValidateNameFunc
	// wants tells whether two objects want different things, which metadata.generation counts. Without it the generation
	// is not kept.
	wants func(changed, stored *T) bool
	// template is the pod template of an object.
	template func(obj *T) *corev1.PodTemplateSpec

	// prepareCreate and prepareUpdate change an object before it is validated.
	prepareCreate func(obj *T)
	prepareUpdate func(changed, stored *T)
	// validate checks an object that is created or changed, but for its metadata.
	validate func(obj *T) field.ErrorList
	// validateCreate and validateUpdate check what they name in addition.
	validateCreate func(obj *T) field.ErrorList
	validateUpdate func(changed, stored *T) field.ErrorList
	// warnings are those of a create (stored is nil) or an update.
	warnings func(changed, stored *T) []string

	// status describes the status subresource; nil if there is none.
	status *status[T]
	// scale describes the scale subresource; nil if there is none.
	scale *scaling[T]

	// fields are what field selectors see besides name and namespace.
	fields func(obj *T) fields.Set
	// noTable is true for kinds that Kubernetes has no table of: name and time of creation stand in.
	noTable bool
	// columns and cells are the table. Default: name and age.
	columns []metav1.TableColumnDefinition
	cells   func(now clock.PassiveClock, obj *T) []any

	// extend changes the storage of the main resource.
	extend func(main *resource.REST)
}

// status describes a status subresource.
type status[T any] struct {
	// labels keeps the labels of the stored object, metadata all of its metadata but for managed fields: the rest of a
	// status update is ignored.
	labels, metadata bool
	// prepare changes an object before it is validated.
	prepare func(changed, stored *T)
	// validate checks the new status. Metadata is checked for all kinds.
	validate func(changed, stored *T) field.ErrorList
	// noTable answers clients that would like a table with the object.
	noTable bool
}

// row is a kind, whatever its type.
type row interface {
	// groupVersion is that of the kind.
	groupVersion() schema.GroupVersion
	// storages makes the storages of the resource and its subresources.
	storages(c resource.Config) (map[string]rest.Storage, error)
}

func (k *kind[T]) groupVersion() schema.GroupVersion { return k.version }

func (k *kind[T]) storages(c resource.Config) (map[string]rest.Storage, error) {
	base := resource.NewStrategy(c.Typer)
	base.ClusterScoped, base.CreateOnUpdate, base.Conditional = k.clusterScoped, k.createOnUpdate, k.conditional
	rules := strategy[T]{Strategy: base, kind: k, gates: c.Gates}
	definition := resource.Definition{
		Resource:      schema.GroupResource{Group: k.version.Group, Resource: k.plural},
		Singular:      k.singular,
		ShortNames:    k.short,
		Categories:    k.categories,
		New:           k.newObject,
		NewList:       func() runtime.Object { return reflect.New(reflect.TypeOf(k.list).Elem()).Interface().(runtime.Object) },
		Strategy:      rules.main(),
		Table:         k.table(c.Clock),
		ReturnDeleted: k.returnDeleted,
	}
	if k.fields != nil {
		definition.Fields = func(obj runtime.Object) fields.Set { return k.fields(any(obj).(*T)) }
	}
	main, err := resource.New(definition, c.Getter)
	if err != nil {
		return nil, err
	}
	all := map[string]rest.Storage{k.plural: main}
	if k.status != nil {
		subresource := resource.NewSubresource(main, statusStrategy[T]{rules})
		all[k.plural+"/status"] = subresource.WithTable()
		if k.status.noTable {
			all[k.plural+"/status"] = subresource
		}
	}
	if k.scale != nil {
		all[k.plural+"/scale"] = &scaleREST[T]{main: main, kind: k, table: newScaleTable(c.Clock)}
	}
	// After the subresources, which have no part in it.
	if k.extend != nil {
		k.extend(main)
	}
	return all, nil
}

func (k *kind[T]) newObject() runtime.Object { return object(new(T)) }

func (k *kind[T]) table(now clock.PassiveClock) rest.TableConvertor {
	if k.noTable {
		return rest.NewDefaultTableConvertor(schema.GroupResource{Group: k.version.Group, Resource: k.plural})
	}
	columns, cells := k.columns, k.cells
	if cells == nil {
		columns = []metav1.TableColumnDefinition{resource.NameColumn(), resource.AgeColumn()}
		cells = func(now clock.PassiveClock, obj *T) []any {
			return []any{meta(obj).Name, age(now, meta(obj))}
		}
	}
	return resource.NewObjectTable(columns, func(obj runtime.Object) (resource.Row, error) {
		typed, ok := any(obj).(*T)
		if !ok {
			return resource.Row{}, fmt.Errorf("printing a table of %s: not one of them: %T", k.plural, obj)
		}
		return resource.Row{Cells: cells(now, typed)}, nil
	})
}

// New returns a function for each of the kinds' versions that makes the storages of the kinds of that version.
func New(c resource.Config) (map[schema.GroupVersion]map[string]rest.Storage, error) {
	all := map[schema.GroupVersion]map[string]rest.Storage{}
	for _, r := range rows(c) {
		storages, err := r.storages(c)
		if err != nil {
			return nil, fmt.Errorf("making storages of %s: %w", r.groupVersion(), err)
		}
		if all[r.groupVersion()] == nil {
			all[r.groupVersion()] = map[string]rest.Storage{}
		}
		maps.Copy(all[r.groupVersion()], storages)
	}
	return all, nil
}

// object returns obj as what it is: a pointer to the Go type of a kind.
func object[T any](obj *T) runtime.Object { return any(obj).(runtime.Object) }

// meta returns the metadata of obj.
func meta[T any](obj *T) *metav1.ObjectMeta {
	return any(obj).(metav1.ObjectMetaAccessor).GetObjectMeta().(*metav1.ObjectMeta)
}
