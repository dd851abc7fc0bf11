package emulator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	genericapi "k8s.io/apiserver/pkg/endpoints"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/klog/v2"

	"github.com/musterkube/muster/pkg/emulator/internal/crds"
	"github.com/musterkube/muster/pkg/emulator/internal/gc"
	"github.com/musterkube/muster/pkg/emulator/internal/namespace"
	"github.com/musterkube/muster/pkg/emulator/internal/objects"
	"github.com/musterkube/muster/pkg/emulator/internal/scheme"
)

// The controllers that a server brings along: without them nothing that is deleted in the foreground, and no namespace,
// would ever go.
const (
	// ControllerGarbageCollector deletes the dependents of owners that are gone.
	ControllerGarbageCollector = "garbage-collector"
	// ControllerNamespace empties namespaces that are being deleted.
	ControllerNamespace = "namespace"
	// ControllerClusterRoleAggregation fills in the rules of ClusterRoles that aggregate others. It works within the
	// writes of ClusterRoles: their answers come when all rules are in line. Those of the default policy are so from the start.
	ControllerClusterRoleAggregation = "clusterrole-aggregation"
)

// Controllers returns the names of the controllers that a server brings along.
func Controllers() []string {
	return []string{ControllerGarbageCollector, ControllerNamespace, ControllerClusterRoleAggregation}
}

// background are the controllers of a server at work.
type background struct {
	mu      sync.Mutex // held while controllers are started and stopped
	stopped bool
	// start starts the controllers, anew if they were there before.
	start   func() error
	cancel  context.CancelFunc
	running sync.WaitGroup
}

// begin starts the controllers.
func (b *background) begin(start func() error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.start = start
	return start()
}

// pause does something while no controller runs, and starts them anew, so that they know nothing of what was before.
func (b *background) pause(do func() error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.stopped {
		return ErrStopped
	}
	b.halt()
	return errors.Join(do(), b.start())
}

// stop ends the controllers for good and waits for them.
func (b *background) stop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stopped = true
	b.halt()
}

// halt ends the controllers and waits for them. The caller holds mu.
func (b *background) halt() {
	if b.cancel != nil {
		b.cancel()
	}
	b.running.Wait()
}

// startControllers starts the controllers that are not disabled, and what tells them of every object.
func (s *Server) startControllers(ctx context.Context, options Options, served storages, sch *scheme.Scheme, more ...objects.Handler) error {
	ctx, s.controllers.cancel = context.WithCancel(klog.NewContext(ctx, options.Logger))
	var handlers []objects.Handler
	if !slices.Contains(options.DisabledControllers, ControllerGarbageCollector) {
		mapper, err := newMapper(served, sch)
		if err != nil {
			return err
		}
		collector, err := gc.New(s.Config(), customMapper{RESTMapper: mapper, crds: s.crds, ctx: ctx})
		if err != nil {
			return err
		}
		handlers = append(handlers, collector)
		s.controllers.running.Go(func() { collector.Run(ctx) })
	}
	if !slices.Contains(options.DisabledControllers, ControllerNamespace) {
		resources := deletable(served)
		controller, err := namespace.New(s.Config(), func(ctx context.Context) ([]schema.GroupVersionResource, error) {
			return withCustom(ctx, s.crds, resources)
		})
		if err != nil {
			return err
		}
		handlers = append(handlers, controller)
		s.controllers.running.Go(func() { controller.Run(ctx) })
	}
	if len(handlers) > 0 || len(options.Etcd) > 0 { // the others need telling only of what other servers write
		handlers = append(handlers, more...)
		reader := objects.NewReader(s.store, options.EtcdPrefix+"/")
		s.controllers.running.Go(func() { reader.Run(ctx, handlers...) })
	}
	return nil
}

// newMapper returns which resource serves each kind.
func newMapper(served storages, sch *scheme.Scheme) (meta.RESTMapper, error) {
	mapper := meta.NewDefaultRESTMapper(nil)
	for version, resources := range served {
		for name, storage := range resources {
			scoper, ok := storage.(rest.Scoper)
			if !ok || strings.Contains(name, "/") {
				continue
			}
			kind, err := genericapi.GetResourceKind(version, storage, typer(version, sch))
			if err != nil {
				return nil, fmt.Errorf("finding the kind of %s: %w", version.WithResource(name), err)
			}
			singular := name
			if provider, ok := storage.(rest.SingularNameProvider); ok {
				singular = provider.GetSingularName()
			}
			scope := meta.RESTScopeRoot
			if scoper.NamespaceScoped() {
				scope = meta.RESTScopeNamespace
			}
			mapper.AddSpecific(kind, version.WithResource(name), version.WithResource(singular), scope)
		}
	}
	return mapper, nil
}

// typer knows the types of a version. Custom resource definitions have a scheme of their own.
func typer(version schema.GroupVersion, sch *scheme.Scheme) runtime.ObjectTyper {
	if version == crds.Version {
		return crds.Scheme()
	}
	return sch
}

// deletable returns the resources in namespaces that can be listed and deleted. Of two that share a storage, such as
// the events of two groups, both are there; emptying the second is no work.
func deletable(served storages) []schema.GroupVersionResource {
	var found []schema.GroupVersionResource
	for version, resources := range served {
		for name, storage := range resources {
			scoper, scoped := storage.(rest.Scoper)
			_, lists := storage.(rest.Lister)
			_, deletes := storage.(rest.CollectionDeleter)
			if scoped && scoper.NamespaceScoped() && lists && deletes && !strings.Contains(name, "/") {
				found = append(found, version.WithResource(name))
			}
		}
	}
	slices.SortFunc(found, func(a, b schema.GroupVersionResource) int { return strings.Compare(a.String(), b.String()) })
	return found
}
