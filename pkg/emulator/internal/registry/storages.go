package registry

import (
	"fmt"
	"maps"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	batchv1 "k8s.io/api/batch/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/clock"

	schedulingv1alpha2 "github.com/musterkube/muster/apis/scheduling/v1alpha2"
	"github.com/musterkube/muster/pkg/emulator/internal/registry/admissionregistration"
	"github.com/musterkube/muster/pkg/emulator/internal/registry/certificate"
	"github.com/musterkube/muster/pkg/emulator/internal/registry/configmap"
	"github.com/musterkube/muster/pkg/emulator/internal/registry/event"
	"github.com/musterkube/muster/pkg/emulator/internal/registry/job"
	"github.com/musterkube/muster/pkg/emulator/internal/registry/lease"
	"github.com/musterkube/muster/pkg/emulator/internal/registry/namespace"
	"github.com/musterkube/muster/pkg/emulator/internal/registry/node"
	"github.com/musterkube/muster/pkg/emulator/internal/registry/plain"
	"github.com/musterkube/muster/pkg/emulator/internal/registry/pod"
	"github.com/musterkube/muster/pkg/emulator/internal/registry/podgroup"
	"github.com/musterkube/muster/pkg/emulator/internal/registry/priorityclass"
	"github.com/musterkube/muster/pkg/emulator/internal/registry/rbac"
	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
	"github.com/musterkube/muster/pkg/emulator/internal/registry/review"
	"github.com/musterkube/muster/pkg/emulator/internal/registry/secret"
	"github.com/musterkube/muster/pkg/emulator/internal/registry/serviceaccount"
	"github.com/musterkube/muster/pkg/emulator/internal/registry/workload"
	"github.com/musterkube/muster/pkg/emulator/internal/scheme"
	"github.com/musterkube/muster/pkg/features"
)

// DefaultEventTTL is how long events are kept, as in Kubernetes.
const DefaultEventTTL = time.Hour

// Config is what [Storages] makes the storages from.
type Config struct {
	// Scheme of the served types. Default: [scheme.New].
	Scheme *scheme.Scheme
	// RESTOptionsGetter gives the storage of each resource. It is asked for events of core/v1 only: both Event APIs share
	// one storage. Required.
	RESTOptionsGetter generic.RESTOptionsGetter
	// Gates of the server. Without GenericWorkload there is no scheduling.k8s.io/v1alpha2. Default: all on.
	Gates features.Gates
	// EventTTL is how long an event is kept after it was written last. Default: [DefaultEventTTL].
	EventTTL time.Duration
	// Clock tells the ages in tables and the times that conditions carry. Default: the clock of the machine.
	Clock clock.PassiveClock
	// AdmissionChanged is told of each write of what configures admission, by the name of the resource. Default: nobody is.
	AdmissionChanged func(resource string)
	// Logs has what containers write. Default: nobody, and then there are no logs.
	Logs resource.LogSource
	// Access says who may do what. Default: nobody knows, and then questions about it are answered with errors.
	Access resource.Access
}

// kind is one row of the table of resources: storages of a group and version, which make returns by resource name.
type kind struct {
	version schema.GroupVersion
	make    func(resource.Config) (map[string]rest.Storage, error)
	// gate is what the kind needs; empty for nothing.
	gate features.Gate
}

// kinds is the table of resources.
func kinds(eventTTL time.Duration) []kind {
	return []kind{
		{version: corev1.SchemeGroupVersion, make: configmap.New},
		{version: corev1.SchemeGroupVersion, make: namespace.New},
		{version: corev1.SchemeGroupVersion, make: node.New},
		{version: corev1.SchemeGroupVersion, make: pod.New},
		{version: corev1.SchemeGroupVersion, make: secret.New},
		{version: corev1.SchemeGroupVersion, make: serviceaccount.New},
		{version: corev1.SchemeGroupVersion, make: func(c resource.Config) (map[string]rest.Storage, error) {
			return event.New(c, eventTTL)
		}},
		{version: admissionregistrationv1.SchemeGroupVersion, make: admissionregistration.New},
		{version: authenticationv1.SchemeGroupVersion, make: review.Authentication},
		{version: authorizationv1.SchemeGroupVersion, make: review.Authorization},
		{version: batchv1.SchemeGroupVersion, make: job.New},
		{version: certificatesv1.SchemeGroupVersion, make: certificate.New},
		{version: coordinationv1.SchemeGroupVersion, make: lease.New},
		{version: rbacv1.SchemeGroupVersion, make: rbac.New},
		{version: schedulingv1.SchemeGroupVersion, make: priorityclass.New},
		{version: schedulingv1alpha2.SchemeGroupVersion, make: workload.New, gate: features.GenericWorkload},
		{version: schedulingv1alpha2.SchemeGroupVersion, make: podgroup.New, gate: features.GenericWorkload},
	}
}

// Storages makes the storages of every served resource: by group and version, then by the resource's name, with that of
// a subresource after a slash, such as jobs/status.
func Storages(c Config) (map[schema.GroupVersion]map[string]rest.Storage, error) {
	if c.RESTOptionsGetter == nil {
		return nil, fmt.Errorf("making storages: no RESTOptionsGetter given")
	}
	config := resource.Config{Typer: c.Scheme, Getter: c.RESTOptionsGetter, Gates: c.Gates, Clock: c.Clock, Logs: c.Logs, Access: c.Access}
	config.AdmissionChanged = c.AdmissionChanged
	if c.Scheme == nil {
		config.Typer = scheme.New()
	}
	if c.Clock == nil {
		config.Clock = clock.RealClock{}
	}
	if c.EventTTL == 0 {
		c.EventTTL = DefaultEventTTL
	}
	all := map[schema.GroupVersion]map[string]rest.Storage{}
	config.Storages = func(version schema.GroupVersion, name string) rest.Storage { return all[version][name] }
	for _, k := range kinds(c.EventTTL) {
		if k.gate != "" && !c.Gates.Enabled(k.gate) {
			continue
		}
		storages, err := k.make(config)
		if err != nil {
			return nil, fmt.Errorf("making storages of %s: %w", k.version, err)
		}
		if all[k.version] == nil {
			all[k.version] = map[string]rest.Storage{}
		}
		maps.Copy(all[k.version], storages)
	}
	if core := all[corev1.SchemeGroupVersion]; c.Access.Issuer != nil {
		core["serviceaccounts/token"] = serviceaccount.NewToken(core, c.Access.Issuer, config.Clock)
	}
	others, err := plain.New(config)
	if err != nil {
		return nil, err
	}
	for version, storages := range others {
		if all[version] == nil {
			all[version] = map[string]rest.Storage{}
		}
		maps.Copy(all[version], storages)
	}
	all[eventsv1.SchemeGroupVersion] = map[string]rest.Storage{"events": all[corev1.SchemeGroupVersion]["events"]}
	return all, nil
}
