package emulator

import (
	"github.com/emicklei/go-restful/v3"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/admission"
	genericapiserver "k8s.io/apiserver/pkg/server"
	genericfilters "k8s.io/apiserver/pkg/server/filters"
	"k8s.io/apiserver/pkg/server/healthz"
	"k8s.io/client-go/rest"

	"github.com/musterkube/muster/pkg/emulator/internal/crds"
	"github.com/musterkube/muster/pkg/emulator/internal/drain"
	"github.com/musterkube/muster/pkg/emulator/internal/routing"
)

// serverName is how the server calls itself in errors of the libraries.
const serverName = "emulator"

// externalAddress is what the server would tell clients to be its address in the legacy discovery document. Nobody
// listens there, and no client looks.
const externalAddress = "127.0.0.1:443"

// newGenericConfig is the configuration of the library's server: everything off that starts a goroutine, is global to
// the process or builds something that may never be asked for.
func newGenericConfig(options Options, getter restOptions, admit admission.Interface, who doorkeeper, requests *drain.Drain) *genericapiserver.RecommendedConfig {
	config := genericapiserver.NewRecommendedConfig(getter.scheme.Codecs)
	config.ExternalAddress = externalAddress
	config.EffectiveVersion = newEffectiveVersion()
	config.RESTOptionsGetter = getter
	config.AdmissionControl = admit
	config.Authentication.Authenticator = who.authentication
	config.Authorization.Authorizer = who.access.Authorizer
	// Required by the library, used by nothing here. With a token in it, the library would let a second user in.
	config.LoopbackClientConfig = &rest.Config{Host: serverHost}

	config.BuildHandlerChainFunc = chain(options.Logger, requests)
	config.LongRunningFunc = genericfilters.BasicLongRunningRequestCheck(
		sets.NewString("watch", "proxy"), sets.NewString("attach", "exec", "proxy", "log", "portforward"))

	// The library's own check "log" leaves a goroutine behind for the rest of the process.
	checks := []healthz.HealthChecker{healthz.PingHealthz, healthz.NamedCheck("etcd", getter.healthy)}
	config.HealthzChecks, config.LivezChecks, config.ReadyzChecks = checks, checks, checks

	config.EnableDiscovery = false // installed with the resources, see installDiscovery
	config.SkipOpenAPIInstallation = true
	config.EnableProfiling = false
	config.EnableMetrics = false
	config.StorageObjectCountTracker = nil
	config.DisabledPostStartHooks.Insert("max-in-flight-filter")
	return config
}

// newGenericServer makes the library's server. What it does not serve is for custom resources.
func newGenericServer(config *genericapiserver.RecommendedConfig, custom *crds.Server) (*genericapiserver.GenericAPIServer, error) {
	server, err := config.Complete().New(serverName, delegate{genericapiserver.NewEmptyDelegateWithCustomHandler(custom), custom})
	if err == nil {
		server.Handler.GoRestfulContainer.Router(routing.New(restful.CurlyRouter{}))
	}
	return server, err
}

// delegate is the library's, with the paths of custom resources in the list at /.
type delegate struct {
	genericapiserver.DelegationTarget
	custom *crds.Server
}

// ListedPaths implements genericapiserver.DelegationTarget.
func (d delegate) ListedPaths() []string { return d.custom.Paths() }
