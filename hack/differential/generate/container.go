package generate

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// container returns a container for a pod whose volumes and claims are there already.
func (g *Generator) container(spec *corev1.PodSpec, prefix string, i int) corev1.Container {
	container := corev1.Container{
		Name: fmt.Sprintf("%s%d", prefix, i),
		Image: pick(g, "busybox", "busybox:1.36",
			"registry.example.com:5000/a/b@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
		Command:                  some(g, 0, 2, func(int) string { return "sleep" }),
		WorkingDir:               pick(g, "", "", "/work"),
		ImagePullPolicy:          pick(g, "", "", corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever),
		TerminationMessagePolicy: pick(g, "", "", corev1.TerminationMessageFallbackToLogsOnError),
		TTY:                      g.Chance(0.05),
		Ports: atTimes(g, 0.2, 1, 2, func(j int) corev1.ContainerPort {
			return corev1.ContainerPort{Name: pick(g, "", fmt.Sprintf("p%d-%d", i, j)), ContainerPort: int32(8000 + 10*i + j),
				Protocol: pick(g, "", corev1.ProtocolTCP, corev1.ProtocolUDP)}
		}),
		Env:           atTimes(g, 0.3, 1, 3, g.env),
		EnvFrom:       atTimes(g, 0.1, 1, 2, g.envFrom),
		LivenessProbe: maybe(g, 0.1, g.probe), ReadinessProbe: maybe(g, 0.1, g.probe), StartupProbe: maybe(g, 0.1, g.probe),
		Lifecycle:       maybe(g, 0.1, g.lifecycle),
		SecurityContext: maybe(g, 0.15, g.containerSecurity),
		Resources:       g.resources(spec),
	}
	for _, probe := range []*corev1.Probe{container.LivenessProbe, container.StartupProbe} {
		if probe != nil {
			probe.SuccessThreshold = pick(g, 0, int32(1))
		}
	}
	if container.ReadinessProbe != nil {
		container.ReadinessProbe.TerminationGracePeriodSeconds = nil
	}
	container.ResizePolicy = atTimes(g, 0.1, 1, 1, func(int) corev1.ContainerResizePolicy {
		return corev1.ContainerResizePolicy{ResourceName: pick(g, corev1.ResourceCPU, corev1.ResourceMemory),
			RestartPolicy: corev1.NotRequired}
	})
	if g.Chance(0.1) {
		g.addRestartRules(&container)
	}
	for j, volume := range spec.Volumes {
		if g.Chance(0.6) {
			container.VolumeMounts = append(container.VolumeMounts, g.mount(volume.Name, j))
		}
	}
	return container
}

func (g *Generator) mount(volume string, i int) corev1.VolumeMount {
	mount := corev1.VolumeMount{Name: volume, MountPath: fmt.Sprintf("/mnt/%d", i), ReadOnly: g.Chance(0.3)}
	switch {
	case g.Chance(0.1):
		mount.SubPath = "a/b"
	case g.Chance(0.1):
		mount.SubPathExpr = "$(POD)"
	}
	if g.Chance(0.1) {
		mount.MountPropagation = new(pick(g, corev1.MountPropagationNone, corev1.MountPropagationHostToContainer))
	}
	if mount.ReadOnly && g.Chance(0.2) {
		mount.MountPropagation, mount.RecursiveReadOnly = nil, new(corev1.RecursiveReadOnlyIfPossible)
	}
	return mount
}

func (g *Generator) addRestartRules(container *corev1.Container) {
	container.RestartPolicy = new(pick(g, corev1.ContainerRestartPolicyAlways, corev1.ContainerRestartPolicyNever,
		corev1.ContainerRestartPolicyOnFailure))
	container.RestartPolicyRules = some(g, 0, 2, func(int) corev1.ContainerRestartRule {
		return corev1.ContainerRestartRule{Action: corev1.ContainerRestartRuleActionRestart,
			ExitCodes: &corev1.ContainerRestartRuleOnExitCodes{
				Operator: pick(g, corev1.ContainerRestartRuleOnExitCodesOpIn, corev1.ContainerRestartRuleOnExitCodesOpNotIn),
				Values:   []int32{1, 42}[:1+g.random.IntN(2)],
			}}
	})
}

func (g *Generator) env(i int) corev1.EnvVar {
	env := corev1.EnvVar{Name: fmt.Sprintf("%s_%d", pick(g, "A", "POD", "my.var", "x-y"), i)}
	if g.Chance(0.5) {
		env.Value = pick(g, "", "1", "$(POD_0)/a")
		return env
	}
	env.ValueFrom = &corev1.EnvVarSource{}
	switch g.random.IntN(4) {
	case 0:
		env.ValueFrom.FieldRef = &corev1.ObjectFieldSelector{APIVersion: pick(g, "", "v1"), FieldPath: pick(g,
			"metadata.name", "metadata.namespace", "metadata.uid", "metadata.labels['a']",
			"metadata.annotations['example.com/b']", "spec.nodeName", "spec.serviceAccountName", "status.podIP", "status.hostIPs")}
	case 1:
		env.ValueFrom.ResourceFieldRef = &corev1.ResourceFieldSelector{Resource: pick(g, "limits.cpu", "requests.memory"),
			Divisor: resource.MustParse(pick(g, "0", "1"))}
	case 2:
		env.ValueFrom.ConfigMapKeyRef = &corev1.ConfigMapKeySelector{LocalObjectReference: g.reference(),
			Key: pick(g, "a", "a.b_c"), Optional: maybe(g, 0.3, of(g, true, false))}
	case 3:
		env.ValueFrom.SecretKeyRef = &corev1.SecretKeySelector{LocalObjectReference: g.reference(), Key: "a"}
	}
	return env
}

func (g *Generator) envFrom(int) corev1.EnvFromSource {
	source := corev1.EnvFromSource{Prefix: pick(g, "", "A_")}
	if g.Chance(0.5) {
		source.ConfigMapRef = &corev1.ConfigMapEnvSource{LocalObjectReference: g.reference()}
	} else {
		source.SecretRef = &corev1.SecretEnvSource{LocalObjectReference: g.reference(),
			Optional: maybe(g, 0.3, of(g, true, false))}
	}
	return source
}

func (g *Generator) reference() corev1.LocalObjectReference {
	return corev1.LocalObjectReference{Name: g.name()}
}

func (g *Generator) probe() corev1.Probe {
	probe := corev1.Probe{
		InitialDelaySeconds: number[int32](g, 0, 3)(), TimeoutSeconds: number[int32](g, 0, 3)(),
		PeriodSeconds: number[int32](g, 0, 3)(), SuccessThreshold: number[int32](g, 0, 3)(),
		FailureThreshold:              number[int32](g, 0, 3)(),
		TerminationGracePeriodSeconds: maybe(g, 0.2, number[int64](g, 1, 9)),
	}
	switch g.random.IntN(4) {
	case 0:
		probe.Exec = &corev1.ExecAction{Command: []string{"true"}}
	case 1:
		probe.HTTPGet = g.httpGet()
	case 2:
		probe.TCPSocket = &corev1.TCPSocketAction{Port: g.port()}
	case 3:
		probe.GRPC = &corev1.GRPCAction{Port: 8000, Service: maybe(g, 0.5, of(g, "", "liveness"))}
	}
	return probe
}

func (g *Generator) httpGet() *corev1.HTTPGetAction {
	return &corev1.HTTPGetAction{
		Path: pick(g, "", "/healthz"), Port: g.port(), Scheme: pick(g, "", corev1.URISchemeHTTPS),
		Host:        pick(g, "", "", "localhost"),
		HTTPHeaders: some(g, 0, 1, func(int) corev1.HTTPHeader { return corev1.HTTPHeader{Name: "X-A", Value: "b"} }),
	}
}

func (g *Generator) port() intstr.IntOrString {
	return pick(g, intstr.FromInt32(8000), intstr.FromString("http"))
}

func (g *Generator) lifecycle() corev1.Lifecycle {
	handler := func() corev1.LifecycleHandler {
		return pick(g, corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"true"}}},
			corev1.LifecycleHandler{HTTPGet: g.httpGet()},
			corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: 1}},
			corev1.LifecycleHandler{TCPSocket: &corev1.TCPSocketAction{Port: g.port()}})
	}
	return corev1.Lifecycle{PostStart: maybe(g, 0.5, handler), PreStop: maybe(g, 0.5, handler),
		StopSignal: maybe(g, 0.1, of(g, corev1.SIGTERM))}
}

func (g *Generator) containerSecurity() corev1.SecurityContext {
	context := corev1.SecurityContext{
		Privileged: maybe(g, 0.2, of(g, true, false)), RunAsUser: maybe(g, 0.3, number[int64](g, 0, 1000)),
		RunAsGroup: maybe(g, 0.2, number[int64](g, 0, 1000)), RunAsNonRoot: maybe(g, 0.2, of(g, true, false)),
		ReadOnlyRootFilesystem: maybe(g, 0.2, of(g, true, false)), ProcMount: maybe(g, 0.05, of(g, corev1.DefaultProcMount)),
		Capabilities: maybe(g, 0.3, func() corev1.Capabilities {
			return corev1.Capabilities{Add: []corev1.Capability{"NET_ADMIN"}, Drop: []corev1.Capability{"ALL"}}
		}),
		SeccompProfile: maybe(g, 0.2, g.seccomp), AppArmorProfile: maybe(g, 0.2, g.appArmor),
		SELinuxOptions: maybe(g, 0.1, of(g, corev1.SELinuxOptions{User: "u"})),
		WindowsOptions: maybe(g, 0.05, of(g, corev1.WindowsSecurityContextOptions{HostProcess: new(false)})),
	}
	if context.Privileged == nil || !*context.Privileged {
		context.AllowPrivilegeEscalation = maybe(g, 0.2, of(g, true, false))
	}
	return context
}

// resources returns what a container asks for: requests that are no more than the limits.
func (g *Generator) resources(spec *corev1.PodSpec) corev1.ResourceRequirements {
	var wanted corev1.ResourceRequirements
	add := func(list *corev1.ResourceList, name corev1.ResourceName, quantity string) {
		if *list == nil {
			*list = corev1.ResourceList{}
		}
		(*list)[name] = resource.MustParse(quantity)
	}
	if g.Chance(0.3) {
		add(&wanted.Requests, corev1.ResourceCPU, pick(g, "100m", "1"))
	}
	if g.Chance(0.3) {
		add(&wanted.Limits, corev1.ResourceCPU, pick(g, "1", "2", "1500m"))
	}
	if g.Chance(0.3) {
		add(&wanted.Requests, corev1.ResourceMemory, pick(g, "64Mi", "1Gi"))
		add(&wanted.Limits, corev1.ResourceMemory, pick(g, "1Gi", "2Gi"))
	}
	if g.Chance(0.05) {
		add(&wanted.Limits, "example.com/gpu", "2")
		add(&wanted.Requests, "example.com/gpu", "2")
	}
	if g.Chance(0.05) {
		add(&wanted.Limits, "hugepages-2Mi", "4Mi")
	}
	for _, claim := range spec.ResourceClaims {
		if g.Chance(0.5) {
			wanted.Claims = append(wanted.Claims, corev1.ResourceClaim{Name: claim.Name, Request: pick(g, "", "gpu")})
		}
	}
	return wanted
}

// addResources gives a pod resources of its own, and overhead.
func (g *Generator) addResources(spec *corev1.PodSpec) {
	if g.Chance(0.08) {
		spec.Resources = &corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("8")},
			Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("8"),
				corev1.ResourceMemory: resource.MustParse("16Gi")},
		}
	}
	if g.Chance(0.05) {
		spec.Overhead = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10m"),
			corev1.ResourceMemory: resource.MustParse("1Mi")}
	}
}
