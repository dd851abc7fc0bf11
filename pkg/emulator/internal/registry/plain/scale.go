package plain

import (
	"context"
	"fmt"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/musterkube/muster/pkg/core"
	"github.com/musterkube/muster/pkg/emulator/internal/patches"
	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
)

// scaling describes a scale subresource: how many replicas an object wants, which can be set there, and has.
type scaling[T any] struct {
	// replicas is the field that is set; it may be nil in an object.
	replicas func(obj *T) **int32
	// status returns how many there are, and what selects them.
	status func(obj *T) (replicas int32, selector string, err error)
}

// scaleREST serves the scale subresource of a kind: the object, seen as a Scale.
type scaleREST[T any] struct {
	main  *resource.REST
	kind  *kind[T]
	table rest.TableConvertor
}

func newScaleTable(now clock.PassiveClock) rest.TableConvertor {
	return resource.NewTable([]metav1.TableColumnDefinition{
		resource.Column("Name", metav1.ObjectMeta{}.SwaggerDoc()["name"]),
		number("Desired", autoscalingv1.ScaleSpec{}.SwaggerDoc()["replicas"]),
		number("Available", autoscalingv1.ScaleStatus{}.SwaggerDoc()["replicas"]),
		resource.AgeColumn(),
	}, func(scale *autoscalingv1.Scale) resource.Row {
		return resource.Row{Cells: []any{scale.Name, int64(scale.Spec.Replicas), int64(scale.Status.Replicas), age(now, &scale.ObjectMeta)}}
	})
}

var (
	_ rest.Patcher                  = (*scaleREST[autoscalingv1.Scale])(nil)
	_ rest.GroupVersionKindProvider = (*scaleREST[autoscalingv1.Scale])(nil)
	_ rest.TableConvertor           = (*scaleREST[autoscalingv1.Scale])(nil)
)

// New implements rest.Storage.
func (s *scaleREST[T]) New() runtime.Object { return &autoscalingv1.Scale{} }

// Destroy implements rest.Storage. The storage belongs to the main resource, which destroys it.
func (s *scaleREST[T]) Destroy() {}

// GroupVersionKind implements rest.GroupVersionKindProvider: a Scale is of another group than what it scales.
func (s *scaleREST[T]) GroupVersionKind(schema.GroupVersion) schema.GroupVersionKind {
	return autoscalingv1.SchemeGroupVersion.WithKind("Scale")
}

// ConvertToTable implements rest.TableConvertor.
func (s *scaleREST[T]) ConvertToTable(ctx context.Context, obj, options runtime.Object) (*metav1.Table, error) {
	return s.table.ConvertToTable(ctx, obj, options)
}

// Get implements rest.Getter.
func (s *scaleREST[T]) Get(ctx context.Context, name string, options *metav1.GetOptions) (runtime.Object, error) {
	obj, err := s.main.Get(ctx, name, options)
	if err != nil {
		return nil, err
	}
	return s.scaleOf(obj)
}

// Update implements rest.Updater. It never creates, whatever the request says.
func (s *scaleREST[T]) Update(ctx context.Context, name string, info rest.UpdatedObjectInfo, createValidation rest.ValidateObjectFunc,
	updateValidation rest.ValidateObjectUpdateFunc, _ bool, options *metav1.UpdateOptions) (runtime.Object, bool, error) {
	updated, _, err := s.main.Store.Update(ctx, name, &scaleInfo[T]{s, name, patches.Follow(ctx, info)}, func(ctx context.Context, obj runtime.Object) error {
		scale, err := s.scaleOf(obj)
		if err != nil {
			return err
		}
		return createValidation(ctx, scale)
	}, func(ctx context.Context, obj, old runtime.Object) error {
		scale, err := s.scaleOf(obj)
		if err != nil {
			return err
		}
		oldScale, err := s.scaleOf(old)
		if err != nil {
			return err
		}
		return updateValidation(ctx, scale, oldScale)
	}, false, options)
	if err != nil {
		return nil, false, err
	}
	scale, err := s.scaleOf(updated)
	return scale, false, err
}

// scaleOf returns the Scale that an object is seen as.
func (s *scaleREST[T]) scaleOf(obj runtime.Object) (runtime.Object, error) {
	typed := any(obj).(*T)
	scale := &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{
		Name:              meta(typed).Name,
		Namespace:         meta(typed).Namespace,
		UID:               meta(typed).UID,
		ResourceVersion:   meta(typed).ResourceVersion,
		CreationTimestamp: meta(typed).CreationTimestamp,
	}}
	if replicas := *s.kind.scale.replicas(typed); replicas != nil {
		scale.Spec.Replicas = *replicas
	}
	var err error
	if scale.Status.Replicas, scale.Status.Selector, err = s.kind.scale.status(typed); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return scale, nil
}

// scaleInfo turns the update of a Scale into one of the object behind it.
type scaleInfo[T any] struct {
	scale   *scaleREST[T]
	name    string
	request rest.UpdatedObjectInfo
}

// Preconditions implements rest.UpdatedObjectInfo.
func (i *scaleInfo[T]) Preconditions() *metav1.Preconditions { return i.request.Preconditions() }

// UpdatedObject implements rest.UpdatedObjectInfo.
func (i *scaleInfo[T]) UpdatedObject(ctx context.Context, old runtime.Object) (runtime.Object, error) {
	kind := i.scale.kind
	resource := schema.GroupResource{Group: kind.version.Group, Resource: kind.plural + "/scale"}
	obj := old.DeepCopyObject()
	parent := any(obj).(*T)
	if meta(parent).ResourceVersion == "" {
		return nil, apierrors.NewNotFound(resource, i.name)
	}
	managed := managedfields.NewScaleHandler(meta(parent).ManagedFields, kind.version, managedfields.ResourcePathMappings{
		kind.version.String(): fieldpath.MakePathOrDie("spec", "replicas"),
	})
	scale, err := i.updatedScale(ctx, obj, managed)
	if err != nil {
		return nil, err
	}
	if scale.UID != "" && scale.UID != meta(parent).UID {
		return nil, apierrors.NewConflict(resource, i.name,
			//nolint:staticcheck // Worded as Kubernetes words it.
			fmt.Errorf("Precondition failed: UID in precondition: %v, UID in object meta: %v", scale.UID, meta(parent).UID))
	}
	*kind.scale.replicas(parent) = &scale.Spec.Replicas
	meta(parent).ResourceVersion = scale.ResourceVersion
	if meta(parent).ManagedFields, err = managed.ToParent(scale.ManagedFields); err != nil {
		return nil, fmt.Errorf("taking managed fields back from a scale: %w", err)
	}
	return obj, nil
}

// updatedScale returns the Scale that the request makes of that of obj.
func (i *scaleInfo[T]) updatedScale(ctx context.Context, obj runtime.Object, managed *managedfields.ScaleHandler) (*autoscalingv1.Scale, error) {
	before, err := i.scale.scaleOf(obj)
	if err != nil {
		return nil, err
	}
	old := before.(*autoscalingv1.Scale)
	if old.ManagedFields, err = managed.ToSubresource(); err != nil {
		return nil, fmt.Errorf("handing managed fields to a scale: %w", err)
	}
	after, err := i.request.UpdatedObject(ctx, old)
	if err != nil {
		return nil, err
	}
	scale, ok := after.(*autoscalingv1.Scale)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("expected input object type to be Scale, but %T", after))
	}
	errs := core.ValidateObjectMeta(&scale.ObjectMeta, true, apivalidation.NameIsDNSSubdomain, field.NewPath("metadata"))
	errs = append(errs, nonNegative(scale.Spec.Replicas, field.NewPath("spec", "replicas"))...)
	if len(errs) > 0 {
		return nil, apierrors.NewInvalid(schema.GroupKind{Group: autoscalingv1.GroupName, Kind: "Scale"}, i.name, errs)
	}
	return scale, nil
}
