package emulator

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"

	"github.com/go-logr/logr"

	"github.com/musterkube/muster/pkg/features"
)

// Options are the choices a server is started with. The zero value works.
type Options struct {
	// Gates says which feature gates of Kubernetes 1.36 are on. The zero value has all six on. Without GenericWorkload
	// scheduling.k8s.io/v1alpha2 is not served.
	Gates features.Gates

	// Token is the bearer token of the cluster administrator, who may do everything; there is no other user. The
	// default is a random one for each server. It must not contain white space. Server.Config and
	// Server.WriteKubeconfig have it.
	Token string

	// DisabledAdmission names admission plugins to leave out, as --disable-admission-plugins of a kube-apiserver does:
	// NamespaceLifecycle, TaintNodesByCondition, Priority, DefaultTolerationSeconds, RuntimeClass, PodGroupProtection,
	// PodTopologyLabels, PodGroupWorkloadExists, JobValidation. The default is none.
	DisabledAdmission []string

	// DisabledControllers names controllers to leave out: [ControllerGarbageCollector], [ControllerNamespace]. Without
	// them the server is like a kube-apiserver alone: dependents of a deleted owner stay, an object that is deleted in the
	// foreground or with orphaning waits for ever, as does a deleted namespace. The default is none.
	DisabledControllers []string

	// Etcd are the endpoints of an etcd cluster to keep the objects in, in place of this process's memory. That is not
	// built yet: Start refuses any.
	Etcd []string

	// Logger gets what the server has to say of requests, at the verbosities of Kubernetes. The default is the logger
	// in the context of Start (logr.NewContext), and with none there, silence. See the package's documentation on what
	// the libraries below log elsewhere.
	Logger logr.Logger
}

// complete checks the options and fills in the defaults.
func (o Options) complete(ctx context.Context) (Options, error) {
	if err := o.Gates.Validate(); err != nil {
		return o, err
	}
	if err := checkControllers(o.DisabledControllers); err != nil {
		return o, err
	}
	if len(o.Etcd) > 0 {
		return o, errors.New("options: Etcd: keeping objects in an etcd cluster is not built yet; leave it empty to keep them in memory")
	}
	if strings.ContainsAny(o.Token, " \t\r\n") {
		return o, errors.New("options: Token: must not contain white space")
	}
	if o.Token == "" {
		o.Token = rand.Text()
	}
	if o.Logger.IsZero() {
		logger, err := logr.FromContext(ctx)
		if err != nil {
			logger = logr.Discard()
		}
		o.Logger = logger
	}
	return o, nil
}

// String leaves the token out, so that options can be printed.
func (o Options) String() string {
	return fmt.Sprintf("gates %s", o.Gates)
}
