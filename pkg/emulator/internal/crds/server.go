package crds

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsserver "k8s.io/apiextensions-apiserver/pkg/apiserver"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/util/webhook"
	clientrest "k8s.io/client-go/rest"

	"github.com/musterkube/muster/pkg/emulator/internal/patches"
)

// Config is what [New] makes a server from. All of it is required.
type Config struct {
	// Client is what the controllers connect to the API server with, which is asked for it when they start.
	Client func() *clientrest.Config
	// Stored tells whether any definition is stored. It is asked often, until there is one.
	Stored func(context.Context) (bool, error)
	// Getter gives the storage of the objects of each definition.
	Getter generic.RESTOptionsGetter
	// Admission and Authorizer of the API server.
	Admission  admission.Interface
	Authorizer authorizer.UnconditionalAuthorizer
	// Services and WebhookAuthentication are for conversion webhooks.
	Services              webhook.ServiceResolver
	WebhookAuthentication webhook.AuthenticationInfoResolverWrapper
	// RequestTimeout, MinRequestTimeout and MaxRequestBodyBytes are those of the API server.
	RequestTimeout, MinRequestTimeout time.Duration
	MaxRequestBodyBytes               int64
}

// errStopped is returned by what would have to start the machinery after Stop.
var errStopped = errors.New("custom resources are not served any more: the server is stopping")

// Server serves custom resources. It starts its machinery when the first definition is stored, or found in the store.
type Server struct {
	config Config

	mu      sync.Mutex
	life    context.Context //nolint:containedctx // that of the server, which outlives every call
	cancel  context.CancelFunc
	stopped bool
	running sync.WaitGroup
	started atomic.Pointer[machinery]
}

// New returns a server that lives until [Server.Stop], or until ctx ends. It starts nothing yet.
func New(ctx context.Context, c Config) *Server {
	s := &Server{config: c}
	s.life, s.cancel = context.WithCancel(ctx)
	return s
}

// Start starts the machinery, if it does not run yet. It does not wait for it.
func (s *Server) Start() {
	if s.started.Load() == nil {
		// An error, which there is only of a configuration that nobody could connect with, comes again with the next
		// request that needs the machinery.
		_, _ = s.start()
	}
}

// Stop ends the machinery and waits for it. A nil server has none.
func (s *Server) Stop() {
	if s == nil {
		return
	}
	s.mu.Lock()
	s.stopped = true
	s.cancel()
	s.mu.Unlock()
	s.running.Wait()
}

func (s *Server) start() (*machinery, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.started.Load(); m != nil {
		return m, nil
	}
	if s.stopped {
		return nil, errStopped
	}
	m, err := newMachinery(s.life, s.config)
	if err != nil {
		return nil, fmt.Errorf("starting to serve custom resources: %w", err)
	}
	s.running.Go(func() { m.run(s.life) })
	s.started.Store(m)
	return m, nil
}

// machinery returns the machinery once it knows the definitions that are stored; nil if there are none. It starts what
// has not been started, for somebody else may have filled the store.
func (s *Server) machinery(ctx context.Context) (*machinery, error) {
	m := s.started.Load()
	if m == nil {
		if stored, err := s.config.Stored(ctx); err != nil || !stored {
			return nil, err
		}
		var err error
		if m, err = s.start(); err != nil {
			return nil, err
		}
	}
	select {
	case <-m.ready:
		return m, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-s.life.Done():
		return nil, errStopped
	}
}

// ServeHTTP answers requests for custom resources and for their part of discovery, and 404 for anything else.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	info, ok := genericapirequest.RequestInfoFrom(r.Context())
	if !ok || !strings.HasPrefix(r.URL.Path, "/apis/") {
		http.NotFound(w, r)
		return
	}
	m, err := s.machinery(r.Context())
	switch {
	case err != nil:
		fail(w, r, info, err)
	case m == nil:
		http.NotFound(w, r)
	case !info.IsResourceRequest:
		m.serveDiscovery(w, r)
	default:
		m.serveResource(w, r, info)
	}
}

// serveResource answers a request for objects.
func (m *machinery) serveResource(w http.ResponseWriter, r *http.Request, info *genericapirequest.RequestInfo) {
	crd, err := m.lister.Get(info.Resource + "." + info.APIGroup)
	if apierrors.IsNotFound(err) || err == nil && !isServed(crd) {
		http.NotFound(w, r)
		return
	}
	if err != nil {
		fail(w, r, info, err)
		return
	}
	serving, err := m.servingOf(crd)
	if err != nil {
		fail(w, r, info, err)
		return
	}
	if err := serving.refusePatch(r, info, crd); err != nil {
		responsewriters.ErrorNegotiated(err, apiextensionsserver.Codecs, versionOf(info), w, r)
		return
	}
	serving.ServeHTTP(w, patches.Plain(r))
}

// refusePatch returns the answer to a patch that is broken, in the words of Kubernetes 1.36.
func (s *serving) refusePatch(r *http.Request, info *genericapirequest.RequestInfo, crd *apiextensionsv1.CustomResourceDefinition) error {
	always, refused := patches.Fault(r)
	if refused == nil || always {
		return refused
	}
	storage, err := s.handler.GetCustomResourceListerCollectionDeleter(crd)
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	if getter, ok := storage.(rest.Getter); ok {
		if _, err := getter.Get(genericapirequest.WithNamespace(r.Context(), info.Namespace), info.Name, &metav1.GetOptions{}); err != nil {
			return err
		}
	}
	return refused
}

func versionOf(info *genericapirequest.RequestInfo) schema.GroupVersion {
	return schema.GroupVersion{Group: info.APIGroup, Version: info.APIVersion}
}

func fail(w http.ResponseWriter, r *http.Request, info *genericapirequest.RequestInfo, err error) {
	status := apierrors.NewInternalError(err)
	if errors.Is(err, errStopped) {
		status = apierrors.NewServiceUnavailable(err.Error())
	}
	responsewriters.ErrorNegotiated(status, apiextensionsserver.Codecs, versionOf(info), w, r)
}

// WaitEstablished waits until a definition that has been created is established and its objects are served. It returns an error if that cannot
// come about by itself: if its names are taken, or the certificate of its webhook is wrong.
func (s *Server) WaitEstablished(ctx context.Context, name string) error {
	m, err := s.machinery(ctx)
	if err != nil {
		return err
	}
	if m == nil {
		return apierrors.NewNotFound(Resource.GroupResource(), name)
	}
	for {
		news := m.news()
		crd, err := m.lister.Get(name)
		if err == nil {
			if err = refusal(crd); err == nil && apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.Established) {
				return nil
			}
		}
		// The informer may not have seen it yet.
		if err != nil && !apierrors.IsNotFound(err) {
			return err
		}
		select {
		case <-news:
		case <-ctx.Done():
			return ctx.Err()
		case <-s.life.Done():
			return errStopped
		}
	}
}

// refusal returns the condition that keeps a definition from being established, as an error.
func refusal(crd *apiextensionsv1.CustomResourceDefinition) error {
	if names := apihelpers.FindCRDCondition(crd, apiextensionsv1.NamesAccepted); names != nil && names.Status == apiextensionsv1.ConditionFalse {
		return fmt.Errorf("its names are not accepted: %s: %s", names.Reason, names.Message)
	}
	established := apihelpers.FindCRDCondition(crd, apiextensionsv1.Established)
	if established != nil && established.Status == apiextensionsv1.ConditionFalse && established.Reason == "InvalidCABundle" {
		return fmt.Errorf("it cannot be established: %s: %s", established.Reason, established.Message)
	}
	return nil
}
