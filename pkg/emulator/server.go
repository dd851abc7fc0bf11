package emulator

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"go.etcd.io/etcd/client/v3/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/musterkube/muster/pkg/emulator/internal/admission"
	"github.com/musterkube/muster/pkg/emulator/internal/crds"
	"github.com/musterkube/muster/pkg/emulator/internal/drain"
	"github.com/musterkube/muster/pkg/emulator/internal/mvcc"
	"github.com/musterkube/muster/pkg/emulator/internal/registry"
	"github.com/musterkube/muster/pkg/emulator/internal/scheme"
	"github.com/musterkube/muster/pkg/emulator/internal/transport"
)

// serverHost is the host in Config. The name cannot exist (RFC 6761), so a client that has lost the transport fails to
// resolve it rather than reach somebody else.
const serverHost = "https://muster.invalid"

// stopGrace is how long Stop lets requests finish that are neither watches nor done.
const stopGrace = 2 * time.Second

// settleGrace is how long Stop then lets answers come to their end. Handlers that have noticed take microseconds.
const settleGrace = 100 * time.Millisecond

// ErrStopped is returned to requests through Config after Stop, wrapped in an error that names the request. It counts as
// a refused connection, so that informers go on trying until their own context ends, as with any server that is away.
var ErrStopped = transport.ErrStopped

// Server is a running API server. Its methods may be called from any goroutine.
type Server struct {
	token     string
	users     map[string]User
	logger    logr.Logger
	store     *kubernetes.Client
	memory    *mvcc.DB // behind store; nil if that is an etcd cluster
	handler   http.Handler
	transport *transport.HandlerTransport
	requests  *drain.Drain
	services  *services
	// configured is what webhooks and policies do to requests.
	configured admissionHooks
	doors      doors

	crds        *crds.Server
	controllers background

	stop sync.Once
	// release frees what requests used, in reverse order of its making.
	release []func()
}

// Start returns a server that is ready: the system namespaces and priority classes exist. The context bounds the start
// alone and is where the default logger comes from; the server lives until Stop, which the caller has to call.
//
// Options that make no sense are an error that names all of them: see [Options.Validate].
//
// Start opens no socket and changes nothing that another server of the process would notice. Within a testing/synctest
// bubble everything that it starts belongs to the bubble.
func Start(ctx context.Context, options Options) (*Server, error) {
	options, err := options.complete(ctx)
	if err != nil {
		return nil, fmt.Errorf("starting the API server emulator: %w", err)
	}
	s := &Server{token: options.Token, users: options.Tokens, logger: options.Logger, requests: drain.New()}
	s.doors.anywhere = options.ListenBeyondLoopback
	if err := s.start(ctx, options); err != nil {
		s.Stop()
		return nil, fmt.Errorf("starting the API server emulator: %w", err)
	}
	return s, nil
}

// start makes the parts of the server, from the bottom up. What has been made is in s.release when it fails.
func (s *Server) start(ctx context.Context, options Options) error {
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s.release = append(s.release, cancel)
	if err := s.openStore(ctx, life, options); err != nil {
		return err
	}

	getter := restOptions{client: s.store, prefix: options.EtcdPrefix, scheme: scheme.New(), fresh: &freshness{}}
	who := newDoorkeeper(options, getter)
	served, err := registry.Storages(registry.Config{
		Scheme: getter.scheme, RESTOptionsGetter: getter, Gates: options.Gates, Logs: options.Logs, Access: who.access,
		AdmissionChanged: s.configured.changed,
	})
	if err != nil {
		return err
	}
	who.authentication.serve(served)
	s.release = append(s.release, func() { destroy(served) })
	if served[crds.Version], err = crds.Storages(definitionOptions{getter}, s.definitionWritten); err != nil {
		return err
	}
	if err := s.openHooks(life, options, served, &s.configured); err != nil {
		return err
	}
	admit, err := admission.New(admission.Config{
		Gates: options.Gates, Storages: served, Disabled: options.DisabledAdmission, TolerationSeconds: options.TolerationSeconds,
		Authorizer: who.access.Authorizer, NamespaceRevision: getter.namespaceRevision, Last: s.configured.plugins(),
	})
	if err != nil {
		return err
	}

	config := newGenericConfig(options, getter, admit, who, s.requests)
	s.crds = s.newCustomResources(klog.NewContext(life, options.Logger), config, getter)
	s.configured.start(klog.NewContext(life, options.Logger), config.Authorization.Authorizer)
	lazy := newLazyResources(served)
	config.BuildHandlerChainFunc = lazy.behind(config.BuildHandlerChainFunc)
	generic, err := newGenericServer(config, s.crds)
	if err != nil {
		return err
	}
	s.release = append(s.release, generic.Destroy)
	if err := lazy.by(installer{server: generic, config: config, scheme: getter.scheme, crds: s.crds}); err != nil {
		return err
	}
	if err := bootstrap(klog.NewContext(ctx, options.Logger), options, served); err != nil {
		return err
	}
	generic.PrepareRun()
	if s.handler, err = options.wrap(generic.Handler); err != nil {
		return err
	}
	s.transport = transport.New(life, s.handler)
	s.release = append(s.release, func() { s.requests.Wait(closeGrace) })
	s.release = append(s.release, func() { s.doors.close(context.WithoutCancel(ctx)) })
	err = s.controllers.begin(func() error { return s.startControllers(life, options, served, getter.scheme, &s.configured) })
	if err != nil {
		return err
	}
	return s.installCRDs(ctx, options)
}

// bootstrap writes what is there from the start.
func bootstrap(ctx context.Context, options Options, served storages) error {
	if err := registry.Bootstrap(ctx, served); err != nil || !options.RBAC {
		return err
	}
	return registry.BootstrapRBAC(ctx, served)
}

// Config returns a configuration for clients in this process, with the rights of the cluster administrator and without
// a limit on the rate of requests. Its transport calls the server's handler: there is no connection that could break.
// Each call returns a new configuration, for the caller to change.
func (s *Server) Config() *rest.Config {
	return &rest.Config{
		Host:        serverHost,
		BearerToken: s.token,
		Transport:   s.transport,
		QPS:         -1,
	}
}

// Handler returns the server as a handler, for a listener of the caller's own. Requests need the bearer token.
func (s *Server) Handler() http.Handler { return s.handler }

// Stop ends the server: new requests are refused, watches end, other requests may finish (for two seconds at most) and
// then everything is released. It returns when no goroutine of the server runs any more; a call while another one is at
// work waits for it, and later ones do nothing.
func (s *Server) Stop() {
	if s == nil || s.requests == nil {
		return // what Start has not made
	}
	s.stop.Do(func() {
		s.controllers.stop()
		s.crds.Stop()
		if s.transport != nil {
			s.transport.Refuse()
		}
		s.requests.Stop(stopGrace)
		if s.transport != nil {
			s.transport.Settle(settleGrace)
			s.transport.Stop()
		}
		for _, release := range slices.Backward(s.release) {
			release()
		}
	})
}
