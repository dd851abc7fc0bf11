package emulator

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"
	webhookutil "k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/client-go/rest"

	"github.com/musterkube/muster/pkg/emulator/internal/transport"
)

// How a kube-apiserver calls webhooks: it names itself so, and gives up after so long if the configuration does not say
// otherwise.
const (
	webhookUserAgent = "kube-apiserver-admission"
	webhookTimeout   = 30 * time.Second
	dialTimeout      = 30 * time.Second
)

// services are what stands for Services that the server calls: the webhooks of admission and of conversions. They are
// handlers in this process. Webhooks that are given by URL are called over the network; their connections are kept here,
// so that they end with the server.
//
// As ServiceResolver and, by connect, AuthenticationInfoResolverWrapper it fits every part of k8s.io/apiserver and of
// k8s.io/apiextensions-apiserver that calls webhooks; both are needed.
type services struct {
	life   context.Context //nolint:containedctx // the life of the server, which bounds that of calls
	dialer net.Dialer

	mu       sync.Mutex
	stopped  bool
	handlers map[string]*transport.HandlerTransport
	replaced []*transport.HandlerTransport // that may still be answering
	open     map[net.Conn]struct{}
}

var _ webhookutil.ServiceResolver = (*services)(nil)

// newServices returns services with the handlers of [Options].Services, until stop is called.
func newServices(life context.Context, handlers map[string]http.Handler) (*services, error) {
	s := &services{
		life: life, dialer: net.Dialer{Timeout: dialTimeout},
		handlers: map[string]*transport.HandlerTransport{}, open: map[net.Conn]struct{}{},
	}
	for name, handler := range handlers {
		if err := s.handle(name, handler); err != nil {
			return nil, fmt.Errorf("options: Services: %w", err)
		}
	}
	return s, nil
}

// checkService tells what is wrong with the name of a service: namespace/name or namespace/name:port.
func checkService(service string) error {
	namespace, name, _ := strings.Cut(service, "/")
	name, port, hasPort := strings.Cut(name, ":")
	number, err := strconv.Atoi(port)
	if len(validation.IsDNS1123Label(namespace)) > 0 || len(validation.IsDNS1123Label(name)) > 0 ||
		hasPort && (err != nil || len(validation.IsValidPortNum(number)) > 0) {
		return fmt.Errorf("%q is not the name of a service: want namespace/name or namespace/name:port", service)
	}
	return nil
}

// handle makes handler the one of a service, in place of any that it had.
func (s *services) handle(service string, handler http.Handler) error {
	if err := checkService(service); err != nil {
		return err
	}
	if handler == nil {
		return fmt.Errorf("the handler of %s is nil", service)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return ErrStopped
	}
	if former, ok := s.handlers[service]; ok {
		s.replaced = append(s.replaced, former)
	}
	s.handlers[service] = transport.New(s.life, handler)
	return nil
}

// find returns what answers for a service: the handler of its port or, without one, that of all its ports.
func (s *services) find(namespace, name string, port int) (*transport.HandlerTransport, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	service := namespace + "/" + name
	if handler, ok := s.handlers[service+":"+strconv.Itoa(port)]; ok {
		return handler, nil
	}
	if handler, ok := s.handlers[service]; ok {
		return handler, nil
	}
	return nil, fmt.Errorf("no handler for port %d of service %q: set emulator.Options.Services[%q], or call Server.HandleService, for the server to call",
		port, service, service)
}

// ResolveEndpoint implements webhookutil.ServiceResolver. What it returns is never dialled: see connect.
func (s *services) ResolveEndpoint(namespace, name string, port int32) (*url.URL, error) {
	if _, err := s.find(namespace, name, int(port)); err != nil {
		return nil, err
	}
	return &url.URL{Scheme: "https", Host: serviceHost(namespace, name, int(port))}, nil
}

// serviceHost is the name of a service in a cluster's DNS, which certificates of webhooks are made out to.
func serviceHost(namespace, name string, port int) string {
	return net.JoinHostPort(name+"."+namespace+".svc", strconv.Itoa(port))
}

// connect implements webhookutil.AuthenticationInfoResolverWrapper.
func (s *services) connect(webhookutil.AuthenticationInfoResolver) webhookutil.AuthenticationInfoResolver {
	return &webhookutil.AuthenticationInfoResolverDelegator{
		ClientConfigForFunc: func(string) (*rest.Config, error) {
			return &rest.Config{UserAgent: webhookUserAgent, Timeout: webhookTimeout, Dial: s.dial}, nil
		},
		ClientConfigForServiceFunc: func(name, namespace string, port int) (*rest.Config, error) {
			config := &rest.Config{UserAgent: webhookUserAgent, Timeout: webhookTimeout}
			// A transport in the place of this wrapper would not go with the certificates that the caller adds.
			config.Wrap(func(http.RoundTripper) http.RoundTripper { return serviceTransport{s, namespace, name, port} })
			return config, nil
		},
	}
}

// serviceTransport has the handler of a service answer.
type serviceTransport struct {
	services        *services
	namespace, name string
	port            int
}

// RoundTrip implements http.RoundTripper.
func (t serviceTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	handler, err := t.services.find(t.namespace, t.name, t.port)
	if err != nil {
		if request.Body != nil {
			_ = request.Body.Close() // the error is the one to tell of
		}
		return nil, err
	}
	return handler.RoundTrip(request)
}

// dial connects to a webhook that is given by URL.
func (s *services) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := s.dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	kept := &keptConn{Conn: conn, services: s}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return nil, errors.Join(ErrStopped, conn.Close())
	}
	s.open[kept] = struct{}{}
	return kept, nil
}

// keptConn is a connection that the server closes if nobody else does.
type keptConn struct {
	net.Conn
	services *services
}

// Close implements net.Conn.
func (c *keptConn) Close() error {
	c.services.mu.Lock()
	delete(c.services.open, c)
	c.services.mu.Unlock()
	return c.Conn.Close()
}

// stop ends calls and connections, and waits for the handlers.
func (s *services) stop() {
	s.mu.Lock()
	s.stopped = true
	handlers, open := append(slices.Collect(maps.Values(s.handlers)), s.replaced...), s.open
	s.handlers, s.open = map[string]*transport.HandlerTransport{}, map[net.Conn]struct{}{}
	s.mu.Unlock()
	for conn := range open {
		_ = conn.Close() // there is nothing to do about a connection that does not close
	}
	for _, handler := range handlers {
		handler.Stop()
	}
}
