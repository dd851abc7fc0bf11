package routing

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/emicklei/go-restful/v3"
	"k8s.io/apiserver/pkg/endpoints/request"
)

// limit is how many kinds of requests are remembered. Clients that are well-behaved send fewer; media types are theirs to
// choose, however.
const limit = 10_000

// longest is how long the media types of a request may be together to be remembered: a header may have a megabyte.
const longest = 1 << 10

// Router is a selector of routes with a memory. The routes must only ever grow in number, each version with all of its
// resources at once, and have names nowhere but in the place of parameters: what APIInstaller makes.
type Router struct {
	restful.RouteSelector
	// known holds the found of each shape that was asked for before.
	known sync.Map
	count atomic.Int64
}

// shape is what the route of a request depends on.
type shape struct {
	method, contentType, accept                   string
	prefix, group, version, resource, subresource string
	namespaced, named                             bool
}

type found struct {
	service *restful.WebService
	route   *restful.Route
}

// New returns a router that asks selector for what it does not know.
func New(selector restful.RouteSelector) *Router { return &Router{RouteSelector: selector} }

// SelectRoute implements restful.RouteSelector.
func (r *Router) SelectRoute(services []*restful.WebService, req *http.Request) (*restful.WebService, *restful.Route, error) {
	of, ordinary := shapeOf(req)
	if !ordinary {
		return r.RouteSelector.SelectRoute(services, req)
	}
	if known, ok := r.known.Load(of); ok {
		return known.(found).service, known.(found).route, nil
	}
	service, route, err := r.RouteSelector.SelectRoute(services, req)
	if err == nil && r.count.Load() < limit {
		if _, before := r.known.LoadOrStore(of, found{service, route}); !before {
			r.count.Add(1)
		}
	}
	return service, route, err
}

// shapeOf returns the shape of a request for a resource, false for other requests, and for paths that are made up of more
// than that: what is behind a proxy, the watches of old.
func shapeOf(req *http.Request) (shape, bool) {
	info, ok := request.RequestInfoFrom(req.Context())
	if !ok || !info.IsResourceRequest || len(info.Parts) > 3 || len(req.Header["Accept"]) > 1 || len(req.Header["Content-Type"]) > 1 {
		return shape{}, false
	}
	of := shape{
		method: req.Method, contentType: req.Header.Get("Content-Type"), accept: req.Header.Get("Accept"),
		prefix: info.APIPrefix, group: info.APIGroup, version: info.APIVersion, resource: info.Resource, subresource: info.Subresource,
		namespaced: info.Namespace != "" && info.Resource != "namespaces", named: info.Name != "",
	}
	if len(of.contentType)+len(of.accept) > longest {
		return shape{}, false
	}
	elements := 2 + len(info.Parts) // such as api/v1, and pods/p/status
	if info.APIGroup != "" {
		elements++
	}
	if of.namespaced {
		elements += 2
	}
	return of, strings.Count(req.URL.Path, "/") == elements && len(info.Parts) == parts(of)
}

// parts returns how many elements of the path say what a request of a shape is about.
func parts(of shape) int {
	switch {
	case of.subresource != "":
		return 3
	case of.named:
		return 2
	}
	return 1
}
