package emulator

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	genericapiserver "k8s.io/apiserver/pkg/server"

	"github.com/musterkube/muster/pkg/emulator/internal/crds"
)

// newCustomResources makes what serves custom resources.
func (s *Server) newCustomResources(ctx context.Context, config *genericapiserver.RecommendedConfig, getter restOptions) *crds.Server {
	return crds.New(ctx, crds.Config{
		Client:                s.Config,
		Stored:                getter.hasDefinitions,
		Getter:                customOptions{getter},
		Admission:             config.AdmissionControl,
		Authorizer:            config.Authorization.Authorizer,
		Services:              s.services,
		WebhookAuthentication: s.services.connect,
		RequestTimeout:        config.RequestTimeout,
		MinRequestTimeout:     time.Duration(config.MinRequestTimeout) * time.Second,
		MaxRequestBodyBytes:   config.MaxRequestBodyBytes,
	})
}

// definitionWritten is called after each write of a custom resource definition: somebody has to look after it.
func (s *Server) definitionWritten() { s.crds.Start() }

// customMapper finds the resources of custom kinds, too.
type customMapper struct {
	meta.RESTMapper
	crds *crds.Server
	ctx  context.Context //nolint:containedctx // that of the controller that asks, for the interface has none
}

// RESTMapping implements meta.RESTMapper. For custom kinds it finds a version that is served even if none of those that
// are asked for is.
func (m customMapper) RESTMapping(kind schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	mapping, err := m.RESTMapper.RESTMapping(kind, versions...)
	if err == nil {
		return mapping, nil
	}
	if kind.Group == crds.Version.Group {
		return m.RESTMapper.RESTMapping(kind, crds.Version.Version) // definitions are stored in another version
	}
	view, viewErr := m.crds.View(m.ctx)
	if viewErr != nil {
		return nil, viewErr
	}
	if view == nil {
		return nil, err
	}
	if mapping = view.Mapping(kind, versions...); mapping == nil {
		return nil, err
	}
	return mapping, nil
}

// withCustom adds the custom resources that live in namespaces.
func withCustom(ctx context.Context, server *crds.Server, resources []schema.GroupVersionResource) ([]schema.GroupVersionResource, error) {
	view, err := server.View(ctx)
	if view == nil {
		return resources, err
	}
	return append(view.Namespaced(), resources...), nil
}
