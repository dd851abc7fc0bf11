package scheme

import (
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// registerOtherDefaults registers the defaults of services, volumes, limits and devices.
func registerOtherDefaults(s *runtime.Scheme) {
	addDefaults(s, setServiceDefaults)
	addDefaults(s, func(c *corev1.PersistentVolumeClaim) {
		prune(c)
		setClaimDefaults(c)
	})
	addDefaults(s, func(v *corev1.PersistentVolume) {
		if v.Status.Phase == "" {
			v.Status.Phase = corev1.VolumePending
		}
		if v.Spec.PersistentVolumeReclaimPolicy == "" {
			v.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimRetain
		}
		setIfNil(&v.Spec.VolumeMode, corev1.PersistentVolumeFilesystem)
		roundUp(v.Spec.Capacity)
		if path := v.Spec.HostPath; path != nil {
			setIfNil(&path.Type, corev1.HostPathUnset)
		}
	})
	addDefaults(s, func(e *corev1.Endpoints) { //nolint:staticcheck // Deprecated, and served.
		for i := range e.Subsets {
			for j := range e.Subsets[i].Ports {
				if port := &e.Subsets[i].Ports[j]; port.Protocol == "" {
					port.Protocol = corev1.ProtocolTCP
				}
			}
		}
	})
	addDefaults(s, func(slice *discoveryv1.EndpointSlice) {
		for i := range slice.Ports {
			setIfNil(&slice.Ports[i].Name, "")
			setIfNil(&slice.Ports[i].Protocol, corev1.ProtocolTCP)
		}
	})
	addDefaults(s, func(l *corev1.LimitRange) {
		for i := range l.Spec.Limits {
			setLimitDefaults(&l.Spec.Limits[i])
		}
	})
	addDefaults(s, func(q *corev1.ResourceQuota) {
		for _, list := range []corev1.ResourceList{q.Spec.Hard, q.Status.Hard, q.Status.Used} {
			roundUp(list)
		}
	})
	addDefaults(s, func(c *storagev1.StorageClass) {
		setIfNil(&c.ReclaimPolicy, corev1.PersistentVolumeReclaimDelete)
		setIfNil(&c.VolumeBindingMode, storagev1.VolumeBindingImmediate)
	})
	addDefaults(s, setNetworkPolicyDefaults)
	addDefaults(s, func(c *networkingv1.IngressClass) {
		if c.Spec.Parameters != nil {
			setIfNil(&c.Spec.Parameters.Scope, networkingv1.IngressClassParametersReferenceScopeCluster)
		}
	})
	addDefaults(s, func(c *resourcev1.ResourceClaim) {
		prune(c)
		setDeviceClaimDefaults(&c.Spec.Devices)
	})
	addDefaults(s, func(t *resourcev1.ResourceClaimTemplate) {
		prune(t)
		setDeviceClaimDefaults(&t.Spec.Spec.Devices)
	})
	addDefaults(s, func(slice *resourcev1.ResourceSlice) { prune(slice) })
}

func setServiceDefaults(s *corev1.Service) {
	spec := &s.Spec
	if spec.SessionAffinity == "" {
		spec.SessionAffinity = corev1.ServiceAffinityNone
	}
	switch config := spec.SessionAffinityConfig; spec.SessionAffinity {
	case corev1.ServiceAffinityNone:
		spec.SessionAffinityConfig = nil
	case corev1.ServiceAffinityClientIP:
		if config == nil || config.ClientIP == nil || config.ClientIP.TimeoutSeconds == nil {
			spec.SessionAffinityConfig = &corev1.SessionAffinityConfig{
				ClientIP: &corev1.ClientIPConfig{TimeoutSeconds: new(corev1.DefaultClientIPServiceAffinitySeconds)},
			}
		}
	}
	if spec.Type == "" {
		spec.Type = corev1.ServiceTypeClusterIP
	}
	for i := range spec.Ports {
		port := &spec.Ports[i]
		if port.Protocol == "" {
			port.Protocol = corev1.ProtocolTCP
		}
		if port.TargetPort == intstr.FromInt32(0) || port.TargetPort == intstr.FromString("") {
			port.TargetPort = intstr.FromInt32(port.Port)
		}
	}
	onNodes := spec.Type == corev1.ServiceTypeLoadBalancer || spec.Type == corev1.ServiceTypeNodePort
	if spec.ExternalTrafficPolicy == "" && (onNodes || (spec.Type == corev1.ServiceTypeClusterIP && len(spec.ExternalIPs) > 0)) {
		spec.ExternalTrafficPolicy = corev1.ServiceExternalTrafficPolicyCluster
	}
	if onNodes || spec.Type == corev1.ServiceTypeClusterIP {
		setIfNil(&spec.InternalTrafficPolicy, corev1.ServiceInternalTrafficPolicyCluster)
	}
	if spec.Type != corev1.ServiceTypeLoadBalancer {
		return
	}
	setIfNil(&spec.AllocateLoadBalancerNodePorts, true)
	for i := range s.Status.LoadBalancer.Ingress {
		if ingress := &s.Status.LoadBalancer.Ingress[i]; ingress.IP != "" {
			setIfNil(&ingress.IPMode, corev1.LoadBalancerIPModeVIP)
		}
	}
}

func setClaimDefaults(c *corev1.PersistentVolumeClaim) {
	if c.Status.Phase == "" {
		c.Status.Phase = corev1.ClaimPending
	}
	setIfNil(&c.Spec.VolumeMode, corev1.PersistentVolumeFilesystem)
	for _, list := range []corev1.ResourceList{c.Spec.Resources.Limits, c.Spec.Resources.Requests, c.Status.Capacity, c.Status.AllocatedResources} {
		roundUp(list)
	}
}

// setLimitDefaults completes the limits of containers: a default limit is the most that may be, a default request the
// default limit or, without one, the least.
func setLimitDefaults(limit *corev1.LimitRangeItem) {
	if limit.Type == corev1.LimitTypeContainer {
		complete := func(list *corev1.ResourceList, from corev1.ResourceList) {
			if *list == nil {
				*list = corev1.ResourceList{}
			}
			for name, quantity := range from {
				if _, found := (*list)[name]; !found {
					(*list)[name] = quantity.DeepCopy()
				}
			}
		}
		complete(&limit.Default, limit.Max)
		complete(&limit.DefaultRequest, limit.Default)
		complete(&limit.DefaultRequest, limit.Min)
	}
	for _, list := range []corev1.ResourceList{limit.Max, limit.Min, limit.Default, limit.DefaultRequest, limit.MaxLimitRequestRatio} {
		roundUp(list)
	}
}

// roundUp rounds each amount up to the scale that the API keeps.
func roundUp(list corev1.ResourceList) {
	for name, quantity := range list {
		quantity.RoundUp(resource.Milli)
		list[name] = quantity
	}
}

func setNetworkPolicyDefaults(p *networkingv1.NetworkPolicy) {
	ports := func(list []networkingv1.NetworkPolicyPort) {
		for i := range list {
			setIfNil(&list[i].Protocol, corev1.ProtocolTCP)
		}
	}
	for i := range p.Spec.Ingress {
		ports(p.Spec.Ingress[i].Ports)
	}
	for i := range p.Spec.Egress {
		ports(p.Spec.Egress[i].Ports)
	}
	if len(p.Spec.PolicyTypes) == 0 {
		p.Spec.PolicyTypes = []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}
		if len(p.Spec.Egress) > 0 {
			p.Spec.PolicyTypes = append(p.Spec.PolicyTypes, networkingv1.PolicyTypeEgress)
		}
	}
}

// setDeviceClaimDefaults lets a request be for one device unless it says otherwise.
func setDeviceClaimDefaults(claim *resourcev1.DeviceClaim) {
	one := func(mode *resourcev1.DeviceAllocationMode, count *int64) {
		if *mode == "" {
			*mode = resourcev1.DeviceAllocationModeExactCount
		}
		if *mode == resourcev1.DeviceAllocationModeExactCount && *count == 0 {
			*count = 1
		}
	}
	for i := range claim.Requests {
		if exact := claim.Requests[i].Exactly; exact != nil {
			one(&exact.AllocationMode, &exact.Count)
		}
		for j := range claim.Requests[i].FirstAvailable {
			sub := &claim.Requests[i].FirstAvailable[j]
			one(&sub.AllocationMode, &sub.Count)
		}
	}
}
