package emulator

import (
	"slices"

	"k8s.io/utils/clock"

	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
	"github.com/musterkube/muster/pkg/emulator/internal/satoken"
)

// doorkeeper knows who sends requests, and what they may do.
type doorkeeper struct {
	authentication *authentication
	access         resource.Access
}

// newDoorkeeper returns the doorkeeper of a server over the store of getter.
func newDoorkeeper(options Options, getter restOptions) doorkeeper {
	issuer := satoken.New(clock.RealClock{})
	source := newPolicySource(getter)
	authorization := newAuthorization(options, source)
	who := doorkeeper{authentication: newAuthentication(options, issuer)}
	who.access = resource.Access{
		Authorizer:     authorization,
		Rules:          authorization,
		Policy:         source.Policy,
		Tokens:         who.authentication,
		Issuer:         issuer,
		KeepAggregated: slices.Contains(options.DisabledControllers, ControllerClusterRoleAggregation),
	}
	return who
}
