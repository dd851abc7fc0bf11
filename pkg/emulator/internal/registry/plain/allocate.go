package plain

import (
	"context"
	"fmt"
	"net/netip"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"

	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
)

// The ranges that services get addresses and ports from: those that kubeadm and a kube-apiserver take unless told
// otherwise. The first address is that of the API itself.
const (
	serviceRange   = "10.96.0.0/12"
	firstNodePort  = 30000
	afterNodePorts = 32768
)

// allocator gives services addresses and ports that no other has. It keeps no books but of those that are about to be
// written: else, what is taken is what stored services have.
type allocator struct {
	services *resource.REST

	mu      sync.Mutex
	pending map[*corev1.Service]bool
}

// taken is what services have.
type taken struct {
	addresses map[string]bool
	ports     map[int32]bool
}

// beginCreate completes a new service before it is validated. Whoever calls it has to call what it returns once the
// service is written or refused.
func (a *allocator) beginCreate(ctx context.Context, obj runtime.Object, _ *metav1.CreateOptions) (genericregistry.FinishFunc, error) {
	service := obj.(*corev1.Service)
	alignAddresses(&service.Spec, nil)
	return a.allocate(ctx, service, nil)
}

// beginUpdate does the same for a changed service.
func (a *allocator) beginUpdate(ctx context.Context, obj, old runtime.Object, _ *metav1.UpdateOptions) (genericregistry.FinishFunc, error) {
	service, stored := obj.(*corev1.Service), old.(*corev1.Service)
	prepareServiceUpdate(service, stored)
	return a.allocate(ctx, service, &stored.Spec)
}

func (a *allocator) allocate(ctx context.Context, service *corev1.Service, stored *corev1.ServiceSpec) (genericregistry.FinishFunc, error) {
	if err := setFamilies(service); err != nil {
		return nil, err
	}
	if stored != nil && same(stored.ClusterIPs, service.Spec.ClusterIPs) && samePorts(&service.Spec, stored) && complete(&service.Spec) {
		return func(context.Context, bool) {}, nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	used, err := a.taken(ctx, service)
	if err != nil {
		return nil, err
	}
	if err := used.give(service, stored); err != nil {
		return nil, err
	}
	pending := service.DeepCopy()
	a.pending[pending] = true
	return func(context.Context, bool) {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.pending, pending)
	}, nil
}

// complete tells whether a service lacks nothing that could be given to it.
func complete(spec *corev1.ServiceSpec) bool {
	if needsAddress(spec) && spec.ClusterIP == "" {
		return false
	}
	if needsHealthCheck(spec) && spec.HealthCheckNodePort == 0 {
		return false
	}
	for _, port := range spec.Ports {
		if needsNodePort(spec) && port.NodePort == 0 {
			return false
		}
	}
	return true
}

// taken returns what all services but one have.
func (a *allocator) taken(ctx context.Context, but *corev1.Service) (taken, error) {
	used := taken{addresses: map[string]bool{}, ports: map[int32]bool{}}
	list, err := a.services.List(genericapirequest.WithNamespace(ctx, metav1.NamespaceAll), &metainternalversion.ListOptions{})
	if err != nil {
		return used, fmt.Errorf("listing what addresses services have: %w", err)
	}
	services := list.(*corev1.ServiceList)
	for i := range services.Items {
		if service := &services.Items[i]; service.Namespace != but.Namespace || service.Name != but.Name {
			used.add(service)
		}
	}
	for service := range a.pending {
		used.add(service)
	}
	return used, nil
}

// add takes what a service has.
func (t taken) add(service *corev1.Service) {
	for _, ip := range service.Spec.ClusterIPs {
		t.addresses[ip] = true
	}
	for _, port := range service.Spec.Ports {
		t.ports[port.NodePort] = true
	}
	t.ports[service.Spec.HealthCheckNodePort] = true
}

// give completes a service. What it asks for has to be free, unless it has it already.
func (t taken) give(service *corev1.Service, stored *corev1.ServiceSpec) error {
	spec := &service.Spec
	var errs field.ErrorList
	if needsAddress(spec) && !headless(spec) {
		errs = append(errs, t.giveAddress(spec, stored)...)
	}
	own := map[int32]bool{}
	if stored != nil {
		for _, port := range stored.Ports {
			own[port.NodePort] = true
		}
		own[stored.HealthCheckNodePort] = true
	}
	path := field.NewPath("spec", "ports")
	numbers := map[int32]int32{} // a port of two protocols may be one port of the nodes
	for i := range spec.Ports {
		if port := &spec.Ports[i]; needsNodePort(spec) || port.NodePort != 0 && externallyAccessible(spec) {
			if number, found := numbers[port.Port]; found && port.NodePort == 0 {
				port.NodePort = number
				continue
			}
			errs = append(errs, t.givePort(&port.NodePort, own, path.Index(i).Child("nodePort"))...)
			numbers[port.Port] = port.NodePort
		}
	}
	if needsHealthCheck(spec) {
		errs = append(errs, t.givePort(&spec.HealthCheckNodePort, own, field.NewPath("spec", "healthCheckNodePort"))...)
	}
	if len(errs) > 0 {
		return apierrors.NewInvalid(corev1.SchemeGroupVersion.WithKind("Service").GroupKind(), service.Name, errs)
	}
	return nil
}

func (t taken) giveAddress(spec, stored *corev1.ServiceSpec) field.ErrorList {
	within := netip.MustParsePrefix(serviceRange)
	path := field.NewPath("spec", "clusterIPs")
	if spec.ClusterIP != "" {
		asked, err := netip.ParseAddr(spec.ClusterIP)
		if err != nil || (stored != nil && stored.ClusterIP == spec.ClusterIP) {
			return nil // for validation to tell
		}
		const failed = "failed to allocate IP %s: %s"
		if !within.Contains(asked) {
			return field.ErrorList{field.Invalid(path, spec.ClusterIPs, fmt.Sprintf(failed, asked, "the provided network does not match the current range"))}
		}
		if t.addresses[spec.ClusterIP] {
			return field.ErrorList{field.Invalid(path, spec.ClusterIPs, fmt.Sprintf(failed, asked, "provided IP is already allocated"))}
		}
		return nil
	}
	for next := within.Addr().Next().Next(); within.Contains(next); next = next.Next() {
		if !t.addresses[next.String()] {
			spec.ClusterIP, spec.ClusterIPs = next.String(), []string{next.String()}
			return nil
		}
	}
	return field.ErrorList{field.Invalid(path, spec.ClusterIPs, "failed to allocate a serviceIP: range is full")}
}

// givePort sets a port of the nodes that is not set, and refuses one that another service has.
func (t taken) givePort(port *int32, own map[int32]bool, path *field.Path) field.ErrorList {
	switch {
	case *port == 0:
		for number := int32(firstNodePort); number < afterNodePorts; number++ {
			if !t.ports[number] && !own[number] {
				*port = number
				t.ports[number] = true
				return nil
			}
		}
		return field.ErrorList{field.Invalid(path, *port, "failed to allocate a nodePort: range is full")}
	case own[*port]:
	case *port < firstNodePort || *port >= afterNodePorts:
		return field.ErrorList{field.Invalid(path, *port, fmt.Sprintf("provided port is not in the valid range. The range of valid ports is %d-%d", firstNodePort, afterNodePorts-1))}
	case t.ports[*port]:
		return field.ErrorList{field.Invalid(path, *port, "provided port is already allocated")}
	}
	return nil
}

// setFamilies says of which family a service's addresses are: the cluster has IPv4 alone.
func setFamilies(service *corev1.Service) error {
	spec := &service.Spec
	if !needsAddress(spec) {
		return nil
	}
	alone := spec.ClusterIP == corev1.ClusterIPNone && len(spec.Selector) == 0
	if spec.IPFamilyPolicy == nil {
		spec.IPFamilyPolicy = new(corev1.IPFamilyPolicySingleStack)
		if alone {
			spec.IPFamilyPolicy = new(corev1.IPFamilyPolicyRequireDualStack)
		}
	}
	if alone {
		if len(spec.IPFamilies) == 0 {
			spec.IPFamilies = []corev1.IPFamily{corev1.IPv4Protocol}
		}
		if len(spec.IPFamilies) == 1 && *spec.IPFamilyPolicy != corev1.IPFamilyPolicySingleStack {
			other := corev1.IPv6Protocol
			if spec.IPFamilies[0] == corev1.IPv6Protocol {
				other = corev1.IPv4Protocol
			}
			spec.IPFamilies = append(spec.IPFamilies, other)
		}
		return nil
	}
	var errs field.ErrorList
	if *spec.IPFamilyPolicy == corev1.IPFamilyPolicyRequireDualStack {
		errs = append(errs, field.Invalid(field.NewPath("spec", "ipFamilyPolicy"), spec.IPFamilyPolicy, "this cluster is not configured for dual-stack services"))
	}
	for i, family := range spec.IPFamilies {
		if family == corev1.IPv6Protocol {
			errs = append(errs, field.Invalid(field.NewPath("spec", "ipFamilies").Index(i), family, "not configured on this cluster"))
		}
	}
	if len(errs) > 0 {
		return apierrors.NewInvalid(corev1.SchemeGroupVersion.WithKind("Service").GroupKind(), service.Name, errs)
	}
	if len(spec.IPFamilies) == 0 {
		spec.IPFamilies = []corev1.IPFamily{corev1.IPv4Protocol}
	}
	return nil
}
