package emulator

import (
	"fmt"
	"net/url"

	"k8s.io/apiserver/pkg/util/webhook"
)

// serviceResolver returns where the services are that webhooks name. There are none: a webhook has to be named by its URL.
func serviceResolver(Options) webhook.ServiceResolver { return noServices{} }

// webhookAuthentication returns how the server shows webhooks who it is: not at all, as a kube-apiserver by default.
func webhookAuthentication(Options) webhook.AuthenticationInfoResolverWrapper {
	return func(anonymous webhook.AuthenticationInfoResolver) webhook.AuthenticationInfoResolver {
		return anonymous
	}
}

type noServices struct{}

// ResolveEndpoint implements webhook.ServiceResolver.
func (noServices) ResolveEndpoint(namespace, name string, port int32) (*url.URL, error) {
	return nil, fmt.Errorf("service %s/%s, port %d: the API server emulator has no network of services; name the webhook by its URL", namespace, name, port)
}
