package emulator

import (
	"maps"
	"net/http"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/musterkube/muster/pkg/emulator/internal/admission"
	"github.com/musterkube/muster/pkg/emulator/internal/hooks"
	"github.com/musterkube/muster/pkg/internal/check"
)

// Validate returns an error that names every option which makes no sense, as [Start] does; nil if all do. errors.As finds
// the first of them as a *field.Error (k8s.io/apimachinery/pkg/util/validation/field), whose Field is the Go path of the
// option, such as Options.DisabledAdmission[0], whose BadValue is what was given, unless that is a secret, and whose
// Detail says what is wanted. errors.Is finds [ErrBadSnapshot] and [ErrNotInMemory] if Restore is at fault.
//
// What can only be found out by doing, it leaves to Start: whether the files of CRDPaths can be read, whether what they
// define is valid, whether etcd answers and what WrapHandler returns.
func (o Options) Validate() error {
	faults := check.Gates(check.Option("Gates"), o.Gates)
	if hasSpace(o.Token) {
		faults = append(faults, field.Invalid(check.Option("Token"), field.OmitValueType{}, "must not contain white space"))
	}
	faults = append(faults, validateUsers(o.Token, o.Tokens)...)
	faults = append(faults, check.EachOf(check.Option("DisabledAdmission"), o.DisabledAdmission, admissionPlugins())...)
	if o.TolerationSeconds != nil {
		faults = append(faults, check.NotNegative(check.Option("TolerationSeconds"), *o.TolerationSeconds)...)
	}
	faults = append(faults, validateServices(o.Services)...)
	faults = append(faults, check.EachOf(check.Option("DisabledControllers"), o.DisabledControllers, Controllers())...)
	for i, crd := range o.CRDs {
		if crd == nil {
			faults = append(faults, field.Required(check.Option("CRDs").Index(i), "the definition is nil"))
		}
	}
	where, reason := o.validateStore()
	return check.Error(append(faults, where...), reason...)
}

// admissionPlugins returns the names that DisabledAdmission may have.
func admissionPlugins() []string {
	return append(admission.Names(), hooks.MutatingAdmissionPolicy, hooks.MutatingAdmissionWebhook,
		hooks.ValidatingAdmissionPolicy, hooks.ValidatingAdmissionWebhook)
}

func validateServices(handlers map[string]http.Handler) field.ErrorList {
	var faults field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(handlers)) {
		at := check.Option("Services").Key(name)
		if checkService(name) != nil {
			faults = append(faults, field.Invalid(at, name, "is not the name of a service: want namespace/name or namespace/name:port"))
		}
		if handlers[name] == nil {
			faults = append(faults, field.Required(at, "the handler is nil"))
		}
	}
	return faults
}

// validateStore judges the options that say where objects are. The reasons are what errors.Is is to find.
func (o Options) validateStore() (faults field.ErrorList, reasons []error) {
	if o.Restore != nil && len(o.Etcd) > 0 {
		faults = append(faults, field.Forbidden(check.Option("Restore"), ErrNotInMemory.Error()))
		reasons = append(reasons, ErrNotInMemory)
	}
	if o.Restore != nil && !o.Restore.taken() {
		faults = append(faults, field.Invalid(check.Option("Restore"), "&Snapshot{}", noSnapshot))
		reasons = append(reasons, ErrBadSnapshot)
	}
	for i, endpoint := range o.Etcd {
		if endpoint == "" {
			faults = append(faults, field.Required(check.Option("Etcd").Index(i), "an endpoint, such as http://127.0.0.1:2379"))
		}
	}
	if len(o.Etcd) > 0 && o.History != (History{Age: o.History.Age}) {
		faults = append(faults, field.Invalid(check.Option("History"), o.History, "of an etcd cluster only Age can be set"))
	}
	const unused = "there are no endpoints in Options.Etcd to use it with"
	if len(o.Etcd) == 0 && o.EtcdTLS != nil {
		faults = append(faults, field.Forbidden(check.Option("EtcdTLS"), unused))
	}
	switch {
	case o.EtcdPrefix == "":
	case len(o.Etcd) == 0:
		faults = append(faults, field.Invalid(check.Option("EtcdPrefix"), o.EtcdPrefix, unused))
	case etcdPrefix(o.EtcdPrefix) == "/":
		faults = append(faults, field.Invalid(check.Option("EtcdPrefix"), o.EtcdPrefix, "must name something"))
	}
	return faults, reasons
}

// noSnapshot tells how to come by a snapshot.
const noSnapshot = "is not a snapshot: take one with Server.Snapshot, or read one with ReadSnapshot"

// wrap returns what takes the server's place for requests.
func (o Options) wrap(server http.Handler) (http.Handler, error) {
	if o.WrapHandler == nil {
		return server, nil
	}
	wrapped := o.WrapHandler(server)
	if wrapped == nil {
		return nil, check.Error(field.ErrorList{field.Invalid(check.Option("WrapHandler"), field.OmitValueType{},
			"it returned nil: want a handler, that which it was given at least")})
	}
	return wrapped, nil
}
