package plain

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/clock"

	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
)

func services() row {
	spec := corev1.ServiceSpec{}.SwaggerDoc()
	return &kind[corev1.Service]{
		version: corev1.SchemeGroupVersion, plural: "services", singular: "service",
		short: []string{"svc"}, categories: []string{"all"}, list: &corev1.ServiceList{},
		createOnUpdate: true, returnDeleted: true,
		name:           apivalidation.NameIsDNSLabel,
		prepareUpdate:  prepareServiceUpdate,
		validate:       validateService,
		validateUpdate: validateServiceChange,
		status:         &status[corev1.Service]{},
		extend: func(main *resource.REST) {
			allocation := &allocator{services: main, pending: map[*corev1.Service]bool{}}
			main.BeginCreate, main.BeginUpdate = allocation.beginCreate, allocation.beginUpdate
		},
		fields: func(s *corev1.Service) fields.Set {
			return fields.Set{"spec.clusterIP": s.Spec.ClusterIP, "spec.type": string(s.Spec.Type)}
		},
		columns: columns([]metav1.TableColumnDefinition{
			resource.Column("Type", spec["type"]), resource.Column("Cluster-IP", spec["clusterIP"]), resource.Column("External-IP", spec["externalIPs"]),
			resource.Column("Port(s)", spec["ports"]), resource.AgeColumn(), resource.WideColumn("Selector", spec["selector"]),
		}),
		cells: func(now clock.PassiveClock, s *corev1.Service) []any {
			internal := "<none>"
			if len(s.Spec.ClusterIPs) > 0 {
				internal = s.Spec.ClusterIPs[0]
			}
			return []any{
				s.Name, string(s.Spec.Type), internal, externalAddresses(s), servicePorts(s.Spec.Ports), age(now, &s.ObjectMeta),
				labels.FormatLabels(s.Spec.Selector),
			}
		},
	}
}

// externalAddresses says where a service is reached from outside.
func externalAddresses(s *corev1.Service) string {
	switch s.Spec.Type {
	case corev1.ServiceTypeClusterIP, corev1.ServiceTypeNodePort:
		return resource.OrNone(strings.Join(s.Spec.ExternalIPs, ","))
	case corev1.ServiceTypeExternalName:
		return s.Spec.ExternalName
	case corev1.ServiceTypeLoadBalancer:
		var balancers []string
		for _, ingress := range s.Status.LoadBalancer.Ingress {
			if address := ingress.IP + ingress.Hostname; ingress.IP == "" || ingress.Hostname == "" {
				balancers = append(balancers, address)
			} else {
				balancers = append(balancers, ingress.IP)
			}
		}
		slices.Sort(balancers)
		all := append(slices.Compact(balancers), s.Spec.ExternalIPs...)
		if len(all) == 0 {
			return "<pending>"
		}
		return strings.Join(all, ",")
	}
	return "<unknown>"
}

func servicePorts(ports []corev1.ServicePort) string {
	var texts []string
	for _, port := range ports {
		text := fmt.Sprintf("%d/%s", port.Port, port.Protocol)
		if port.NodePort > 0 {
			text = fmt.Sprintf("%d:%d/%s", port.Port, port.NodePort, port.Protocol)
		}
		texts = append(texts, text)
	}
	return resource.OrNone(strings.Join(texts, ","))
}

// prepareServiceUpdate gives a changed service what it had and its sender left out, and takes what its new type has not.
func prepareServiceUpdate(changed, stored *corev1.Service) {
	after, before := &changed.Spec, &stored.Spec
	if needsAddress(after) && needsAddress(before) {
		keepAddresses(after, before)
	}
	alignAddresses(after, before)
	if needsAddress(before) && !needsAddress(after) && slices.Equal(after.ClusterIPs, before.ClusterIPs) {
		after.ClusterIP, after.ClusterIPs, after.IPFamilies, after.IPFamilyPolicy = "", nil, nil, nil
	}
	if needsNodePort(before) && needsNodePort(after) {
		keepNodePorts(after, before)
	}
	if needsNodePort(before) && !needsNodePort(after) && samePorts(after, before) {
		for i := range after.Ports {
			after.Ports[i].NodePort = 0
		}
	}
	if needsHealthCheck(before) && after.HealthCheckNodePort == 0 && needsHealthCheck(after) {
		after.HealthCheckNodePort = before.HealthCheckNodePort
	}
	if needsHealthCheck(before) && !needsHealthCheck(after) && after.HealthCheckNodePort == before.HealthCheckNodePort {
		after.HealthCheckNodePort = 0
	}
	if before.Type == corev1.ServiceTypeLoadBalancer && after.Type != corev1.ServiceTypeLoadBalancer {
		after.AllocateLoadBalancerNodePorts, after.LoadBalancerClass = nil, nil
		changed.Status.LoadBalancer = corev1.LoadBalancerStatus{}
	}
	if needsAddress(before) && !needsAddress(after) && same(after.InternalTrafficPolicy, before.InternalTrafficPolicy) {
		after.InternalTrafficPolicy = nil
	}
	if !externallyAccessible(after) && externallyAccessible(before) && after.ExternalTrafficPolicy == before.ExternalTrafficPolicy {
		after.ExternalTrafficPolicy = ""
	}
}

// keepAddresses gives a service without an address the one that it has.
func keepAddresses(after, before *corev1.ServiceSpec) {
	if after.ClusterIP == "" && len(after.ClusterIPs) == 0 {
		after.ClusterIP, after.ClusterIPs = before.ClusterIP, slices.Clone(before.ClusterIPs)
	}
	if after.IPFamilyPolicy == nil {
		after.IPFamilyPolicy = before.IPFamilyPolicy
	}
	if len(after.IPFamilies) == 0 {
		after.IPFamilies = slices.Clone(before.IPFamilies)
	}
}

// keepNodePorts gives ports without a number the number that the port of that protocol has.
func keepNodePorts(after, before *corev1.ServiceSpec) {
	for i := range after.Ports {
		port := &after.Ports[i]
		at := slices.IndexFunc(before.Ports, func(old corev1.ServicePort) bool {
			return old.Port == port.Port && old.Protocol == port.Protocol
		})
		if port.NodePort == 0 && at >= 0 {
			port.NodePort = before.Ports[at].NodePort
		}
	}
}

func samePorts(after, before *corev1.ServiceSpec) bool {
	return slices.EqualFunc(after.Ports, before.Ports, func(a, b corev1.ServicePort) bool { return a.NodePort == b.NodePort })
}

// alignAddresses keeps clusterIP the first of clusterIPs, for clients that know only the older field.
func alignAddresses(after, before *corev1.ServiceSpec) {
	if before == nil {
		if after.ClusterIP != "" && len(after.ClusterIPs) == 0 {
			after.ClusterIPs = []string{after.ClusterIP}
		}
		return
	}
	switch {
	case after.ClusterIP == before.ClusterIP:
	case after.ClusterIP == "" && slices.Equal(after.ClusterIPs, before.ClusterIPs):
		after.ClusterIPs = nil
	case after.ClusterIP != "" && slices.Equal(after.ClusterIPs, before.ClusterIPs):
		after.ClusterIPs = []string{after.ClusterIP}
	}
}

// needsAddress tells whether a service of its type has an address in the cluster.
func needsAddress(spec *corev1.ServiceSpec) bool { return spec.Type != corev1.ServiceTypeExternalName }

// headless services have none on purpose.
func headless(spec *corev1.ServiceSpec) bool {
	return len(spec.ClusterIPs) == 1 && spec.ClusterIPs[0] == corev1.ClusterIPNone
}

// needsNodePort tells whether its ports have a number on every node.
func needsNodePort(spec *corev1.ServiceSpec) bool {
	return spec.Type == corev1.ServiceTypeNodePort ||
		(spec.Type == corev1.ServiceTypeLoadBalancer && (spec.AllocateLoadBalancerNodePorts == nil || *spec.AllocateLoadBalancerNodePorts))
}

// needsHealthCheck tells whether load balancers ask nodes if they have pods of the service.
func needsHealthCheck(spec *corev1.ServiceSpec) bool {
	return spec.Type == corev1.ServiceTypeLoadBalancer && spec.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal
}

// externallyAccessible tells whether it is reached from outside of the cluster.
func externallyAccessible(spec *corev1.ServiceSpec) bool {
	return spec.Type == corev1.ServiceTypeLoadBalancer || spec.Type == corev1.ServiceTypeNodePort ||
		(spec.Type == corev1.ServiceTypeClusterIP && len(spec.ExternalIPs) > 0)
}
