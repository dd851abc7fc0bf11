package core

import corev1 "k8s.io/api/core/v1"

// hourSeconds is how long a projected service account token lives when the volume does not say.
const hourSeconds = 3600

// SetPodDefaults fills in what an API server of Kubernetes 1.36 fills in when it reads a Pod: everything that
// [SetPodSpecDefaults] does, and what only whole Pods get (requests from limits, enableServiceLinks, host ports of
// pods on the host's network, pod-level requests; k8s.io/api core/v1 PodSpec). Fields that are older spellings of one
// another are made to agree. It edits pod in place, leaves alone what is set, and does nothing more when called again.
func SetPodDefaults(pod *corev1.Pod) {
	spec := &pod.Spec
	defaultRequestsFromLimits(spec.Containers)
	defaultRequestsFromLimits(spec.InitContainers)
	defaultPodLevelResources(spec)
	if spec.EnableServiceLinks == nil {
		spec.EnableServiceLinks = new(corev1.DefaultEnableServiceLinks)
	}
	if spec.HostNetwork {
		defaultHostPorts(spec.Containers)
		defaultHostPorts(spec.InitContainers)
	}
	SetPodSpecDefaults(spec)
	settleGracePeriod(spec)
	settlePodIPs(&pod.Status)
	pod.Annotations = withoutInitAnnotations(pod.Annotations)
	for _, statuses := range [][]corev1.ContainerStatus{
		pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses, pod.Status.EphemeralContainerStatuses,
	} {
		for i := range statuses {
			roundUp(statuses[i].AllocatedResources)
			roundUpRequirements(statuses[i].Resources)
		}
	}
	roundUp(pod.Status.AllocatedResources)
	roundUpRequirements(pod.Status.Resources)
}

// SetPodTemplateDefaults fills in what an API server of Kubernetes 1.36 fills in when it reads an object that holds a
// pod template, such as a Job. A template gets less than a Pod does: see [SetPodDefaults].
func SetPodTemplateDefaults(template *corev1.PodTemplateSpec) {
	SetPodSpecDefaults(&template.Spec)
	template.Annotations = withoutInitAnnotations(template.Annotations)
}

// SetPodSpecDefaults fills in what Pods and pod templates have in common: restart and DNS policy, scheduler name,
// security context, grace period, and the defaults of containers, probes, ports, environment and volumes.
func SetPodSpecDefaults(spec *corev1.PodSpec) {
	if spec.DNSPolicy == "" {
		spec.DNSPolicy = corev1.DNSClusterFirst
	}
	if spec.RestartPolicy == "" {
		spec.RestartPolicy = corev1.RestartPolicyAlways
	}
	if spec.SecurityContext == nil {
		spec.SecurityContext = &corev1.PodSecurityContext{}
	}
	if spec.TerminationGracePeriodSeconds == nil {
		spec.TerminationGracePeriodSeconds = new(int64(corev1.DefaultTerminationGracePeriodSeconds))
	}
	if spec.SchedulerName == "" {
		spec.SchedulerName = corev1.DefaultSchedulerName
	}
	settleServiceAccount(spec)
	for i := range spec.Volumes {
		defaultVolume(&spec.Volumes[i])
	}
	for i := range spec.InitContainers {
		defaultContainer(&spec.InitContainers[i])
	}
	for i := range spec.Containers {
		defaultContainer(&spec.Containers[i])
	}
	for i := range spec.EphemeralContainers {
		// The common part of an ephemeral container has the fields of a container, one for one.
		defaultContainer((*corev1.Container)(&spec.EphemeralContainers[i].EphemeralContainerCommon))
	}
	roundUp(spec.Overhead)
	roundUpRequirements(spec.Resources)
}

func defaultContainer(c *corev1.Container) {
	if c.ImagePullPolicy == "" {
		c.ImagePullPolicy = pullPolicyFor(c.Image)
	}
	if c.TerminationMessagePath == "" {
		c.TerminationMessagePath = corev1.TerminationMessagePathDefault
	}
	if c.TerminationMessagePolicy == "" {
		c.TerminationMessagePolicy = corev1.TerminationMessageReadFile
	}
	for i := range c.Ports {
		if c.Ports[i].Protocol == "" {
			c.Ports[i].Protocol = corev1.ProtocolTCP
		}
	}
	for i := range c.Env {
		if from := c.Env[i].ValueFrom; from != nil {
			defaultFieldRef(from.FieldRef)
			if from.FileKeyRef != nil && from.FileKeyRef.Optional == nil {
				from.FileKeyRef.Optional = new(false)
			}
		}
	}
	roundUp(c.Resources.Limits)
	roundUp(c.Resources.Requests)
	for _, probe := range []*corev1.Probe{c.LivenessProbe, c.ReadinessProbe, c.StartupProbe} {
		if probe != nil {
			defaultProbe(probe)
		}
	}
	if c.Lifecycle != nil {
		for _, handler := range []*corev1.LifecycleHandler{c.Lifecycle.PostStart, c.Lifecycle.PreStop} {
			if handler != nil {
				defaultHTTPGet(handler.HTTPGet)
			}
		}
	}
}

func defaultProbe(probe *corev1.Probe) {
	if probe.TimeoutSeconds == 0 {
		probe.TimeoutSeconds = 1
	}
	if probe.PeriodSeconds == 0 {
		probe.PeriodSeconds = 10
	}
	if probe.SuccessThreshold == 0 {
		probe.SuccessThreshold = 1
	}
	if probe.FailureThreshold == 0 {
		probe.FailureThreshold = 3
	}
	defaultHTTPGet(probe.HTTPGet)
	if probe.GRPC != nil && probe.GRPC.Service == nil {
		probe.GRPC.Service = new("")
	}
}

func defaultHTTPGet(get *corev1.HTTPGetAction) {
	if get == nil {
		return
	}
	if get.Path == "" {
		get.Path = "/"
	}
	if get.Scheme == "" {
		get.Scheme = corev1.URISchemeHTTP
	}
}

func defaultFieldRef(ref *corev1.ObjectFieldSelector) {
	if ref != nil && ref.APIVersion == "" {
		ref.APIVersion = "v1"
	}
}

// defaultHostPorts gives each port of a pod on the host's network the host port of the same number: there the two
// cannot differ.
func defaultHostPorts(containers []corev1.Container) {
	for i := range containers {
		for j := range containers[i].Ports {
			if port := &containers[i].Ports[j]; port.HostPort == 0 {
				port.HostPort = port.ContainerPort
			}
		}
	}
}
