package emulator

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	genericapi "k8s.io/apiserver/pkg/endpoints"
	apidiscovery "k8s.io/apiserver/pkg/endpoints/discovery"
	"k8s.io/apiserver/pkg/endpoints/discovery/aggregated"
	"k8s.io/apiserver/pkg/endpoints/handlers/negotiation"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"

	"github.com/musterkube/muster/pkg/emulator/internal/crds"
	"github.com/musterkube/muster/pkg/emulator/internal/discovery"
	"github.com/musterkube/muster/pkg/emulator/internal/openapi"
	"github.com/musterkube/muster/pkg/emulator/internal/patches"
	"github.com/musterkube/muster/pkg/emulator/internal/scheme"
	"github.com/musterkube/muster/pkg/emulator/internal/stack"
)

const (
	legacyRoot = "/api"
	groupsRoot = "/apis"
)

// storages are the resources that are served: by version, then by name, subresources as name/subresource.
type storages = map[schema.GroupVersion]map[string]rest.Storage

// destroy frees what the storages hold.
func destroy(served storages) {
	for _, resources := range served {
		for _, resource := range resources {
			resource.Destroy()
		}
	}
}

// installer puts resources and their discovery onto a server. genericapiserver.InstallAPIGroups would do that, but it
// builds the OpenAPI schemas of every group on the spot, which takes several times as long as all the rest of a start.
type installer struct {
	server *genericapiserver.GenericAPIServer
	config *genericapiserver.RecommendedConfig
	scheme *scheme.Scheme
	crds   *crds.Server
	// shortcuts are those of the requests that come to the resources.
	shortcuts *patches.Shortcuts
}

// installDocuments serves what describes the versions, which are in the order of discovery and have these resources.
func (i installer) installDocuments(versions []schema.GroupVersion, resources map[schema.GroupVersion][]apidiscoveryv2.APIResourceDiscovery) error {
	var legacy, groups []discovery.Group
	for _, version := range versions {
		list := &groups
		if version.Group == "" {
			list = &legacy
		}
		if last := len(*list) - 1; last < 0 || (*list)[last].Name != version.Group {
			*list = append(*list, discovery.Group{Name: version.Group})
		}
		group := &(*list)[len(*list)-1]
		group.Versions = append(group.Versions, apidiscoveryv2.APIVersionDiscovery{
			Version:   version.Version,
			Freshness: apidiscoveryv2.DiscoveryFreshnessCurrent,
			Resources: resources[version],
		})
	}
	if err := i.installDiscovery(legacy, groups); err != nil {
		return err
	}
	if err := openapi.Install(i.server.Handler.GoRestfulContainer.RegisteredWebServices(), i.server.Handler.NonGoRestfulMux, i.customDocuments); err != nil {
		return err
	}
	return nil
}

// installVersion installs the resources of one version and returns what discovery says of them.
func (i installer) installVersion(version schema.GroupVersion, served storages) ([]apidiscoveryv2.APIResourceDiscovery, error) {
	root := groupsRoot
	if version.Group == "" {
		root = legacyRoot
	}
	api := &genericapi.APIGroupVersion{
		Storage:                     served[version],
		Root:                        root,
		GroupVersion:                version,
		AllServedVersionsByResource: servedVersions(version.Group, served),
		OptionsExternalVersion:      &schema.GroupVersion{Version: "v1"},
		Namer:                       runtime.Namer(meta.NewAccessor()),
		TypeConverter:               i.shortcuts.Converter(openapi.TypeConverter(version.Group)),
		EquivalentResourceRegistry:  i.server.EquivalentResourceRegistry,
		Authorizer:                  i.server.Authorizer,
		Admit:                       i.config.AdmissionControl,
		MinRequestTimeout:           time.Duration(i.config.MinRequestTimeout) * time.Second,
		MaxRequestBodyBytes:         i.config.MaxRequestBodyBytes,
	}
	i.setCodecs(api)
	resources, _, err := api.InstallREST(i.server.Handler.GoRestfulContainer)
	if err != nil {
		return nil, fmt.Errorf("installing %s: %w", version, err)
	}
	return resources, nil
}

// setCodecs sets how the objects of a version are read, written and converted. Custom resource definitions have internal
// types and a scheme of their own.
func (i installer) setCodecs(api *genericapi.APIGroupVersion) {
	types := i.scheme.Scheme
	api.Serializer, api.ParameterCodec = i.scheme.Serializer, i.scheme.ParameterCodec
	api.Convertor, api.UnsafeConvertor = hubConvertor{i.scheme}, leanConvertor{runtime.UnsafeObjectConvertor(types)}
	if api.GroupVersion == crds.Version {
		types = crds.Scheme()
		api.Serializer, api.ParameterCodec = crds.Serializer(), metav1.ParameterCodec
		api.Convertor, api.UnsafeConvertor = types, runtime.UnsafeObjectConvertor(types)
	}
	api.Typer, api.Creater, api.ConvertabilityChecker, api.Defaulter = types, roomyCreater{types}, types, types
}

// roomyCreater makes the empty object that a create begins with. It is the first that the goroutine does which the library
// starts for a write, and which goes as deep as the request.
type roomyCreater struct{ runtime.ObjectCreater }

// New implements runtime.ObjectCreater.
func (c roomyCreater) New(kind schema.GroupVersionKind) (runtime.Object, error) {
	stack.Reserve()
	return c.ObjectCreater.New(kind)
}

// servedVersions says in which versions each resource of a group is served.
func servedVersions(group string, served storages) map[string][]string {
	versions := map[string][]string{}
	for version, resources := range served {
		if version.Group != group {
			continue
		}
		for name := range resources {
			versions[name] = append(versions[name], version.String())
		}
	}
	for _, list := range versions {
		slices.Sort(list)
	}
	return versions
}

// installDiscovery serves /api, /apis and /apis/GROUP, the first two also as one aggregated document each.
func (i installer) installDiscovery(legacy, groups []discovery.Group) error {
	container := i.server.Handler.GoRestfulContainer
	for _, group := range groups {
		container.Add(apidiscovery.NewAPIGroupHandler(i.server.Serializer, group.Describe()).WebService())
	}
	api, err := discovery.New(legacy, nil)
	if err != nil {
		return fmt.Errorf("serving %s: %w", legacyRoot, err)
	}
	apis, err := discovery.New(groups, i.customGroups)
	if err != nil {
		return fmt.Errorf("serving %s: %w", groupsRoot, err)
	}
	plain := apidiscovery.NewLegacyRootAPIHandler(i.config.DiscoveryAddresses, i.server.Serializer, legacyRoot)
	container.Add(aggregated.WrapAggregatedDiscoveryToHandler(plain, api, api).GenerateWebService(legacyRoot, metav1.APIVersions{}))
	list := i.groupList(apis)
	container.Add(aggregated.WrapAggregatedDiscoveryToHandler(list, apis, apis).GenerateWebService(groupsRoot, metav1.APIGroupList{}))
	return nil
}

// customGroups tells of the groups of custom resources.
func (i installer) customGroups(r *http.Request) ([]discovery.Group, error) {
	view, err := i.crds.View(r.Context())
	if view == nil {
		return nil, err
	}
	return view.Groups, nil
}

// customDocuments tells of the OpenAPI documents of custom resources.
func (i installer) customDocuments(r *http.Request) (*openapi.Documents, error) {
	view, err := i.crds.View(r.Context())
	if view == nil {
		return nil, err
	}
	return view.Documents, nil
}

// groupList serves the plain /apis. The library's own handler leaves the version of the list out, for the sake of clients
// of Kubernetes 1.1; the aggregator of a kube-apiserver, which answers in its place, does not.
func (i installer) groupList(document *discovery.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		list := &metav1.APIGroupList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "APIGroupList"}}
		groups, err := document.Groups(r)
		if err != nil {
			responsewriters.InternalError(w, r, err)
			return
		}
		for _, group := range groups {
			list.Groups = append(list.Groups, group.Describe())
		}
		responsewriters.WriteObjectNegotiated(i.server.Serializer, negotiation.DefaultEndpointRestrictions, schema.GroupVersion{}, w, r,
			http.StatusOK, list, false)
	})
}
