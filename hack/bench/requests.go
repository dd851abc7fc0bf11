package main

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"k8s.io/client-go/rest"
)

// request is a kind of request: who sends it, the verb, and the resource with its subresource.
type request struct{ client, verb, resource string }

// requests counts requests where they leave their clients.
type requests struct {
	mu    sync.Mutex
	count map[request]int
}

func newRequests() *requests { return &requests{count: map[request]int{}} }

// of returns a copy of cfg for a client of that name, whose requests are counted.
func (r *requests) of(client string, cfg *rest.Config) *rest.Config {
	cfg = rest.CopyConfig(cfg)
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(sent *http.Request) (*http.Response, error) {
			r.add(client, sent)
			return next.RoundTrip(sent)
		})
	})
	return cfg
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func (r *requests) add(client string, sent *http.Request) {
	kind := request{client, verbOf(sent), resourceOf(sent.URL.Path)}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count[kind]++
}

// verbOf is the verb of a request as RBAC has it, where reading one object and many is the same.
func verbOf(sent *http.Request) string {
	switch sent.Method {
	case http.MethodPost:
		return "create"
	case http.MethodPut:
		return "update"
	case http.MethodGet:
		return "read"
	default:
		return strings.ToLower(sent.Method)
	}
}

// resourceOf finds the resource in a path such as /apis/batch/v1/namespaces/a/jobs/b/status, here jobs/status.
func resourceOf(path string) string {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	prefix := 2 // api, version
	if parts[0] == "apis" {
		prefix = 3 // apis, group, version
	}
	parts = parts[min(prefix, len(parts)):]
	if len(parts) > 2 && parts[0] == "namespaces" && parts[2] != "status" && parts[2] != "finalize" {
		parts = parts[2:]
	}
	switch {
	case len(parts) == 0:
		return "discovery"
	case len(parts) > 2:
		return parts[0] + "/" + strings.Join(parts[2:], "/")
	default:
		return parts[0]
	}
}

// writes returns the requests that change something and how many there were of each, the most frequent first.
func (r *requests) writes() (kinds []request, count map[request]int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	count = maps.Clone(r.count)
	maps.DeleteFunc(count, func(kind request, _ int) bool { return kind.verb == "read" })
	kinds = slices.SortedFunc(maps.Keys(count), func(a, b request) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), strings.Compare(a.resource, b.resource), strings.Compare(a.verb, b.verb),
			strings.Compare(a.client, b.client))
	})
	return kinds, count
}
