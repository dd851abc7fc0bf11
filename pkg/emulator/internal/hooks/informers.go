package hooks

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/informers/admissionregistration"
	admissionregistrationinformers "k8s.io/client-go/informers/admissionregistration/v1"
	"k8s.io/client-go/informers/core"
	coreinformers "k8s.io/client-go/informers/core/v1"
	admissionregistrationlisters "k8s.io/client-go/listers/admissionregistration/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
)

// The library's webhook plugins take a factory of informers. This file has one whose informers know from the start what
// there is, and hear of nothing else: a plugin is made anew for each change. Of the interfaces, which are large, it has
// what the plugins use.

// still is an informer of what does not change.
type still struct{ cache.SharedIndexInformer }

// AddEventHandler implements cache.SharedIndexInformer. There are no events: the plugins list when they are first asked.
func (still) AddEventHandler(cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	return registration{}, nil
}

// HasSynced implements cache.SharedIndexInformer.
func (still) HasSynced() bool { return true }

// registration is that of a handler which has been told everything.
type registration struct {
	cache.ResourceEventHandlerRegistration
}

// HasSynced implements cache.ResourceEventHandlerRegistration.
func (registration) HasSynced() bool { return true }

// configurations are webhook configurations.
type configurations[T object] []T

// list returns the items that selector selects, in a slice of the caller's.
func (c configurations[T]) list(selector labels.Selector) []T {
	var selected []T
	for _, item := range c {
		if selector.Matches(labels.Set(item.GetLabels())) {
			selected = append(selected, item)
		}
	}
	return selected
}

func (c configurations[T]) get(resource, name string) (T, error) {
	for _, item := range c {
		if item.GetName() == name {
			return item, nil
		}
	}
	var none T
	return none, apierrors.NewNotFound(admissionregistrationv1.SchemeGroupVersion.WithResource(resource).GroupResource(), name)
}

// factory is a factory of such informers. A plugin uses one of the two kinds of configurations.
type factory struct {
	informers.SharedInformerFactory
	mutating   configurations[*admissionregistrationv1.MutatingWebhookConfiguration]
	validating configurations[*admissionregistrationv1.ValidatingWebhookConfiguration]
	namespaces corelisters.NamespaceLister
}

// Admissionregistration implements informers.SharedInformerFactory.
func (f factory) Admissionregistration() admissionregistration.Interface { return group{f: f} }

// Core implements informers.SharedInformerFactory.
func (f factory) Core() core.Interface { return coreGroup{f: f} }

type group struct {
	admissionregistration.Interface
	f factory
}

// V1 implements admissionregistration.Interface.
func (g group) V1() admissionregistrationinformers.Interface { return groupV1{f: g.f} }

type groupV1 struct {
	admissionregistrationinformers.Interface
	f factory
}

// MutatingWebhookConfigurations implements the interface of the version.
func (g groupV1) MutatingWebhookConfigurations() admissionregistrationinformers.TypedMutatingWebhookConfigurationInformer {
	return mutatingInformer{g.f.mutating}
}

// ValidatingWebhookConfigurations implements the interface of the version.
func (g groupV1) ValidatingWebhookConfigurations() admissionregistrationinformers.TypedValidatingWebhookConfigurationInformer {
	return validatingInformer{g.f.validating}
}

type mutatingInformer struct {
	all configurations[*admissionregistrationv1.MutatingWebhookConfiguration]
}

// Informer implements TypedMutatingWebhookConfigurationInformer.
func (mutatingInformer) Informer() cache.SharedIndexInformer { return still{} }

// TypedInformer implements TypedMutatingWebhookConfigurationInformer.
func (mutatingInformer) TypedInformer() admissionregistrationinformers.MutatingWebhookConfigurationIndexInformer {
	return cache.NewTypedSharedIndexInformer[*admissionregistrationv1.MutatingWebhookConfiguration](still{})
}

// Lister implements TypedMutatingWebhookConfigurationInformer.
func (i mutatingInformer) Lister() admissionregistrationlisters.MutatingWebhookConfigurationLister {
	return i
}

// List implements MutatingWebhookConfigurationLister.
func (i mutatingInformer) List(selector labels.Selector) ([]*admissionregistrationv1.MutatingWebhookConfiguration, error) {
	return i.all.list(selector), nil
}

// Get implements MutatingWebhookConfigurationLister.
func (i mutatingInformer) Get(name string) (*admissionregistrationv1.MutatingWebhookConfiguration, error) {
	return i.all.get(mutatingWebhooks, name)
}

type validatingInformer struct {
	all configurations[*admissionregistrationv1.ValidatingWebhookConfiguration]
}

// Informer implements TypedValidatingWebhookConfigurationInformer.
func (validatingInformer) Informer() cache.SharedIndexInformer { return still{} }

// TypedInformer implements TypedValidatingWebhookConfigurationInformer.
func (validatingInformer) TypedInformer() admissionregistrationinformers.ValidatingWebhookConfigurationIndexInformer {
	return cache.NewTypedSharedIndexInformer[*admissionregistrationv1.ValidatingWebhookConfiguration](still{})
}

// Lister implements TypedValidatingWebhookConfigurationInformer.
func (i validatingInformer) Lister() admissionregistrationlisters.ValidatingWebhookConfigurationLister {
	return i
}

// List implements ValidatingWebhookConfigurationLister.
func (i validatingInformer) List(selector labels.Selector) ([]*admissionregistrationv1.ValidatingWebhookConfiguration, error) {
	return i.all.list(selector), nil
}

// Get implements ValidatingWebhookConfigurationLister.
func (i validatingInformer) Get(name string) (*admissionregistrationv1.ValidatingWebhookConfiguration, error) {
	return i.all.get(validatingWebhooks, name)
}

type coreGroup struct {
	core.Interface
	f factory
}

// V1 implements core.Interface.
func (g coreGroup) V1() coreinformers.Interface { return coreV1{f: g.f} }

type coreV1 struct {
	coreinformers.Interface
	f factory
}

// Namespaces implements the interface of the version.
func (g coreV1) Namespaces() coreinformers.TypedNamespaceInformer { return namespaceInformer(g) }

type namespaceInformer coreV1

// Informer implements coreinformers.TypedNamespaceInformer.
func (namespaceInformer) Informer() cache.SharedIndexInformer { return still{} }

// TypedInformer implements coreinformers.TypedNamespaceInformer.
func (namespaceInformer) TypedInformer() coreinformers.NamespaceIndexInformer {
	return cache.NewTypedSharedIndexInformer[*corev1.Namespace](still{})
}

// Lister implements coreinformers.TypedNamespaceInformer.
func (i namespaceInformer) Lister() corelisters.NamespaceLister { return i.f.namespaces }
