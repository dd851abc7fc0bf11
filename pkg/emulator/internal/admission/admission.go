package admission

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
	"github.com/musterkube/muster/pkg/features"
)

// The names of the plugins, as --disable-admission-plugins of a kube-apiserver takes them.
const (
	// NamespaceLifecycle refuses objects in namespaces that are missing or being deleted, and keeps the first namespaces
	// from being deleted.
	NamespaceLifecycle = "NamespaceLifecycle"
	// TaintNodesByCondition taints new nodes as not ready. A node controller takes the taint away when they are.
	TaintNodesByCondition = "TaintNodesByCondition"
	// Priority gives pods and pod groups the number behind their priority class.
	Priority = "Priority"
	// DefaultTolerationSeconds lets pods stay on nodes that are not ready or not reachable for five minutes.
	DefaultTolerationSeconds = "DefaultTolerationSeconds"
	// RuntimeClass gives pods the overhead, the node selector and the tolerations of the runtime class that they name, and
	// refuses those that name one that is not there.
	RuntimeClass = "RuntimeClass"
	// CertificateApproval refuses the approval and the denial of certificate signing requests by those who may not for
	// the signer.
	CertificateApproval = "CertificateApproval"
	// CertificateSigning refuses certificates, and what else is in the status, from those who may not sign for the signer.
	CertificateSigning = "CertificateSigning"
	// CertificateSubjectRestriction refuses requests for client certificates of the group system:masters.
	CertificateSubjectRestriction = "CertificateSubjectRestriction"
	// PodGroupProtection gives new pod groups the finalizer that keeps them while pods use them.
	PodGroupProtection = "PodGroupProtection"
	// PodTopologyLabels copies zone and region of a node to the pods that are bound to it.
	PodTopologyLabels = "PodTopologyLabels"
	// PodGroupWorkloadExists refuses pod groups whose template is not there.
	PodGroupWorkloadExists = "PodGroupWorkloadExists"
	// JobValidation refuses to change the parallelism of Jobs that run as gangs.
	JobValidation = "JobValidation"
)

// Names returns the names of the package's own plugins, in their order.
func Names() []string {
	var names []string
	for _, p := range plugins(Config{}) {
		names = append(names, p.Name)
	}
	return names
}

// Config is what [New] makes the plugins from.
type Config struct {
	// Gates of the server. Plugins whose gate is off do nothing. Default: all on.
	Gates features.Gates
	// Storages of the served resources, by version and name. Required: plugins look up what objects refer to.
	Storages map[schema.GroupVersion]map[string]rest.Storage
	// Authorizer says who may approve and sign certificates. Default: nobody may.
	Authorizer authorizer.Authorizer
	// NamespaceRevision returns the revision at which a namespace was last written, 0 if there is none. It spares
	// NamespaceLifecycle decoding what it has seen before. Default: it decodes each time.
	NamespaceRevision func(ctx context.Context, name string) (int64, error)
	// Disabled names plugins to leave out. Default: none.
	Disabled []string
	// TolerationSeconds is for DefaultTolerationSeconds. Default: [DefaultToleration].
	TolerationSeconds *int64
	// Last are plugins that come after the package's own. Default: none.
	Last []Plugin
}

// Plugin is an admission plugin with its name.
type Plugin struct {
	Name string
	admission.Interface
}

// New returns the chain of plugins, in the order of a kube-apiserver. It returns an error if a plugin is to be left out
// that does not exist.
func New(c Config) (admission.Interface, error) {
	ordered := append(plugins(c), c.Last...)
	unknown := slices.Clone(c.Disabled)
	var kept []admission.Interface
	for _, p := range ordered {
		if slices.Contains(c.Disabled, p.Name) {
			unknown = slices.DeleteFunc(unknown, func(name string) bool { return name == p.Name })
			continue
		}
		kept = append(kept, p.Interface)
	}
	if len(unknown) > 0 {
		return nil, fmt.Errorf("disabling admission plugins: not known: %s", strings.Join(unknown, ", "))
	}
	return reinvoking{admission.NewChainHandler(kept...)}, nil
}

// plugins returns the package's own plugins.
func plugins(c Config) []Plugin {
	read, may := reader{c.Storages}, resource.Access{Authorizer: c.Authorizer}.Complete().Authorizer
	return []Plugin{
		{NamespaceLifecycle, newNamespaceLifecycle(&phases{read: read, revision: c.NamespaceRevision})},
		{TaintNodesByCondition, newTaintNodes()},
		{Priority, newPriority(read, c.Gates)},
		{DefaultTolerationSeconds, newTolerationSeconds(c.TolerationSeconds)},
		{RuntimeClass, newRuntimeClass(read)},
		{CertificateApproval, newCertificateApproval(may)},
		{CertificateSigning, newCertificateSigning(may)},
		{CertificateSubjectRestriction, newCertificateSubject()},
		{PodGroupProtection, newPodGroupProtection(c.Gates)},
		{PodTopologyLabels, newTopologyLabels(read)},
		{PodGroupWorkloadExists, newWorkloadExists(read, c.Gates)},
		{JobValidation, newJobValidation(read, c.Gates)},
	}
}

// concerns reports whether a is about the resource itself, not a subresource of it.
func concerns(a admission.Attributes, resource schema.GroupResource) bool {
	return a.GetSubresource() == "" && a.GetResource().GroupResource() == resource
}
