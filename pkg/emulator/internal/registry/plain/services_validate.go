package plain

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/musterkube/muster/pkg/internal/metadata"
)

func validateService(s *corev1.Service) field.ErrorList {
	path, spec := field.NewPath("spec"), &s.Spec
	var errs field.ErrorList
	if len(spec.Ports) == 0 && !headless(spec) && spec.Type != corev1.ServiceTypeExternalName {
		errs = append(errs, field.Required(path.Child("ports"), ""))
	}
	errs = append(errs, validateServiceType(spec, path)...)
	names := map[string]bool{}
	for i := range spec.Ports {
		errs = append(errs, validateServicePort(&spec.Ports[i], len(spec.Ports) > 1, names, path.Child("ports").Index(i))...)
	}
	if spec.Selector != nil {
		errs = append(errs, metadata.ValidateLabels(spec.Selector, path.Child("selector"))...)
	}
	if spec.SessionAffinity == "" {
		errs = append(errs, field.Required(path.Child("sessionAffinity"), ""))
	} else {
		errs = append(errs, oneOf(spec.SessionAffinity, path.Child("sessionAffinity"), corev1.ServiceAffinityClientIP, corev1.ServiceAffinityNone)...)
	}
	errs = append(errs, validateAffinityTimeout(spec, path.Child("sessionAffinityConfig", "clientIP", "timeoutSeconds"))...)
	errs = append(errs, validateAddresses(spec, path)...)
	for i, ip := range spec.ExternalIPs {
		at := path.Child("externalIPs").Index(i)
		if wrong := address(ip, at); len(wrong) > 0 {
			errs = append(errs, wrong...)
		} else {
			errs = append(errs, endpointAddress(ip, at)...)
		}
	}
	errs = append(errs, oneOf(spec.Type, path.Child("type"), corev1.ServiceTypeClusterIP, corev1.ServiceTypeExternalName,
		corev1.ServiceTypeLoadBalancer, corev1.ServiceTypeNodePort)...)
	errs = append(errs, validateDistinctPorts(spec, path.Child("ports"))...)
	errs = append(errs, validateLoadBalancer(spec, path)...)
	return append(errs, validateTraffic(spec, path)...)
}

// validateServiceType checks what is peculiar to the types.
func validateServiceType(spec *corev1.ServiceSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	at := path.Child("clusterIPs")
	switch spec.Type {
	case corev1.ServiceTypeLoadBalancer, corev1.ServiceTypeNodePort:
		if headless(spec) {
			errs = append(errs, field.Invalid(at.Index(0), spec.ClusterIPs[0], "may not be set to 'None' for "+string(spec.Type)+" services"))
		}
	case corev1.ServiceTypeExternalName:
		if len(spec.ClusterIPs) > 0 {
			errs = append(errs, field.Forbidden(at, "may not be set for ExternalName services"))
		}
		if len(spec.IPFamilies) > 0 {
			errs = append(errs, field.Forbidden(path.Child("ipFamilies"), "may not be set for ExternalName services"))
		}
		if spec.IPFamilyPolicy != nil {
			errs = append(errs, field.Forbidden(path.Child("ipFamilyPolicy"), "may not be set for ExternalName services"))
		}
		if name := strings.TrimSuffix(spec.ExternalName, "."); name != "" {
			errs = append(errs, dnsSubdomain(name, path.Child("externalName"))...)
		} else {
			errs = append(errs, field.Required(path.Child("externalName"), ""))
		}
	}
	return errs
}

func validateServicePort(port *corev1.ServicePort, named bool, names map[string]bool, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch {
	case port.Name == "" && named:
		errs = append(errs, field.Required(path.Child("name"), ""))
	case port.Name != "":
		errs = append(errs, dnsLabel(port.Name, path.Child("name"))...)
		if names[port.Name] {
			errs = append(errs, field.Duplicate(path.Child("name"), port.Name))
		}
		names[port.Name] = true
	}
	errs = append(errs, invalid(port.Port, path.Child("port"), validation.IsValidPortNum(int(port.Port)))...)
	errs = append(errs, protocol(port.Protocol, path.Child("protocol"))...)
	if port.TargetPort.Type == intstr.Int {
		errs = append(errs, invalid(port.TargetPort.IntValue(), path.Child("targetPort"), validation.IsValidPortNum(port.TargetPort.IntValue()))...)
	} else {
		errs = append(errs, invalid(port.TargetPort.StrVal, path.Child("targetPort"), validation.IsValidPortName(port.TargetPort.StrVal))...)
	}
	if port.AppProtocol != nil {
		errs = append(errs, invalid(*port.AppProtocol, path.Child("appProtocol"), validation.IsQualifiedName(*port.AppProtocol))...)
	}
	return errs
}

// protocol wants one of the protocols that ports have.
func protocol(p corev1.Protocol, path *field.Path) field.ErrorList {
	if p == "" {
		return field.ErrorList{field.Required(path, "")}
	}
	return oneOf(p, path, corev1.ProtocolSCTP, corev1.ProtocolTCP, corev1.ProtocolUDP)
}

func validateAffinityTimeout(spec *corev1.ServiceSpec, path *field.Path) field.ErrorList {
	config := spec.SessionAffinityConfig
	if spec.SessionAffinity != corev1.ServiceAffinityClientIP || config == nil || config.ClientIP == nil || config.ClientIP.TimeoutSeconds == nil {
		return nil
	}
	if seconds := *config.ClientIP.TimeoutSeconds; seconds <= 0 || seconds > maxAffinitySeconds {
		return field.ErrorList{field.Invalid(path, config.ClientIP.TimeoutSeconds, "must be greater than 0 and less than 86400")}
	}
	return nil
}

// validateAddresses checks the addresses in the cluster, whose families a service may name itself.
func validateAddresses(spec *corev1.ServiceSpec, path *field.Path) field.ErrorList {
	if !needsAddress(spec) {
		return nil
	}
	at := path.Child("clusterIPs")
	var errs field.ErrorList
	switch {
	case spec.ClusterIP == "" && len(spec.ClusterIPs) > 0:
		errs = append(errs, field.Invalid(at, spec.ClusterIPs, "must be empty when `clusterIP` is not specified"))
	case spec.ClusterIP != "" && len(spec.ClusterIPs) == 0:
		errs = append(errs, field.Required(at, ""))
	case spec.ClusterIP != "" && spec.ClusterIPs[0] != spec.ClusterIP:
		errs = append(errs, field.Invalid(at, spec.ClusterIPs, "first value must match `clusterIP`"))
	}
	seen := map[corev1.IPFamily]bool{}
	for i, family := range spec.IPFamilies {
		errs = append(errs, oneOf(family, path.Child("ipFamilies").Index(i), corev1.IPv4Protocol, corev1.IPv6Protocol)...)
		if seen[family] {
			errs = append(errs, field.Duplicate(path.Child("ipFamilies").Index(i), family))
		}
		seen[family] = true
	}
	if policy := spec.IPFamilyPolicy; policy != nil {
		errs = append(errs, oneOf(*policy, path.Child("ipFamilyPolicy"), corev1.IPFamilyPolicySingleStack,
			corev1.IPFamilyPolicyPreferDualStack, corev1.IPFamilyPolicyRequireDualStack)...)
	}
	for i, ip := range spec.ClusterIPs {
		if i == 0 && ip == corev1.ClusterIPNone {
			if len(spec.ClusterIPs) > 1 {
				errs = append(errs, field.Invalid(at, spec.ClusterIPs, "'None' must be the first and only value"))
			}
			continue
		}
		errs = append(errs, address(ip, at.Index(i))...)
	}
	if len(spec.ClusterIPs) > 2 {
		errs = append(errs, field.Invalid(at, spec.ClusterIPs, "may only hold up to 2 values"))
	}
	return errs
}

// validateDistinctPorts wants every port, and every port of the nodes, once for each protocol.
func validateDistinctPorts(spec *corev1.ServiceSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if spec.Type == corev1.ServiceTypeClusterIP {
		for i := range spec.Ports {
			if spec.Ports[i].NodePort != 0 {
				errs = append(errs, field.Forbidden(path.Index(i).Child("nodePort"), "may not be used when `type` is 'ClusterIP'"))
			}
		}
	}
	onNodes, seen := map[corev1.ServicePort]bool{}, map[corev1.ServicePort]bool{}
	for i, port := range spec.Ports {
		key := corev1.ServicePort{Protocol: port.Protocol, NodePort: port.NodePort}
		if port.NodePort != 0 && onNodes[key] {
			errs = append(errs, field.Duplicate(path.Index(i).Child("nodePort"), port.NodePort))
		}
		onNodes[key] = true
	}
	for i, port := range spec.Ports {
		key := corev1.ServicePort{Protocol: port.Protocol, Port: port.Port}
		if seen[key] {
			errs = append(errs, field.Duplicate(path.Index(i), key))
		}
		seen[key] = true
	}
	return errs
}

func validateLoadBalancer(spec *corev1.ServiceSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	const only = "may only be used when `type` is 'LoadBalancer'"
	if spec.Type == corev1.ServiceTypeLoadBalancer {
		if class := spec.LoadBalancerClass; class != nil {
			errs = append(errs, invalid(*class, path.Child("loadBalancerClass"), validation.IsQualifiedName(*class))...)
		}
		return errs
	}
	if len(spec.LoadBalancerSourceRanges) > 0 {
		errs = append(errs, field.Forbidden(path.Child("LoadBalancerSourceRanges"), only))
	}
	if spec.AllocateLoadBalancerNodePorts != nil {
		errs = append(errs, field.Forbidden(path.Child("allocateLoadBalancerNodePorts"), only))
	}
	if spec.LoadBalancerClass != nil {
		errs = append(errs, field.Forbidden(path.Child("loadBalancerClass"), only))
	}
	return errs
}

// validateTraffic checks by which ways traffic goes.
func validateTraffic(spec *corev1.ServiceSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	at := path.Child("externalTrafficPolicy")
	switch policy := spec.ExternalTrafficPolicy; {
	case !externallyAccessible(spec):
		if policy != "" {
			errs = append(errs, field.Invalid(at, policy, "may only be set for externally-accessible services"))
		}
	case policy == "":
		errs = append(errs, field.Required(at, ""))
	default:
		errs = append(errs, oneOf(policy, at, corev1.ServiceExternalTrafficPolicyCluster, corev1.ServiceExternalTrafficPolicyLocal)...)
	}
	if spec.HealthCheckNodePort != 0 && !needsHealthCheck(spec) {
		errs = append(errs, field.Invalid(path.Child("healthCheckNodePort"), spec.HealthCheckNodePort,
			"may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"))
	}
	at = path.Child("internalTrafficPolicy")
	if policy := spec.InternalTrafficPolicy; policy != nil {
		errs = append(errs, oneOf(*policy, at, corev1.ServiceInternalTrafficPolicyCluster, corev1.ServiceInternalTrafficPolicyLocal)...)
	} else if spec.Type == corev1.ServiceTypeClusterIP || spec.Type == corev1.ServiceTypeNodePort || spec.Type == corev1.ServiceTypeLoadBalancer {
		errs = append(errs, field.Required(at, ""))
	}
	if distribution := spec.TrafficDistribution; distribution != nil {
		errs = append(errs, supportedIn(*distribution, path.Child("trafficDistribution"), []string{
			corev1.ServiceTrafficDistributionPreferClose, corev1.ServiceTrafficDistributionPreferSameZone, corev1.ServiceTrafficDistributionPreferSameNode,
		})...)
	}
	return errs
}

// validateServiceChange keeps the address that clients of the service know.
func validateServiceChange(changed, stored *corev1.Service) field.ErrorList {
	var errs field.ErrorList
	after, before := &changed.Spec, &stored.Spec
	if needsAddress(after) && needsAddress(before) && (!headless(after) || !headless(before)) {
		at := field.NewPath("spec", "clusterIPs").Index(0)
		switch {
		case len(before.ClusterIPs) > 0 && len(after.ClusterIPs) == 0:
			errs = append(errs, field.Invalid(at, after.ClusterIPs, "primary clusterIP can not be unset"))
		case len(before.ClusterIPs) > 0 && before.ClusterIPs[0] != after.ClusterIPs[0]:
			errs = append(errs, field.Invalid(at, after.ClusterIPs, "may not change once set"))
		}
		if len(before.IPFamilies) > 0 && len(after.IPFamilies) > 0 && before.IPFamilies[0] != after.IPFamilies[0] && headless(after) == headless(before) {
			errs = append(errs, field.Invalid(field.NewPath("spec", "ipFamilies").Index(0), after.IPFamilies, "may not change once set"))
		}
	}
	if before.Type == corev1.ServiceTypeLoadBalancer && after.Type == corev1.ServiceTypeLoadBalancer && !same(after.LoadBalancerClass, before.LoadBalancerClass) {
		errs = append(errs, field.Invalid(field.NewPath("spec", "loadBalancerClass"), after.LoadBalancerClass, "may not change once set"))
	}
	if needsHealthCheck(before) && needsHealthCheck(after) && after.HealthCheckNodePort != before.HealthCheckNodePort {
		errs = append(errs, field.Forbidden(field.NewPath("spec", "healthCheckNodePort"), "field is immutable"))
	}
	return errs
}

// maxAffinitySeconds bounds for how long a client stays with a pod: a day.
const maxAffinitySeconds = 86400
