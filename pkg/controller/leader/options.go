package leader

import (
	"crypto/rand"
	"fmt"
	"os"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/musterkube/muster/pkg/internal/check"
)

// The defaults of [Options], those of kube-controller-manager.
const (
	DefaultLeaseDuration = 15 * time.Second
	DefaultRenewDeadline = 10 * time.Second
	DefaultRetryPeriod   = 2 * time.Second
)

// Options says who is elected to what. Only Name has no default.
type Options struct {
	// Name is the name of the Lease, a DNS-1123 subdomain: all replicas of a controller share it, and different controllers
	// do not.
	Name string
	// Namespace is that of the Lease, which must exist. Default: kube-system.
	Namespace string
	// Identity is what the Lease knows this replica by; it must be its own. Default: the host name and a random text.
	Identity string
	// LeaseDuration is how long the others wait after the leader was last heard of. Default: [DefaultLeaseDuration].
	LeaseDuration time.Duration
	// RenewDeadline is how long the leader goes on without reaching the server; it must be less than LeaseDuration.
	// Default: [DefaultRenewDeadline].
	RenewDeadline time.Duration
	// RetryPeriod is how often the Lease is tried for and renewed; it must be less than RenewDeadline. Default:
	// [DefaultRetryPeriod].
	RetryPeriod time.Duration
}

// withDefaults returns o with each zero field filled in.
func (o Options) withDefaults() (Options, error) {
	if o.Namespace == "" {
		o.Namespace = metav1.NamespaceSystem
	}
	if err := o.check(); err != nil {
		return o, fmt.Errorf("electing a leader: %w", err)
	}
	if o.Identity == "" {
		host, err := os.Hostname()
		if err != nil {
			return o, fmt.Errorf("electing a leader: finding an identity: %w", err)
		}
		o.Identity = host + "_" + rand.Text()
	}
	for value, fallback := range map[*time.Duration]time.Duration{
		&o.LeaseDuration: DefaultLeaseDuration, &o.RenewDeadline: DefaultRenewDeadline, &o.RetryPeriod: DefaultRetryPeriod,
	} {
		if *value == 0 {
			*value = fallback
		}
	}
	return o, nil
}

// check returns what an API server would refuse about the Lease: the election itself would try for ever.
func (o Options) check() error {
	faults := check.Name(check.Option("Name"), o.Name, "name the Lease that the replicas share")
	return check.Error(append(faults, check.Namespace(check.Option("Namespace"), o.Namespace)...))
}
