package core

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// containers checks the regular containers.
func (c *specCheck) containers(path *field.Path) field.ErrorList {
	if len(c.spec.Containers) == 0 {
		return field.ErrorList{field.Required(path, "")}
	}
	var errs field.ErrorList
	names, ports := sets.New[string](), sets.New[string]()
	for i := range c.spec.Containers {
		container, at := &c.spec.Containers[i], path.Index(i)
		errs = append(errs, c.anyContainer(container, at)...)
		if names.Has(container.Name) {
			errs = append(errs, field.Duplicate(at.Child("name"), container.Name))
		}
		names.Insert(container.Name)
		errs = append(errs, c.lifecycleAndProbes(container, at)...)
		errs = append(errs, validateRestartPolicy(container, false, at)...)
	}
	for i := range c.spec.Containers {
		errs = append(errs, uniqueHostPorts(&c.spec.Containers[i], ports, path.Index(i))...)
	}
	return errs
}

// initContainers checks the init containers, sidecars (KEP-753) included.
func (c *specCheck) initContainers(path *field.Path) field.ErrorList {
	var errs field.ErrorList
	names := sets.New[string]()
	for i := range c.spec.Containers {
		names.Insert(c.spec.Containers[i].Name)
	}
	for i := range c.spec.InitContainers {
		container, at := &c.spec.InitContainers[i], path.Index(i)
		errs = append(errs, c.anyContainer(container, at)...)
		errs = append(errs, validateRestartPolicy(container, true, at)...)
		if names.Has(container.Name) {
			errs = append(errs, field.Duplicate(at.Child("name"), container.Name))
		} else if container.Name != "" {
			names.Insert(container.Name)
		}
		// Init containers run one after another, so each has the host's ports to itself. The path is that of the first
		// one, whichever it is: so it is in Kubernetes.
		errs = append(errs, uniqueHostPorts(container, sets.New[string](), path.Index(0))...)
		if isSidecar(container) {
			errs = append(errs, c.lifecycleAndProbes(container, at)...)
			continue
		}
		errs = append(errs, forbidLifecycleAndProbes(container, at)...)
		errs = append(errs, c.noRestartOnResize(container, at.Child("resizePolicy"))...)
	}
	return errs
}

func (c *specCheck) noRestartOnResize(container *corev1.Container, path *field.Path) field.ErrorList {
	if c.restartOnResize {
		return nil
	}
	var errs field.ErrorList
	for i, policy := range container.ResizePolicy {
		if policy.RestartPolicy == corev1.RestartContainer {
			errs = append(errs, field.Invalid(path.Index(i).Child("restartPolicy"), policy.RestartPolicy,
				"must not be set to 'RestartContainer' for non-sidecar initContainers"))
		}
	}
	return errs
}

// ephemeralContainers checks containers that are added to a running pod to look into it.
func (c *specCheck) ephemeralContainers(path *field.Path) field.ErrorList {
	if len(c.spec.EphemeralContainers) == 0 {
		return nil
	}
	var errs field.ErrorList
	others, names := sets.New[string](), sets.New[string]()
	for _, list := range [][]corev1.Container{c.spec.Containers, c.spec.InitContainers} {
		for i := range list {
			others.Insert(list[i].Name)
			names.Insert(list[i].Name)
		}
	}
	for i := range c.spec.EphemeralContainers {
		ephemeral, at := &c.spec.EphemeralContainers[i], path.Index(i)
		container := (*corev1.Container)(&ephemeral.EphemeralContainerCommon)
		errs = append(errs, c.anyContainer(container, at)...)
		errs = append(errs, validateImageTrimmed(container, at)...)
		if names.Has(ephemeral.Name) {
			errs = append(errs, field.Duplicate(at.Child("name"), ephemeral.Name))
		}
		names.Insert(ephemeral.Name)
		if target := ephemeral.TargetContainerName; target != "" && !others.Has(target) {
			errs = append(errs, field.NotFound(at.Child("targetContainerName"), target))
		}
		errs = append(errs, validateEphemeralFields(ephemeral, at)...)
	}
	return errs
}

const notForEphemeral = "cannot be set for an Ephemeral Container"

// validateEphemeralFields refuses what an ephemeral container cannot have: pods must not come to rely on it.
func validateEphemeralFields(ephemeral *corev1.EphemeralContainer, path *field.Path) field.ErrorList {
	allowed := sets.New("Name", "Image", "Command", "Args", "WorkingDir", "EnvFrom", "Env", "VolumeMounts", "VolumeDevices",
		"TerminationMessagePath", "TerminationMessagePolicy", "ImagePullPolicy", "SecurityContext", "Stdin", "StdinOnce", "TTY")
	errs := onlyFields(ephemeral.EphemeralContainerCommon, allowed, notForEphemeral, path)
	for i, mount := range ephemeral.VolumeMounts {
		at := path.Child("volumeMounts").Index(i)
		if mount.SubPath != "" {
			errs = append(errs, field.Forbidden(at.Child("subPath"), notForEphemeral))
		}
		if mount.SubPathExpr != "" {
			errs = append(errs, field.Forbidden(at.Child("subPathExpr"), notForEphemeral))
		}
	}
	return errs
}

// anyContainer checks what containers of every kind have in common.
func (c *specCheck) anyContainer(container *corev1.Container, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if container.Name == "" {
		errs = append(errs, field.Required(path.Child("name"), ""))
	} else {
		errs = append(errs, invalidEach(path.Child("name"), container.Name, validation.IsDNS1123Label(container.Name))...)
	}
	if container.Image == "" {
		errs = append(errs, field.Required(path.Child("image"), ""))
	}
	errs = append(errs, requiredOneOf(container.TerminationMessagePolicy, []corev1.TerminationMessagePolicy{
		corev1.TerminationMessageReadFile, corev1.TerminationMessageFallbackToLogsOnError,
	}, path.Child("terminationMessagePolicy"))...)
	errs = append(errs, validatePorts(container.Ports, path.Child("ports"))...)
	errs = append(errs, validateEnv(container.Env, path.Child("env"))...)
	errs = append(errs, validateEnvFrom(container.EnvFrom, path.Child("envFrom"))...)
	errs = append(errs, c.mounts(container, path.Child("volumeMounts"))...)
	errs = append(errs, c.devices(container, path.Child("volumeDevices"))...)
	errs = append(errs, validatePullPolicy(container.ImagePullPolicy, path.Child("imagePullPolicy"))...)
	errs = append(errs, c.requirements(&container.Resources, validateContainerResourceName, path.Child("resources"))...)
	errs = append(errs, validateResizePolicy(container.ResizePolicy, c.spec.RestartPolicy, path.Child("resizePolicy"))...)
	return append(errs, validateSecurityContext(container.SecurityContext, usesUserNamespace(c.spec), path.Child("securityContext"))...)
}

func validatePullPolicy(policy corev1.PullPolicy, path *field.Path) field.ErrorList {
	return requiredOneOf(policy, []corev1.PullPolicy{corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever}, path)
}

func validatePorts(ports []corev1.ContainerPort, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	names := sets.New[string]()
	for i := range ports {
		port, at := &ports[i], path.Index(i)
		if port.Name != "" {
			faults := validation.IsValidPortName(port.Name)
			errs = append(errs, invalidEach(at.Child("name"), port.Name, faults)...)
			switch {
			case len(faults) > 0:
			case names.Has(port.Name):
				errs = append(errs, field.Duplicate(at.Child("name"), port.Name))
			default:
				names.Insert(port.Name)
			}
		}
		if port.ContainerPort == 0 {
			errs = append(errs, field.Required(at.Child("containerPort"), ""))
		} else {
			errs = append(errs, invalidEach(at.Child("containerPort"), port.ContainerPort, validation.IsValidPortNum(int(port.ContainerPort)))...)
		}
		if port.HostPort != 0 {
			errs = append(errs, invalidEach(at.Child("hostPort"), port.HostPort, validation.IsValidPortNum(int(port.HostPort)))...)
		}
		errs = append(errs, requiredOneOf(port.Protocol,
			[]corev1.Protocol{corev1.ProtocolSCTP, corev1.ProtocolTCP, corev1.ProtocolUDP}, at.Child("protocol"))...)
	}
	return errs
}

// uniqueHostPorts reports host ports that are taken, and takes those that are not.
func uniqueHostPorts(container *corev1.Container, taken sets.Set[string], path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range container.Ports {
		port := &container.Ports[i]
		if port.HostPort == 0 {
			continue
		}
		key := fmt.Sprintf("%s/%s/%d", port.Protocol, port.HostIP, port.HostPort)
		if taken.Has(key) {
			errs = append(errs, field.Duplicate(path.Child("ports").Index(i).Child("hostPort"), key))
		}
		taken.Insert(key)
	}
	return errs
}

// hostNetworkPorts checks that on the host's network a port is the same inside and outside. A template may leave the
// host port to the defaults of its pods.
func (c *specCheck) hostNetworkPorts(path *field.Path) field.ErrorList {
	if !c.spec.HostNetwork {
		return nil
	}
	var errs field.ErrorList
	for i := range c.spec.Containers {
		for j, port := range c.spec.Containers[i].Ports {
			if (c.isPod() || port.HostPort != 0) && port.HostPort != port.ContainerPort {
				errs = append(errs, field.Invalid(path.Index(i).Child("ports").Index(j).Child("hostPort"), port.HostPort,
					"must match `containerPort` when `hostNetwork` is true"))
			}
		}
	}
	return errs
}
