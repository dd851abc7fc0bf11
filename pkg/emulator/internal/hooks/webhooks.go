package hooks

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/generic"
	mutatingwebhook "k8s.io/apiserver/pkg/admission/plugin/webhook/mutating"
	validatingwebhook "k8s.io/apiserver/pkg/admission/plugin/webhook/validating"
)

// webhooks has the library's plugin for one of the kinds of configurations. It is made anew for each change of them: the
// library's own way to hear of changes lets a call that began before a change bring back what was before.
type webhooks[T object, P any] struct {
	*admission.Handler
	feed *feed[T]
	// make makes the library's plugin for configurations.
	make func(configurations[T]) (P, error)

	making sync.Mutex
	made   atomic.Pointer[pluginFor[T, P]]
}

// pluginFor is the plugin for a snapshot of the configurations.
type pluginFor[T object, P any] struct {
	all    *snapshot[T]
	plugin P
}

// ready returns the library's plugin, which knows all that was written before; it is not found if there is nothing that
// would have to be called.
func (w *webhooks[T, P]) ready(ctx context.Context) (plugin P, found bool, err error) {
	all, err := w.feed.now(ctx)
	if err != nil {
		return plugin, false, apierrors.NewInternalError(err)
	}
	if len(all.items) == 0 {
		return plugin, false, nil
	}
	if made := w.made.Load(); made != nil && made.all == all {
		return made.plugin, true, nil
	}
	w.making.Lock()
	defer w.making.Unlock()
	made := w.made.Load()
	if made == nil || made.all.after < all.after {
		plugin, err = w.make(all.items)
		if err != nil {
			return plugin, false, apierrors.NewInternalError(err)
		}
		made = &pluginFor[T, P]{all, plugin}
		w.made.Store(made)
	}
	return made.plugin, true, nil
}

// setUp gives the library's plugin what it needs.
func (h *Hooks) setUp(plugin *generic.Webhook, informers factory) error {
	connected, err := h.clients()
	if err != nil {
		return err
	}
	informers.namespaces = h.namespaces()
	plugin.SetExternalKubeInformerFactory(informers)
	plugin.SetExternalKubeClientSet(connected.kubernetes)
	plugin.SetUnconditionalAuthorizer(h.authorizer)
	plugin.SetServiceResolver(h.config.Services)
	plugin.SetAuthenticationInfoResolverWrapper(h.config.Connect)
	if err := plugin.ValidateInitialization(); err != nil {
		return fmt.Errorf("setting up webhooks: %w", err)
	}
	return nil
}

// allOperations are those that webhooks and validating policies see.
func allOperations() *admission.Handler {
	return admission.NewHandler(admission.Connect, admission.Create, admission.Delete, admission.Update)
}

type mutatingWebhookPlugin struct {
	webhooks[*admissionregistrationv1.MutatingWebhookConfiguration, *mutatingwebhook.Plugin]
}

var _ admission.MutationInterface = (*mutatingWebhookPlugin)(nil)

func newMutatingWebhooks(h *Hooks) (admission.Interface, error) {
	feed, err := feedOf[*admissionregistrationv1.MutatingWebhookConfiguration](h, mutatingWebhooks)
	if err != nil {
		return nil, err
	}
	p := &mutatingWebhookPlugin{}
	p.Handler, p.feed = allOperations(), feed
	p.make = func(all configurations[*admissionregistrationv1.MutatingWebhookConfiguration]) (*mutatingwebhook.Plugin, error) {
		plugin, err := mutatingwebhook.NewMutatingWebhook(nil)
		if err != nil {
			return nil, fmt.Errorf("making webhooks: %w", err)
		}
		return plugin, h.setUp(plugin.Webhook, factory{mutating: all})
	}
	return p, nil
}

// Admit implements admission.MutationInterface.
func (p *mutatingWebhookPlugin) Admit(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	plugin, found, err := p.ready(ctx)
	if err != nil || !found {
		return err
	}
	return plugin.Admit(ctx, a, o)
}

type validatingWebhookPlugin struct {
	webhooks[*admissionregistrationv1.ValidatingWebhookConfiguration, *validatingwebhook.Plugin]
}

var _ admission.ValidationInterface = (*validatingWebhookPlugin)(nil)

func newValidatingWebhooks(h *Hooks) (admission.Interface, error) {
	feed, err := feedOf[*admissionregistrationv1.ValidatingWebhookConfiguration](h, validatingWebhooks)
	if err != nil {
		return nil, err
	}
	p := &validatingWebhookPlugin{}
	p.Handler, p.feed = allOperations(), feed
	p.make = func(all configurations[*admissionregistrationv1.ValidatingWebhookConfiguration]) (*validatingwebhook.Plugin, error) {
		plugin, err := validatingwebhook.NewValidatingAdmissionWebhook(nil)
		if err != nil {
			return nil, fmt.Errorf("making webhooks: %w", err)
		}
		return plugin, h.setUp(plugin.Webhook, factory{validating: all})
	}
	return p, nil
}

// Validate implements admission.ValidationInterface.
func (p *validatingWebhookPlugin) Validate(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	plugin, found, err := p.ready(ctx)
	if err != nil || !found {
		return err
	}
	return plugin.Validate(ctx, a, o)
}
