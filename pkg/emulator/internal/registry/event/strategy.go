package event

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
)

// strategy checks an event the harder the newer the API is by which it comes.
type strategy struct{ resource.Strategy }

var _ rest.GarbageCollectionDeleteStrategy = strategy{}

// DefaultGarbageCollectionPolicy implements rest.GarbageCollectionDeleteStrategy: events own nothing.
func (strategy) DefaultGarbageCollectionPolicy(context.Context) rest.GarbageCollectionPolicy {
	return rest.Unsupported
}

// Validate implements rest.RESTCreateStrategy.
func (strategy) Validate(ctx context.Context, obj runtime.Object) field.ErrorList {
	return validateCreate(obj.(*corev1.Event), resource.RequestVersion(ctx))
}

// ValidateUpdate implements rest.RESTUpdateStrategy.
func (strategy) ValidateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	return validateUpdate(obj.(*corev1.Event), old.(*corev1.Event), resource.RequestVersion(ctx))
}

// selectableFields are named as core/v1 names them.
func selectableFields(obj runtime.Object) fields.Set {
	event := obj.(*corev1.Event)
	source := event.Source.Component
	if source == "" {
		source = event.ReportingController
	}
	return fields.Set{
		"involvedObject.kind":            event.InvolvedObject.Kind,
		"involvedObject.namespace":       event.InvolvedObject.Namespace,
		"involvedObject.name":            event.InvolvedObject.Name,
		"involvedObject.uid":             string(event.InvolvedObject.UID),
		"involvedObject.apiVersion":      event.InvolvedObject.APIVersion,
		"involvedObject.resourceVersion": event.InvolvedObject.ResourceVersion,
		"involvedObject.fieldPath":       event.InvolvedObject.FieldPath,
		"reason":                         event.Reason,
		"reportingComponent":             event.ReportingController,
		"source":                         source,
		"type":                           event.Type,
	}
}
