package emulator

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"fmt"
	"io"
	"maps"
	"net/http"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/musterkube/muster/pkg/features"
)

// Options are the choices a server is started with. The zero value works. [Options.Validate] says what makes no sense.
type Options struct {
	// Gates says which feature gates of Kubernetes 1.36 are on. The zero value has all six on. Without GenericWorkload
	// scheduling.k8s.io/v1alpha2 is not served.
	Gates features.Gates

	// Token is the bearer token of the cluster administrator, who may do everything. The default is a random one for
	// each server. It must not contain white space. Server.Config and Server.WriteKubeconfig have it.
	Token string

	// Tokens names other users by their bearer tokens, as --token-auth-file of a kube-apiserver does. Tokens and names
	// must not contain white space, and no two be for the same name. What the users may do depends on RBAC.
	// Server.ConfigFor and Server.WriteKubeconfigFor have the tokens. The default is no other user.
	Tokens map[string]User

	// RBAC makes roles and bindings of rbac.authorization.k8s.io/v1 decide what anybody may do, the group
	// system:masters aside, to which the administrator belongs; it is --authorization-mode=RBAC of a kube-apiserver. The
	// roles and bindings of its default policy, such as edit and view, are there from the start then.
	//
	// The default is off: users of Tokens and ServiceAccounts may do everything, as with AlwaysAllow, and others, who
	// exist by impersonation only, may read what the server offers and nothing else.
	RBAC bool

	// ListenBeyondLoopback lets Server.Listen open doors that other machines can reach. Whoever has a token of this
	// server can come in there, and all that it holds travels over that network. The default is off: loopback only.
	ListenBeyondLoopback bool

	// DisabledAdmission names admission plugins to leave out, as --disable-admission-plugins of a kube-apiserver does:
	// NamespaceLifecycle, TaintNodesByCondition, Priority, DefaultTolerationSeconds, RuntimeClass, CertificateApproval,
	// CertificateSigning, CertificateSubjectRestriction, PodGroupProtection, PodTopologyLabels, PodGroupWorkloadExists,
	// JobValidation, MutatingAdmissionPolicy, MutatingAdmissionWebhook, ValidatingAdmissionPolicy, ValidatingAdmissionWebhook. The default is none.
	DisabledAdmission []string

	// TolerationSeconds is for how long pods that do not say otherwise stay on a node that is not ready or not reachable, as
	// --default-not-ready-toleration-seconds and --default-unreachable-toleration-seconds of a kube-apiserver say. It must
	// not be negative. The default is 300.
	TolerationSeconds *int64

	// Services has handlers in the place of Services that the server calls: webhooks whose clientConfig has a service
	// rather than a URL. The key is namespace/name, for all ports, or namespace/name:port, which goes first; the port of a
	// webhook is 443 if it does not say. No socket is opened, so that such calls work within a testing/synctest bubble,
	// and no certificate is needed; a caBundle must be well-formed, and is otherwise not looked at. What the handler does
	// that needs the server, such as making a client of it, can wait for [Server.HandleService]. Stop cancels the contexts
	// of calls under way and waits for the handlers to return. The default is none, and then a webhook at a service fails,
	// as one at a service that does not exist.
	Services map[string]http.Handler

	// DisabledControllers names controllers to leave out: [ControllerGarbageCollector], [ControllerNamespace],
	// [ControllerClusterRoleAggregation]. Without them the server is like a kube-apiserver alone: dependents of a deleted
	// owner stay, an object that is deleted in the
	// foreground or with orphaning waits for ever, as does a deleted namespace. The default is none.
	DisabledControllers []string

	// Logs has what containers write: it answers for the kubelets that a kube-apiserver would ask when somebody reads
	// pods/log. The default is nobody, and then reading the log of a container is an error.
	Logs LogSource

	// CRDs are CustomResourceDefinitions to install, and CRDPaths are files and folders to read more from, as [ReadCRDs]
	// does. When Start returns they are established and their objects are served. The default is none; clients may create
	// them at any time.
	CRDs     []*apiextensionsv1.CustomResourceDefinition
	CRDPaths []string

	// History bounds what the server remembers beside the present. The default keeps 50,000 changes or 128 MiB of them.
	History History

	// Restore is a state for the server to begin with, with all resource versions as they were. Any number of servers
	// may begin with one. One that [Server.Snapshot] or [ReadSnapshot] has not made is an error. The default is an empty
	// server.
	Restore *Snapshot

	// Etcd are the endpoints of an etcd cluster, such as http://127.0.0.1:2379, to keep the objects in, in place of this
	// process's memory. They outlive the server then, and several servers may work on them at once, in one process or
	// many: each sees what the others write. Versions from 3.5 on will do. Start waits ten seconds for an answer, or
	// until its context ends. Snapshots are not to be had of such a server, it needs the network, and so it cannot run in
	// a testing/synctest bubble; etcd's own client keeps what waits for a slow watcher, without the bounds of History. The
	// default is memory.
	Etcd []string
	// EtcdTLS is what to reach the endpoints with if they begin with https: the authority that signed their
	// certificates, and the client's own. The default trusts what the machine trusts.
	EtcdTLS *tls.Config
	// EtcdPrefix is what the keys in etcd begin with, as with --etcd-prefix of a kube-apiserver: servers with
	// different ones share the cluster but no objects. The default is /registry.
	EtcdPrefix string

	// WrapHandler, if set, is called once, by Start, with the server as a handler, and returns what takes its place:
	// every request passes through it, whether it comes by Config, Handler or Listen. It is for watching what is asked
	// and for answering in the server's place, with an error for instance. A handler that passes another
	// http.ResponseWriter on must keep its http.Flusher and http.CloseNotifier, or watches fail. It must not return nil.
	// The default is the server itself.
	WrapHandler func(http.Handler) http.Handler

	// Logger gets what the server has to say of requests, at the verbosities of Kubernetes. The default is the logger
	// in the context of Start (logr.NewContext), and with none there, silence. See the package's documentation on what
	// the libraries below log elsewhere.
	Logger logr.Logger
}

// LogSource has what containers write. A kubelet of pkg/kubelet is one.
type LogSource interface {
	// ContainerLogs returns the log of one container of pod: options.Container, which is never empty and one that pod has.
	// The other options have been checked, and are for the source to heed. The server closes what it gets, and ctx ends
	// with the request.
	//
	// The message of an error is the answer to the client, with the code 400, as that of a kubelet is; an
	// apierrors.APIStatus is answered as it is.
	ContainerLogs(ctx context.Context, pod *corev1.Pod, options *corev1.PodLogOptions) (io.ReadCloser, error)
}

// complete checks the options and fills in the defaults.
func (o Options) complete(ctx context.Context) (Options, error) {
	if err := o.Validate(); err != nil {
		return o, err
	}
	o = o.completeStore()
	if o.Token == "" {
		o.Token = rand.Text()
	}
	o.Tokens = maps.Clone(o.Tokens)
	if o.Logger.IsZero() {
		logger, err := logr.FromContext(ctx)
		if err != nil {
			logger = logr.Discard()
		}
		o.Logger = logger
	}
	return o, nil
}

// String leaves the tokens out, so that options can be printed.
func (o Options) String() string {
	return fmt.Sprintf("gates %s", o.Gates)
}
