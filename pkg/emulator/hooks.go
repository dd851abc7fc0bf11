package emulator

import (
	"context"
	"net/http"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/musterkube/muster/pkg/emulator/internal/admission"
	"github.com/musterkube/muster/pkg/emulator/internal/hooks"
	"github.com/musterkube/muster/pkg/emulator/internal/objects"
)

// HandleService makes handler answer for a service that the server calls, such as that of a webhook, in place of the
// handler that it had: see [Options].Services, which also says how services are named. It is for handlers that are made
// with a client of the server. It returns an error if the name is not one, and [ErrStopped] after Stop.
func (s *Server) HandleService(service string, handler http.Handler) error {
	return s.services.handle(service, handler)
}

// admissionHooks are the webhooks and policies of a server. The storages, which tell of changes, are made before the hooks,
// which read the storages.
type admissionHooks struct{ hooks *hooks.Hooks }

// openHooks makes webhooks and policies over the storages, and what calls webhooks.
func (s *Server) openHooks(life context.Context, options Options, served storages, configured *admissionHooks) error {
	var err error
	if s.services, err = newServices(life, options.Services); err != nil {
		return err
	}
	s.release = append(s.release, s.services.stop)
	configured.hooks, err = hooks.New(hooks.Config{
		Storages: served, Client: s.Config, Services: s.services, Connect: s.services.connect,
	})
	return err
}

func (h *admissionHooks) start(life context.Context, authorizer authorizer.Authorizer) {
	h.hooks.Start(life, authorizer)
}

func (h *admissionHooks) changed(resource string) {
	if h.hooks != nil {
		h.hooks.Changed(resource)
	}
}

func (h *admissionHooks) plugins() []admission.Plugin {
	var plugins []admission.Plugin
	for _, plugin := range h.hooks.Plugins() {
		plugins = append(plugins, admission.Plugin{Name: plugin.Name, Interface: plugin.Interface})
	}
	return plugins
}

// The hooks also hear of what others write to a store that they share. That comes a moment after the write, as in a
// cluster.
var _ objects.Handler = (*admissionHooks)(nil)

// Replace implements objects.Handler.
func (h *admissionHooks) Replace([]*objects.Object) { h.hooks.AllChanged() }

// Update implements objects.Handler.
func (h *admissionHooks) Update(object *objects.Object) { h.heard(object) }

// Delete implements objects.Handler.
func (h *admissionHooks) Delete(object *objects.Object) { h.heard(object) }

func (h *admissionHooks) heard(object *objects.Object) {
	if object.Kind().Group == admissionregistrationv1.GroupName {
		h.hooks.AllChanged()
	}
}
