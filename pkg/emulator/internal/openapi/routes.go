package openapi

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"slices"
	"strings"

	"github.com/emicklei/go-restful/v3"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/common/restfuladapter"
)

// service is what documents need to know of a web service. It holds no handlers, and so no server: documents outlive
// the server that was first asked for them.
type service struct {
	root       string
	parameters []common.Parameter
	routes     []common.Route
}

var _ common.RouteContainer = service{}

func (s service) RootPath() string                   { return s.root }
func (s service) PathParameters() []common.Parameter { return s.parameters }
func (s service) Routes() []common.Route             { return s.routes }

// withoutHandlers copies the web services.
func withoutHandlers(webServices []*restful.WebService) []service {
	services := make([]service, 0, len(webServices))
	for _, webService := range webServices {
		adapted := restfuladapter.AdaptWebServices([]*restful.WebService{webService})[0]
		s := service{root: webService.RootPath(), parameters: adapted.PathParameters()}
		for _, route := range webService.Routes() {
			route.Function, route.Filters, route.If = nil, nil, nil
			s.routes = append(s.routes, &restfuladapter.RouteAdapter{Route: &route})
		}
		services = append(services, s)
	}
	return services
}

// fingerprint tells sets of routes apart.
func fingerprint(services []service) string {
	var routes []string
	for _, s := range services {
		for _, route := range s.routes {
			routes = append(routes, route.Method()+" "+route.Path())
		}
	}
	slices.Sort(routes)
	hash := sha256.New()
	_, _ = io.WriteString(hash, strings.Join(routes, "\n"))
	return hex.EncodeToString(hash.Sum(nil))
}

// containers is the form in which the builders take services.
func containers(services []service) []common.RouteContainer {
	all := make([]common.RouteContainer, len(services))
	for i, s := range services {
		all[i] = s
	}
	return all
}
