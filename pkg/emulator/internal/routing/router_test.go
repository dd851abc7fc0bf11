package routing_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/emicklei/go-restful/v3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/request"

	"github.com/musterkube/muster/pkg/emulator/internal/routing"
)

// services are what APIInstaller makes of some resources.
func services() []*restful.WebService {
	nothing := func(*restful.Request, *restful.Response) {}
	core, batch := new(restful.WebService).Path("/api/v1"), new(restful.WebService).Path("/apis/batch/v1")
	for _, service := range []*restful.WebService{core, batch} {
		service.Consumes("*/*").Produces("application/json", "application/yaml")
		for _, path := range []string{
			"/namespaces", "/namespaces/{name}", "/namespaces/{name}/status", "/nodes", "/nodes/{name}", "/nodes/{name}/status",
			"/pods", "/namespaces/{namespace}/pods", "/namespaces/{namespace}/pods/{name}", "/namespaces/{namespace}/pods/{name}/status",
			"/namespaces/{namespace}/pods/{name}/proxy", "/namespaces/{namespace}/pods/{name}/proxy/{path:*}",
			"/watch/pods", "/watch/namespaces/{namespace}/pods", "/watch/namespaces/{namespace}/pods/{name}", "/watch/nodes/{name}",
		} {
			service.Route(service.GET(path).To(nothing))
			service.Route(service.POST(path).To(nothing))
			service.Route(service.PATCH(path).To(nothing).Consumes("application/merge-patch+json", "application/json-patch+json"))
		}
	}
	return []*restful.WebService{core, batch}
}

// counting counts the questions to what it wraps.
type counting struct {
	restful.RouteSelector
	asked int
}

func (c *counting) SelectRoute(services []*restful.WebService, r *http.Request) (*restful.WebService, *restful.Route, error) {
	c.asked++
	return c.RouteSelector.SelectRoute(services, r)
}

func newRequest(t *testing.T, method, path string, header http.Header) *http.Request {
	t.Helper()
	r := httptest.NewRequest(method, path, nil)
	r.Header = header
	resolver := &request.RequestInfoFactory{APIPrefixes: sets.NewString("apis", "api"), GrouplessAPIPrefixes: sets.NewString("api")}
	info, err := resolver.NewRequestInfo(r)
	if err != nil {
		return nil // an answer to such a path has been given before it comes to routes
	}
	return r.WithContext(request.WithRequestInfo(r.Context(), info))
}

// TestRoutesAreThoseOfGoRestful asks for routes in several orders, with names that are also words of paths.
func TestRoutesAreThoseOfGoRestful(t *testing.T) {
	served := services()
	names := []string{"a", "pods", "status", "watch", "namespaces", "proxy", "nodes", "api", "v1", "", "a:b", "{name}"}
	var paths []string
	for _, root := range []string{"/api/v1", "/apis/batch/v1", "/apis/batch/v2", "/api/v1/watch", "/apis/batch"} {
		for _, a := range names {
			paths = append(paths, root+"/nodes/"+a, root+"/namespaces/"+a, root+"/nodes/"+a+"/status", root+"/namespaces/"+a+"/status",
				root+"/namespaces/"+a+"/pods", root+"/"+a, root+"/pods?fieldSelector=metadata.name%3D"+a)
			for _, b := range names {
				pod := root + "/namespaces/" + a + "/pods/" + b
				paths = append(paths, pod, pod+"/", pod+"/status", pod+"/status/", pod+"/proxy", pod+"/proxy/"+a, pod+"/proxy/x/"+b, root+"/"+a+"/"+b)
			}
		}
	}
	headers := []http.Header{
		{},
		{"Accept": {"application/json"}, "Content-Type": {"application/json"}},
		{"Accept": {"application/xml"}, "Content-Type": {"application/merge-patch+json"}},
		{"Accept": {"application/json", "text/plain"}, "Content-Type": {"text/plain"}},
	}
	router := routing.New(restful.CurlyRouter{})
	for range 2 {
		for _, path := range paths {
			for _, header := range headers {
				for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPatch, http.MethodPut} {
					r := newRequest(t, method, path, header)
					if r == nil {
						continue
					}
					wantService, want, wantErr := restful.CurlyRouter{}.SelectRoute(served, r)
					service, route, err := router.SelectRoute(served, r)
					at := method + " " + path
					require.Equal(t, wantErr, err, at)
					require.Same(t, wantService, service, at)
					if want == nil {
						require.Nil(t, route, at)
						continue
					}
					require.Equal(t, want.Path, route.Path, at)
					require.Equal(t, want.Method, route.Method, at)
				}
			}
		}
	}
}

func TestRoutesAreFoundOnce(t *testing.T) {
	served := services()
	asked := &counting{RouteSelector: restful.CurlyRouter{}}
	router := routing.New(asked)
	find := func(path string) {
		t.Helper()
		_, _, err := router.SelectRoute(served, newRequest(t, http.MethodGet, path, http.Header{}))
		require.NoError(t, err)
	}
	find("/api/v1/namespaces/a/pods/b")
	find("/api/v1/namespaces/c/pods/d")
	assert.Equal(t, 1, asked.asked)
	find("/api/v1/namespaces/c/pods/d/status")
	find("/api/v1/namespaces/c/pods")
	assert.Equal(t, 3, asked.asked)
	find("/api/v1/namespaces/c/pods/d/proxy/x")
	find("/api/v1/namespaces/c/pods/d/proxy/x")
	assert.Equal(t, 5, asked.asked, "what comes after a proxy has no shape")
}

func TestLongHeadersAreNotKept(t *testing.T) {
	served := services()
	for _, name := range []string{"Accept", "Content-Type"} {
		asked := &counting{RouteSelector: restful.CurlyRouter{}}
		router := routing.New(asked)
		for range 2 {
			header := http.Header{name: {"application/json, " + strings.Repeat("x", 1<<10)}}
			_, _, err := router.SelectRoute(served, newRequest(t, http.MethodGet, "/api/v1/namespaces/a/pods/b", header))
			require.NoError(t, err)
		}
		assert.Equal(t, 2, asked.asked, name)
	}
}

func BenchmarkSelectRoute(b *testing.B) {
	served := services()
	resolver := &request.RequestInfoFactory{APIPrefixes: sets.NewString("apis", "api"), GrouplessAPIPrefixes: sets.NewString("api")}
	r := httptest.NewRequest(http.MethodGet, "/api/v1/namespaces/a/pods/b/status", nil)
	info, err := resolver.NewRequestInfo(r)
	require.NoError(b, err)
	r = r.WithContext(request.WithRequestInfo(r.Context(), info))
	for name, router := range map[string]restful.RouteSelector{"with memory": routing.New(restful.CurlyRouter{}), "go-restful": restful.CurlyRouter{}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, _, err := router.SelectRoute(served, r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
