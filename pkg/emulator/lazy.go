package emulator

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	genericapi "k8s.io/apiserver/pkg/endpoints"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	genericapiserver "k8s.io/apiserver/pkg/server"

	"github.com/musterkube/muster/pkg/emulator/internal/discovery"
	"github.com/musterkube/muster/pkg/emulator/internal/patches"
)

// handlerChain builds what stands before the handler of a server.
type handlerChain = func(http.Handler, *genericapiserver.Config) http.Handler

// documents is what stands for discovery and OpenAPI among the names of groups.
const documents = "/"

// lazyResources installs the resources of a group with the first request for one of them, and the documents that
// describe all of them with the first request for one of those. Routes are most of what a start would cost, and few
// clients ask for more than some groups.
type lazyResources struct {
	installer installer
	served    storages
	shortcuts *patches.Shortcuts

	// ready has the names of groups that are installed.
	ready     sync.Map
	mu        sync.Mutex
	installed map[schema.GroupVersion][]apidiscoveryv2.APIResourceDiscovery
}

// newLazyResources returns the resources that are served, without any installed.
func newLazyResources(served storages) *lazyResources {
	l := &lazyResources{served: served, installed: map[schema.GroupVersion][]apidiscoveryv2.APIResourceDiscovery{}}
	l.shortcuts = patches.NewShortcuts(l.kindOf)
	return l
}

// by says what installs resources. Which of them are the same under two names, as events are, is told at once: webhooks
// and policies want to know before anybody has asked for both.
func (l *lazyResources) by(i installer) error {
	l.installer = i
	l.installer.shortcuts = l.shortcuts
	for version, resources := range l.served {
		for name, storage := range resources {
			kind, err := genericapi.GetResourceKind(version, storage, typer(version, i.scheme))
			if err != nil {
				return fmt.Errorf("finding the kind of %s: %w", version.WithResource(name), err)
			}
			resource, subresource, _ := strings.Cut(name, "/")
			i.server.EquivalentResourceRegistry.RegisterKindFor(version.WithResource(resource), subresource, kind)
		}
	}
	return nil
}

// behind returns the chain with the lazy resources behind it, right before the handler.
func (l *lazyResources) behind(chain handlerChain) handlerChain {
	return func(handler http.Handler, config *genericapiserver.Config) http.Handler {
		handler = l.shortcuts.Handler(handler)
		return chain(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if err := l.install(neededBy(r.URL.Path)); err != nil {
				responsewriters.InternalError(w, r, err)
				return
			}
			handler.ServeHTTP(w, r)
		}), config)
	}
}

// kindOf returns an empty object of the kind that a request is about, nil if it is about none of these resources.
func (l *lazyResources) kindOf(info *genericapirequest.RequestInfo) runtime.Object {
	name := info.Resource
	if info.Subresource != "" {
		name += "/" + info.Subresource
	}
	storage := l.served[schema.GroupVersion{Group: info.APIGroup, Version: info.APIVersion}][name]
	if storage == nil {
		return nil
	}
	return storage.New()
}

// neededBy returns the group that a path leads to, documents for those, and false for what is always there.
func neededBy(path string) (group string, needed bool) {
	root, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	first, rest, _ := strings.Cut(rest, "/")
	switch root {
	case "api":
		if first != "" {
			return "", true
		}
	case "apis":
		if version, _, _ := strings.Cut(rest, "/"); version != "" {
			return first, true
		}
	case "", "openapi":
	default:
		return "", false
	}
	return documents, true
}

// install installs a group or the documents, unless they are.
func (l *lazyResources) install(group string, needed bool) error {
	if _, ready := l.ready.Load(group); ready || !needed {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ready := l.ready.Load(group); ready {
		return nil
	}
	found, err := l.installNow(group)
	if err == nil && found {
		l.ready.Store(group, nil)
	}
	return err
}

// installNow reports whether there is such a group at all.
func (l *lazyResources) installNow(group string) (found bool, err error) {
	versions := slices.Collect(maps.Keys(l.served))
	discovery.Sort(versions)
	for _, version := range versions {
		if version.Group != group && group != documents {
			continue
		}
		found = true
		if _, before := l.installed[version]; before {
			continue
		}
		if l.installed[version], err = l.installer.installVersion(version, l.served); err != nil {
			delete(l.installed, version)
			return true, fmt.Errorf("installing the resources of a group on demand: %w", err)
		}
	}
	if group != documents {
		return found, nil
	}
	return true, l.installer.installDocuments(versions, l.installed)
}
