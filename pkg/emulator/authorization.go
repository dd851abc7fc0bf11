package emulator

import (
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/musterkube/muster/pkg/emulator/internal/access"
)

// newAuthorization returns who may do what: what roles and bindings say, or, without RBAC, everything for whom the
// server knows.
func newAuthorization(options Options, source *access.Source) access.Authorizer {
	if options.RBAC {
		return access.NewRBAC(source)
	}
	names := map[string]bool{administratorName: true}
	for _, named := range options.Tokens {
		names[named.Name] = true
	}
	return access.NewOpen(func(who user.Info) bool {
		return names[who.GetName()] || strings.HasPrefix(who.GetName(), serviceaccount.ServiceAccountUsernamePrefix)
	})
}

// newPolicySource returns what reads roles and bindings from the store.
func newPolicySource(getter restOptions) *access.Source {
	return access.NewSource(getter.client, getter.scheme.StorageCodec(rbacv1.SchemeGroupVersion), keyPrefix)
}
