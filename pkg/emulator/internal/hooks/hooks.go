package hooks

import (
	"context"
	"fmt"
	"sync"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	mutatingpolicy "k8s.io/apiserver/pkg/admission/plugin/policy/mutating"
	validatingpolicy "k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	mutatingwebhook "k8s.io/apiserver/pkg/admission/plugin/webhook/mutating"
	validatingwebhook "k8s.io/apiserver/pkg/admission/plugin/webhook/validating"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/registry/rest"
	webhookutil "k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	restclient "k8s.io/client-go/rest"
)

// The names of the plugins, in their order, as --disable-admission-plugins of a kube-apiserver takes them.
const (
	// MutatingAdmissionPolicy changes objects by policies.
	MutatingAdmissionPolicy = mutatingpolicy.PluginName
	// MutatingAdmissionWebhook lets webhooks change objects.
	MutatingAdmissionWebhook = mutatingwebhook.PluginName
	// ValidatingAdmissionPolicy refuses objects by policies.
	ValidatingAdmissionPolicy = validatingpolicy.PluginName
	// ValidatingAdmissionWebhook lets webhooks refuse objects.
	ValidatingAdmissionWebhook = validatingwebhook.PluginName
)

// The resources that configure the plugins.
const (
	mutatingWebhooks   = "mutatingwebhookconfigurations"
	validatingWebhooks = "validatingwebhookconfigurations"
	mutatingPolicies   = "mutatingadmissionpolicies"
	mutatingBindings   = "mutatingadmissionpolicybindings"
	validatingPolicies = "validatingadmissionpolicies"
	validatingBindings = "validatingadmissionpolicybindings"
)

// Config is what [New] makes the plugins from. All of it is required.
type Config struct {
	// Storages of the served resources, by version and name: those of the configurations and of namespaces are read.
	Storages map[schema.GroupVersion]map[string]rest.Storage
	// Client reaches the server itself, as somebody who may read everything.
	Client func() *restclient.Config
	// Services says where webhooks are that are given as services.
	Services webhookutil.ServiceResolver
	// Connect wraps what says how to connect to a webhook.
	Connect webhookutil.AuthenticationInfoResolverWrapper
}

// Plugin is an admission plugin with its name.
type Plugin struct {
	Name string
	admission.Interface
}

// Hooks are the webhooks and policies of one server.
type Hooks struct {
	config  Config
	plugins []Plugin
	changed map[string]*changes

	// Set by Start.
	life       context.Context //nolint:containedctx // the life of the server, for interfaces whose methods take no context
	authorizer authorizer.UnconditionalAuthorizer
	clients    func() (clients, error)
}

// clients of the server itself.
type clients struct {
	kubernetes kubernetes.Interface
	dynamic    dynamic.Interface
}

// New returns the hooks of a server. They need [Hooks.Start] before the first request.
func New(config Config) (*Hooks, error) {
	h := &Hooks{config: config, changed: map[string]*changes{}}
	h.clients = sync.OnceValues(h.connect)
	makers := []struct {
		name string
		make func(*Hooks) (admission.Interface, error)
	}{
		{MutatingAdmissionPolicy, newMutatingPolicies},
		{MutatingAdmissionWebhook, newMutatingWebhooks},
		{ValidatingAdmissionPolicy, newValidatingPolicies},
		{ValidatingAdmissionWebhook, newValidatingWebhooks},
	}
	for _, maker := range makers {
		plugin, err := maker.make(h)
		if err != nil {
			return nil, fmt.Errorf("making the admission plugin %s: %w", maker.name, err)
		}
		h.plugins = append(h.plugins, Plugin{maker.name, plugin})
	}
	return h, nil
}

// Plugins returns the plugins, in the order of a kube-apiserver.
func (h *Hooks) Plugins() []Plugin { return h.plugins }

// Start gives the hooks what there is of a server once it is made: what decides for authorizer in expressions, and how
// long it lives. It starts nothing.
func (h *Hooks) Start(life context.Context, authorizer authorizer.UnconditionalAuthorizer) {
	h.life, h.authorizer = life, authorizer
}

// Changed says that an object of one of the resources of admissionregistration.k8s.io has been written, or may have been.
// Requests that come after it see what is written. Other resources are passed over.
func (h *Hooks) Changed(resource string) {
	if counter, ok := h.changed[resource]; ok {
		counter.count.Add(1)
	}
}

// AllChanged is Changed for all the resources.
func (h *Hooks) AllChanged() {
	for resource := range h.changed {
		h.Changed(resource)
	}
}

// feedOf returns a feed that h tells of changes.
func feedOf[T object](h *Hooks, resource string) (*feed[T], error) {
	f, err := newFeed[T](resource, h.config.Storages)
	if err != nil {
		return nil, err
	}
	h.changed[resource] = f.changes
	return f, nil
}

func (h *Hooks) connect() (clients, error) {
	config := h.config.Client()
	config.UserAgent = "kube-apiserver-admission"
	config.WarningHandler = restclient.NoWarnings{}
	httpClient, err := restclient.HTTPClientFor(config)
	if err != nil {
		return clients{}, fmt.Errorf("making a client for admission: %w", err)
	}
	typed, err := kubernetes.NewForConfigAndClient(config, httpClient)
	if err != nil {
		return clients{}, fmt.Errorf("making a client for admission: %w", err)
	}
	untyped, err := dynamic.NewForConfigAndClient(config, httpClient)
	if err != nil {
		return clients{}, fmt.Errorf("making a client for admission: %w", err)
	}
	return clients{typed, untyped}, nil
}

func (h *Hooks) namespaces() namespaceLister {
	return namespaceLister{ctx: h.life, storages: h.config.Storages}
}

// exempt are resources that policies do not see: reviews, which are not stored, and the policies themselves.
var exempt = map[schema.GroupResource]bool{
	{Group: "authentication.k8s.io", Resource: "selfsubjectreviews"}:         true,
	{Group: "authentication.k8s.io", Resource: "tokenreviews"}:               true,
	{Group: "authorization.k8s.io", Resource: "localsubjectaccessreviews"}:   true,
	{Group: "authorization.k8s.io", Resource: "selfsubjectaccessreviews"}:    true,
	{Group: "authorization.k8s.io", Resource: "selfsubjectrulesreviews"}:     true,
	{Group: "authorization.k8s.io", Resource: "subjectaccessreviews"}:        true,
	{Group: admissionregistrationv1.GroupName, Resource: mutatingPolicies}:   true,
	{Group: admissionregistrationv1.GroupName, Resource: mutatingBindings}:   true,
	{Group: admissionregistrationv1.GroupName, Resource: validatingPolicies}: true,
	{Group: admissionregistrationv1.GroupName, Resource: validatingBindings}: true,
}
